/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies a work request out of a client's ring, checks the copy and decodes it. */
#include "wqe_fetch.h"

#include "srq_reorder.h"

#include <string.h>

#define LINE 64 /* bytes of a cache line, on most processors */

/*
 * How far the client claims to have come with posting, beyond our index; more than the ring holds
 * is a lie.
 */
static enum fetch_verdict look(const struct uhca_abi_ring *ring, uint32_t index, uint32_t entries,
			       uint32_t *seen)
{
	uint32_t producer = uhca_ring_observe(&ring->producer);

	if (producer == index)
		return FETCH_EMPTY;
	if (producer - index > entries)
		return FETCH_BROKEN;
	*seen = producer;
	return FETCH_OK;
}

/*
 * The same of one who has looked before: as long as that is not all taken, the producer index is
 * left alone, whose line the client keeps writing on another processor.
 */
static enum fetch_verdict look_once(const struct uhca_abi_ring *ring, uint32_t index,
				    uint32_t entries, uint32_t *seen)
{
	return *seen != index ? FETCH_OK : look(ring, index, entries, seen);
}

bool send_pending(const struct send_queue *sq)
{
	return sq->seen != sq->head || uhca_ring_observe(&sq->page->send.producer) != sq->head;
}

static size_t slot_of(const struct send_queue *sq, uint32_t index)
{
	return index & (sq->entries - 1);
}

enum fetch_verdict send_fetch(struct send_queue *sq, struct uhca_abi_send_wqe *wqe,
			      struct uhca_abi_sge *sge)
{
	enum fetch_verdict v = look_once(&sq->page->send, sq->head, sq->entries, &sq->seen);
	const uint8_t *slot, *next;

	if (v != FETCH_OK)
		return v;
	/*
	 * The next entry was written on another processor: its lines come while this one is carried
	 * out. Not in a function of its own: gcc 12 drops calls of one that only prefetches.
	 */
	if (sq->seen != sq->head + 1) {
		next = sq->slots + slot_of(sq, sq->head + 1) * sq->stride;
		__builtin_prefetch(next);
		__builtin_prefetch(next + LINE);
		__builtin_prefetch(send_data(sq, sq->head + 1));
	}
	slot = sq->slots + slot_of(sq, sq->head) * sq->stride;
	memcpy(wqe, slot, sizeof *wqe);
	if (wqe->num_sge > sq->max_sge || wqe->inline_length > sq->data_stride)
		return FETCH_BROKEN;
	memcpy(sge, slot + sizeof *wqe, wqe->num_sge * sizeof *sge);
	sq->head++;
	return FETCH_OK;
}

enum fetch_verdict send_peek(const struct send_queue *sq, uint32_t index,
			     struct uhca_abi_send_wqe *wqe)
{
	uint32_t producer;
	enum fetch_verdict v = look(&sq->page->send, sq->head, sq->entries, &producer);

	if (v != FETCH_OK)
		return v;
	if (index - sq->head >= producer - sq->head)
		return FETCH_EMPTY;
	memcpy(wqe, sq->slots + slot_of(sq, index) * sq->stride, sizeof *wqe);
	return FETCH_OK;
}

const uint8_t *send_data(const struct send_queue *sq, uint32_t index)
{
	return sq->data + slot_of(sq, index) * sq->data_stride;
}

void send_retire(struct send_queue *sq, uint32_t index)
{
	uhca_ring_publish(&sq->page->send.consumer, index);
}

void send_drop(struct send_queue *sq)
{
	sq->head = sq->seen = uhca_ring_observe(&sq->page->send.producer);
	send_retire(sq, sq->head);
}

/* A copy of what stands at a ring index. */
static enum fetch_verdict copy_recv(const struct recv_queue *rq, uint32_t index,
				    struct recv_wr *out)
{
	const uint8_t *slot = rq->slots + (size_t)(index & (rq->entries - 1)) * rq->stride;
	struct uhca_abi_recv_wqe head;

	memcpy(&head, slot, sizeof head);
	if (head.num_sge > rq->max_sge || head.num_sge > CORE_MAX_SGE)
		return FETCH_BROKEN;
	out->wr_id = head.wr_id;
	out->num_sge = head.num_sge;
	memcpy(out->sge, slot + sizeof head, head.num_sge * sizeof out->sge[0]);
	return FETCH_OK;
}

/* Reads requests as far as the ring goes; is there one to choose? */
static enum fetch_verdict fill_reorder(const struct recv_queue *rq)
{
	struct srq_reorder *s = rq->reorder;
	enum fetch_verdict v = FETCH_OK;
	uint32_t seen;

	while (s->n < SRQ_REORDER_MOST) {
		v = look(&rq->page->recv, rq->consumer + s->n, rq->entries, &seen);
		if (v == FETCH_OK)
			v = copy_recv(rq, rq->consumer + s->n, &s->wr[s->n]);
		if (v != FETCH_OK)
			break;
		s->n++;
	}
	return v == FETCH_EMPTY && s->n > 0 ? FETCH_OK : v;
}

enum fetch_verdict recv_peek(struct recv_queue *rq, struct recv_wr *out)
{
	enum fetch_verdict v;

	if (!rq->entries)
		return FETCH_EMPTY;
	v = rq->reorder ? fill_reorder(rq)
			: look_once(&rq->page->recv, rq->consumer, rq->entries, &rq->seen);
	if (v != FETCH_OK)
		return v;
	if (!rq->reorder)
		return copy_recv(rq, rq->consumer, out);
	srq_reorder_choose(rq->reorder, out);
	return FETCH_OK;
}

void recv_take(struct recv_queue *rq)
{
	if (rq->reorder)
		srq_reorder_take(rq->reorder);
	rq->consumer++;
	uhca_ring_publish(&rq->page->recv.consumer, rq->consumer);
}

enum fetch_verdict recv_fetch(struct recv_queue *rq, struct recv_wr *out)
{
	enum fetch_verdict v = recv_peek(rq, out);

	if (v == FETCH_OK)
		recv_take(rq);
	return v;
}

void recv_drop(struct recv_queue *rq)
{
	rq->consumer = rq->seen = uhca_ring_observe(&rq->page->recv.producer);
	uhca_ring_publish(&rq->page->recv.consumer, rq->consumer);
}

uint32_t recv_available(const struct recv_queue *rq)
{
	uint32_t posted;

	if (!rq->entries)
		return 0;
	posted = uhca_ring_observe(&rq->page->recv.producer) - rq->consumer;
	return posted > rq->entries ? 0 : posted;
}
