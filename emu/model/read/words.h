/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comments and records of a capture (emu/abi/packet_metadata.h): NAME=VALUE separated by spaces, in
 * which a value may stand in quotes. Reading never fails: what makes no sense is skipped.
 */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_WORDS_MAX 64

/* A word without "=" has its text as name and no value (NULL). */
struct model_word {
	const char *name;
	const char *value;
};

/* Splits the text, which is changed and must stay, into at most max words; returns how many. */
unsigned model_words_split(char *text, struct model_word *word, unsigned max);

/* The value of the first word of this name; NULL: there is none. */
const char *model_words_find(const struct model_word *word, unsigned n, const char *name);

/* A decimal number, or a hexadecimal one with 0x, and nothing behind it. */
bool model_words_number(const char *text, uint64_t *out);

#endif
