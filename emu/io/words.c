/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See words.h.
 */
#include "words.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void io_words_begin(struct io_words *w, const char *what)
{
	w->used = strlen(what);
	if (w->used >= sizeof(w->text))
		w->used = sizeof(w->text) - 1;
	memcpy(w->text, what, w->used);
	w->text[w->used] = '\0';
}

/* Appends one byte, leaving room for the NUL; false when it is full. */
static bool put(struct io_words *w, char c)
{
	if (w->used + 1 >= sizeof(w->text))
		return false;
	w->text[w->used++] = c >= ' ' && c <= '~' ? c : '?';
	return true;
}

static bool put_plain(struct io_words *w, const char *s)
{
	for (; *s; s++)
		if (!put(w, *s))
			return false;
	return true;
}

static bool put_quoted(struct io_words *w, const char *s)
{
	if (!put(w, '"'))
		return false;
	for (; *s; s++)
		if (((*s == '"' || *s == '\\') && !put(w, '\\')) || !put(w, *s))
			return false;
	return put(w, '"');
}

void io_words_text(struct io_words *w, const char *name, const char *value)
{
	bool quote = *value == '\0' || strpbrk(value, " \"\\=\t\n") != NULL;
	size_t start = w->used;

	if ((start > 0 && !put(w, ' ')) || !put_plain(w, name) || !put(w, '=') ||
	    !(quote ? put_quoted(w, value) : put_plain(w, value)))
		w->used = start;
	w->text[w->used] = '\0';
}

void io_words_number(struct io_words *w, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	io_words_text(w, name, text);
}

void io_words_hex(struct io_words *w, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	io_words_text(w, name, text);
}
