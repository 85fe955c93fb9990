/* SPDX-License-Identifier: BSD-2-Clause */
/* A text that grows in a buffer of the caller; what has no room in it is left out. */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include <stddef.h>

struct text {
	char *buf;
	size_t cap, used;
};

/* An empty one. cap: at least 1. */
struct text text_in(char *buf, size_t cap);

__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *format, ...);

#endif
