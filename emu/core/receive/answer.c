/* SPDX-License-Identifier: BSD-2-Clause */
/* The RC responder's answers: READ responses, atomic acknowledges, coalesced ACKs and NAKs. */
#include "answer.h"

#include "emu/core/congestion/congestion.h"
#include "emu/core/keys/keys.h"
#include "receive_wr.h"
#include "responder.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <string.h>

bool answer_waits(const struct qp *qp)
{
	return !list_empty(&qp->ack_link);
}

bool answer_stands_back(const struct qp *qp)
{
	const struct responder *r = &qp->resp;

	return r->ack_pending && r->ack_stands_back;
}

/* The pending ACK waits no longer. */
static void stop_waiting(struct qp *qp)
{
	list_remove(&qp->ack_link);
	qp_kick(qp);
}

void answer_follow(struct qp *qp)
{
	qp->resp.ack_stands_back = false;
	stop_waiting(qp);
}

bool answer_wake(struct device *dev, uint64_t now)
{
	bool any = false;

	/* All wait equally long: the list is in the order of their times. */
	while (!list_empty(&dev->patient)) {
		struct qp *qp = list_entry(dev->patient.next, struct qp, ack_link);
		if (qp->ack_due > now)
			break;
		stop_waiting(qp);
		any = true;
	}
	return any;
}

static void wait_for_company(struct qp *qp)
{
	if (answer_waits(qp))
		return;
	qp->ack_due = qp->dev->now + qp->dev->cfg.ack_delay_ns;
	list_append(&qp->dev->patient, &qp->ack_link);
}

void answer_ack(struct qp *qp, uint32_t psn, bool patient)
{
	struct responder *r = &qp->resp;

	/* A NAK that was not sent yet says the same and more, unless its packet has come since. */
	if (r->ack_pending && roce_syndrome_kind(r->ack_syndrome) != ROCE_ACK &&
	    psn_diff(psn, r->ack_psn) < 0)
		return;
	r->ack_pending = true;
	r->ack_psn = psn;
	r->ack_syndrome = roce_syndrome(ROCE_ACK, 0);
	/* An answer to a READ that must go before it has nothing to wait for. */
	r->ack_stands_back = patient && !qp_is_urgent(qp) && qp->dev->cfg.ack_delay_ns &&
			     !(r->replay.size && replay_head(&r->replay));
	if (r->ack_stands_back)
		wait_for_company(qp);
	else
		stop_waiting(qp);
}

static void trace_nak(const struct qp *qp, uint8_t syndrome)
{
	const struct device *dev = qp->dev;

	if (dev->hooks & 1u << CORE_TRACE_NAK)
		dev->ops->trace(dev->user, &(struct core_trace){.point = CORE_TRACE_NAK,
								.qpn = qp->qpn,
								.a = qp->resp.epsn,
								.b = syndrome,
								.cause = device_cause(dev)});
}

void answer_nak(struct qp *qp, uint8_t syndrome)
{
	struct responder *r = &qp->resp;

	qp->dev->counters.naks_sent++;
	trace_nak(qp, syndrome);
	r->ack_pending = true;
	r->ack_psn = r->epsn;
	r->ack_syndrome = syndrome;
	r->ack_stands_back = false;
	stop_waiting(qp);
}

void answer_new(struct qp *qp, const struct replay_entry *e)
{
	/* The answer acknowledges what came before it. */
	qp->resp.ack_pending = false;
	replay_add(&qp->resp.replay, e);
	stop_waiting(qp);
}

void answer_again(struct qp *qp, struct replay_entry *e, uint32_t start, uint32_t end)
{
	replay_again(&qp->resp.replay, e, start, end);
	stop_waiting(qp);
}

/* A NAK is pending that ends the connection, or it ends without. */
static bool refuses(const struct responder *r)
{
	return r->gave_up || (r->ack_pending && roce_syndrome_kind(r->ack_syndrome) == ROCE_NAK &&
			      roce_syndrome_value(r->ack_syndrome) != ROCE_NAK_PSN_SEQUENCE);
}

void answer_forget(struct qp *qp)
{
	struct responder *r = &qp->resp;

	stop_waiting(qp);
	if (!r->replay.size || !replay_head(&r->replay) || refuses(r))
		return;
	replay_cancel(&r->replay);
	if (r->ack_pending && roce_syndrome_kind(r->ack_syndrome) == ROCE_ACK)
		r->ack_pending = false;
}

void answer_begin(uint32_t to_qpn, uint32_t psn, const struct roce_flow *flow, struct core_burst *t)
{
	memset(&t->head, 0, sizeof t->head);
	t->head.bth.migreq = true;
	t->head.bth.pkey = 0xffff;
	t->head.bth.dest_qp = to_qpn;
	t->head.bth.psn = psn;
	t->flow = *flow;
	t->last_ackreq = t->last_solicited = t->from_network = false;
	t->count = 1;
	t->segment = t->length = 0;
	t->n_iov = 0;
}

static void begin(const struct qp *qp, uint32_t psn, struct core_burst *t)
{
	answer_begin(qp->attr.dest_qp_num, psn, &qp->flow, t);
	t->head.bth.pkey = qp_pkey(qp);
}

static void find_opcode(const struct qp *qp, enum roce_operation op, enum roce_position pos,
			roce_opcode *out)
{
	roce_opcode_find(qp_service(qp), op, pos, false, false, out);
}

static void build_ack(struct qp *qp, struct core_burst *t)
{
	struct responder *r = &qp->resp;
	uint8_t syndrome = r->ack_syndrome;

	if (roce_syndrome_kind(syndrome) == ROCE_ACK)
		syndrome = roce_syndrome(ROCE_ACK, receive_credits(qp));
	begin(qp, r->ack_psn, t);
	find_opcode(qp, ROCE_OP_ACK, ROCE_POS_ONLY, &t->head.bth.opcode);
	t->last_opcode = t->head.bth.opcode;
	t->head.aeth = (struct roce_aeth){syndrome, r->msn};
	if (qp->congestion)
		congestion_fill_ack(qp, t);
	r->ack_pending = false;
}

bool answer_last(struct qp *qp, struct core_burst *out)
{
	struct responder *r = &qp->resp;

	if (!r->ack_pending || (r->replay.size && replay_head(&r->replay)))
		return false;
	build_ack(qp, out);
	return true;
}

static void build_atomic(struct qp *qp, const struct replay_entry *e, struct core_burst *t)
{
	begin(qp, e->psn, t);
	find_opcode(qp, ROCE_OP_ATOMIC_ACK, ROCE_POS_ONLY, &t->head.bth.opcode);
	t->last_opcode = t->head.bth.opcode;
	t->head.aeth = (struct roce_aeth){roce_syndrome(ROCE_ACK, receive_credits(qp)), e->msn};
	t->head.atomic_ack = e->original;
	if (qp->congestion)
		congestion_fill_ack(qp, t);
}

/*
 * The region may have gone since the request was accepted: the key is checked at each piece. The
 * value before a masked atomic is kept.
 */
static int read_piece(struct qp *qp, const struct replay_entry *a, uint32_t take, uint8_t *buf,
		      const void **from)
{
	uint64_t at = a->va + a->sent;
	struct mr *mr;

	*from = buf;
	if (take == 0)
		return 0;
	if (a->kind == REPLAY_MASKED) {
		memcpy(buf, a->masked + a->sent, take);
		return 0;
	}
	if (!a->pd || remote_check((struct key_user){qp->dev, a->pd, qp->qpn}, a->rkey, &at, take,
				   MR_REMOTE_READ, &mr) != MR_OK)
		return -EACCES;
	*from = sgl_map_mr(qp->dev, mr, at, take, qp->flow.dst);
	if (*from)
		return 0;
	*from = buf;
	return sgl_read_mr(qp->dev, mr, at, take, buf);
}

/* What stands against the rest of a READ. */
static void explain_read(struct qp *qp, const struct replay_entry *a)
{
	const struct key_user user = {qp->dev, a->pd, qp->qpn};
	const struct key_access access = {a->rkey, a->va + a->sent, a->end - a->sent,
					  MR_REMOTE_READ, true};
	struct uhca_abi_cause c;

	if (!device_explains(qp->dev))
		return;
	c = key_cause(user, &access);
	device_because(qp->dev, &c);
}

/* READ failed half-way: a NAK in place of the missing packet (9.7.5.2.4), then error state. */
static void abandon_read(struct qp *qp, const struct replay_entry *a, int err)
{
	struct responder *r = &qp->resp;

	if (err == -ESRCH) { /* nobody is there to answer for */
		replay_cancel(&r->replay);
		r->ack_pending = false;
		return;
	}
	explain_read(qp, a);
	if (a->kind == REPLAY_READ)
		qp_count(qp, UHCA_ABI_COMP_REMOTE_RDMA_READ, false, 0);
	r->epsn = psn_add(a->psn, a->sent >> qp->mtu_log);
	replay_cancel(&r->replay);
	r->ack_pending = false;
	if (err == -EACCES) {
		answer_nak(qp, roce_syndrome(ROCE_NAK, ROCE_NAK_REMOTE_ACCESS));
		device_forget_cause(qp->dev);
		qp_fail(qp, UHCA_ABI_EVENT_QP_ACCESS_ERR);
		return;
	}
	/* The key was right: what failed is the responder's own business (table 58). */
	answer_nak(qp, roce_syndrome(ROCE_NAK, ROCE_NAK_REMOTE_OPERATIONAL));
	device_forget_cause(qp->dev);
	qp_fail(qp, UINT32_MAX);
}

/*
 * A READ whose answer was sent whole, and whose key has gone since: the requester that has it may
 * have given the memory back already, and a late copy of its request is no fault of anybody. Who
 * still waits for it is refused, and the QP lives on (9.7.5.1.4 asks for no more).
 */
static void refuse_again(struct qp *qp, struct replay_entry *a, int err, struct core_burst *t)
{
	uint8_t code = err == -EACCES ? ROCE_NAK_REMOTE_ACCESS : ROCE_NAK_REMOTE_OPERATIONAL;

	begin(qp, psn_add(a->psn, a->sent >> qp->mtu_log), t);
	find_opcode(qp, ROCE_OP_ACK, ROCE_POS_ONLY, &t->head.bth.opcode);
	t->last_opcode = t->head.bth.opcode;
	t->head.aeth = (struct roce_aeth){roce_syndrome(ROCE_NAK, code), a->msn};
	replay_done(a);
}

static void read_opcodes(const struct qp *qp, bool first, bool last, struct core_burst *t)
{
	if (t->count == 1) {
		find_opcode(qp, ROCE_OP_READ_RESP,
			    first ? (last ? ROCE_POS_ONLY : ROCE_POS_FIRST)
				  : (last ? ROCE_POS_LAST : ROCE_POS_MIDDLE),
			    &t->head.bth.opcode);
		t->last_opcode = t->head.bth.opcode;
		return;
	}
	find_opcode(qp, ROCE_OP_READ_RESP, first ? ROCE_POS_FIRST : ROCE_POS_MIDDLE,
		    &t->head.bth.opcode);
	find_opcode(qp, ROCE_OP_READ_RESP, last ? ROCE_POS_LAST : ROCE_POS_MIDDLE, &t->last_opcode);
}

static bool build_read(struct qp *qp, struct replay_entry *a, uint8_t *buf, size_t cap,
		       struct core_burst *t)
{
	uint32_t most = qp->dev->cfg.burst_bytes < cap ? qp->dev->cfg.burst_bytes : (uint32_t)cap;
	uint32_t take = a->end - a->sent;
	const void *from;
	int err;

	most &= ~(qp->mtu - 1);
	if (qp->congestion)
		most = (uint32_t)congestion_most(qp, most) & ~(qp->mtu - 1);
	if (take > most)
		take = most;
	err = read_piece(qp, a, take, buf, &from);
	if (err && a->answered && err != -ESRCH) {
		refuse_again(qp, a, err, t);
		return true;
	}
	if (err) {
		abandon_read(qp, a, err);
		return false;
	}
	begin(qp, psn_add(a->psn, a->sent >> qp->mtu_log), t);
	t->count = qp_packets(qp, take);
	t->segment = t->count > 1 ? qp->mtu : take;
	t->length = take;
	t->iov[0] = (struct iovec){(void *)(uintptr_t)from, take};
	t->n_iov = take ? 1 : 0;
	read_opcodes(qp, a->sent == a->start, a->sent + take == a->end, t);
	t->head.aeth = (struct roce_aeth){roce_syndrome(ROCE_ACK, receive_credits(qp)), a->msn};
	a->sent += take;
	if (qp->congestion) {
		congestion_set_ecn(qp, &t->flow);
		congestion_sent(qp, t, false);
	}
	return true;
}

/* The last packet of the response is on its way: for the first time the READ is complete. */
static void read_answered(const struct qp *qp, struct replay_entry *a)
{
	if (a->kind == REPLAY_READ && !a->answered)
		qp_count(qp, UHCA_ABI_COMP_REMOTE_RDMA_READ, true, a->length);
	replay_done(a);
}

bool responder_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_burst *out)
{
	struct responder *r = &qp->resp;
	struct replay_entry *a = r->replay.size ? replay_head(&r->replay) : NULL;

	if (a && qp->congestion && !congestion_allows(qp))
		return false;
	if (a && a->kind != REPLAY_ATOMIC) {
		if (build_read(qp, a, buf, cap, out)) {
			if (a->sent == a->end)
				read_answered(qp, a);
			return true;
		}
	} else if (a) {
		build_atomic(qp, a, out);
		replay_done(a);
		return true;
	}
	if (!r->ack_pending)
		return false;
	build_ack(qp, out);
	return true;
}
