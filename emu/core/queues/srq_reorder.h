/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal chaos: an SRQ gives out its requests in any order (ibv_post_srq_recv(3) names none). A few
 * of those that were posted first are kept as private copies; the next one is any of them.
 * The ring frees as many slots as were taken.
 */
#ifndef CORE_SRQ_REORDER_H
#define CORE_SRQ_REORDER_H

#include "recv_queue.h"

#define SRQ_REORDER_MOST 8u

struct srq_reorder {
	uint64_t chance; /* base/chance.h */
	unsigned n;      /* copies: of the ring's requests consumer to consumer + n - 1 */
	unsigned chosen; /* by the last look */
	struct recv_wr wr[SRQ_REORDER_MOST];
};

/* From now on rq gives them out so. 0 or -ENOMEM. */
int srq_reorder_create(struct recv_queue *rq, uint64_t seed);
void srq_reorder_destroy(struct recv_queue *rq);

/* One of those that were read, at least one. */
void srq_reorder_choose(struct srq_reorder *s, struct recv_wr *out);

/* The chosen one is taken. */
void srq_reorder_take(struct srq_reorder *s);

#endif
