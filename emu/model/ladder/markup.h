/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that may be anything, made harmless: as text of an HTML page, and as JSON that stands in
 * one. What comes from a capture goes into a page through these and by no other way.
 */
#ifndef MODEL_MARKUP_H
#define MODEL_MARKUP_H

#include <stdint.h>
#include <stdio.h>

/* The text for a page, also between quotes of an attribute. NULL: nothing. */
void markup_text(FILE *out, const char *text);

/*
 * The text as a JSON string with its quotes; NULL: null. It holds no letter that HTML looks at, so
 * that it ends no script, and bytes that are no ASCII are told as their number.
 */
void markup_json(FILE *out, const char *text);

/* Bytes as a JSON string of hexadecimal digits. */
void markup_json_hex(FILE *out, const uint8_t *bytes, size_t n);

#endif
