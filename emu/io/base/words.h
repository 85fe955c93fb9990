/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of words NAME=VALUE, as model.h has them: comments and records of captures. A word for
 * which there is no room is left out whole; what is not printable ASCII becomes a question mark.
 */
#ifndef IO_WORDS_H
#define IO_WORDS_H

#include "emu/abi/packet_metadata.h"

#include <stddef.h>
#include <stdint.h>

struct io_words {
	char text[UHCA_MODEL_MAX]; /* with its NUL */
	size_t used;               /* without */
};

/*
 * Text that came from somebody, up to its end or n bytes of it, as far as there is room in "to"
 * (cap bytes, the end included). What is not printable ASCII becomes a question mark.
 */
void io_words_copy(char *to, size_t cap, const char *from, size_t n);

/* Begins with what the record is: "state"; "" for a comment. */
void io_words_begin(struct io_words *w, const char *what);

void io_words_text(struct io_words *w, const char *name, const char *value);
void io_words_number(struct io_words *w, const char *name, uint64_t value);
void io_words_hex(struct io_words *w, const char *name, uint64_t value);
void io_words_part(struct io_words *w, const char *name, uint32_t n, uint32_t of); /* 2/5 */

#endif
