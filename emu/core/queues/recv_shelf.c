/* SPDX-License-Identifier: BSD-2-Clause */
#include "recv_shelf.h"

#include "emu/core/base/base.h"

#include <errno.h>
#include <stdlib.h>

int recv_shelf_create(struct recv_queue *rq, uint64_t seed)
{
	rq->shelf = calloc(1, sizeof(*rq->shelf));
	if (!rq->shelf)
		return -ENOMEM;
	rq->shelf->chance = seed;
	return 0;
}

void recv_shelf_destroy(struct recv_queue *rq)
{
	free(rq->shelf);
	rq->shelf = NULL;
}

void recv_shelf_choose(struct recv_shelf *s, struct recv_wr *out)
{
	s->chosen = chance_below(&s->chance, s->n);
	*out = s->wr[s->chosen];
}

void recv_shelf_take(struct recv_shelf *s)
{
	s->wr[s->chosen] = s->wr[--s->n];
}
