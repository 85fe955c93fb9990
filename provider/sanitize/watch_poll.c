/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See watch.h. The provider keeps how far a QP's send queue has completed (queue_pair.h): what
 * the shadow has before that is done; receives are found by wr_id. Both are looked at under the
 * CQ's lock, because the QP may be destroyed by another thread as soon as it is given up; what they
 * hold is judged behind it.
 */
#include "watch.h"

#include "capacity.h"
#include "forking.h"
#include "inflight.h"
#include "keys.h"
#include "lifetime.h"
#include "provider/base/base.h"
#include "provider/connection/connection.h"
#include "provider/crash/crash.h"
#include "provider/hang/hang.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/poll/poll.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"
#include "shadow.h"
#include "words.h"

#define BATCH 16u

/* Of one queue, what a completion has brought to an end; the shadow's names are copied. */
struct batch {
	struct uhcav_shadow of; /* what it is called: not to be used as a queue */
	struct uhcav_request requests[BATCH];
	uint32_t n;
	uint32_t end; /* of a send queue: what is before this index is complete */
	struct uhcav_asker qp;
};

static void note(struct batch *b, const struct uhcav_shadow *s)
{
	b->of = *s;
	b->of.requests = NULL;
}

static struct uhcav_shadow *receives_of(const struct uhcav_qp *qp)
{
	return qp->qp.srq ? uhcav_srq_of(qp->qp.srq)->shadow : qp->recv_shadow;
}

/* A failed completion has no opcode: its wr_id tells whose it is, unless both queues have it. */
static bool is_receive(const struct uhcav_qp *qp, const struct ibv_wc *wc)
{
	bool sent, received;

	if (wc->status == IBV_WC_SUCCESS)
		return wc->opcode & IBV_WC_RECV;
	sent = uhcav_shadow_has(qp->send_shadow, wc->wr_id, qp->sq.polled);
	received = uhcav_shadow_has(receives_of(qp), wc->wr_id, 0);
	return sent == received ? wc->opcode & IBV_WC_RECV : received;
}

/* Under the CQ's lock. */
static void collect(struct uhcav_here here, struct uhcav_cq *cq, const struct ibv_wc *wc,
		    struct batch *b)
{
	struct uhcav_qp *qp = uhcav_number_map_find(&cq->qps, wc->qp_num);
	struct uhcav_shadow *s;
	bool recv;

	b->n = 0;
	if (!qp)
		return;
	recv = is_receive(qp, wc);
	if (wc->status != IBV_WC_SUCCESS) {
		uhcav_diagnostic_trouble();
		uhcav_capacity_failed(qp->send_shadow, here, wc->status);
		uhcav_capacity_failed(qp->recv_shadow, here, wc->status);
	}
	s = recv ? receives_of(qp) : qp->send_shadow;
	if (!s)
		return;
	note(b, s);
	b->end = qp->sq.polled;
	b->qp = (struct uhcav_asker){qp->ctx, qp->qp.handle};
	/* Each receive completes for itself, and its length is this completion's. */
	b->n = recv ? uhcav_shadow_complete_one(s, wc->wr_id, b->requests)
		    : uhcav_shadow_complete(s, qp->sq.polled, b->requests, BATCH);
}

/* Was what its wr_id points to freed since the post? */
static void look_at_id(struct uhcav_here here, const struct uhcav_shadow *s,
		       const struct uhcav_request *r)
{
	const struct uhcav_stack *freed, *polled;

	if (uhcav_frees_now() == r->since || !uhcav_check_on(UHCA_CHECK_WR_ID_FREED))
		return;
	freed = uhcav_frees_find(r->wr_id, r->since);
	polled = freed ? uhcav_stack_take(here) : NULL;
	if (!freed || !uhcav_diagnostic_is_new(UHCA_CHECK_WR_ID_FREED, polled, freed))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_WR_ID_FREED,
			       "a completion's wr_id points to memory that was freed");
	uhcav_words_request(s, r);
	uhcav_diagnostic_stack(polled, "polled by");
	uhcav_diagnostic_stack(freed, "freed by");
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_report();
}

/*
 * Of a batch, which one the completion is of, if it is to be explained: flushed ones only follow
 * another, and a receive knows nothing but its own length and keys. Behind a failed request each
 * has a completion, and so many of them ("later") were polled with this one.
 */
static const struct uhcav_request *find_failed(const struct batch *b, const struct ibv_wc *wc,
					       uint32_t later)
{
	const struct uhcav_request *found = NULL;

	if (wc->status == IBV_WC_SUCCESS || wc->status == IBV_WC_WR_FLUSH_ERR ||
	    (!b->of.is_send && wc->status != IBV_WC_LOC_LEN_ERR &&
	     wc->status != IBV_WC_LOC_PROT_ERR))
		return NULL;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct uhcav_request *r = &b->requests[i];
		bool is_it = !b->of.is_send || r->index + later + 1 == b->end;
		if (r->wr_id == wc->wr_id && (is_it || (!found && b->n < BATCH)))
			found = r;
	}
	return found;
}

/* polled: what "here" is; NULL: it has polled the completion. */
static void explain(struct uhcav_here here, const struct uhcav_shadow *of,
		    const struct uhcav_request *r, struct uhcav_asker who,
		    enum ibv_wc_status status, const char *polled)
{
	uhcav_failed_explain(here, &(struct uhcav_failed){
					   .who = who,
					   .name = uhcav_words_name(of, r),
					   .is_recv = !of->is_send,
					   .rkey = r->rkey,
					   .remote_addr = r->remote_addr,
					   .remote_length = r->remote_length,
					   .status = status,
					   .posted = r->posted,
					   .polled = polled,
				   });
}

/* Its target's memory may be gone; else the daemon knows the cause. */
static void look_at_failed(struct uhcav_here here, const struct batch *b,
			   const struct uhcav_request *r, enum ibv_wc_status status)
{
	if (b->of.is_send && (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
			      status == IBV_WC_REM_OP_ERR))
		uhcav_inflight_target(&b->of, r);
	if (status == IBV_WC_LOC_PROT_ERR) {
		uhcav_keys_unknown(here, &b->of, r, &b->qp);
		uhcav_inflight_unmapped(here, &b->of, r);
		return;
	}
	if (status != IBV_WC_REM_ACCESS_ERR || !uhcav_keys_elsewhere(here, &b->of, r, &b->qp))
		explain(here, &b->of, r, b->qp, status, NULL);
}

static void look_at_sent(struct uhcav_here here, const struct batch *b,
			 const struct uhcav_request *r)
{
	if (b->of.is_send && r->ah && r->to_qp)
		uhcav_datagram_sent(
			here,
			&(struct uhcav_datagram){
				.who = b->qp, .ah = r->ah, .qpn = r->to_qp, .posted = r->posted},
			r->remote_length);
}

/*
 * A failed request's buffers hold anything, and so do its successors'. A WRITE with immediate data
 * takes a receive and leaves its buffers alone.
 */
static void judge(struct uhcav_here here, struct batch *b, const struct ibv_wc *wc, uint32_t later)
{
	bool good = wc->status == IBV_WC_SUCCESS && wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM;
	const struct uhcav_request *failed = find_failed(b, wc, later);

	for (uint32_t i = 0; i < b->n; i++) {
		uhcav_request_open(&b->requests[i]);
		if (b->requests[i].wr_id == wc->wr_id)
			look_at_id(here, &b->of, &b->requests[i]);
		if (good)
			uhcav_inflight_end(here, &b->of, &b->requests[i], wc->byte_len);
		if (wc->status == IBV_WC_SUCCESS)
			look_at_sent(here, b, &b->requests[i]);
	}
	if (failed)
		look_at_failed(here, b, failed, wc->status);
	for (uint32_t i = 0; i < b->n; i++)
		uhcav_request_free(&b->requests[i]);
}

/* ---- failures that are not read: the program polls another queue, or none ---- */

struct unread {
	struct uhca_abi_cqe entry;
	struct uhcav_request request; /* without its pieces */
	struct uhcav_shadow of;       /* what it is called: not to be used as a queue */
	struct uhcav_asker who;
};

static bool is_unread_failure(const struct uhca_abi_cqe *e, uint32_t qpn)
{
	return e->qpn == qpn && e->status != UHCA_ABI_WC_SUCCESS &&
	       e->status != UHCA_ABI_WC_WR_FLUSH_ERR;
}

/* The first one that waits there. One that is locked or resized is looked at another time. */
static bool find_unread(struct uhcav_cq *cq, uint32_t qpn, struct uhca_abi_cqe *to)
{
	const struct uhca_abi_cqe *e;
	bool found = false;
	uint32_t i;

	if (!uhcav_try_lock(&cq->lock))
		return false;
	i = cq->consumer + (cq->current != NULL);
	for (uint32_t n = 0; !found && !cq->resizing && !cq->flushing && n <= cq->mask &&
			     uhcav_cqe_valid(e = uhcav_cq_slot(cq, i), i);
	     n++, i++) {
		found = is_unread_failure(e, qpn);
		if (found)
			*to = *e;
	}
	uhcav_unlock(&cq->lock);
	return found;
}

/* Its request; receives have no index, and are known by their wr_id. */
static bool find_unread_request(const struct uhcav_qp *qp, struct unread *u)
{
	const bool is_recv = uhca_cqe_is_receive(&u->entry);
	struct uhcav_shadow *recv = qp->qp.srq ? uhcav_srq_of(qp->qp.srq)->shadow : qp->recv_shadow;
	struct uhcav_shadow *s = is_recv ? recv : qp->send_shadow;
	bool found = false;

	if (!s)
		return false;
	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		found = !r->done &&
			(is_recv ? r->wr_id == u->entry.wr_id : r->index == u->entry.wqe_index);
		if (found)
			u->request = *r;
	}
	uhcav_unlock(&s->lock);
	u->request.pieces = NULL;
	u->request.n_pieces = 0;
	u->of = *s;
	u->of.requests = NULL;
	u->who = (struct uhcav_asker){qp->ctx, qp->qp.handle};
	return found;
}

static void explain_unread(struct uhcav_here here, const struct unread *u, const char *polled)
{
	explain(here, &u->of, &u->request, u->who, (enum ibv_wc_status)u->entry.status, polled);
}

/* The queue that is not this one; NULL: the queue pair has one for all. */
static struct uhcav_cq *other_queue(const struct uhcav_qp *qp, const struct uhcav_cq *cq)
{
	struct ibv_cq *other = qp->qp.send_cq == &cq->cq ? qp->qp.recv_cq : qp->qp.send_cq;

	return other && other != &cq->cq ? uhcav_cq_of(other) : NULL;
}

/* Once for each failure: its flushes are many. */
static bool is_new_failure(struct uhcav_qp *qp)
{
	return qp->send_shadow &&
	       !__atomic_exchange_n(&qp->send_shadow->unread, true, __ATOMIC_RELAXED);
}

/*
 * "here" has polled a flushed request: what failed before it may wait in the other queue. Under the
 * CQ's lock the queue pair stays, and so does that queue.
 */
static void look_at_flushed(struct uhcav_here here, struct uhcav_cq *cq, uint32_t qpn, bool locked)
{
	struct unread u;
	struct uhcav_cq *other;
	struct uhcav_qp *qp;
	bool found;

	if (!locked)
		uhcav_lock(&cq->lock);
	qp = uhcav_number_map_find(&cq->qps, qpn);
	other = qp ? other_queue(qp, cq) : NULL;
	found = other && find_unread(other, qpn, &u.entry) && find_unread_request(qp, &u) &&
		is_new_failure(qp);
	if (!locked)
		uhcav_unlock(&cq->lock);
	if (found)
		explain_unread(here, &u, "a request that was flushed behind it was polled by");
}

/* Other failures may be of a connection that is over. */
static bool is_refusal(const struct uhca_abi_cqe *e)
{
	return e->status == UHCA_ABI_WC_REM_ACCESS_ERR || e->status == UHCA_ABI_WC_REM_INV_REQ_ERR;
}

void uhcav_watch_dropped(struct uhcav_here here, struct uhcav_qp *qp)
{
	struct unread u;

	if (qp->send_shadow && qp->qp.send_cq &&
	    find_unread(uhcav_cq_of(qp->qp.send_cq), qp->qp.qp_num, &u.entry) &&
	    is_refusal(&u.entry) && find_unread_request(qp, &u) && is_new_failure(qp))
		explain_unread(here, &u,
			       "its error was not polled before the queue pair was destroyed, by");
}

/* ---- */

static void settle(struct uhcav_here here, struct uhcav_cq *cq, const struct ibv_wc *wc,
		   uint32_t later, bool locked)
{
	struct batch b;

	do {
		if (!locked)
			uhcav_lock(&cq->lock);
		collect(here, cq, wc, &b);
		if (!locked)
			uhcav_unlock(&cq->lock);
		judge(here, &b, wc, later);
	} while (b.n == BATCH);
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		look_at_flushed(here, cq, wc->qp_num, locked);
}

/* Sends that were flushed behind the first of n. */
static uint32_t flushed_behind(const struct ibv_wc *wc, int n)
{
	uint32_t later = 0;

	for (int i = 1; i < n && wc->status != IBV_WC_SUCCESS; i++)
		later += wc[i].qp_num == wc->qp_num && wc[i].status == IBV_WC_WR_FLUSH_ERR &&
			 !(wc[i].opcode & IBV_WC_RECV);
	return later;
}

/* As the program gets it. */
static void hand_out(struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS && uhcav_check_on(UHCA_CHECK_WC_UNSET))
		uhcav_misuse_spoil(wc, wc->opcode & IBV_WC_RECV);
}

struct use {
	const struct ibv_cq *cq;
	struct uhcav_here here;
};

static void use_on(struct uhcav_shadow *s, void *arg)
{
	const struct use *u = arg;

	if (__atomic_load_n(&s->undrained.destroyed, __ATOMIC_ACQUIRE) && s->undrained.cq == u->cq)
		uhcav_misuse_used_on(&s->undrained, s->number, u->here);
}

/*
 * Forgets the arming when the program has polled all completions that waited then, or found none.
 * A poll also shows that the program goes on after it destroyed a queue pair.
 */
static void polled(struct uhcav_cq *cq, bool found, struct uhcav_here here)
{
	struct use u = {&cq->cq, here};

	if (uhcav_misuse_any_undrained())
		uhcav_shadow_each(use_on, &u);
	if (!__atomic_load_n(&cq->armed_late, __ATOMIC_RELAXED))
		return;
	cq->armed_polled = true;
	if (!found || (int32_t)(cq->consumer + (cq->current != NULL) - cq->armed_end) >= 0)
		__atomic_store_n(&cq->armed_late, NULL, __ATOMIC_RELAXED);
}

static void enter(struct uhcav_cq *cq, struct uhcav_here here)
{
	uhcav_lifetime_enter(&cq->inside, &cq->cq, cq->lock.off, here, NULL);
}

int uhcav_watch_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	int got;

	uhcav_crash_enter("ibv_poll_cq", ibcq);
	uhcav_memory_settle();
	enter(cq, UHCAV_HERE);
	uhcav_hang_polls(cq);
	uhcav_opcode_watch_end();
	got = uhcav_poll_cq(ibcq, n, wc);
	if (got < 0 || uhcav_life(cq->ctx) == UHCAV_FORKED)
		uhcav_forking_used(UHCAV_HERE, cq->ctx, "ibv_poll_cq");
	polled(cq, got > 0, UHCAV_HERE);
	uhcav_hang_polled(cq, got, UHCAV_HERE);
	if (got > 0)
		uhcav_quarantine_look();
	for (int i = 0; i < got; i++) {
		settle(UHCAV_HERE, cq, &wc[i], flushed_behind(&wc[i], got - i), false);
		hand_out(&wc[i]);
	}
	uhcav_misuse_handed_out(wc, got);
	uhcav_inside_leave(&cq->inside);
	return got;
}

/* ---- extended CQs: the functions that stood in them are the same in all ---- */

static int (*real_start)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
static int (*real_next)(struct ibv_cq_ex *cq);
static void (*real_end)(struct ibv_cq_ex *cq);

static void settle_current(struct uhcav_here here, struct ibv_cq_ex *cqx)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibv_cq_ex_to_cq(cqx));
	struct ibv_wc wc = {.wr_id = cq->current->wr_id,
			    .status = (enum ibv_wc_status)cq->current->status,
			    .opcode = (enum ibv_wc_opcode)cq->current->opcode,
			    .byte_len = cq->current->byte_len,
			    .qp_num = cq->current->qpn};

	settle(here, cq, &wc, 0, true);
}

static int start_poll(struct ibv_cq_ex *cqx, struct ibv_poll_cq_attr *attr)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibv_cq_ex_to_cq(cqx));
	int err;

	uhcav_crash_enter("ibv_start_poll", cqx);
	uhcav_memory_settle();
	enter(cq, UHCAV_HERE);
	uhcav_hang_polls(cq);
	err = real_start(cqx, attr);
	polled(cq, !err, UHCAV_HERE);
	uhcav_hang_polled(cq, !err, UHCAV_HERE);
	if (!err)
		settle_current(UHCAV_HERE, cqx);
	else
		uhcav_inside_leave(&cq->inside);
	return err;
}

static int next_poll(struct ibv_cq_ex *cqx)
{
	int err = real_next(cqx);

	polled(uhcav_cq_of(ibv_cq_ex_to_cq(cqx)), !err, UHCAV_HERE);
	if (!err)
		uhcav_hang_polled(uhcav_cq_of(ibv_cq_ex_to_cq(cqx)), 1, UHCAV_HERE);
	if (!err)
		settle_current(UHCAV_HERE, cqx);
	return err;
}

static void end_poll(struct ibv_cq_ex *cqx)
{
	real_end(cqx);
	uhcav_inside_leave(&uhcav_cq_of(ibv_cq_ex_to_cq(cqx))->inside);
}

void uhcav_watch_cq_ex(struct ibv_cq_ex *cq)
{
	real_start = cq->start_poll;
	real_next = cq->next_poll;
	real_end = cq->end_poll;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	uhcav_misuse_watch_reads(cq);
}
