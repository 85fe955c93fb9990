/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses relaxations and their strength from a seed. */
#include "chaos.h"

#include "emu/fault/rule/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT_(i) (UINT32_C(1) << (i))

/* ---- numbers of a seed ---- */

/* splitmix64: one step, mixed. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Each relaxation has numbers of its own, which are its name's and not its place's. */
static uint64_t stream_of(uint64_t seed, const char *name)
{
	uint64_t state = seed;

	for (; *name; name++)
		state = next(&state) ^ (uint8_t)*name;
	return next(&state);
}

/* ---- reading ---- */

static const char *name_at(const void *table, unsigned i)
{
	(void)table;
	return i < n_relaxations ? relaxations[i].name : NULL;
}

static int relaxation_find(struct fault_piece name)
{
	for (unsigned i = 0; i < n_relaxations; i++)
		if (fault_piece_is(name, relaxations[i].name))
			return (int)i;
	return -1;
}

static int read_seed(struct fault_piece p, struct chaos *out, char *error, size_t cap)
{
	char text[32], *end;

	errno = 0;
	out->seed = fault_piece_copy(p, text, sizeof(text)) ? strtoull(text, &end, 0) : 0;
	if (p.length < sizeof(text) && !errno && !*end) {
		out->has_seed = true;
		return 0;
	}
	snprintf(error, cap, "'%.*s' is not a seed (a 64-bit number)", (int)p.length, p.at);
	return -EINVAL;
}

static int read_word(struct fault_piece p, struct chaos *out, char *error, size_t cap)
{
	const char sign = p.length ? *p.at : '\0';
	char hint[FAULT_WORD_MAX];
	int i;

	if (fault_piece_is(p, "none")) {
		out->only = true;
		return 0;
	}
	if (sign == '+' || sign == '-')
		p = (struct fault_piece){p.at + 1, p.length - 1};
	i = relaxation_find(p);
	if (i < 0) {
		words_hint(fault_nearest(p, name_at, NULL), hint, sizeof(hint));
		snprintf(error, cap, "unknown relaxation '%.*s'%s", (int)p.length, p.at,
			 hint[0] ? hint : ": uhca-run --chaos=help lists them");
		return -EINVAL;
	}
	if (sign == '+')
		out->added |= BIT_(i);
	else if (sign == '-')
		out->removed |= BIT_(i);
	else
		out->named |= BIT_(i);
	return 0;
}

int chaos_parse(const char *text, struct chaos *out, char *error, size_t cap)
{
	struct fault_piece rest = {text, strlen(text)};
	bool more = rest.length > 0;
	int status = 0;

	*out = (struct chaos){.seed = 0};
	for (bool first = true; more && status == 0; first = false) {
		more = memchr(rest.at, ',', rest.length) != NULL;
		const struct fault_piece one = fault_piece_cut(&rest, ',');

		if (first && one.length && *one.at >= '0' && *one.at <= '9')
			status = read_seed(one, out, error, cap);
		else
			status = read_word(one, out, error, cap);
	}
	out->only |= out->named != 0;
	return status;
}

/* ---- choosing ---- */

static chaos_set chosen(uint64_t seed)
{
	unsigned may[RELAXATIONS_MAX], n = 0;
	chaos_set set = 0;

	for (unsigned i = 0; i < n_relaxations; i++) {
		if (relaxations[i].asked_only)
			continue;
		may[n++] = i;
		if (stream_of(seed, relaxations[i].name) & 1)
			set |= BIT_(i);
	}
	return set ? set : BIT_(may[stream_of(seed, "") % n]);
}

chaos_set chaos_taken(const struct chaos *c)
{
	const chaos_set first = c->only ? c->named : chosen(c->seed);

	return (first | c->added) & ~c->removed;
}

/* ---- rules ---- */

/* Copies the text, with a number for each "{LOW..HIGH}". */
static void fill_in(const char *text, uint64_t *state, char *out, size_t cap)
{
	size_t n = strlen(out);

	while (*text && n + 1 < cap) {
		char *end;
		uint64_t low, high;

		if (*text != '{') {
			out[n++] = *text++;
			out[n] = '\0';
			continue;
		}
		low = strtoull(text + 1, &end, 10);
		high = strtoull(end + 2, &end, 10);
		n += (size_t)snprintf(out + n, cap - n, "%" PRIu64,
				      low + next(state) % (high - low + 1));
		text = end + 1;
	}
}

bool chaos_rule(uint64_t seed, unsigned i, char out[FAULT_TEXT_MAX])
{
	const struct relaxation *l = &relaxations[i];
	uint64_t state = stream_of(seed, l->name);
	size_t n;

	snprintf(out, FAULT_TEXT_MAX, l->rule ? "%s: " : "--", l->name);
	fill_in(l->rule ? l->rule : l->option, &state, out, FAULT_TEXT_MAX);
	if (!l->rule)
		return false;
	n = strlen(out);
	snprintf(out + n, FAULT_TEXT_MAX - n, " stream=%" PRIu64, next(&state) | 1);
	return true;
}

int chaos_print(uint64_t seed, chaos_set taken, char *out, size_t cap)
{
	int n = snprintf(out, cap, "%" PRIu64 "%s", seed, taken ? "" : ",none");

	for (unsigned i = 0; i < n_relaxations; i++) {
		size_t used = (size_t)n < cap ? (size_t)n : cap;

		if (taken & BIT_(i))
			n += snprintf(out + used, cap - used, ",%s", relaxations[i].name);
	}
	return n;
}
