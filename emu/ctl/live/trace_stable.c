/* SPDX-License-Identifier: BSD-2-Clause */
/* Rewrites a trace without times, PSNs and keys, and sorts its lines by rule. */
#include "trace_stable.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX 2048 /* a line of the daemon has at most 1024 bytes */

/* Who got which number: "qp uhca0 0x1a2b" and so on, in their order. */
struct numbers {
	json_t *known; /* object */
	size_t n[2];
};

/* A word NAME=VALUE of a line; the value may stand in quotes. */
struct word {
	const char *at;
	size_t name, length;
};

static bool next_word(const char **at, struct word *out)
{
	const char *p = *at;
	bool quoted = false;

	p += strspn(p, " ");
	if (!*p)
		return false;
	out->at = p;
	for (; *p && (quoted || *p != ' '); p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	out->length = (size_t)(p - out->at);
	out->name = strcspn(out->at, "= ");
	*at = p;
	return true;
}

static bool is_one_of(const struct word *w, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == w->name && memcmp(w->at, *names, w->name) == 0)
			return true;
	return false;
}

/* The value of a word of the line as a number, 0 when it is not there. */
static unsigned long value_in(const char *line, const char *name)
{
	const char *const names[] = {name, NULL};
	struct word w;

	while (next_word(&line, &w))
		if (is_one_of(&w, names) && w.at[w.name] == '=')
			return strtoul(w.at + w.name + 1, NULL, 0);
	return 0;
}

/* "#N" for an object of the device that the line names. */
static size_t number_of(struct numbers *numbers, const char *line, const struct word *w)
{
	static const char *const devices[] = {"dev", NULL};
	const bool is_qp = w->at[0] == 'q';
	char key[256] = "";
	struct word dev;
	json_t *known;

	while (next_word(&line, &dev))
		if (is_one_of(&dev, devices))
			snprintf(key, sizeof(key), "%.*s ", (int)dev.length, dev.at);
	snprintf(key + strlen(key), sizeof(key) - strlen(key), "%.*s", (int)w->length, w->at);
	known = json_object_get(numbers->known, key);
	if (!known) {
		known = json_integer((json_int_t)++numbers->n[is_qp]);
		json_object_set_new(numbers->known, key, known);
	}
	return (size_t)json_integer_value(known);
}

static json_t *stable_line(struct numbers *numbers, const char *line)
{
	static const char *const left_out[] = {"time",    "seed",   "psn", "key",
					       "address", "client", NULL};
	static const char *const numbered[] = {"qp", "cq", NULL};
	char text[LINE_MAX] = "";
	const char *at = line;
	struct word w;
	size_t n = 0;

	while (n < sizeof(text) && next_word(&at, &w)) {
		const char *space = n ? " " : "";

		if (is_one_of(&w, left_out))
			continue;
		if (is_one_of(&w, numbered))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s=#%zu", space,
					      (int)w.name, w.at, number_of(numbers, line, &w));
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", space,
					      (int)w.length, w.at);
	}
	return json_string(text);
}

/* The rule that a line is about; 0: the plan. */
static unsigned long rule_of(const char *line)
{
	const bool is_hit = strncmp(line, "hit ", 4) == 0;

	return value_in(line, is_hit ? "rule" : "number");
}

struct place {
	unsigned long rule;
	size_t index;
};

static int by_rule(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rule != y->rule)
		return x->rule < y->rule ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

json_t *trace_stable(const json_t *lines)
{
	struct numbers numbers = {.known = json_object()};
	size_t n = json_array_size(lines);
	struct place *places = calloc(n + 1, sizeof(*places));
	json_t *out = json_array();

	for (size_t i = 0; places && i < n; i++)
		places[i] = (struct place){rule_of(json_string_value(json_array_get(lines, i))), i};
	if (places)
		qsort(places, n, sizeof(*places), by_rule);
	for (size_t i = 0; places && i < n; i++) {
		const json_t *line = json_array_get(lines, places[i].index);

		json_array_append_new(out, stable_line(&numbers, json_string_value(line)));
	}
	free(places);
	json_decref(numbers.known);
	return out;
}
