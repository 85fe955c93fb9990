/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads objects of JSON by tables of their members. */
#include "fields.h"

#include "emu/words/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(struct reading *r, bool of_key, const char *format, va_list ap)
{
	struct machine_place at = machine_place_find(r->text, r->step, r->depth, of_key);
	int n;

	if (r->failed)
		return;
	r->failed = true;
	n = snprintf(r->error, r->cap, "%s:%u:%u: ", r->name, at.line, at.column);
	if (n > 0 && (size_t)n < r->cap)
		vsnprintf(r->error + n, r->cap - (size_t)n, format, ap);
}

void fields_fail(struct reading *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail(r, false, format, ap);
	va_end(ap);
}

void fields_fail_key(struct reading *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail(r, true, format, ap);
	va_end(ap);
}

void fields_enter(struct reading *r, const char *key, size_t index)
{
	if (r->depth < FIELDS_DEPTH)
		r->step[r->depth] = (struct machine_step){key, index};
	r->depth++;
}

void fields_leave(struct reading *r)
{
	r->depth--;
}

static const char *key_at(const void *table, unsigned i)
{
	return ((const struct field *)table)[i].key;
}

static const struct field *find_field(const struct field *rows, const char *key)
{
	for (; rows->key; rows++)
		if (strcmp(rows->key, key) == 0)
			return rows;
	return NULL;
}

static void read_text(struct reading *r, const json_t *value, const struct field *f, char *to)
{
	const char *text = json_string_value(value);

	if (!text)
		fields_fail(r, "%s must be a text", f->key);
	else if (strlen(text) >= f->size)
		fields_fail(r, "%s has more than %zu characters", f->key, f->size - 1);
	else if (strpbrk(text, "\n\r\t"))
		fields_fail(r, "%s must be one line", f->key);
	else if (f->ok && !f->ok(text))
		fields_fail(r, "'%s' is not %s", text, f->what);
	else
		memcpy(to, text, strlen(text) + 1);
}

bool fields_number(struct reading *r, const json_t *value, long min, long max, long *out)
{
	const char *text = json_string_value(value);
	char *end = NULL;
	bool is_number = json_is_integer(value);

	errno = 0;
	*out = is_number ? (long)json_integer_value(value) : text ? strtol(text, &end, 0) : 0;
	if (text)
		is_number = *text >= '0' && *text <= '9' && end && !*end && !errno;
	if (!is_number)
		fields_fail(r, "not a number (hexadecimal ones are texts, \"0x15b3\")");
	else if (*out < min || *out > max)
		fields_fail(r, "%ld is not from %ld to %ld", *out, min, max);
	return is_number && *out >= min && *out <= max;
}

static void read_number(struct reading *r, const json_t *value, const struct field *f, void *to)
{
	long number;

	if (fields_number(r, value, f->min, f->max, &number))
		*(int *)to = (int)number;
}

void fields_guid(struct reading *r, const json_t *value, uint64_t *to)
{
	const char *text = json_string_value(value);
	unsigned w[4];
	int n = 0;

	if (!text || sscanf(text, "%4x:%4x:%4x:%4x%n", &w[0], &w[1], &w[2], &w[3], &n) != 4 ||
	    text[n])
		fields_fail(r, "not a GUID of the form \"b859:9f03:00ab:cdef\"");
	else
		*to = (uint64_t)w[0] << 48 | (uint64_t)w[1] << 32 | (uint64_t)w[2] << 16 | w[3];
}

int fields_choice(struct reading *r, const json_t *value, const char *key,
		  const char *const *choices)
{
	const char *text = json_string_value(value);
	char words[512];

	for (unsigned i = 0; text && choices[i]; i++)
		if (strcmp(choices[i], text) == 0)
			return (int)i;
	if (text)
		fields_fail(r, "%s",
			    words_refuse(words, sizeof(words), key, text, words_at, choices));
	else
		fields_fail(r, "%s must be a word", key);
	return -1;
}

static void read_choice(struct reading *r, const json_t *value, const struct field *f, unsigned *to)
{
	int found = fields_choice(r, value, f->key, f->choices);

	if (found >= 0)
		*to = (unsigned)found;
}

static void read_one(struct reading *r, const json_t *value, const struct field *f, void *into)
{
	void *to = (char *)into + f->offset;

	switch (f->kind) {
	case FIELD_TEXT:
		read_text(r, value, f, to);
		return;
	case FIELD_NUMBER:
		read_number(r, value, f, to);
		return;
	case FIELD_GUID:
		fields_guid(r, value, to);
		return;
	case FIELD_CHOICE:
		read_choice(r, value, f, to);
		return;
	case FIELD_TAKE:
		f->take(r, value, into);
		return;
	case FIELD_WORDS:
		if (!json_is_string(value))
			fields_fail(r, "%s must be a text", f->key);
		return;
	}
}

void fields_read(struct reading *r, const json_t *object, const struct field *rows, void *into)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object)) {
		fields_fail(r, "not an object: { and } with members");
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		const struct field *f = find_field(rows, key);
		char words[768];

		fields_enter(r, key, 0);
		if (f)
			read_one(r, value, f, into);
		else
			fields_fail_key(
				r, "%s",
				words_refuse(words, sizeof(words), "key", key, key_at, rows));
		fields_leave(r);
		if (r->failed)
			return;
	}
}

void fields_list(struct reading *r, const json_t *list, size_t most,
		 void (*each)(struct reading *r, const json_t *value, void *into), void *into)
{
	size_t i;
	json_t *value;

	if (!json_is_array(list)) {
		fields_fail(r, "not a list: [ and ] with elements");
		return;
	}
	if (json_array_size(list) > most) {
		fields_fail(r, "more than %zu elements", most);
		return;
	}
	json_array_foreach((json_t *)(uintptr_t)list, i, value)
	{
		fields_enter(r, NULL, i);
		each(r, value, into);
		fields_leave(r);
		if (r->failed)
			return;
	}
}
