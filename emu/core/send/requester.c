/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester: takes send requests, assigns PSNs, cuts messages into bursts, sends them. */
#include "completer.h"
#include "early_local_inv.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "local_op.h"
#include "masked_atomic.h"
#include "retry.h"
#include "send_check.h"
#include "send_pace.h"
#include "send_rate.h"
#include "wire/bytes.h"
#include "wire/psn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whole packets, half a window. */
uint32_t requester_read_piece(const struct qp *qp)
{
	uint32_t half = qp->dev->cfg.window_bytes / 2;

	return half > qp->mtu ? half & ~(qp->mtu - 1) : qp->mtu;
}

/* What a packet costs in the window beside its payload: the kernel accounts buffers, not bytes. */
#define PACKET_COST 256u

static bool is_read(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_RDMA_READ || w->wqe.opcode == UHCA_ABI_WR_READ_WITH_INV;
}

static bool is_atomic(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	       w->wqe.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD;
}

/* Annex A19: FLUSH and ATOMIC WRITE are answered like a READ of no bytes. */
static bool is_placement(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_FLUSH || w->wqe.opcode == UHCA_ABI_WR_ATOMIC_WRITE;
}

bool requester_is_masked(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_MASKED_CMP_SWP ||
	       w->wqe.opcode == UHCA_ABI_WR_MASKED_FETCH_ADD;
}

bool requester_awaits_response(const struct send_wr *w)
{
	return is_read(w) || is_atomic(w) || is_placement(w) || requester_is_masked(w);
}

/* Request packets a work request needs as the responder counts them (READs go in pieces). */
static uint32_t requests_of(const struct qp *qp, const struct send_wr *w)
{
	return is_read(w) && w->length ? (w->length - 1) / requester_read_piece(qp) + 1 : 1;
}

static struct uhca_abi_sge *sges_of(struct requester *r, uint32_t index)
{
	return &r->sge[(size_t)(index & (r->sq.entries - 1)) * r->sq.max_sge];
}

struct sgl requester_sgl(struct qp *qp, const struct send_wr *w)
{
	return (struct sgl){qp->dev, qp->pd, sges_of(&qp->req, w->index), w->wqe.num_sge};
}

/* What was done of the request before its turn. */
static void take_early_result(struct qp *qp, struct send_wr *w)
{
	enum early_result e = early_local_inv_result(qp, w->index, &w->wqe);

	w->executed = e == EARLY_DONE;
	if (e == EARLY_FAILED)
		w->status = UHCA_ABI_WC_MW_BIND_ERR;
}

enum fetch_verdict requester_fetch(struct qp *qp, struct send_wr **out, struct sgl *l)
{
	struct requester *r = &qp->req;
	uint32_t index = r->sq.head;
	struct send_wr *w = requester_wr(r, index);
	enum fetch_verdict v = send_fetch(&r->sq, &w->wqe, sges_of(r, index));

	if (v != FETCH_OK)
		return v;
	w->index = index;
	w->signaled = qp->sq_sig_all || (w->wqe.flags & UHCA_ABI_SEND_SIGNALED);
	*l = requester_sgl(qp, w);
	w->status = send_check(qp, &w->wqe, l, &w->length);
	*out = w;
	return FETCH_OK;
}

/* Takes one request from the ring, checks it and gives it its PSNs. */
static enum fetch_verdict fetch(struct qp *qp)
{
	struct requester *r = &qp->req;
	struct send_wr *w;
	struct sgl l;
	enum fetch_verdict v = requester_fetch(qp, &w, &l);

	if (v != FETCH_OK)
		return v;
	if (w->status && device_explains(qp->dev))
		r->cause = send_cause(qp, &w->wqe, &l, w->status);
	w->start = r->start;
	w->first_psn = r->next_psn;
	take_early_result(qp, w);
	w->n_psn = local_op_is(w) ? 0 : qp_packets(qp, w->length);
	w->ssn = r->ssn + (local_op_is(w) ? 0 : requests_of(qp, w));
	r->ssn = w->ssn;
	r->start += w->length;
	r->next_psn = psn_add(r->next_psn, w->n_psn);
	return FETCH_OK;
}

/* Bytes of the stream of all messages up to a PSN inside request w. */
static uint64_t stream_position(const struct qp *qp, const struct send_wr *w, uint32_t psn)
{
	uint64_t in = (uint64_t)(uint32_t)psn_diff(psn, w->first_psn) * qp->mtu;

	return w->start + (in < w->length ? in : w->length);
}

/* PSN of the next packet the cursor sends. */
static uint32_t cursor_psn(const struct qp *qp)
{
	const struct requester *r = &qp->req;
	const struct send_wr *w;

	if (r->send == r->sq.head)
		return r->next_psn;
	w = requester_wr(r, r->send);
	return psn_add(w->first_psn, r->send_offset >> qp->mtu_log);
}

uint64_t requester_acked(const struct qp *qp)
{
	const struct requester *r = &qp->req;

	if (r->una == r->sq.head)
		return r->start;
	return stream_position(qp, requester_wr(r, r->una), r->una_psn);
}

/*
 * What the window leaves of a burst would cost as much as the whole one: it waits for the next
 * answer, as TCP does (RFC 1122, 4.2.3.4). Each burst asks for one, so that there is one to come.
 * A window of few bursts is used to its end.
 */
static uint32_t worth_sending(const struct qp *qp, const struct send_wr *w, uint32_t room)
{
	const struct requester *r = &qp->req;
	uint32_t want = w->length - r->send_offset, most = qp->dev->cfg.burst_bytes;

	if (requester_awaits_response(w) || room >= want || room >= most ||
	    room >= r->window.bytes / 4)
		return room;
	return 0;
}

/* Window space in bytes for the next burst of w; 0 when it is closed (PSN window: 9.7.1). */
static uint32_t window_room(const struct qp *qp, const struct send_wr *w)
{
	const struct requester *r = &qp->req;
	uint32_t window = r->window.bytes;
	uint64_t sent, cost;

	if (r->una == r->send && r->send_offset == 0)
		return window;
	sent = requester_wr(r, r->send)->start + r->send_offset;
	cost = sent - requester_acked(qp) +
	       (uint64_t)PACKET_COST * (uint32_t)psn_diff(cursor_psn(qp), r->una_psn);
	return cost < window ? worth_sending(qp, w, (uint32_t)(window - cost)) : 0;
}

/* What its congestion control leaves of the next burst of w; responses are their sender's. */
static uint32_t controlled_room(const struct qp *qp, const struct send_wr *w)
{
	if (requester_awaits_response(w) || !qp_is_reliable(qp))
		return UINT32_MAX;
	return congestion_room(qp, (uint32_t)psn_diff(cursor_psn(qp), qp->req.una_psn));
}

static bool needs_credit(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_SEND || w->wqe.opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
	       w->wqe.opcode == UHCA_ABI_WR_SEND_WITH_INV ||
	       w->wqe.opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
}

/* 24-bit comparison as MSN arithmetic does it. */
static bool beyond_credit(const struct requester *r, const struct send_wr *w)
{
	return r->has_credits && psn_diff(w->ssn & ROCE_PSN_MASK, r->credit_limit_ssn) > 0;
}

/* Whether the request at the cursor may send its next packet, and if not, why. */
static enum requester_blocked why_blocked(struct qp *qp, const struct send_wr *w)
{
	const struct requester *r = &qp->req;

	if (w->executed)
		return BLOCKED_NOT;
	if (w->status)
		return BLOCKED_ORDER;
	if (local_op_is(w))
		return local_op_blocked(qp, w);
	if (!send_rate_allows(qp))
		return BLOCKED_RATE;
	if (qp->congestion && !congestion_allows(qp))
		return BLOCKED_CONGESTION;
	if (!qp_is_reliable(qp))
		return send_pace_holds(qp, w) ? BLOCKED_PACE : BLOCKED_NOT;
	/* 10.8.3.3: a fenced request waits for all READs and atomics before it. */
	if ((w->wqe.flags & UHCA_ABI_SEND_FENCE) && r->send_offset == 0 && r->rd_outstanding)
		return BLOCKED_FENCE;
	if (requester_awaits_response(w) && r->rd_outstanding >= qp->attr.max_rd_atomic)
		return BLOCKED_RD_ATOMIC;
	/* 9.7.7.2: without credit one request may still go when nothing is outstanding. */
	if (r->send_offset == 0 && needs_credit(w) && beyond_credit(r, w) && r->una != r->send)
		return BLOCKED_CREDIT;
	if (!window_room(qp, w))
		return BLOCKED_PSN_WINDOW;
	return qp->congestion && !controlled_room(qp, w) ? BLOCKED_CONGESTION : BLOCKED_NOT;
}

/* In SQD only what was begun before goes on (10.3.1.5). */
static bool state_sends(const struct qp *qp)
{
	const struct requester *r = &qp->req;

	if (qp->state == QPS_RTS)
		return true;
	return qp->state == QPS_SQD && r->send != r->sq.head &&
	       (r->send_offset || psn_diff(cursor_psn(qp), r->high_psn) < 0);
}

/* Brings a request under the cursor; false when there is none, or the QP just failed. */
static bool have_request(struct qp *qp)
{
	struct requester *r = &qp->req;

	if (r->send != r->sq.head)
		return true;
	switch (fetch(qp)) {
	case FETCH_OK:
		return true;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
		return false;
	}
	return false;
}

static enum roce_position position(bool first, bool last)
{
	static const enum roce_position p[2][2] = {{ROCE_POS_MIDDLE, ROCE_POS_LAST},
						   {ROCE_POS_FIRST, ROCE_POS_ONLY}};
	return p[first][last];
}

static enum roce_operation operation_of(const struct send_wr *w)
{
	return (enum roce_operation)send_opcode(w->wqe.opcode)->operation;
}

static void fill_bth(const struct qp *qp, uint32_t psn, struct core_burst *t)
{
	t->head.bth.migreq = true;
	t->head.bth.pkey = qp_pkey(qp);
	t->head.bth.psn = psn;
	t->head.bth.dest_qp = qp->attr.dest_qp_num;
	t->flow = qp->flow;
	if (qp->congestion)
		congestion_set_ecn(qp, &t->flow);
}

static bool fill_datagram(struct qp *qp, const struct send_wr *w, struct core_burst *t)
{
	const struct ah *ah = table_find(&qp->dev->ahs, w->wqe.ud.ah);

	if (!ah)
		return false;
	ah_attr_flow(qp->dev, &ah->attr, &t->flow);
	t->head.bth.dest_qp = w->wqe.ud.remote_qpn;
	/* 9.6.1.3: a Q_Key with the high bit set stands for the QP's own. */
	t->head.deth.qkey =
		w->wqe.ud.remote_qkey & 0x80000000u ? qp->attr.qkey : w->wqe.ud.remote_qkey;
	t->head.deth.src_qp = qp->qpn;
	return true;
}

/* Headers of a SEND or WRITE piece [offset, offset + take) of request w. */
static void fill_message(struct qp *qp, const struct send_wr *w, uint32_t take,
			 struct core_burst *t)
{
	uint32_t offset = qp->req.send_offset;
	bool first = offset == 0, last = offset + take == w->length;
	bool imm = w->wqe.opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
		   w->wqe.opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
	bool inv = w->wqe.opcode == UHCA_ABI_WR_SEND_WITH_INV;
	enum roce_service svc = qp_service(qp);
	enum roce_operation op = operation_of(w);

	t->count = qp_packets(qp, take);
	t->segment = t->count > 1 ? qp->mtu : take;
	t->length = take;
	roce_opcode_find(svc, op, position(first && t->count == 1, last), imm && last, inv && last,
			 &t->last_opcode);
	t->head.bth.opcode = t->last_opcode;
	if (t->count > 1)
		roce_opcode_find(svc, op, position(first, false), false, false,
				 &t->head.bth.opcode);
	t->last_solicited = last && (w->wqe.flags & UHCA_ABI_SEND_SOLICITED);
	t->last_ackreq = qp_is_reliable(qp);
	t->head.reth = (struct roce_reth){w->wqe.rdma.remote_addr, w->wqe.rdma.rkey, w->length};
	if (imm)
		/* As the client has it in memory; the wire struct is host order. */
		t->head.immdt = roce_load_be32((const uint8_t *)&w->wqe.imm);
	if (inv)
		t->head.ieth = w->wqe.imm;
}

/* What is not acknowledged stays the device's: it is sent from where it stands, if it can be. */
static int take_payload(const struct qp *qp, const struct sgl *l, uint32_t offset, uint8_t *buf,
			struct core_burst *t)
{
	const void *at = qp_is_reliable(qp) ? sgl_map(l, offset, t->length, t->flow.dst) : NULL;

	if (!at)
		return sgl_read(l, offset, t->length, buf);
	t->iov[0].iov_base = (void *)(uintptr_t)at;
	return 0;
}

/*
 * The payload of the piece. Data that stands in the slot's data area is sent from there when the
 * slot stays the request's until it is acknowledged; otherwise it is copied. The operands of a
 * masked atomic go out in another byte order.
 */
static int fill_payload(struct qp *qp, const struct send_wr *w, uint8_t *buf, struct core_burst *t)
{
	uint32_t offset = qp->req.send_offset;
	struct sgl l;

	t->n_iov = t->length ? 1 : 0;
	t->iov[0] = (struct iovec){buf, t->length};
	if (!t->length)
		return 0;
	if (requester_is_masked(w)) {
		masked_to_wire(w->wqe.opcode == UHCA_ABI_WR_MASKED_CMP_SWP, w->wqe.masked.size,
			       send_data(&qp->req.sq, w->index), buf);
		return 0;
	}
	if (w->wqe.flags & (UHCA_ABI_SEND_INLINE | UHCA_ABI_SEND_GATHERED)) {
		const uint8_t *data = send_data(&qp->req.sq, w->index) + offset;
		if (qp_is_reliable(qp))
			t->iov[0].iov_base = (void *)(uintptr_t)data;
		else
			memcpy(buf, data, t->length);
		return 0;
	}
	l = requester_sgl(qp, w);
	return take_payload(qp, &l, offset, buf, t);
}

/* How much of a SEND or WRITE goes into the next burst. */
static uint32_t piece_length(struct qp *qp, const struct send_wr *w, size_t cap)
{
	uint32_t left = w->length - qp->req.send_offset, most = qp->dev->cfg.burst_bytes;
	uint32_t room = qp_is_reliable(qp) ? window_room(qp, w) : UINT32_MAX;

	if (most > cap)
		most = (uint32_t)cap;
	/* What goes first behind a loss asks for an answer with each packet: more may get lost. */
	if (qp->req.resent && qp->req.window.bytes < qp->dev->cfg.window_bytes)
		most = qp->mtu;
	if (most > room && left > room)
		qp->req.window.cut = true;
	if (most > room)
		most = room;
	if (qp->congestion && most > controlled_room(qp, w))
		most = controlled_room(qp, w);
	most &= ~(qp->mtu - 1);
	if (most < qp->mtu)
		most = qp->mtu;
	return left < most ? left : most;
}

/* READ: the next piece ends where a multiple of the piece, or the message, ends. */
static uint32_t build_read(struct qp *qp, const struct send_wr *w, struct core_burst *t)
{
	uint32_t offset = qp->req.send_offset, piece = requester_read_piece(qp);
	uint32_t take = piece - offset % piece;

	if (take > w->length - offset)
		take = w->length - offset;
	t->head.reth = (struct roce_reth){w->wqe.rdma.remote_addr + offset, w->wqe.rdma.rkey, take};
	return take;
}

static void build_atomic(const struct send_wr *w, struct core_burst *t)
{
	bool cas = w->wqe.opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP;

	t->head.atomiceth = (struct roce_atomiceth){
		.va = w->wqe.atomic.remote_addr,
		.rkey = w->wqe.atomic.rkey,
		.swap_add = cas ? w->wqe.atomic.swap : w->wqe.atomic.compare_add,
		.compare = cas ? w->wqe.atomic.compare_add : 0,
	};
}

/* A selectivity of "the whole region" leaves address and length without a meaning (A19.4.1). */
static void build_flush(const struct send_wr *w, struct core_burst *t)
{
	t->head.feth = (struct roce_feth){.placement = w->wqe.flush.type,
					  .selectivity = w->wqe.flush.level};
	t->head.reth = (struct roce_reth){w->wqe.flush.remote_addr, w->wqe.flush.rkey,
					  (uint32_t)w->wqe.flush.length};
}

static void build_atomic_write(const struct send_wr *w, struct core_burst *t)
{
	t->segment = t->length = w->length;
	t->head.reth = (struct roce_reth){w->wqe.rdma.remote_addr, w->wqe.rdma.rkey, w->length};
}

/* Its length counts what comes back; what goes out are the operands. */
static void build_masked(const struct send_wr *w, struct core_burst *t)
{
	t->segment = t->length = w->wqe.inline_length;
	t->head.reth = (struct roce_reth){w->wqe.masked.remote_addr, w->wqe.masked.rkey, w->length};
}

/*
 * What awaits a response: a single packet, without payload but for ATOMIC WRITE and the operands
 * of masked atomics. Returns the bytes of the message that it stands for.
 */
static uint32_t build_request(struct qp *qp, const struct send_wr *w, struct core_burst *t)
{
	uint32_t take = w->length;

	t->count = 1;
	t->segment = t->length = 0;
	t->n_iov = 0;
	roce_opcode_find(qp_service(qp), operation_of(w), ROCE_POS_ONLY, false, false,
			 &t->head.bth.opcode);
	t->last_opcode = t->head.bth.opcode;
	t->last_ackreq = true;
	t->last_solicited = false;
	if (is_read(w))
		take = build_read(qp, w, t);
	else if (is_atomic(w))
		build_atomic(w, t);
	else if (requester_is_masked(w))
		build_masked(w, t);
	else if (w->wqe.opcode == UHCA_ABI_WR_FLUSH)
		build_flush(w, t);
	else
		build_atomic_write(w, t);
	return take;
}

/* The cursor moves behind what was just built; unreliable requests complete. */
static void advance(struct qp *qp, struct send_wr *w, uint32_t take)
{
	struct requester *r = &qp->req;
	bool first = !requester_outstanding(r);
	uint32_t end;

	r->send_offset += take;
	if (r->send_offset == w->length) {
		r->send++;
		r->send_offset = 0;
		end = psn_add(w->first_psn, w->n_psn);
	} else {
		end = psn_add(w->first_psn, r->send_offset >> qp->mtu_log);
	}
	if (psn_diff(end, r->high_psn) > 0)
		r->high_psn = end;
	if (qp_is_reliable(qp))
		retry_sent(qp, first);
	else if (r->send_offset == 0)
		completer_sent(qp);
}

/* Payload that may leave at once. */
static size_t most_at_once(const struct qp *qp, size_t cap)
{
	if (qp->req.rate.kbps)
		cap = send_rate_most(qp, cap);
	return qp->congestion ? congestion_most(qp, cap) : cap;
}

static void count_sent(struct qp *qp, const struct send_wr *w, const struct core_burst *t)
{
	if (qp->req.rate.kbps)
		send_rate_count(qp, t->length, t->count);
	if (qp->congestion)
		congestion_sent(qp, t,
				qp_is_reliable(qp) && !t->model.tries &&
					!requester_awaits_response(w));
}

static void fill_model(const struct qp *qp, const struct send_wr *w, struct core_burst *t)
{
	const struct requester *r = &qp->req;
	bool again = psn_diff(t->head.bth.psn, r->high_psn) < 0;

	t->model.wr_id = w->wqe.wr_id;
	t->model.offset = r->send_offset;
	t->model.total = w->length;
	t->model.mtu = qp->mtu;
	if (again)
		t->model.tries = r->resent ? r->resent : 1;
	t->model.has_wr = true;
}

/*
 * False: w->status says why; or, where that is success, memory does not give the payload now: the
 * cursor moved as if it had been lost on the way, and it is sent again where that is promised.
 */
static bool build(struct qp *qp, struct send_wr *w, uint8_t *buf, size_t cap, struct core_burst *t)
{
	uint32_t take;
	int err;

	memset(&t->head, 0, sizeof t->head);
	t->from_network = false;
	fill_bth(qp, cursor_psn(qp), t);
	t->head.xrcsrq = w->wqe.xrc_srqn & 0xffffffu; /* where the opcode has it */
	fill_model(qp, w, t);
	if (qp_is_reliable(qp) && requester_awaits_response(w)) {
		take = build_request(qp, w, t);
	} else {
		take = piece_length(qp, w, most_at_once(qp, cap));
		if (qp->type == QPT_UD && !fill_datagram(qp, w, t)) {
			w->status = UHCA_ABI_WC_LOC_QP_OP_ERR;
			return false;
		}
		fill_message(qp, w, take, t);
	}
	err = fill_payload(qp, w, buf, t);
	if (err && err != -ESRCH) {
		w->status = UHCA_ABI_WC_LOC_PROT_ERR;
		return false;
	}
	if (requester_awaits_response(w))
		qp->req.rd_outstanding++;
	t->head.bth.ackreq = t->count == 1 && t->last_ackreq;
	t->head.bth.solicited = t->count == 1 && t->last_solicited;
	advance(qp, w, take);
	count_sent(qp, w, t);
	return err == 0;
}

bool requester_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out)
{
	struct requester *r = &qp->req;

	early_local_inv_look(qp);
	while (r->blocked != BLOCKED_RNR && qp->state != QPS_ERR && qp->state != QPS_SQE) {
		struct send_wr *w;
		if (qp->state == QPS_SQD ? !state_sends(qp) : qp->state != QPS_RTS) {
			r->blocked = BLOCKED_STATE;
			return false;
		}
		if (!have_request(qp)) {
			r->blocked = BLOCKED_NOT;
			return false;
		}
		w = requester_wr(r, r->send);
		r->blocked = why_blocked(qp, w);
		if (r->blocked == BLOCKED_NOT && local_op_is(w)) {
			if (!budget_take(qp))
				return false;
			local_op_run(qp, w);
			continue;
		}
		if (r->blocked == BLOCKED_PACE)
			send_pace_wait(qp);
		if (r->blocked == BLOCKED_NOT) {
			if (build(qp, w, buf, cap, out))
				return true;
			if (!w->status)
				continue;
		}
		/*
		 * A local error completes when all before it have; then the loop sees ERR or SQE.
		 */
		if (!w->status || !completer_local_error(qp, w))
			return false;
	}
	return false;
}
