/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds a line of NAME=VALUE words in a bounded buffer. */
#include "words.h"

#include <stdbool.h>
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
static bool words_put_char(struct io_words *w, char c)
{
	if (w->used + 1 >= sizeof(w->text))
		return false;
	w->text[w->used++] = c >= ' ' && c <= '~' ? c : '?';
	return true;
}

static bool put_plain(struct io_words *w, const char *s)
{
	for (; *s; s++)
		if (!words_put_char(w, *s))
			return false;
	return true;
}

static bool put_quoted(struct io_words *w, const char *s)
{
	if (!words_put_char(w, '"'))
		return false;
	for (; *s; s++)
		if (((*s == '"' || *s == '\\') && !words_put_char(w, '\\')) ||
		    !words_put_char(w, *s))
			return false;
	return words_put_char(w, '"');
}

void io_words_text(struct io_words *w, const char *name, const char *value)
{
	bool quote = *value == '\0' || strpbrk(value, " \"\\=\t\n") != NULL;
	size_t start = w->used;

	if ((start > 0 && !words_put_char(w, ' ')) || !put_plain(w, name) ||
	    !words_put_char(w, '=') || !(quote ? put_quoted(w, value) : put_plain(w, value)))
		w->used = start;
	w->text[w->used] = '\0';
}

/*
 * Packets have several numbers each, and printf takes its time. "buffer" ends with the digits and a
 * NUL; returns where they begin.
 */
static char *digits(uint64_t value, unsigned base, char buffer[24])
{
	char *p = buffer + 23;

	*p = '\0';
	do
		*--p = "0123456789abcdef"[value % base];
	while ((value /= base) > 0);
	return p;
}

static void put_number(struct io_words *w, const char *name, const char *prefix, const char *text)
{
	size_t start = w->used;

	if ((start > 0 && !words_put_char(w, ' ')) || !put_plain(w, name) ||
	    !put_plain(w, prefix) || !put_plain(w, text))
		w->used = start;
	w->text[w->used] = '\0';
}

void io_words_number(struct io_words *w, const char *name, uint64_t value)
{
	char buffer[24];

	put_number(w, name, "=", digits(value, 10, buffer));
}

void io_words_hex(struct io_words *w, const char *name, uint64_t value)
{
	char buffer[24];

	put_number(w, name, "=0x", digits(value, 16, buffer));
}

void io_words_part(struct io_words *w, const char *name, uint32_t n, uint32_t of)
{
	char buffer[24];
	char both[48];
	char *p = both;

	p = stpcpy(p, digits(n, 10, buffer));
	*p++ = '/';
	strcpy(p, digits(of, 10, buffer));
	put_number(w, name, "=", both);
}

void io_words_copy(char *to, size_t cap, const char *from, size_t n)
{
	size_t i = 0;

	for (; i + 1 < cap && i < n && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? from[i] : '?';
	to[i] = '\0';
}
