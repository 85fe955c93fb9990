/* SPDX-License-Identifier: BSD-2-Clause */
/* See line.h. Written by hand: in the program's process nothing may need a library for it. */
#include "line.h"

#include <stdio.h>
#include <string.h>

static void line_append(struct uhcav_line *l, const char *text, size_t n)
{
	if (n >= sizeof(l->text) - l->n)
		return;
	memcpy(l->text + l->n, text, n);
	l->n += n;
	l->text[l->n] = '\0';
}

void uhcav_line_put(struct uhcav_line *l, const char *text)
{
	line_append(l, text, strlen(text));
}

void uhcav_line_string(struct uhcav_line *l, const char *text)
{
	uhcav_line_put(l, "\"");
	for (size_t i = 0; text[i] && i < UHCAV_LINE_STRING; i++) {
		unsigned char c = (unsigned char)text[i];
		char escaped[8];

		if (c < ' ' || c == 0x7f)
			snprintf(escaped, sizeof(escaped), "\\u%04x", c);
		else
			snprintf(escaped, sizeof(escaped), c == '"' || c == '\\' ? "\\%c" : "%c",
				 c);
		uhcav_line_put(l, escaped);
	}
	uhcav_line_put(l, "\"");
}

void uhcav_line_format(struct uhcav_line *l, const char *format, va_list arguments)
{
	char text[UHCAV_LINE_STRING];

	vsnprintf(text, sizeof(text), format, arguments);
	uhcav_line_string(l, text);
}

void uhcav_line_key(struct uhcav_line *l, const char *key)
{
	uhcav_line_string(l, key);
	uhcav_line_put(l, ":");
}

void uhcav_line_number(struct uhcav_line *l, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	uhcav_line_put(l, digits);
}
