/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device's end of a ring of receive requests: the receive queue of a QP, or an SRQ. Fetching
 * copies the entry and frees its slot (wqe_fetch.c does it).
 */
#ifndef CORE_RECV_QUEUE_H
#define CORE_RECV_QUEUE_H

#include "emu/abi/region.h"
#include "emu/abi/wqe.h"

#include <stdbool.h>
#include <stdint.h>

#define CORE_MAX_SGE 32

struct recv_queue {
	uint32_t entries; /* slots, a power of two; 0: there is no such queue */
	uint32_t stride;
	uint32_t max_sge;
	uint32_t max_wr;   /* of a queue that is no part of a QP */
	uint32_t consumer; /* next slot to take */
	uint32_t seen;     /* what the client has posted is known as far as here */
	struct uhca_abi_queue *page;
	const uint8_t *slots;
	struct srq_reorder *reorder; /* of an SRQ, owned; NULL: requests are taken in their order */
};

/* A receive request the device has taken: private copy. */
struct recv_wr {
	uint64_t wr_id;
	uint32_t num_sge;
	struct uhca_abi_sge sge[CORE_MAX_SGE];
};

struct client;
struct core_ring;
struct uhca_cmd_create_srq_reply;

/*
 * Of an SRQ or a work queue, which have a region of their own: sizes as asked for, with at most
 * "limit" requests; a ring for them (0 or -ENOMEM); what the client is to know of both.
 */
void recv_queue_set_sizes(struct recv_queue *rq, uint32_t max_wr, uint32_t max_sge, uint32_t limit);
int recv_queue_make_region(struct recv_queue *rq, struct client *c, struct core_ring *ring);
void recv_queue_reply(const struct recv_queue *rq, const struct core_ring *ring,
		      struct uhca_cmd_create_srq_reply *out);

#endif
