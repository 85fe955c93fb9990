/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_poll_cq. The hot path touches the entry at the consumer index and nothing else of the
 * shared memory: an entry says itself whether it is valid (cqe.h). No system call unless there is
 * nothing to take: then the CPU is given away, because on a machine with few cores the daemon is
 * likely to wait for it; a poller that spins costs itself milliseconds. Not while a program that
 * takes completions one by one, as librdmacm's rsockets do, has some that it did not handle: it
 * needs the processor. Who takes them in batches has handled them when it polls again.
 *
 * "flush" is what a device does that goes away: every work request that the dead daemon had not
 * completed is reported once with WR_FLUSH_ERR, per queue in the order of posting.
 */
#include "poll_cq.h"

#include "provider/base/base.h"
#include "provider/qp/qp.h"
#include "take_copy_on_poll.h"
#include "wait_cq.h"

#include <errno.h>
#include <string.h>

/* The receive of a WQ, or of an XRC SRQ, whose QP may be another process's. */
static void leave_queue(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	struct uhcav_work_queue *wq =
		uhcav_number_map_find(&cq->queues, e->srqn ? uhcav_xrc_key(e->srqn) : e->qpn);

	if (wq)
		uhcav_work_queue_polled_one(wq);
}

/* What taking an entry does beside reading it. */
static inline void take_note(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	struct uhcav_qp *qp = uhcav_number_map_find(&cq->qps, e->qpn);

	if (qp) {
		uhcav_qp_polled(qp, e);
		uhcav_cq_streams(cq, qp, e);
	} else {
		leave_queue(cq, e);
	}
}

/* Also of an entry that nobody is shown: memory is the program's, and nobody knows who looks. */
static inline void take_payload(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	if (e->flags & UHCA_ABI_WC_COPY_ON_POLL)
		uhcav_take_copy_on_poll(cq, e);
}

static inline void translate(const struct uhca_abi_cqe *e, struct ibv_wc *wc)
{
	wc->wr_id = e->wr_id;
	wc->status = (enum ibv_wc_status)e->status;
	wc->opcode = (enum ibv_wc_opcode)e->opcode;
	wc->vendor_err = e->vendor_err;
	wc->byte_len = e->byte_len;
	wc->imm_data = e->imm; /* and invalidated_rkey: one union */
	wc->qp_num = e->qpn;
	wc->src_qp = e->src_qp;
	wc->wc_flags = e->flags & UHCAV_WC_PUBLIC_FLAGS;
	wc->pkey_index = e->pkey_index;
	wc->slid = e->slid;
	wc->sl = e->sl;
	wc->dlid_path_bits = e->dlid_path_bits;
}

/*
 * A CQ that ignores overruns: the entry may be overwritten while we copy it, or have been, and
 * then the oldest that is left comes next.
 */
static const struct uhca_abi_cqe *copy_entry(struct uhcav_cq *cq)
{
	const struct uhca_abi_cqe *e = uhcav_cq_slot(cq, cq->consumer);
	uint32_t producer = uhca_ring_observe(&cq->page->ring.producer);

	if (producer - cq->consumer > cq->mask + 1)
		cq->consumer = producer - (cq->mask + 1);
	for (; cq->consumer != producer; cq->consumer++) {
		e = uhcav_cq_slot(cq, cq->consumer);
		if (!uhcav_cqe_valid(e, cq->consumer))
			continue;
		cq->copy = *e;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&e->sequence, __ATOMIC_RELAXED) == cq->consumer + 1)
			return &cq->copy;
	}
	return NULL;
}

static const struct uhca_abi_cqe *entry(struct uhcav_cq *cq)
{
	const struct uhca_abi_cqe *e;

	if (cq->ignore_overrun)
		return copy_entry(cq);
	e = uhcav_cq_slot(cq, cq->consumer);
	return uhcav_cqe_valid(e, cq->consumer) ? e : NULL;
}

void uhcav_cq_pass(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	take_payload(cq, e);
	uhcav_cq_took(cq, (uint32_t)uhca_cqe_has_payload(e));
	cq->consumer++;
	uhca_ring_publish(&cq->page->ring.consumer, cq->consumer);
}

const struct uhca_abi_cqe *uhcav_cq_peek(struct uhcav_cq *cq)
{
	const struct uhca_abi_cqe *e = entry(cq);

	while (e && (e->flags & UHCA_ABI_WC_SKIP)) {
		uhcav_cq_pass(cq, e);
		e = entry(cq);
	}
	if (e) {
		take_payload(cq, e);
		take_note(cq, e);
	}
	return e;
}

/* With overruns: one at a time. */
static int take_copies(struct uhcav_cq *cq, int n, struct ibv_wc *wc)
{
	const struct uhca_abi_cqe *e;
	int got = 0;

	while (got < n && (e = uhcav_cq_peek(cq))) {
		translate(e, &wc[got++]);
		uhcav_cq_pass(cq, e);
	}
	return got;
}

/* Takes what is valid, n at the most. Under the lock. */
static int cqes_take(struct uhcav_cq *cq, int n, struct ibv_wc *wc)
{
	uint32_t c = cq->consumer, payloads = 0;
	int got = 0;

	if (cq->ignore_overrun)
		return take_copies(cq, n, wc);
	while (got < n) {
		const struct uhca_abi_cqe *e = uhcav_cq_slot(cq, c);
		if (!uhcav_cqe_valid(e, c))
			break;
		take_payload(cq, e);
		if (!(e->flags & UHCA_ABI_WC_SKIP)) {
			take_note(cq, e);
			translate(e, &wc[got++]);
		}
		payloads += (uint32_t)uhca_cqe_has_payload(e);
		c++;
	}
	if (c != cq->consumer) {
		cq->consumer = c;
		uhca_ring_publish(&cq->page->ring.consumer, c);
		uhcav_cq_took(cq, payloads);
	}
	return got;
}

/* What the dead daemon left of all queues. */
int uhcav_cq_flush(struct uhcav_cq *cq, int n, struct ibv_wc *wc)
{
	uint32_t cursor = 0;
	struct uhcav_qp *qp;
	int got = 0;

	cq->flushing = true;
	while (got < n && (qp = uhcav_number_map_next(&cq->qps, &cursor))) {
		if (qp->qp.send_cq == &cq->cq)
			got += uhcav_qp_flush_send(qp, n - got, wc + got);
		if (qp->qp.recv_cq == &cq->cq)
			got += uhcav_qp_flush_recv(qp, n - got, wc + got);
	}
	return got;
}

int uhcav_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	enum uhcav_life life = uhcav_life(cq->ctx);
	bool busy = false, takes_long;
	int got;

	if (life == UHCAV_FORKED)
		return -uhcav_failed(EIO);
	uhcav_cq_lock(cq);
	got = cq->flushing ? 0 : cqes_take(cq, n, wc);
	if (!got && n > 0)
		busy = uhcav_cq_found_none(cq) && n == 1;
	/*
	 * "life" was read before the ring was found empty: what the daemon completed comes first.
	 */
	if (!got && life == UHCAV_FATAL)
		got = uhcav_cq_flush(cq, n, wc);
	takes_long = !got && !busy && uhcav_cq_takes_long(cq);
	uhcav_unlock(&cq->lock);
	if (got)
		uhcav_waits_no_more();
	else if (!busy)
		uhcav_cq_wait(takes_long);
	return got;
}

bool uhcav_cq_pending(struct uhcav_cq *cq)
{
	uint32_t cursor = 0;
	struct uhcav_qp *qp;
	bool pending;

	uhcav_lock(&cq->lock);
	pending = !cq->flushing && uhcav_cqe_valid(uhcav_cq_slot(cq, cq->consumer), cq->consumer);
	while (!pending && (qp = uhcav_number_map_next(&cq->qps, &cursor)))
		pending = (qp->qp.send_cq == &cq->cq && uhcav_qp_send_outstanding(qp)) ||
			  (qp->qp.recv_cq == &cq->cq && uhcav_qp_recv_outstanding(qp));
	uhcav_unlock(&cq->lock);
	return pending;
}
