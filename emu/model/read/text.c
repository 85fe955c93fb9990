/* SPDX-License-Identifier: BSD-2-Clause */
/* Appends to a text in a buffer (text.h). */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

struct text text_in(char *buf, size_t cap)
{
	buf[0] = '\0';
	return (struct text){buf, cap, 0};
}

void text_add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->used, t->cap - t->used, format, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n < t->cap - t->used ? (size_t)n : t->cap - t->used - 1;
}
