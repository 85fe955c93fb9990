/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every object as a list of facts, for uhcactl and for tests. Reads what the device itself works
 * with; of the shared pages only the clients' ring indices, to tell how much is waiting.
 */
#include "emu/core/keys/mr.h"
#include "emu/core/keys/mw.h"
#include "emu/core/keys/walk.h"
#include "emu/core/memory/dm.h"
#include "emu/core/packets/flow.h"
#include "emu/core/qp/ah.h"
#include "emu/core/qp/qp.h"
#include "emu/core/qp/qp_state.h"
#include "emu/core/queues/cq.h"
#include "emu/core/queues/srq.h"
#include "emu/core/queues/wq.h"
#include "emu/core/queues/xrcd.h"
#include "wire/bytes.h"

#include <assert.h>

struct facts {
	struct core_fact fact[CORE_MAX_FACTS];
	unsigned n;
};

static void add(struct facts *f, struct core_fact fact)
{
	assert(f->n < CORE_MAX_FACTS);
	f->fact[f->n++] = fact;
}

static void number(struct facts *f, const char *name, uint64_t value)
{
	add(f, (struct core_fact){name, NULL, value, false});
}

static void hex(struct facts *f, const char *name, uint64_t value)
{
	add(f, (struct core_fact){name, NULL, value, true});
}

static void text(struct facts *f, const char *name, const char *value)
{
	add(f, (struct core_fact){name, value, 0, false});
}

static void describe_pd(const void *object, struct facts *f)
{
	const struct pd *pd = object;
	number(f, "users", pd->obj.refs);
}

/* What a described key is made of; its way to memory is in walk.h. */
static void describe_description(const struct indirect *ind, struct facts *f)
{
	text(f, "shape", core_shape_name(ind->shape));
	number(f, "entries", ind->n);
	number(f, "max_entries", ind->max_entries);
	number(f, "depth", ind->depth);
}

static void describe_pages(const struct page_array *pa, struct facts *f)
{
	text(f, "shape", pa->leaf ? "two-level" : "flat");
	number(f, "page_size", 1ull << pa->page_shift);
	number(f, "first_offset", pa->first_offset);
	number(f, "pages", pa->n_pages);
	if (pa->n_pages == 0)
		return;
	hex(f, "first_page", page_array_entry(pa, 0));
	hex(f, "last_page", page_array_entry(pa, pa->n_pages - 1));
}

/* The walk from key to memory: index and key byte, page size, first offset, entries. */
static void describe_mr(const void *object, struct facts *f)
{
	const struct mr *mr = object;
	static const char *const behind[] = {
		[MR_KIND_MEMORY] = "memory", [MR_KIND_IMPLICIT] = "implicit",
		[MR_KIND_DEVICE] = "device", [MR_KIND_NULL] = "null",
		[MR_KIND_LOST] = "lost",     [MR_KIND_INDIRECT] = "indirect",
	};
	hex(f, "lkey", mr->key);
	hex(f, "rkey", mr->kind == MR_KIND_NULL ? 0 : mr->key);
	text(f, "kind", behind[mr->kind]);
	hex(f, "key_byte", mr->key & 0xff);
	hex(f, "iova", mr->iova);
	number(f, "length", mr->pages.length);
	hex(f, "access", mr->access);
	number(f, "pd", mr->pd->obj.handle);
	number(f, "users", mr->obj.refs);
	if (mr->kind == MR_KIND_INDIRECT)
		describe_description(mr->ind, f);
	else
		describe_pages(&mr->pages, f);
}

static void describe_mw(const void *object, struct facts *f)
{
	const struct mw *mw = object;
	hex(f, "rkey", mw->key);
	text(f, "type", mw->type == 1 ? "1" : mw->by_qpn ? "2A" : "2B");
	text(f, "state", mw->mr ? "bound" : "unbound");
	number(f, "pd", mw->pd->obj.handle);
	if (!mw->mr)
		return;
	hex(f, "region", mw->mr->key);
	hex(f, "addr", mw->addr);
	number(f, "length", mw->length);
	hex(f, "access", mw->access);
	hex(f, "qpn", mw->qpn);
}

static void describe_cq(const void *object, struct facts *f)
{
	const struct cq *cq = object;
	uint32_t waiting = cq->producer - uhca_ring_observe(&cq->page->ring.consumer);
	number(f, "cqe", cq->cqe);
	number(f, "entries", cq->entries);
	number(f, "producer", cq->producer);
	number(f, "outstanding", waiting <= cq->entries ? waiting : 0);
	number(f, "held", cq->hold.n);
	number(f, "armed", uhca_ring_observe(&cq->page->arm));
	text(f, "state", cq->overrun ? "overrun" : "ready");
	number(f, "users", cq->obj.refs);
}

static uint32_t sends_outstanding(const struct qp *qp)
{
	uint32_t waiting = uhca_ring_observe(&qp->page->send.producer) - qp->req.una;
	return waiting <= qp->req.sq.entries ? waiting : 0;
}

static void describe_connection(const struct qp *qp, struct facts *f)
{
	const struct uhca_abi_qp_attr *a = &qp->attr;
	hex(f, "dest_qpn", a->dest_qp_num);
	number(f, "rq_psn", qp->resp.epsn);
	number(f, "sq_psn", qp->req.next_psn);
	number(f, "una_psn", qp->req.una_psn);
	number(f, "mtu", qp->mtu);
	number(f, "timeout", a->timeout);
	number(f, "retry_cnt", a->retry_cnt);
	number(f, "rnr_retry", a->rnr_retry);
	number(f, "max_rd_atomic", a->max_rd_atomic);
	number(f, "max_dest_rd_atomic", a->max_dest_rd_atomic);
	text(f, "path_mig_state", "MIGRATED");
}

static void describe_counters(const struct qp_counters *c, struct facts *f)
{
	number(f, "tx_packets", c->tx_packets);
	number(f, "tx_bytes", c->tx_bytes);
	number(f, "rx_packets", c->rx_packets);
	number(f, "rx_bytes", c->rx_bytes);
	number(f, "retries", c->retries);
	number(f, "rnr", c->rnr);
	number(f, "errors", c->errors);
}

static void describe_qp(const void *object, struct facts *f)
{
	const struct qp *qp = object;
	hex(f, "qpn", qp->qpn);
	text(f, "type", qp_type_name(qp->type));
	text(f, "state", qp_state_name(qp->state));
	if (qp->pd)
		number(f, "pd", qp->pd->obj.handle);
	if (qp->send_cq)
		number(f, "send_cq", qp->send_cq->obj.handle);
	if (qp->recv_cq)
		number(f, "recv_cq", qp->recv_cq->obj.handle);
	if (qp->srq)
		number(f, "srq", qp->srq->obj.handle);
	describe_connection(qp, f);
	number(f, "max_send_wr", qp->max_send_wr);
	number(f, "max_recv_wr", qp->max_recv_wr);
	number(f, "max_inline_data", qp->max_inline_data);
	number(f, "doorbell", qp->doorbell);
	describe_counters(&qp->counters, f);
	number(f, "sends", sends_outstanding(qp));
	number(f, "recvs", recv_available(&qp->rq));
}

static void describe_srq(const void *object, struct facts *f)
{
	const struct srq *srq = object;
	number(f, "srqn", srq->srq_num);
	text(f, "type", srq->xrcd ? "XRC" : "BASIC");
	text(f, "state", srq->error ? "error" : "ready");
	number(f, "pd", srq->pd->obj.handle);
	number(f, "max_wr", srq->max_wr);
	number(f, "max_sge", srq->max_sge);
	number(f, "limit", srq->limit);
	number(f, "posted", recv_available(&srq->rq));
	number(f, "users", srq->obj.refs);
}

static void describe_ah(const void *object, struct facts *f)
{
	const struct ah *ah = object;
	number(f, "pd", ah->pd->obj.handle);
	number(f, "sgid_index", ah->attr.sgid_index);
	hex(f, "dgid_prefix", roce_load_be64(ah->attr.dgid));
	hex(f, "dgid_interface", roce_load_be64(ah->attr.dgid + 8));
	number(f, "traffic_class", ah->attr.traffic_class);
	number(f, "hop_limit", ah->attr.hop_limit);
	number(f, "flow_label", ah->attr.flow_label);
}

static void describe_xrcd(const void *object, struct facts *f)
{
	const struct xrcd *x = object;
	text(f, "domain", x->domain->shared ? "shared" : "private");
	if (x->domain->shared) {
		hex(f, "file_device", x->domain->file[0]);
		number(f, "file_inode", x->domain->file[1]);
	}
	number(f, "users", x->obj.refs);
}

static void describe_dm(const void *object, struct facts *f)
{
	const struct dm *dm = object;
	number(f, "length", dm->length);
	number(f, "users", dm->obj.refs);
}

static void describe_wq(const void *object, struct facts *f)
{
	static const char *const state[WQS_COUNT] = {
		[WQS_RESET] = "RESET", [WQS_RDY] = "RDY", [WQS_ERR] = "ERR"};
	const struct wq *wq = object;
	number(f, "wq_num", wq->wq_num);
	text(f, "state", state[wq->state]);
	number(f, "pd", wq->pd->obj.handle);
	number(f, "cq", wq->cq->obj.handle);
	number(f, "max_wr", wq->max_wr);
	number(f, "max_sge", wq->max_sge);
	number(f, "posted", recv_available(&wq->rq));
	number(f, "users", wq->obj.refs);
}

static void describe_ind_table(const void *object, struct facts *f)
{
	const struct ind_table *t = object;
	number(f, "entries", 1ull << t->log_size);
	number(f, "first_wq", t->wq[0]->obj.handle);
	number(f, "users", t->obj.refs);
}

static void describe_flow(const void *object, struct facts *f)
{
	static const char *const type[FLOW_TYPES] = {[FLOW_NORMAL] = "normal",
						     [FLOW_ALL_DEFAULT] = "all default",
						     [FLOW_MC_DEFAULT] = "multicast default",
						     [FLOW_SNIFFER] = "sniffer"};
	const struct flow *flow = object;
	hex(f, "qpn", flow->qp->qpn);
	text(f, "type", type[flow->type]);
	number(f, "priority", flow->priority);
	number(f, "specs", flow->n_specs);
	text(f, "action", flow->drop ? "drop" : flow->dont_trap ? "copy" : "take");
	number(f, "tag", flow->tag);
}

static const struct {
	size_t table; /* offset in struct device */
	void (*describe)(const void *object, struct facts *f);
	enum key_kind of; /* regions and windows share a table */
} kind[] = {
	[CORE_OBJECT_PD] = {offsetof(struct device, pds), describe_pd},
	[CORE_OBJECT_MR] = {offsetof(struct device, mrs), describe_mr},
	[CORE_OBJECT_MW] = {offsetof(struct device, mrs), describe_mw, KEY_MW},
	[CORE_OBJECT_CQ] = {offsetof(struct device, cqs), describe_cq},
	[CORE_OBJECT_QP] = {offsetof(struct device, qps), describe_qp},
	[CORE_OBJECT_SRQ] = {offsetof(struct device, srqs), describe_srq},
	[CORE_OBJECT_AH] = {offsetof(struct device, ahs), describe_ah},
	[CORE_OBJECT_XRCD] = {offsetof(struct device, xrcds), describe_xrcd},
	[CORE_OBJECT_DM] = {offsetof(struct device, dms), describe_dm},
	[CORE_OBJECT_WQ] = {offsetof(struct device, wqs), describe_wq},
	[CORE_OBJECT_IND_TABLE] = {offsetof(struct device, ind_tables), describe_ind_table},
	[CORE_OBJECT_FLOW] = {offsetof(struct device, flows), describe_flow},
};
_Static_assert(sizeof(kind) / sizeof(kind[0]) == CORE_OBJECT_TYPES, "one row per type");

static const struct table *table_of(const struct device *dev, enum core_object_type type)
{
	return (const struct table *)((const char *)dev + kind[type].table);
}

void core_visit(struct device *dev, enum core_object_type type,
		void (*visit)(void *arg, void *client, const struct core_fact *facts, unsigned n),
		void *arg)
{
	const struct table *t = table_of(dev, type);
	uint32_t cursor = 0;
	for (const struct object *o; (o = table_next(t, &cursor));) {
		struct facts f = {.n = 0};
		if (o->kind != kind[type].of)
			continue;
		number(&f, "handle", o->handle);
		kind[type].describe(o, &f);
		visit(arg, o->client->cookie, f.fact, f.n);
	}
}

bool core_look_at_qp(const struct device *dev, uint32_t qpn, struct core_qp_look *out)
{
	const struct qp *qp = device_find_qp(dev, qpn);

	if (!qp)
		return false;
	*out = (struct core_qp_look){
		.peer_qpn = qp->type == QPT_UD ? 0 : qp->attr.dest_qp_num,
		.pd = qp->pd ? qp->pd->obj.handle : 0,
		.srq = qp->srq ? qp->srq->obj.handle : 0,
		.send_cq = qp->send_cq ? qp->send_cq->obj.handle : 0,
		.recv_cq = qp->recv_cq ? qp->recv_cq->obj.handle : 0,
		.write_key = qp->resp.message == MESSAGE_WRITE ? qp->resp.write_rkey : 0,
		.responds = qp->type == QPT_RC || qp->type == QPT_XRC_RECV,
		.expected_psn = qp->resp.epsn,
		.client = qp->obj.client ? qp->obj.client->cookie : NULL,
	};
	return true;
}

uint32_t core_qp_number(const struct client *c, uint32_t handle)
{
	const struct qp *qp = table_find(&c->dev->qps, handle);

	return qp && qp->obj.client == c ? qp->qpn : 0;
}

uint32_t core_key_of(const struct client *c, uint32_t handle)
{
	const struct object *o = table_find(&c->dev->mrs, handle);

	if (!o || o->client != c)
		return 0;
	return o->kind == KEY_MW ? ((const struct mw *)(const void *)o)->key
				 : ((const struct mr *)(const void *)o)->key;
}

uint32_t core_object_count(const struct device *dev, enum core_object_type type)
{
	if (type == CORE_OBJECT_MW)
		return dev->n_mw;
	return table_of(dev, type)->used - (type == CORE_OBJECT_MR ? dev->n_mw : 0);
}

const char *core_object_name(enum core_object_type type)
{
	static const char *const name[CORE_OBJECT_TYPES] = {
		[CORE_OBJECT_PD] = "pd",
		[CORE_OBJECT_MR] = "mr",
		[CORE_OBJECT_CQ] = "cq",
		[CORE_OBJECT_QP] = "qp",
		[CORE_OBJECT_SRQ] = "srq",
		[CORE_OBJECT_AH] = "ah",
		[CORE_OBJECT_MW] = "mw",
		[CORE_OBJECT_XRCD] = "xrcd",
		[CORE_OBJECT_DM] = "dm",
		[CORE_OBJECT_WQ] = "wq",
		[CORE_OBJECT_IND_TABLE] = "rwq_ind_table",
		[CORE_OBJECT_FLOW] = "flow",
	};

	return name[type];
}
