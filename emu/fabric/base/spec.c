/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of keys and values, and where they are wrong. */
#include "spec.h"

#include "emu/words/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fabric_refuse(struct fabric_error *e, const char *text, const char *at, const char *format, ...)
{
	va_list args;

	e->line = 0;
	e->column = (unsigned)(at - text) + 1;
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return -EINVAL;
}

size_t fabric_spec_name(const char *text)
{
	return strcspn(text, ":");
}

static const char *key_at(const void *table, unsigned i)
{
	return ((const struct fabric_spec_key *)table)[i].name;
}

const struct fabric_spec_key *fabric_spec_key(const char *text, const char *at, size_t length,
					      const struct fabric_spec_key *keys,
					      struct fabric_error *e)
{
	char word[64], said[320];

	for (const struct fabric_spec_key *k = keys; k->name; k++)
		if (strlen(k->name) == length && memcmp(k->name, at, length) == 0)
			return k;
	snprintf(word, sizeof(word), "%.*s", (int)length, at);
	fabric_refuse(e, text, at, "%s",
		      words_refuse(said, sizeof(said), "setting", word, key_at, keys));
	return NULL;
}

int fabric_spec_value(const char *text, const char *at, size_t length,
		      const struct fabric_spec_key *key, struct fabric_error *e)
{
	char low[32], high[32];
	uint64_t v;

	if (fabric_quantity(at, length, key->unit, &v) < 0)
		return fabric_refuse(e, text, at, "%s: '%.*s' is not %s", key->name,
				     length < 40 ? (int)length : 40, at,
				     fabric_unit_example(key->unit));
	if (v < key->min || v > key->max)
		return fabric_refuse(e, text, at, "%s: '%.*s' is not in the range %s to %s",
				     key->name, (int)length, at,
				     fabric_quantity_text(key->min, key->unit, low, sizeof(low)),
				     fabric_quantity_text(key->max, key->unit, high, sizeof(high)));
	*key->value = v;
	return 0;
}

int fabric_spec_read(const char *text, const struct fabric_spec_key *keys, struct fabric_error *e)
{
	const char *at = text + fabric_spec_name(text);
	bool first = true;

	while (*at) {
		const char *word = at + 1;
		const size_t length = strcspn(word, ",");
		const size_t name = strcspn(word, "=,");
		const struct fabric_spec_key *key = keys;
		size_t skip = 0;

		if (name < length) {
			key = fabric_spec_key(text, word, name, keys, e);
			skip = name + 1;
		} else if (!first || !key->name) {
			return fabric_refuse(e, text, word, "'%.*s' is not KEY=VALUE",
					     length < 40 ? (int)length : 40, word);
		}
		if (!key || fabric_spec_value(text, word + skip, length - skip, key, e) < 0)
			return -EINVAL;
		first = false;
		at = word + length;
	}
	return 0;
}
