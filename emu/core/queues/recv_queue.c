/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of receive queues that are no part of a QP. */
#include "recv_queue.h"
#include "emu/abi/cmd.h"
#include "emu/core/memory/memory.h"

void recv_queue_set_sizes(struct recv_queue *rq, uint32_t max_wr, uint32_t max_sge, uint32_t limit)
{
	rq->max_sge = max_sge ? max_sge : 1;
	rq->entries = queue_region_entries(max_wr);
	rq->stride = UHCA_ABI_RECV_STRIDE(rq->max_sge);
	rq->max_wr = rq->entries < limit ? rq->entries : limit;
}

int recv_queue_make_region(struct recv_queue *rq, struct client *c, struct core_ring *ring)
{
	uint64_t size = QUEUE_REGION_PAGE + (uint64_t)rq->entries * rq->stride;
	int err = queue_region_create(c, UHCA_ABI_REGION_SRQ, size, ring);
	if (err)
		return err;
	rq->page = ring->base;
	rq->slots = (const uint8_t *)ring->base + QUEUE_REGION_PAGE;
	return 0;
}

void recv_queue_reply(const struct recv_queue *rq, const struct core_ring *ring,
		      struct uhca_cmd_create_srq_reply *out)
{
	out->max_wr = rq->max_wr;
	out->max_sge = rq->max_sge;
	out->region_size = queue_region_size(ring);
	out->recv = (struct uhca_abi_queue_layout){
		.entries = rq->entries, .stride = rq->stride, .offset = QUEUE_REGION_PAGE};
}
