/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See minimise.h. Granularity starts at halves and doubles when nothing could be left out; a part
 * alone and its complement are the same set when there are two.
 */
#include "minimise.h"

#include <string.h>

static void count_kept(struct minimise *m)
{
	m->left = 0;
	for (unsigned i = 0; i < m->n; i++)
		m->left += m->keep[i];
}

/* 1: the set in keep fails, 0: it does not, < 0: it cannot be tried. */
static int try_set(struct minimise *m)
{
	unsigned failed = 0;
	int first = 0;

	count_kept(m);
	for (unsigned i = 0; i < m->times && (m->count || failed == 0); i++) {
		const int status = m->run(m);

		if (status < 0)
			return status;
		m->runs++;
		if (failed == 0)
			first = status;
		failed += m->status ? status == m->status : status != 0;
	}
	if (m->on_tried)
		m->on_tried(m, failed, first);
	if (failed > 0)
		m->failed = failed;
	if (failed > 0 && !m->known)
		m->status = first;
	return failed > 0;
}

/* Without (or with nothing but) the kept parts number from..to-1. 1: they are kept from now on. */
static int try_less(struct minimise *m, unsigned from, unsigned to, bool only)
{
	bool before[MINIMISE_MAX];
	int result;

	memcpy(before, m->keep, sizeof(before));
	for (unsigned i = 0, k = 0; i < m->n; i++) {
		if (!before[i])
			continue;
		m->keep[i] = (k >= from && k < to) == only;
		k++;
	}
	result = try_set(m);
	if (result <= 0)
		memcpy(m->keep, before, sizeof(before));
	count_kept(m);
	return result;
}

/* One round at this granularity: 1 when something could be left out. */
static int round_of(struct minimise *m, unsigned pieces, bool only)
{
	const unsigned k = m->left;

	for (unsigned i = 0; i < pieces; i++) {
		int result = try_less(m, i * k / pieces, (i + 1) * k / pieces, only);

		if (result != 0)
			return result;
	}
	return 0;
}

static int search(struct minimise *m)
{
	unsigned pieces = 2;

	while (m->left > 1) {
		int result;

		if (pieces > m->left)
			pieces = m->left;
		result = round_of(m, pieces, true);
		if (result > 0) {
			pieces = 2;
			continue;
		}
		if (result == 0 && pieces > 2)
			result = round_of(m, pieces, false);
		if (result < 0)
			return result;
		if (result > 0)
			pieces = pieces > 3 ? pieces - 1 : 2;
		else if (pieces == m->left)
			break;
		else
			pieces *= 2;
	}
	return 0;
}

enum minimise_result minimise(struct minimise *m)
{
	int result;

	memset(m->keep, true, sizeof(m->keep));
	result = m->known ? 1 : try_set(m);
	if (result <= 0)
		return result < 0 ? MINIMISE_CANNOT : MINIMISE_PASSES;
	m->known = true;
	memset(m->keep, false, sizeof(m->keep));
	result = try_set(m);
	if (result != 0)
		return result < 0 ? MINIMISE_CANNOT : MINIMISE_WITHOUT;
	memset(m->keep, true, sizeof(m->keep));
	count_kept(m);
	return search(m) < 0 ? MINIMISE_CANNOT : MINIMISE_FOUND;
}
