/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal chaos: takes a few requests of an SRQ ahead and hands them out in any order. */
#include "srq_reorder.h"

#include "emu/core/base/base.h"

#include <errno.h>
#include <stdlib.h>

int srq_reorder_create(struct recv_queue *rq, uint64_t seed)
{
	rq->reorder = calloc(1, sizeof(*rq->reorder));
	if (!rq->reorder)
		return -ENOMEM;
	rq->reorder->chance = seed;
	return 0;
}

void srq_reorder_destroy(struct recv_queue *rq)
{
	free(rq->reorder);
	rq->reorder = NULL;
}

void srq_reorder_choose(struct srq_reorder *s, struct recv_wr *out)
{
	s->chosen = chance_below(&s->chance, s->n);
	*out = s->wr[s->chosen];
}

void srq_reorder_take(struct srq_reorder *s)
{
	s->wr[s->chosen] = s->wr[--s->n];
}
