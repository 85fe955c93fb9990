/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work queues and indirection tables. A queue in RDY takes frames; in ERR what is posted completes
 * with WR_FLUSH_ERR; RESET forgets it (ibv_modify_wq(3)).
 */
#include "wq.h"
#include "emu/abi/event.h"
#include "emu/core/base/base.h"
#include "emu/core/keys/keys.h"
#include "emu/core/memory/memory.h"
#include "wqe_fetch.h"

#include <errno.h>
#include <stdlib.h>

/* enum ibv_wq_attr_mask */
#define ATTR_STATE      1u
#define ATTR_CURR_STATE 2u
#define ATTR_FLAGS      4u

static int check_request(struct device *dev, const struct uhca_cmd_create_wq *in)
{
	const struct core_limits *l = &dev->cfg.limits;
	int err;

	if (!(dev->cfg.features & UHCA_ABI_HAS_RSS))
		return device_refuse(dev, -EOPNOTSUPP, "the device's profile has no work queues");
	if (in->create_flags)
		return device_refuse(dev, -EOPNOTSUPP,
				     "create_flags 0x%x: work queues support none",
				     in->create_flags);
	if (in->wq_type != 0)
		return device_refuse(dev, -EINVAL, "wq_type %u is not IBV_WQT_RQ", in->wq_type);
	if (in->max_wr == 0)
		return device_refuse(dev, -EINVAL, "max_wr is 0");
	err = device_check_limit(dev, "max_wr", in->max_wr, "max_qp_wr", l->max_qp_wr);
	return err ? err : device_check_limit(dev, "max_sge", in->max_sge, "max_sge", l->max_sge);
}

static int wq_create(struct client *c, struct pd *pd, struct cq *cq,
		     const struct uhca_cmd_create_wq *in, struct wq **out)
{
	struct wq *wq = calloc(1, sizeof(*wq));
	if (!wq)
		return -ENOMEM;
	wq->obj.client = c;
	wq->pd = pd;
	wq->cq = cq;
	wq->cookie = in->cookie;
	recv_queue_set_sizes(&wq->rq, in->max_wr, in->max_sge, c->dev->cfg.limits.max_qp_wr);
	int err = recv_queue_make_region(&wq->rq, c, &wq->ring);
	if (err)
		goto free_wq;
	err = device_add(c->dev, &c->dev->wqs, wq, &wq->obj.handle);
	if (err)
		goto free_region;
	wq->wq_num = WQ_NUMBER_BASE + (wq->obj.handle & (WQ_NUMBER_BASE - 1));
	pd->obj.refs++;
	cq->obj.refs++;
	*out = wq;
	return 0;

free_region:
	queue_region_destroy(c, &wq->ring);
free_wq:
	free(wq);
	return err;
}

int core_create_wq(struct client *c, const struct uhca_cmd_create_wq *in,
		   struct uhca_cmd_create_srq_reply *out, struct core_ring *ring)
{
	struct pd *pd;
	struct cq *cq;
	struct wq *wq;
	int err = check_request(c->dev, in);
	if (!err)
		err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = client_find(c, &c->dev->cqs, in->cq, &cq);
	if (!err)
		err = wq_create(c, pd, cq, in, &wq);
	if (err)
		return err;
	out->handle = wq->obj.handle;
	out->srq_num = wq->wq_num;
	recv_queue_reply(&wq->rq, &wq->ring, out);
	*ring = wq->ring;
	return 0;
}

static void wq_destroy(void *object)
{
	struct wq *wq = object;
	struct client *c = wq->obj.client;
	table_remove(&c->dev->wqs, wq->obj.handle);
	wq->pd->obj.refs--;
	wq->cq->obj.refs--;
	queue_region_destroy(c, &wq->ring);
	free(wq);
}

/* The client destroys it: events that it was not told of yet are taken back. */
static void take_back_events(void *object)
{
	struct wq *wq = object;
	event_take_back(wq->obj.client, wq->cookie, &wq->async_events, &wq->rq.page->async_events);
}

int core_destroy_wq(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_wq, handle, take_back_events);
}

/* ---- states ---- */

static const char *const state_name[WQS_COUNT] = {
	[WQS_RESET] = "RESET", [WQS_RDY] = "RDY", [WQS_ERR] = "ERR"};

static void set_state(struct wq *wq, enum wq_state state)
{
	wq->state = state;
	/* As qp_set_state: who posts without seeing the flag is seen by the flush that follows. */
	__atomic_store_n(&wq->rq.page->recv_doorbell, state == WQS_ERR, __ATOMIC_RELEASE);
	uhca_ring_fence();
}

/* The CQ has overflowed, or the ring makes no sense: nothing more comes of this queue. */
static void fail(struct wq *wq)
{
	if (wq->state == WQS_ERR)
		return;
	set_state(wq, WQS_ERR);
	wq_event(wq, UHCA_ABI_EVENT_WQ_FATAL);
}

static void complete(struct wq *wq, struct uhca_abi_cqe *e)
{
	e->opcode = UHCA_ABI_WC_RECV;
	e->qpn = wq->wq_num;
	if (!cq_push(wq->cq, e))
		fail(wq);
}

static void flush(struct wq *wq)
{
	struct recv_wr wr;
	/* no more than there are: who posts more meanwhile asks for the next flush */
	for (uint32_t n = recv_available(&wq->rq); n > 0 && !wq->cq->overrun; n--) {
		if (recv_fetch(&wq->rq, &wr) != FETCH_OK)
			return;
		struct uhca_abi_cqe e = {.wr_id = wr.wr_id, .status = UHCA_ABI_WC_WR_FLUSH_ERR};
		complete(wq, &e);
	}
}

static bool may_go(enum wq_state from, uint32_t to)
{
	static const bool legal[WQS_COUNT][WQS_COUNT] = {
		[WQS_RESET] = {[WQS_RESET] = true, [WQS_RDY] = true},
		[WQS_RDY] = {true, true, true},
		[WQS_ERR] = {[WQS_RESET] = true, [WQS_ERR] = true},
	};
	return to < WQS_COUNT && legal[from][to];
}

static int check_change(struct device *dev, const struct wq *wq,
			const struct uhca_cmd_modify_wq *in)
{
	if (in->attr_mask & ~(ATTR_STATE | ATTR_CURR_STATE | ATTR_FLAGS))
		return device_refuse(dev, -EINVAL, "attr_mask 0x%x has unknown bits",
				     in->attr_mask);
	if (in->attr_mask & ATTR_FLAGS && in->flags_mask)
		return device_refuse(dev, -EOPNOTSUPP,
				     "flags_mask 0x%x: work queues support no flags",
				     in->flags_mask);
	if (in->attr_mask & ATTR_CURR_STATE && in->curr_wq_state != wq->state)
		return device_refuse(dev, -EINVAL,
				     "curr_wq_state %u is not the work queue's state, %s",
				     in->curr_wq_state, state_name[wq->state]);
	if (in->attr_mask & ATTR_STATE && !may_go(wq->state, in->wq_state))
		return device_refuse(dev, -EINVAL, "wq_state %u: no transition from %s",
				     in->wq_state, state_name[wq->state]);
	return 0;
}

int core_modify_wq(struct client *c, const struct uhca_cmd_modify_wq *in, uint64_t now)
{
	struct wq *wq;
	int err = client_find(c, &c->dev->wqs, in->handle, &wq);
	if (err)
		return err;
	device_set_time(c->dev, now);
	err = check_change(c->dev, wq, in);
	if (err || !(in->attr_mask & ATTR_STATE))
		return err;
	set_state(wq, (enum wq_state)in->wq_state);
	if (wq->state == WQS_ERR)
		flush(wq);
	if (wq->state == WQS_RESET)
		recv_drop(&wq->rq);
	return 0;
}

/* ---- frames ---- */

static bool wq_wr_take(struct wq *wq, struct recv_wr *wr)
{
	switch (recv_fetch(&wq->rq, wr)) {
	case FETCH_OK:
		return true;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		fail(wq);
		return false;
	}
	return false;
}

void wq_receive(struct wq *wq, const struct core_frame *frame, uint32_t tag)
{
	struct device *dev = wq->obj.client->dev;
	struct iovec iov = {(void *)(uintptr_t)frame->bytes, frame->length};
	struct uhca_abi_cqe e = {.byte_len = frame->length, .wqe_index = tag};
	struct recv_wr wr;
	struct sgl l = {dev, wq->pd, wr.sge, 0};
	if (wq->state != WQS_RDY || !wq_wr_take(wq, &wr)) {
		device_drop_one(dev, wq->wq_num, 0,
				wq->state == WQS_RDY ? CORE_DROP_NO_RECV : CORE_DROP_STATE);
		return;
	}
	l.n = wr.num_sge;
	e.wr_id = wr.wr_id;
	if (frame->length > sgl_length(&l))
		e.status = UHCA_ABI_WC_LOC_LEN_ERR;
	else if (sgl_write(&l, 0, &iov, 1))
		e.status = UHCA_ABI_WC_LOC_PROT_ERR;
	complete(wq, &e);
	if (!e.status)
		return;
	fail(wq);
	flush(wq);
}

/* ---- tables ---- */

static int fill(struct client *c, const struct uhca_cmd_create_rwq_ind_table *in,
		struct ind_table *t)
{
	for (uint32_t i = 0; i < 1u << in->log_size; i++) {
		int err = client_find(c, &c->dev->wqs, in->wq[i], &t->wq[i]);
		if (err)
			return err;
	}
	return 0;
}

int core_create_rwq_ind_table(struct client *c, const struct uhca_cmd_create_rwq_ind_table *in,
			      uint32_t *handle)
{
	struct ind_table *t;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_RSS))
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile has no indirection tables");
	if (in->log_size > UHCA_ABI_IND_TABLE_LOG)
		return device_refuse(c->dev, -EINVAL, "log_ind_tbl_size %u exceeds %u",
				     in->log_size, UHCA_ABI_IND_TABLE_LOG);
	if (in->reserved)
		return -EINVAL; /* no library of ours */
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->obj.client = c;
	t->log_size = in->log_size;
	int err = fill(c, in, t);
	if (!err)
		err = device_add(c->dev, &c->dev->ind_tables, t, &t->obj.handle);
	if (err) {
		free(t);
		return err;
	}
	for (uint32_t i = 0; i < 1u << t->log_size; i++)
		t->wq[i]->obj.refs++;
	*handle = t->obj.handle;
	return 0;
}

static void ind_table_destroy(void *object)
{
	struct ind_table *t = object;

	table_remove(&t->obj.client->dev->ind_tables, t->obj.handle);
	for (uint32_t i = 0; i < 1u << t->log_size; i++)
		t->wq[i]->obj.refs--;
	free(t);
}

int core_destroy_rwq_ind_table(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_ind_table, handle, NULL);
}

void wq_event(struct wq *wq, uint32_t type)
{
	device_trace(wq->obj.client->dev, CORE_TRACE_EVENT, 0, type, wq->obj.handle);
	event_raise(wq->obj.client, wq->cookie, type, &wq->async_events,
		    &wq->rq.page->async_events);
}

static void describe_wq(const void *object, struct facts *f)
{
	const struct wq *wq = object;
	facts_number(f, "wq_num", wq->wq_num);
	facts_text(f, "state", state_name[wq->state]);
	facts_number(f, "pd", wq->pd->obj.handle);
	facts_number(f, "cq", wq->cq->obj.handle);
	facts_number(f, "max_wr", wq->rq.max_wr);
	facts_number(f, "max_sge", wq->rq.max_sge);
	facts_number(f, "posted", recv_available(&wq->rq));
	facts_number(f, "users", wq->obj.refs);
}

const struct object_type object_wq = {
	.type = CORE_OBJECT_WQ,
	.name = "wq",
	.table = offsetof(struct device, wqs),
	.destroy = wq_destroy,
	.describe = describe_wq,
};

static void describe_ind_table(const void *object, struct facts *f)
{
	const struct ind_table *t = object;
	facts_number(f, "entries", 1ull << t->log_size);
	facts_number(f, "first_wq", t->wq[0]->obj.handle);
	facts_number(f, "users", t->obj.refs);
}

const struct object_type object_ind_table = {
	.type = CORE_OBJECT_IND_TABLE,
	.name = "rwq_ind_table",
	.table = offsetof(struct device, ind_tables),
	.destroy = ind_table_destroy,
	.describe = describe_ind_table,
};
