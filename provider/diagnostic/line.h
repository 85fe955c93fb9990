/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of JSON while it is written. */
#ifndef UHCAV_LINE_H
#define UHCAV_LINE_H

#include "emu/abi/sanitize.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UHCAV_LINE_STRING 1024u /* strings are cut behind so many bytes */

struct uhcav_line {
	char text[UHCA_SANITIZE_LINE];
	size_t n;
};

/* Is there room for a string more, and all that closes the line? To be asked before one is put. */
static inline bool uhcav_line_has_room(const struct uhcav_line *l)
{
	return l->n + 4 * UHCAV_LINE_STRING < sizeof(l->text);
}

/* As it is. */
void uhcav_line_put(struct uhcav_line *l, const char *text);

/* A string, in quotes, with what must be escaped; the name in front of a value; a number. */
void uhcav_line_string(struct uhcav_line *l, const char *text);
void uhcav_line_format(struct uhcav_line *l, const char *format, va_list arguments);
void uhcav_line_key(struct uhcav_line *l, const char *key);
void uhcav_line_number(struct uhcav_line *l, uint64_t number);

#endif
