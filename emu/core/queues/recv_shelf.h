/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal chaos: an SRQ gives out its requests in any order (ibv_post_srq_recv(3) names none). A few
 * of those that were posted first stand on a shelf as private copies; the next one is any of them.
 * The ring frees as many slots as were taken.
 */
#ifndef CORE_RECV_SHELF_H
#define CORE_RECV_SHELF_H

#include "recv_queue.h"

#define RECV_SHELF 8u

struct recv_shelf {
	uint64_t chance; /* base/chance.h */
	unsigned n;      /* copies: of the ring's requests consumer to consumer + n - 1 */
	unsigned chosen; /* by the last look */
	struct recv_wr wr[RECV_SHELF];
};

/* From now on rq gives them out so. 0 or -ENOMEM. */
int recv_shelf_create(struct recv_queue *rq, uint64_t seed);
void recv_shelf_destroy(struct recv_queue *rq);

/* One of those on the shelf, which is not empty. */
void recv_shelf_choose(struct recv_shelf *s, struct recv_wr *out);

/* The chosen one is taken. */
void recv_shelf_take(struct recv_shelf *s);

#endif
