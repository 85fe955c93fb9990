/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ctl_rows.h. A row stands in a chunk as the number of its values, the values with commas
 * between them, and a zero. Chunks are so large that malloc(3) maps each by itself: they go at once
 * when they are freed.
 */
#include "ctl_rows.h"

#include "emu/abi/ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

struct ctl_chunk {
	struct ctl_chunk *next;
	size_t used;
	char text[CHUNK - 2 * sizeof(size_t)];
};

/* ---- text of JSON ---- */

/* Appends to "to", which has room for six bytes of each character; all is ASCII. */
static size_t quote(char *to, const char *text)
{
	char *at = to;

	*at++ = '"';
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			*at++ = '\\';
		if (c < ' ')
			at += sprintf(at, "\\u%04x", c);
		else
			*at++ = c < 0x7f ? (char)c : '?';
	}
	*at++ = '"';
	return (size_t)(at - to);
}

static size_t put_cell(const struct ctl_rows *r, unsigned i, char *to)
{
	if (!r->has[i])
		return (size_t)sprintf(to, "null");
	if (r->cell[i].is_text)
		return quote(to, r->texts + r->cell[i].number);
	return (size_t)sprintf(to, "%" PRId64, (int64_t)r->cell[i].number);
}

/* ---- rows ---- */

static unsigned values_of(const struct ctl_rows *r)
{
	unsigned n = r->n;

	while (n > 0 && !r->has[n - 1])
		n--;
	return n;
}

static struct ctl_chunk *room(struct ctl_rows *r, size_t bytes)
{
	struct ctl_chunk *c = r->last;

	if (c && sizeof(c->text) - c->used >= bytes)
		return c;
	c = malloc(sizeof(*c));
	if (!c) {
		r->failed = true;
		return NULL;
	}
	c->next = NULL;
	c->used = 0;
	if (r->last)
		r->last->next = c;
	else
		r->first = c;
	return r->last = c;
}

static void finish_row(struct ctl_rows *r)
{
	unsigned n = values_of(r);
	struct ctl_chunk *c;
	char *at;

	if (!r->begun)
		return;
	r->begun = false;
	c = room(r, 6 * r->used + (size_t)n * 24 + 8);
	if (!c)
		return;
	at = c->text + c->used;
	*at++ = (char)n;
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			*at++ = ',';
		at += put_cell(r, i, at);
	}
	*at++ = '\0';
	c->used = (size_t)(at - c->text);
}

void ctl_rows_start(struct ctl_rows *r)
{
	finish_row(r);
	memset(r->has, 0, sizeof(r->has));
	r->used = 0;
	r->begun = true;
}

static unsigned column_of(struct ctl_rows *r, const char *name, bool hex)
{
	unsigned i = 0;

	while (i < r->n && strcmp(r->column[i].name, name) != 0)
		i++;
	if (i == r->n && r->n < CTL_COLUMNS) {
		snprintf(r->column[i].name, sizeof(r->column[i].name), "%s", name);
		r->column[i].hex = hex;
		r->n++;
	}
	return i;
}

static void cell_set(struct ctl_rows *r, const char *name, bool hex, struct ctl_cell cell)
{
	unsigned i = column_of(r, name, hex);

	if (i == CTL_COLUMNS)
		return;
	r->has[i] = true;
	r->cell[i] = cell;
}

void ctl_rows_number(struct ctl_rows *r, const char *name, uint64_t number)
{
	cell_set(r, name, false, (struct ctl_cell){.number = number});
}

void ctl_rows_hex(struct ctl_rows *r, const char *name, uint64_t number)
{
	cell_set(r, name, true, (struct ctl_cell){.number = number});
}

void ctl_rows_text(struct ctl_rows *r, const char *name, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	if (!text)
		column_of(r, name, false);
	if (!text || n > sizeof(r->texts) - r->used)
		return;
	memcpy(r->texts + r->used, text, n);
	cell_set(r, name, false, (struct ctl_cell){.is_text = true, .number = r->used});
	r->used += n;
}

/* ---- the whole ---- */

static char *put_columns(const struct ctl_rows *r, char *at)
{
	for (unsigned i = 0; i < r->n; i++) {
		at += sprintf(at, "%s{\"" UHCA_CTL_NAME "\":", i ? "," : "");
		at += quote(at, r->column[i].name);
		at += sprintf(at, ",\"" UHCA_CTL_HEX "\":%s}", r->column[i].hex ? "true" : "false");
	}
	return at;
}

static char *put_row(const struct ctl_rows *r, char *at, const char *row, size_t length)
{
	unsigned n = (unsigned char)row[0];

	*at++ = '[';
	memcpy(at, row + 1, length - 1);
	at += length - 1;
	for (; n < r->n; n++)
		at += sprintf(at, n ? ",null" : "null");
	*at++ = ']';
	return at;
}

static char *put_rows(const struct ctl_rows *r, char *at)
{
	for (const struct ctl_chunk *c = r->first; c; c = c->next) {
		for (size_t i = 0; i < c->used;) {
			size_t length = 1 + strlen(c->text + i + 1);

			if (c != r->first || i > 0)
				*at++ = ',';
			at = put_row(r, at, c->text + i, length);
			i += length + 1;
		}
	}
	return at;
}

/* With room for the nulls of each row, which has three bytes and more. */
static size_t most(const struct ctl_rows *r)
{
	size_t bytes = 0, rows = 0;

	for (const struct ctl_chunk *c = r->first; c; c = c->next) {
		bytes += c->used;
		for (size_t i = 0; i < c->used; i += 2 + strlen(c->text + i + 1))
			rows++;
	}
	return bytes + rows * (5 * (size_t)r->n + 3) + (size_t)r->n * 300;
}

char *ctl_rows_end(struct ctl_rows *r, const char *before, const char *after, size_t *length)
{
	size_t cap;
	char *text, *at;

	finish_row(r);
	cap = most(r) + strlen(before) + strlen(after) + 100;
	text = r->failed ? NULL : malloc(cap);
	if (!text)
		return NULL;
	at = stpcpy(text, before);
	at = stpcpy(at, "{\"" UHCA_CTL_COLUMNS "\":[");
	at = put_columns(r, at);
	at = stpcpy(at, "],\"" UHCA_CTL_ROWS "\":[");
	at = put_rows(r, at);
	at = stpcpy(at, "]}");
	at = stpcpy(at, after);
	*length = (size_t)(at - text);
	return text;
}

void ctl_rows_free(struct ctl_rows *r)
{
	while (r->first) {
		struct ctl_chunk *c = r->first;

		r->first = c->next;
		free(c);
	}
	r->last = NULL;
}
