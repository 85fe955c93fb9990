/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair's life (IBTA vol. 1, 10.2.4; ibv_create_qp(3)): sizes, shared memory,
 * numbers, and the uses it counts on its PD, CQs and SRQ. States are qp_modify.c's business,
 * traffic the engines'.
 */
#include "qp.h"
#include "emu/core/base/base.h"
#include "emu/core/memory/memory.h"
#include "emu/core/queues/queues.h"
#include "engine.h"
#include "qp_share.h"
#include "qp_state.h"

#include <errno.h>
#include <stdlib.h>

/* Data areas that the provider fills of itself cost at most this much per QP. */
#define GATHER_BUDGET (256u * 1024)
#define DATA_ALIGN    64u

/* What a request names, found. */
struct parents {
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	struct srq *srq;
	struct xrcd *xrcd; /* XRC_RECV: and nothing else */
};

static bool has_type(const struct core_config *cfg, enum qp_type type)
{
	switch (type) {
	case QPT_RC:
		return !cfg->no_rc;
	case QPT_UC:
		return cfg->features & UHCA_ABI_HAS_UC;
	case QPT_UD:
		return cfg->features & UHCA_ABI_HAS_UD;
	case QPT_RAW_PACKET:
		return cfg->features & UHCA_ABI_HAS_RAW_PACKET;
	case QPT_XRC_SEND:
	case QPT_XRC_RECV:
		return cfg->features & UHCA_ABI_HAS_XRC;
	}
	return false;
}

static int check_type(struct device *dev, uint32_t type)
{
	switch (type) {
	case QPT_RC:
	case QPT_UC:
	case QPT_UD:
	case QPT_RAW_PACKET:
	case QPT_XRC_SEND:
	case QPT_XRC_RECV:
		if (has_type(&dev->cfg, (enum qp_type)type))
			return 0;
		return device_refuse(dev, -EOPNOTSUPP,
				     "qp_type %s: the device's profile does not support it",
				     qp_type_name((enum qp_type)type));
	}
	return device_refuse(dev, -EINVAL, "qp_type %u is not supported by the device", type);
}

/* For the QPs that can be attached to groups. */
static bool block_loopback_ok(const struct device *dev, const struct uhca_cmd_create_qp *in)
{
	const uint32_t needs = UHCA_ABI_HAS_MCAST | UHCA_ABI_HAS_BLOCK_LOOPBACK;

	return in->qp_type == QPT_UD && (dev->cfg.features & needs) == needs;
}

static bool low_latency_ok(const struct device *dev, const struct uhca_cmd_create_qp *in)
{
	return (in->qp_type == QPT_RC || in->qp_type == QPT_UC || in->qp_type == QPT_UD) &&
	       dev->cfg.features & UHCA_ABI_HAS_LOW_LATENCY;
}

static int check_flags(struct device *dev, const struct uhca_cmd_create_qp *in)
{
	const uint32_t flags = in->create_flags;

	if (flags & ~(QP_CREATE_BLOCK_SELF_MCAST_LB | UHCA_ABI_QP_LOW_LATENCY))
		return device_refuse(dev, -EOPNOTSUPP, "create_flags 0x%x has bits beyond 0x%x",
				     flags, (unsigned)QP_CREATE_BLOCK_SELF_MCAST_LB);
	if (flags & QP_CREATE_BLOCK_SELF_MCAST_LB && !block_loopback_ok(dev, in))
		return device_refuse(dev, -EOPNOTSUPP,
				     "IBV_QP_CREATE_BLOCK_SELF_MCAST_LB needs a UD QP and a device "
				     "with multicast");
	if (!(flags & UHCA_ABI_QP_LOW_LATENCY))
		return 0;
	if (!low_latency_ok(dev, in))
		return device_refuse(
			dev, -EOPNOTSUPP,
			"low latency needs an RC, UC or UD QP and a device that supports it");
	return device_check_limit(dev, "max_send_wr", in->max_send_wr, "max_low_latency_wr",
				  dev->cfg.limits.max_low_latency_wr);
}

static int check_caps(struct device *dev, const struct uhca_cmd_create_qp *in)
{
	const struct core_limits *l = &dev->cfg.limits;
	/* With an SRQ the capabilities of the receive queue mean nothing (ibv_create_qp(3)). */
	bool shared = in->srq && !in->rwq_ind_table;
	const struct {
		const char *name;
		uint32_t value;
		const char *limit;
		uint32_t most;
	} caps[] = {
		{"max_send_wr", in->max_send_wr, "max_qp_wr", l->max_qp_wr},
		{"max_recv_wr", shared ? 0 : in->max_recv_wr, "max_qp_wr", l->max_qp_wr},
		{"max_send_sge", in->max_send_sge, "max_sge", l->max_sge},
		{"max_recv_sge", shared ? 0 : in->max_recv_sge, "max_sge", l->max_sge},
		{"max_inline_data", in->max_inline_data, "max_inline_data", l->max_inline_data},
		{"max_list_bytes", in->max_list_bytes, "longest list", UHCA_ABI_LAYOUT_BYTES},
	};

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (device_check_limit(dev, caps[i].name, caps[i].value, caps[i].limit,
				       caps[i].most))
			return -EINVAL; /* as was said */
	return 0;
}

static int check_request(struct device *dev, const struct uhca_cmd_create_qp *in)
{
	int err = check_type(dev, in->qp_type);

	if (!err)
		err = check_flags(dev, in);
	return err ? err : check_caps(dev, in);
}

static int find_parents(struct client *c, const struct uhca_cmd_create_qp *in, struct parents *p)
{
	struct device *dev = c->dev;
	int err;
	*p = (struct parents){0};
	if (in->rwq_ind_table)
		return client_find_shared(c, &dev->pds, in->pd, &p->pd);
	if (in->qp_type == QPT_XRC_RECV)
		return client_find(c, &dev->xrcds, in->xrcd, &p->xrcd);
	err = client_find_shared(c, &dev->pds, in->pd, &p->pd);
	if (!err)
		err = client_find(c, &dev->cqs, in->send_cq, &p->send_cq);
	/* One that sends only has no use for a receive queue, whatever the program names. */
	if (err || in->qp_type == QPT_XRC_SEND)
		return err;
	err = client_find(c, &dev->cqs, in->recv_cq, &p->recv_cq);
	return err || !in->srq ? err : client_find(c, &dev->srqs, in->srq, &p->srq);
}

static uint32_t at_most(uint32_t value, uint32_t max)
{
	return value < max ? value : max;
}

static uint32_t at_least(uint32_t value, uint32_t min)
{
	return value > min ? value : min;
}

/*
 * Bytes of data area for each send slot: what the application may send inline, or as much as
 * the provider may gather early within the budget.
 */
static uint32_t choose_data_stride(uint32_t entries, uint32_t max_inline, uint32_t gather_limit)
{
	uint32_t inline_stride = (max_inline + DATA_ALIGN - 1) & ~(DATA_ALIGN - 1);
	if (gather_limit < DATA_ALIGN || entries == 0)
		return inline_stride;
	uint32_t gather = DATA_ALIGN;
	while (gather * 2 <= gather_limit && (uint64_t)entries * gather * 2 <= GATHER_BUDGET)
		gather *= 2;
	return at_least(inline_stride, gather);
}

/*
 * What each send slot must hold beside inline data: lists and operands, and the eight bytes of
 * ibv_wr_atomic_write(3), which are no inline data of the program (A19.4.2).
 */
static uint32_t own_data(const struct qp *qp, const struct uhca_cmd_create_qp *in)
{
	bool atomic_write = qp->dev->cfg.features & UHCA_ABI_HAS_ATOMIC_WRITE &&
			    (qp->type == QPT_RC || qp->type == QPT_XRC_SEND);

	return at_least(in->max_list_bytes, atomic_write ? sizeof(uint64_t) : 0);
}

static void set_send_sizes(struct qp *qp, const struct uhca_cmd_create_qp *in)
{
	const struct core_config *cfg = &qp->dev->cfg;
	struct send_queue *sq = &qp->req.sq;
	if (qp->type == QPT_XRC_RECV)
		return;
	qp->max_send_sge = at_least(in->max_send_sge, 1);
	sq->max_sge = qp->max_send_sge;
	sq->entries = queue_region_entries(in->max_send_wr);
	sq->stride = UHCA_ABI_SEND_STRIDE(sq->max_sge);
	sq->data_stride =
		at_least(choose_data_stride(sq->entries, in->max_inline_data, cfg->gather_limit),
			 (own_data(qp, in) + DATA_ALIGN - 1) & ~(DATA_ALIGN - 1));
	qp->max_send_wr = at_most(sq->entries, qp_is_urgent(qp) ? cfg->limits.max_low_latency_wr
								: cfg->limits.max_qp_wr);
	qp->max_inline_data = at_most(sq->data_stride, cfg->limits.max_inline_data);
}

static void set_recv_sizes(struct qp *qp, const struct uhca_cmd_create_qp *in)
{
	struct recv_queue *rq = &qp->rq;
	if (qp->srq || qp->type == QPT_XRC_SEND || qp->type == QPT_XRC_RECV)
		return;
	qp->max_recv_sge = at_least(in->max_recv_sge, 1);
	rq->max_sge = qp->max_recv_sge;
	rq->entries = queue_region_entries(in->max_recv_wr);
	rq->stride = UHCA_ABI_RECV_STRIDE(rq->max_sge);
	qp->max_recv_wr = at_most(rq->entries, qp->dev->cfg.limits.max_qp_wr);
}

/* Where the parts of the region begin. */
struct layout {
	uint64_t send, recv, data, size;
};

static struct layout make_layout(const struct qp *qp)
{
	const struct send_queue *sq = &qp->req.sq;
	struct layout l;
	l.send = QUEUE_REGION_PAGE;
	l.recv = l.send + (uint64_t)sq->entries * sq->stride;
	l.data = l.recv + (uint64_t)qp->rq.entries * qp->rq.stride;
	l.data = (l.data + QUEUE_REGION_PAGE - 1) & ~(uint64_t)(QUEUE_REGION_PAGE - 1);
	l.size = l.data + (uint64_t)sq->entries * sq->data_stride;
	return l;
}

/* The page of a QP that belongs to no client: its engines find empty queues there. */
static int make_page(struct qp *qp)
{
	qp->page = calloc(1, sizeof(*qp->page));
	qp->req.sq.page = qp->page;
	qp->rq.page = qp->page;
	return qp->page ? 0 : -ENOMEM;
}

static int make_region(struct qp *qp)
{
	if (qp->type == QPT_XRC_RECV)
		return make_page(qp);
	struct layout l = make_layout(qp);
	int err = queue_region_create(qp->obj.client, UHCA_ABI_REGION_QP, l.size, &qp->ring);
	if (err)
		return err;
	const uint8_t *base = qp->ring.base;
	qp->page = qp->ring.base;
	qp->req.sq.page = qp->page;
	qp->req.sq.slots = base + l.send;
	qp->req.sq.data = base + l.data;
	qp->rq.page = qp->page;
	qp->rq.slots = base + l.recv;
	return 0;
}

static struct qp *qp_alloc(struct client *c, const struct parents *p,
			   const struct uhca_cmd_create_qp *in)
{
	struct qp *qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	qp->obj.client = c;
	qp->dev = c->dev;
	qp->pd = p->pd;
	qp->send_cq = p->send_cq;
	qp->recv_cq = p->recv_cq;
	qp->srq = p->srq;
	qp->domain = p->xrcd ? p->xrcd->domain : NULL;
	qp->cookie = in->cookie;
	qp->type = (enum qp_type)in->qp_type;
	qp->state = QPS_RESET;
	qp->sq_sig_all = in->sq_sig_all != 0;
	qp->create_flags = in->create_flags;
	qp_set_mtu(qp, qp->dev->cfg.active_mtu);
	list_init(&qp->tx_link);
	list_init(&qp->ack_link);
	list_init(&qp->budget_link);
	list_init(&qp->pace_link);
	list_init(&qp->shares);
	set_send_sizes(qp, in);
	set_recv_sizes(qp, in);
	return qp;
}

/* Handle, QP number and doorbell. */
static int give_names(struct qp *qp)
{
	struct device *dev = qp->dev;
	int err = device_reserve_timers(dev, 1, 0);
	if (err)
		return err;
	err = device_add(dev, &dev->qps, qp, &qp->obj.handle);
	if (err)
		return err;
	err = device_add(dev, &dev->qpns, qp, &qp->qpn);
	if (err)
		goto remove_handle;
	if (qp->type == QPT_XRC_RECV)
		return 0; /* nothing is posted to it */
	err = client_add_doorbell(qp->obj.client, qp, &qp->doorbell);
	if (err)
		goto remove_qpn;
	return 0;

remove_qpn:
	table_remove(&dev->qpns, qp->qpn);
remove_handle:
	table_remove(&dev->qps, qp->obj.handle);
	return err;
}

static void use_parents(struct qp *qp)
{
	if (qp->type == QPT_XRC_RECV)
		return;
	qp->pd->obj.refs++;
	if (qp->send_cq)
		qp->send_cq->obj.refs++;
	if (qp->recv_cq)
		qp->recv_cq->obj.refs++;
	if (qp->srq)
		qp->srq->obj.refs++;
}

static void release_parents(struct qp *qp)
{
	if (qp->type == QPT_XRC_RECV)
		return;
	qp->pd->obj.refs--;
	rss_destroy(qp->rss);
	qp_drop_counters(qp);
	if (qp->send_cq)
		qp->send_cq->obj.refs--;
	if (qp->recv_cq)
		qp->recv_cq->obj.refs--;
	if (qp->srq)
		qp->srq->obj.refs--;
}

static void free_region(struct qp *qp)
{
	if (qp->type == QPT_XRC_RECV)
		free(qp->page);
	else
		queue_region_destroy(qp->obj.client, &qp->ring);
}

static int qp_create(struct client *c, const struct parents *p, const struct uhca_cmd_create_qp *in,
		     struct qp **out)
{
	struct qp *qp = qp_alloc(c, p, in);
	if (!qp)
		return -ENOMEM;
	int err = rss_create(c, in, &qp->rss);
	if (err)
		goto free_qp;
	err = make_region(qp);
	if (err)
		goto free_rss;
	err = engines_construct(qp);
	if (err)
		goto destruct_engines;
	err = give_names(qp);
	if (err)
		goto destruct_engines;
	qp->flow.sport = source_port_datagram(qp->qpn);
	qp->flow.dport = ROCE_UDP_PORT;
	use_parents(qp);
	*out = qp;
	return 0;

destruct_engines:
	engines_destruct(qp);
	free_region(qp);
free_rss:
	rss_destroy(qp->rss);
free_qp:
	free(qp);
	return err;
}

static void reply(const struct qp *qp, struct uhca_cmd_create_qp_reply *out)
{
	const struct send_queue *sq = &qp->req.sq;
	struct layout l = make_layout(qp);
	out->handle = qp->obj.handle;
	out->qpn = qp->qpn;
	out->doorbell = qp->doorbell;
	out->max_send_wr = qp->max_send_wr;
	out->max_recv_wr = qp->max_recv_wr;
	out->max_send_sge = qp->max_send_sge;
	out->max_recv_sge = qp->max_recv_sge;
	out->max_inline_data = qp->max_inline_data;
	out->region_size = qp->ring.base ? queue_region_size(&qp->ring) : 0;
	out->send = (struct uhca_abi_queue_layout){
		.entries = sq->entries,
		.stride = sq->stride,
		.offset = l.send,
		.data_offset = l.data,
		.data_stride = sq->data_stride,
	};
	out->recv = (struct uhca_abi_queue_layout){
		.entries = qp->rq.entries,
		.stride = qp->rq.stride,
		.offset = l.recv,
	};
}

int core_create_qp(struct client *c, const struct uhca_cmd_create_qp *in,
		   struct uhca_cmd_create_qp_reply *out, struct core_ring *ring)
{
	struct parents parents;
	struct qp *qp = NULL;
	int err = check_request(c->dev, in);
	if (!err)
		err = find_parents(c, in, &parents);
	if (!err)
		err = qp_create(c, &parents, in, &qp);
	if (err)
		return err;
	reply(qp, out);
	*ring = qp->ring;
	if (!parents.xrcd)
		return 0;
	err = qp_share_create(parents.xrcd, qp, in->cookie, ring, &out->handle);
	if (err)
		qp_destroy(qp);
	out->region_size = err ? 0 : queue_region_size(ring);
	return err;
}

void qp_destroy(struct qp *qp)
{
	struct client *c = qp->obj.client;
	struct device *dev = qp->dev;
	engines_leave(qp);
	list_remove(&qp->tx_link);
	list_remove(&qp->ack_link);
	list_remove(&qp->budget_link);
	list_remove(&qp->pace_link);
	timer_cancel(&dev->timers, &qp->req.timer);
	timer_cancel(&dev->rates, &qp->req.rate.timer);
	if (qp->type != QPT_XRC_RECV)
		client_remove_doorbell(c, qp->doorbell);
	table_remove(&dev->qpns, qp->qpn);
	table_remove(&dev->qps, qp->obj.handle);
	release_parents(qp);
	engines_destruct(qp);
	free_region(qp);
	free(qp);
}

int core_destroy_qp(struct client *c, uint32_t handle)
{
	struct qp_share *share = qp_share_find(c, handle);
	struct qp *qp;
	if (share) {
		qp_share_take_back_events(share);
		qp_share_destroy(share);
		return 0;
	}
	int err = qp_find(c, handle, &qp);
	if (err)
		return err;
	if (qp->obj.refs)
		return device_refuse(c->dev, -EBUSY,
				     "the QP is in use by %u groups, windows or rules",
				     qp->obj.refs);
	qp_make_visible(qp);
	qp_take_back_events(qp);
	qp_destroy(qp);
	return 0;
}
