/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks over a text that a parser has accepted, counting nothing but brackets. */
#include "place.h"

#include <string.h>

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Behind the string that begins at p. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Behind the value that begins at p. */
static const char *skip_value(const char *p)
{
	unsigned depth = 0;

	do {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		if (*p == '}' || *p == ']') {
			if (depth == 0)
				return p;
			depth--;
		}
		if (*p)
			p++;
	} while (*p && (depth > 0 || !strchr(",]}", *p)));
	return p;
}

/* The next member or element, or NULL at the end of what holds it. */
static const char *next_item(const char *p)
{
	p = skip_space(skip_value(p));
	return *p == ',' ? skip_space(p + 1) : NULL;
}

/* The value of the member whose key begins at p. */
static const char *value_of(const char *p)
{
	p = skip_space(skip_string(p));
	return *p == ':' ? skip_space(p + 1) : p;
}

static bool is_key(const char *p, const char *key)
{
	size_t len = strlen(key);

	return *p == '"' && strncmp(p + 1, key, len) == 0 && p[1 + len] == '"';
}

/* The first item of what begins at p, or NULL: it is empty. */
static const char *first_item(const char *p)
{
	p = skip_space(p + 1);
	return *p == ']' || *p == '}' ? NULL : p;
}

/* Where the step leads from the value at p: to a key, or an element. NULL: nowhere. */
static const char *take_step(const char *p, const struct machine_step *s)
{
	size_t index = 0;

	if (*p != (s->key ? '{' : '['))
		return NULL;
	for (p = first_item(p); p; index++) {
		if (s->key ? is_key(p, s->key) : index == s->index)
			return p;
		p = next_item(s->key ? value_of(p) : p);
	}
	return NULL;
}

static struct machine_place place_at(const char *text, const char *p)
{
	struct machine_place at = {1, 1};

	for (; text < p; text++) {
		at.column++;
		if (*text == '\n')
			at = (struct machine_place){at.line + 1, 1};
	}
	return at;
}

struct machine_place machine_place_find(const char *text, const struct machine_step *step,
					unsigned n, bool of_key)
{
	const char *at = skip_space(text), *value = at;

	for (unsigned i = 0; i < n; i++) {
		const char *found = take_step(value, &step[i]);

		if (!found)
			break;
		value = step[i].key ? value_of(found) : found;
		at = step[i].key && of_key && i + 1 == n ? found : value;
	}
	return place_at(text, at);
}
