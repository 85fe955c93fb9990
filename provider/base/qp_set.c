/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open addressing, at most half full; removal moves later members of a cluster back instead of
 * leaving marks.
 */
#include "qp_set.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 8u

static uint32_t home(const struct uhcav_qp_set *s, uint32_t qpn)
{
	return (qpn * 2654435761u >> 8) & s->mask;
}

void uhcav_qp_set_construct(struct uhcav_qp_set *s)
{
	s->slot = NULL;
	s->mask = 0;
	s->n = 0;
}

void uhcav_qp_set_destruct(struct uhcav_qp_set *s)
{
	free(s->slot);
	uhcav_qp_set_construct(s);
}

/* The slot that holds qpn, or the free one where it belongs. */
static uint32_t seek(const struct uhcav_qp_set *s, uint32_t qpn)
{
	uint32_t i = home(s, qpn);

	while (s->slot[i].qp && s->slot[i].qpn != qpn)
		i = (i + 1) & s->mask;
	return i;
}

static int grow(struct uhcav_qp_set *s)
{
	uint32_t n = s->slot ? (s->mask + 1) * 2 : FIRST_SLOTS;
	struct uhcav_qp_set bigger = {.mask = n - 1, .n = s->n};

	bigger.slot = calloc(n, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (uint32_t i = 0; s->slot && i <= s->mask; i++)
		if (s->slot[i].qp)
			bigger.slot[seek(&bigger, s->slot[i].qpn)] = s->slot[i];
	free(s->slot);
	*s = bigger;
	return 0;
}

int uhcav_qp_set_add(struct uhcav_qp_set *s, uint32_t qpn, struct uhcav_qp *qp)
{
	uint32_t i;

	if (!s->slot || (s->n + 1) * 2 > s->mask + 1) {
		int err = grow(s);
		if (err)
			return err;
	}
	i = seek(s, qpn);
	s->n += !s->slot[i].qp;
	s->slot[i] = (struct uhcav_qp_entry){qpn, qp};
	return 0;
}

void uhcav_qp_set_remove(struct uhcav_qp_set *s, uint32_t qpn)
{
	uint32_t hole, i;

	if (!s->slot)
		return;
	hole = seek(s, qpn);
	if (!s->slot[hole].qp)
		return;
	s->slot[hole].qp = NULL;
	s->n--;
	for (i = (hole + 1) & s->mask; s->slot[i].qp; i = (i + 1) & s->mask) {
		uint32_t want = home(s, s->slot[i].qpn);
		/* A member whose home lies cyclically in (hole, i] is found where it is. */
		if (((i - want) & s->mask) < ((i - hole) & s->mask))
			continue;
		s->slot[hole] = s->slot[i];
		s->slot[i].qp = NULL;
		hole = i;
	}
}

struct uhcav_qp *uhcav_qp_set_find(const struct uhcav_qp_set *s, uint32_t qpn)
{
	return s->slot ? s->slot[seek(s, qpn)].qp : NULL;
}

struct uhcav_qp *uhcav_qp_set_next(const struct uhcav_qp_set *s, uint32_t *cursor)
{
	while (s->slot && *cursor <= s->mask) {
		struct uhcav_qp *qp = s->slot[(*cursor)++].qp;
		if (qp)
			return qp;
	}
	return NULL;
}
