/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation, change and destruction of queues and of what has them. */
#include "watch.h"

#include "capacity.h"
#include "events.h"
#include "lifetime.h"
#include "posting.h"
#include "provider/base/base.h"
#include "provider/connection/connection.h"
#include "provider/gone/gone.h"
#include "provider/hang/hang.h"
#include "provider/poll/poll.h"
#include "provider/portability/portability.h"
#include "provider/post/post.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"
#include "shadow.h"

#include <errno.h>
#include <stdlib.h>

static const char *type_of(const struct ibv_qp *qp)
{
	switch ((int)qp->qp_type) {
	case IBV_QPT_RC:
		return "RC QP";
	case IBV_QPT_UC:
		return "UC QP";
	case IBV_QPT_UD:
		return "UD QP";
	case IBV_QPT_RAW_PACKET:
		return "raw packet QP";
	default:
		return "XRC QP";
	}
}

/* A queue pair that uses an SRQ. */
static void share(struct uhcav_shadow *srq, bool datagrams, struct uhcav_here here)
{
	if (!srq)
		return;
	if (datagrams)
		uhcav_posting_takes_datagrams(srq);
	uhcav_misuse_used_on(&srq->undrained, srq->number, here);
}

static void shadow_qp(struct ibv_qp *ibqp, uint32_t max_inline, struct uhcav_here here)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	struct uhcav_shadow as = {.owner = ibqp,
				  .context = ibqp->context,
				  .pd = ibqp->pd->handle,
				  .number = ibqp->qp_num,
				  .type = type_of(ibqp),
				  .is_send = true,
				  .all_signaled = qp->sq_sig_all,
				  .datagrams = ibqp->qp_type == IBV_QPT_UD,
				  .max_inline = max_inline,
				  .cq = uhcav_cq_of(ibqp->send_cq),
				  .state = &qp->state,
				  .retired = &qp->page->send.consumer,
				  .max_wr = qp->cap.max_send_wr};

	/* That the provider copies what is sent is no use that the program makes of it. */
	if (uhcav_check_on(UHCA_CHECK_RECV_USED) || uhcav_check_on(UHCA_CHECK_READ_USED))
		qp->gather_limit = 0;
	qp->send_shadow = uhcav_shadow_create(&as);
	as.is_send = false;
	as.retired = NULL;
	as.cq = uhcav_cq_of(ibqp->recv_cq);
	as.max_wr = qp->cap.max_recv_wr;
	if (!ibqp->srq && ibqp->recv_cq)
		qp->recv_shadow = uhcav_shadow_create(&as);
	if (ibqp->srq)
		share(uhcav_srq_of(ibqp->srq)->shadow, as.datagrams, here);
}

/*
 * What a program has not asked for it is not granted, as on adapters that have no more: then it
 * goes by the number that it is told, or is found out.
 */
static uint32_t grant(struct ibv_qp_cap *granted, const struct ibv_qp_cap *asked)
{
	if (uhcav_check_on(UHCA_CHECK_INLINE_UNASKED) &&
	    granted->max_inline_data > asked->max_inline_data)
		granted->max_inline_data = asked->max_inline_data;
	return granted->max_inline_data;
}

/* QPs without send queues (XRC_RECV, RSS) are other structs of ours. */
static void watch_qp(struct ibv_qp *ibqp, uint32_t max_inline, struct uhcav_here here)
{
	shadow_qp(ibqp, max_inline, here);
	uhcav_hang_qp_made(uhcav_qp_of(ibqp), uhcav_stack_take(here));
}

static void made_qp(struct uhcav_here here, struct ibv_qp *qp)
{
	uhcav_watch_made(
		here, (struct uhcav_object){.kind = UHCAV_KIND_QP,
					    .self = qp,
					    .number = qp->qp_num,
					    .context = qp->context,
					    .uses = {qp->pd, qp->send_cq, qp->recv_cq, qp->srq}});
}

/* Is one of the queues that a QP is to have gone? */
static bool is_on_gone(struct uhcav_here here, const struct ibv_cq *send, const struct ibv_cq *recv,
		       const struct ibv_srq *srq)
{
	bool gone = uhcav_gone_report_argument(here, "ibv_create_qp", send) ||
		    uhcav_gone_report_argument(here, "ibv_create_qp", recv) ||
		    uhcav_gone_report_argument(here, "ibv_create_qp", srq);

	if (gone)
		errno = EINVAL;
	return gone;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap asked = attr->cap;
	struct ibv_qp *qp = NULL;

	if (!is_on_gone(UHCAV_HERE, attr->send_cq, attr->recv_cq, attr->srq))
		qp = uhcav_create_qp(pd, attr);
	if (qp) {
		made_qp(UHCAV_HERE, qp);
		watch_qp(qp, grant(&attr->cap, &asked), UHCAV_HERE);
		uhcav_portability_qp(UHCAV_HERE, attr->qp_type, &asked);
	}
	return qp;
}

static bool is_ordinary(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->qp_type != IBV_QPT_XRC_RECV && !uhcav_rss_wanted(attr);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	bool ordinary = is_ordinary(attr);
	const struct ibv_qp_cap asked = attr->cap;
	struct ibv_qp *qp = NULL;

	if (!ordinary || !is_on_gone(UHCAV_HERE, attr->send_cq, attr->recv_cq, attr->srq))
		qp = uhcav_create_qp_ex(ibctx, attr);
	if (!qp)
		return NULL;
	made_qp(UHCAV_HERE, qp);
	uhcav_portability_qp(UHCAV_HERE, attr->qp_type, &asked);
	if (!ordinary)
		return qp;
	watch_qp(qp, grant(&attr->cap, &asked), UHCAV_HERE);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		uhcav_watch_wr(qp);
	return qp;
}

/* It can send: the next post says that both ends are connected. */
static void match_later(struct ibv_qp *ibqp, enum ibv_qp_state state)
{
	struct uhcav_shadow *s = uhcav_qp_of(ibqp)->send_shadow;

	if (s && state == IBV_QPS_RTS && uhcav_check_on(UHCA_CHECK_CONN_MISMATCH))
		__atomic_store_n(&s->unmatched, true, __ATOMIC_RELEASE);
}

static int modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	uint32_t outstanding = uhcav_hang_outstanding(uhcav_qp_of(ibqp));
	int err = uhcav_modify_qp(ibqp, attr, attr_mask);

	if (err)
		return err;
	uhcav_hang_qp_modified(uhcav_qp_of(ibqp), attr, attr_mask, outstanding, UHCAV_HERE);
	uhcav_portability_modify(UHCAV_HERE, attr, attr_mask);
	uhcav_connection_modified(UHCAV_HERE, ibqp, attr, attr_mask);
	if (attr_mask & IBV_QP_MAX_QP_RD_ATOMIC && uhcav_qp_of(ibqp)->send_shadow)
		__atomic_store_n(&uhcav_qp_of(ibqp)->send_shadow->no_reads, !attr->max_rd_atomic,
				 __ATOMIC_RELAXED);
	if (!(attr_mask & IBV_QP_STATE))
		return 0;
	match_later(ibqp, attr->qp_state);
	if (attr->qp_state == IBV_QPS_ERR) {
		uhcav_shadow_open(uhcav_qp_of(ibqp)->send_shadow);
		uhcav_shadow_open(uhcav_qp_of(ibqp)->recv_shadow);
	}
	if (attr->qp_state != IBV_QPS_RESET)
		return 0;
	uhcav_capacity_over(uhcav_qp_of(ibqp)->send_shadow);
	uhcav_capacity_over(uhcav_qp_of(ibqp)->recv_shadow);
	uhcav_shadow_clear(uhcav_qp_of(ibqp)->send_shadow);
	uhcav_shadow_clear(uhcav_qp_of(ibqp)->recv_shadow);
	return 0;
}

static int query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr)
{
	const struct uhcav_shadow *s = uhcav_qp_of(ibqp)->send_shadow;
	int err = uhcav_query_qp(ibqp, attr, attr_mask, init_attr);

	if (err || !s)
		return err;
	grant(&attr->cap, &(struct ibv_qp_cap){.max_inline_data = s->max_inline});
	grant(&init_attr->cap, &(struct ibv_qp_cap){.max_inline_data = s->max_inline});
	return 0;
}

/* The SRQ from which the QP may have taken receives that nobody will see again, or NULL. */
static struct uhcav_shadow *undrained(struct ibv_qp *ibqp, const struct uhcav_shadow *send)
{
	struct uhcav_shadow *srq = ibqp->srq ? uhcav_srq_of(ibqp->srq)->shadow : NULL;
	uint32_t state;

	if (!srq || !send || !srq->n || !uhcav_check_on(UHCA_CHECK_SRQ_UNDRAINED))
		return NULL;
	state = __atomic_load_n(send->state, __ATOMIC_ACQUIRE);
	return state == IBV_QPS_INIT || uhcav_shadow_is_idle(send) ||
			       __atomic_load_n(&uhcav_qp_of(ibqp)->last_wqe, __ATOMIC_ACQUIRE)
		       ? NULL
		       : srq;
}

static int destroy_qp(struct ibv_qp *ibqp)
{
	const struct uhcav_events events = {.object = ibqp,
					    .read = &uhcav_qp_of(ibqp)->async_events_read,
					    .acknowledged = &ibqp->events_completed,
					    .mutex = &ibqp->mutex,
					    .call = "ibv_ack_async_event"};
	struct uhcav_watch_end end;
	struct uhcav_shadow *send = uhcav_qp_of(ibqp)->send_shadow;
	struct uhcav_shadow *recv = uhcav_qp_of(ibqp)->recv_shadow;
	bool inherited = uhcav_life(uhcav_qp_of(ibqp)->ctx) == UHCAV_FORKED;
	struct uhcav_shadow *srq = inherited ? NULL : undrained(ibqp, send);
	const struct ibv_cq *cq = ibqp->recv_cq;
	uint32_t number = ibqp->qp_num;
	int err;

	if (!inherited) {
		uhcav_lifetime_ending(&uhcav_qp_of(ibqp)->inside, ibqp, UHCAV_HERE);
		uhcav_watch_dropped(UHCAV_HERE, uhcav_qp_of(ibqp));
		uhcav_shadow_unplug(send);
	}
	uhcav_events_settle(UHCAV_HERE, &events);
	uhcav_capacity_over(inherited ? NULL : send);
	uhcav_capacity_over(inherited ? NULL : recv);
	if (!inherited)
		uhcav_connection_gone(UHCAV_HERE, ibqp);
	uhcav_hang_qp_gone(uhcav_qp_of(ibqp));
	end = uhcav_watch_ending(UHCAV_HERE, ibqp);
	err = uhcav_watch_ended(&end, uhcav_destroy_qp(ibqp));
	/* What a fork's child inherited may be locked for ever. */
	if (!err && !inherited) {
		if (srq)
			uhcav_misuse_leave_undrained(&srq->undrained, cq, number, UHCAV_HERE);
		uhcav_shadow_destroy(send);
		uhcav_shadow_destroy(recv);
	}
	return err;
}

static void made_cq(struct uhcav_here here, struct ibv_context *ibctx, struct ibv_cq *cq)
{
	uhcav_watch_made_on(here, UHCAV_KIND_CQ, cq, cq->handle, ibctx, NULL);
	uhcav_hang_cq_made(uhcav_cq_of(cq), uhcav_stack_take(here));
}

static bool is_gone(struct uhcav_here here, const struct ibv_comp_channel *channel)
{
	struct uhcav_tomb t;

	if (!channel || !uhcav_tomb_find(channel, &t))
		return false;
	uhcav_gone_report_call(here, "ibv_create_cq", channel);
	errno = EINVAL;
	return true;
}

static struct ibv_cq *create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq = NULL;

	if (!is_gone(UHCAV_HERE, channel))
		cq = uhcav_create_cq(ibctx, cqe, channel, comp_vector);
	if (cq)
		made_cq(UHCAV_HERE, ibctx, cq);
	return cq;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *ibctx, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = NULL;

	if (!is_gone(UHCAV_HERE, attr->channel))
		cq = uhcav_create_cq_ex(ibctx, attr);
	if (!cq)
		return NULL;
	made_cq(UHCAV_HERE, ibctx, ibv_cq_ex_to_cq(cq));
	uhcav_watch_cq_ex(cq);
	return cq;
}

static int destroy_cq(struct ibv_cq *cq)
{
	const struct uhcav_events events = {.object = cq,
					    .read = &uhcav_cq_of(cq)->comp_events_read,
					    .acknowledged = &cq->comp_events_completed,
					    .mutex = &cq->mutex,
					    .call = "ibv_ack_cq_events"};
	struct uhcav_watch_end end;

	if (uhcav_life(uhcav_cq_of(cq)->ctx) != UHCAV_FORKED)
		uhcav_lifetime_ending(&uhcav_cq_of(cq)->inside, cq, UHCAV_HERE);
	uhcav_events_settle(UHCAV_HERE, &events);
	uhcav_hang_cq_gone(uhcav_cq_of(cq));
	end = uhcav_watch_ending(UHCAV_HERE, cq);
	return uhcav_watch_ended(&end, uhcav_destroy_cq(cq));
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
	uhcav_portability_resize(UHCAV_HERE, false);
	return uhcav_resize_cq(cq, cqe);
}

static void made_srq(struct uhcav_here here, struct ibv_pd *pd, struct ibv_srq *srq,
		     const struct ibv_srq_attr *granted)
{
	const struct uhcav_shadow as = {.owner = srq,
					.context = pd->context,
					.pd = pd->handle,
					.number = srq->handle,
					.type = "SRQ",
					.max_wr = granted->max_wr};

	uhcav_watch_made_on(here, UHCAV_KIND_SRQ, srq, srq->handle, pd->context, pd);
	/* What XRC brings is polled with QP numbers of other processes. */
	if (!uhcav_srq_of(srq)->xrc)
		uhcav_srq_of(srq)->shadow = uhcav_shadow_create(&as);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	uint32_t max_sge = attr->attr.max_sge;
	struct ibv_srq *srq = uhcav_create_srq(pd, attr);

	if (srq) {
		made_srq(UHCAV_HERE, pd, srq, &attr->attr);
		uhcav_portability_srq(UHCAV_HERE, max_sge);
	}
	return srq;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *ibctx, struct ibv_srq_init_attr_ex *attr)
{
	uint32_t max_sge = attr->attr.max_sge;
	struct ibv_srq *srq = uhcav_create_srq_ex(ibctx, attr);

	if (srq) {
		made_srq(UHCAV_HERE, attr->pd, srq, &attr->attr);
		uhcav_portability_srq(UHCAV_HERE, max_sge);
	}
	return srq;
}

static int modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
	const struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	int err;

	if (attr_mask & IBV_SRQ_MAX_WR)
		uhcav_portability_resize(UHCAV_HERE, true);
	err = uhcav_modify_srq(ibsrq, attr, attr_mask);

	if (!err && srq->shadow)
		srq->shadow->max_wr = srq->rq.max_wr;
	return err;
}

static int destroy_srq(struct ibv_srq *srq)
{
	struct uhcav_watch_end end;
	struct uhcav_shadow *shadow = uhcav_srq_of(srq)->shadow;
	bool inherited = uhcav_life(uhcav_srq_of(srq)->ctx) == UHCAV_FORKED;
	int err;

	if (!inherited)
		uhcav_lifetime_ending(&uhcav_srq_of(srq)->inside, srq, UHCAV_HERE);
	uhcav_capacity_over(inherited ? NULL : shadow);
	end = uhcav_watch_ending(UHCAV_HERE, srq);
	err = uhcav_watch_ended(&end, uhcav_destroy_srq(srq));
	if (!err && !inherited && shadow) {
		uhcav_misuse_forget_undrained(&shadow->undrained);
		uhcav_shadow_destroy(shadow);
	}
	return err;
}

static struct ibv_wq *create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr)
{
	struct ibv_wq *wq = uhcav_create_wq(ibctx, attr);

	if (wq)
		uhcav_watch_made(UHCAV_HERE, (struct uhcav_object){.kind = UHCAV_KIND_WQ,
								   .self = wq,
								   .number = wq->wq_num,
								   .context = ibctx,
								   .uses = {attr->pd, attr->cq}});
	return wq;
}

static int destroy_wq(struct ibv_wq *wq)
{
	struct uhcav_watch_end end = uhcav_watch_ending(UHCAV_HERE, wq);

	return uhcav_watch_ended(&end, uhcav_destroy_wq(wq));
}

const struct uhcav_watch uhcav_watch_queues[] = {
	{"create_cq", (void *)create_cq},   {"create_cq_ex", (void *)create_cq_ex},
	{"create_qp", (void *)create_qp},   {"create_qp_ex", (void *)create_qp_ex},
	{"create_srq", (void *)create_srq}, {"create_srq_ex", (void *)create_srq_ex},
	{"create_wq", (void *)create_wq},   {"destroy_cq", (void *)destroy_cq},
	{"destroy_qp", (void *)destroy_qp}, {"destroy_srq", (void *)destroy_srq},
	{"modify_srq", (void *)modify_srq}, {"destroy_wq", (void *)destroy_wq},
	{"modify_qp", (void *)modify_qp},   {"query_qp", (void *)query_qp},
	{"resize_cq", (void *)resize_cq},   {NULL, NULL},
};
