/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks into completion queues without polling them. See unread.h. */
#include "unread.h"

#include "provider/connection/connection.h"
#include "shadow.h"
#include "words.h"

struct unread {
	struct uhca_abi_cqe entry;
	struct uhcav_request request; /* without its pieces */
	struct uhcav_shadow of;       /* what it is called: not to be used as a queue */
	struct uhcav_asker who;
	const char *polled; /* what "here" is */
};

static bool is_failure(const struct uhca_abi_cqe *e, uint32_t qpn)
{
	return e->qpn == qpn && e->status != UHCA_ABI_WC_SUCCESS &&
	       e->status != UHCA_ABI_WC_WR_FLUSH_ERR;
}

/* The first one that waits there. One that is locked or resized is looked at another time. */
static bool find_failure(struct uhcav_cq *cq, uint32_t qpn, struct uhca_abi_cqe *to)
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
		found = is_failure(e, qpn);
		if (found)
			*to = *e;
	}
	uhcav_unlock(&cq->lock);
	return found;
}

/* Its request; receives have no index, and are known by their wr_id. */
static bool find_request(const struct uhcav_qp *qp, struct unread *u)
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

static void explain(struct uhcav_here here, const struct unread *u)
{
	const struct uhcav_request *r = &u->request;

	uhcav_failed_explain(here, &(struct uhcav_failed){
					   .who = u->who,
					   .request = uhcav_words_opcode(&u->of, r),
					   .queue = u->of.type,
					   .number = u->of.number,
					   .wr_id = r->wr_id,
					   .is_recv = !u->of.is_send,
					   .rkey = r->rkey,
					   .remote_addr = r->remote_addr,
					   .remote_length = r->remote_length,
					   .status = (enum ibv_wc_status)u->entry.status,
					   .posted = r->posted,
					   .polled = u->polled,
				   });
}

/* The queue that is not this one; NULL: the queue pair has one for all. */
static struct uhcav_cq *other_queue(const struct uhcav_qp *qp, const struct uhcav_cq *cq)
{
	struct ibv_cq *other = qp->qp.send_cq == &cq->cq ? qp->qp.recv_cq : qp->qp.send_cq;

	return other && other != &cq->cq ? uhcav_cq_of(other) : NULL;
}

/* Once for each failure: its flushes are many. */
static bool is_new(struct uhcav_qp *qp)
{
	return qp->send_shadow &&
	       !__atomic_exchange_n(&qp->send_shadow->unread, true, __ATOMIC_RELAXED);
}

/* Under the CQ's lock the queue pair stays, and so does its other queue. */
void uhcav_unread_flushed(struct uhcav_here here, struct uhcav_cq *cq, uint32_t qpn, bool locked)
{
	struct unread u = {.polled = "a request that was flushed behind it was polled by"};
	struct uhcav_cq *other;
	struct uhcav_qp *qp;
	bool found;

	if (!locked)
		uhcav_lock(&cq->lock);
	qp = uhcav_number_map_find(&cq->qps, qpn);
	other = qp ? other_queue(qp, cq) : NULL;
	found = other && find_failure(other, qpn, &u.entry) && find_request(qp, &u) && is_new(qp);
	if (!locked)
		uhcav_unlock(&cq->lock);
	if (found)
		explain(here, &u);
}

/* Other failures may be of a connection that is over. */
static bool is_refusal(const struct uhca_abi_cqe *e)
{
	return e->status == UHCA_ABI_WC_REM_ACCESS_ERR || e->status == UHCA_ABI_WC_REM_INV_REQ_ERR;
}

void uhcav_unread_dropped(struct uhcav_here here, struct uhcav_qp *qp)
{
	struct unread u = {
		.polled = "its error was not polled before the queue pair was destroyed, by"};

	if (qp->send_shadow && qp->qp.send_cq &&
	    find_failure(uhcav_cq_of(qp->qp.send_cq), qp->qp.qp_num, &u.entry) &&
	    is_refusal(&u.entry) && find_request(qp, &u) && is_new(qp))
		explain(here, &u);
}
