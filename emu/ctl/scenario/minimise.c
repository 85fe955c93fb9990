/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See minimise.h. Granularity starts at halves and doubles when nothing could be left out; a part
 * alone and its complement are the same trial when there are two.
 */
#include "minimise.h"

#include <string.h>

struct search {
	unsigned n;
	bool *keep;
	minimise_try fails;
	void *arg;
	int trials;
};

static unsigned kept(const struct search *s)
{
	unsigned k = 0;

	for (unsigned i = 0; i < s->n; i++)
		k += s->keep[i];
	return k;
}

/* keep without (or with nothing but) the kept parts number from..to-1. */
static void choose(const struct search *s, unsigned from, unsigned to, bool only, bool out[])
{
	unsigned k = 0;

	for (unsigned i = 0; i < s->n; i++) {
		bool inside;

		out[i] = false;
		if (!s->keep[i])
			continue;
		inside = k >= from && k < to;
		out[i] = inside == only;
		k++;
	}
}

/* 1: it fails with less too, which is kept from now on. */
static int try_less(struct search *s, unsigned from, unsigned to, bool only)
{
	bool less[MINIMISE_MAX];
	int result;

	choose(s, from, to, only, less);
	s->trials++;
	result = s->fails(s->arg, less, s->n);
	if (result > 0)
		memcpy(s->keep, less, s->n * sizeof(less[0]));
	return result;
}

/* One round at this granularity: 1 when something could be left out. */
static int round_of(struct search *s, unsigned pieces, bool only)
{
	unsigned k = kept(s);

	for (unsigned i = 0; i < pieces; i++) {
		int result = try_less(s, i * k / pieces, (i + 1) * k / pieces, only);

		if (result != 0)
			return result;
	}
	return 0;
}

int minimise(unsigned n, bool keep[], minimise_try fails, void *arg)
{
	struct search s = {.n = n, .keep = keep, .fails = fails, .arg = arg};
	unsigned pieces = 2;

	for (unsigned i = 0; i < n; i++)
		keep[i] = true;
	while (kept(&s) > 1) {
		unsigned k = kept(&s);
		int result;

		if (pieces > k)
			pieces = k;
		result = round_of(&s, pieces, true);
		if (result > 0) {
			pieces = 2;
			continue;
		}
		if (result == 0 && pieces > 2)
			result = round_of(&s, pieces, false);
		if (result < 0)
			return result;
		if (result > 0) {
			pieces = pieces > 3 ? pieces - 1 : 2;
			continue;
		}
		if (pieces == k)
			break;
		pieces *= 2;
	}
	return s.trials;
}
