/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connected requests, RC and UC. A train walks a list of stages in the order in which IBTA vol. 1,
 * 9.7.4.1 and figure "responder error behaviour" give precedence: PSN, opcode sequence, opcode
 * supported, length, resources, keys; then it is executed. A stage says what it found (enum
 * verdict); two tables say what that means on the wire and for the QP.
 */
#include "responder.h"
#include "answer.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/send/send.h"
#include "execute.h"
#include "receive_wr.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <string.h>

typedef enum verdict (*stage_fn)(struct qp *qp, const struct core_train *t);

/* ---- duplicates (9.7.5.1.4) ---- */

/* A duplicate READ may ask for the rest of the first request only, never for anything else. */
static void duplicate_read(struct qp *qp, const struct core_train *t)
{
	struct replay_entry *e = replay_find(&qp->resp.replay, t->head.bth.psn);
	const struct roce_reth *h = &t->head.reth;
	uint32_t skipped = e ? (uint32_t)psn_diff(t->head.bth.psn, e->psn) * qp->mtu : 0;

	if (!e || e->kind != REPLAY_READ || h->rkey != e->rkey || h->va != e->va + skipped ||
	    skipped > e->length || h->length > e->length - skipped)
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_DUPLICATE);
	else
		answer_again(qp, e, skipped, skipped + h->length);
}

/* Atomics, FLUSH and ATOMIC WRITE are executed once and answered as often as they come. */
static void duplicate_once(struct qp *qp, const struct core_train *t, enum replay_kind kind)
{
	struct replay_entry *e = replay_find(&qp->resp.replay, t->head.bth.psn);

	if (!e || e->kind != kind)
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_DUPLICATE);
	else
		answer_again(qp, e, 0, e->length);
}

static enum replay_kind kind_of(const struct core_train *t)
{
	if (request_is_placement(t))
		return REPLAY_PLACED;
	return request_is_masked(t) ? REPLAY_MASKED : REPLAY_ATOMIC;
}

static enum verdict duplicate(struct qp *qp, const struct core_train *t)
{
	qp->dev->counters.duplicates++;
	if (request_is_message(t))
		answer_ack(qp, psn_add(qp->resp.epsn, ROCE_PSN_MASK), false);
	else if (request_info(t)->operation == ROCE_OP_READ_REQ)
		duplicate_read(qp, t);
	else
		duplicate_once(qp, t, kind_of(t));
	return V_DONE;
}

/* ---- stages ---- */

static enum verdict check_psn_rc(struct qp *qp, const struct core_train *t)
{
	struct responder *r = &qp->resp;
	int32_t diff = psn_diff(t->head.bth.psn, r->epsn);

	if (diff == 0) {
		r->nak_sent = false;
		return V_OK;
	}
	if (diff > 0)
		return V_SEQUENCE;
	/* A train that reaches beyond what was received has a new part. */
	return -diff < (int32_t)t->count ? V_SPLIT : duplicate(qp, t);
}

/* UC: any PSN starts anew; a gap kills the message under way (9.8.2.2.1). */
static enum verdict check_psn_uc(struct qp *qp, const struct core_train *t)
{
	struct responder *r = &qp->resp;

	if (t->head.bth.psn != r->epsn && r->message != MESSAGE_NONE)
		r->message = MESSAGE_DROPPING;
	r->epsn = psn_add(t->head.bth.psn, t->count);
	return V_OK;
}

/* May a packet at this position arrive while this message is under way? (9.7.4.1.2) */
static enum verdict check_sequence_rc(struct qp *qp, const struct core_train *t)
{
	enum responder_message m = qp->resp.message;
	bool first = roce_opcode_is_first(t->head.bth.opcode);

	if (first)
		return m == MESSAGE_NONE ? V_OK : V_INVALID;
	if (request_info(t)->operation == ROCE_OP_SEND)
		return m == MESSAGE_SEND ? V_OK : V_INVALID;
	return m == MESSAGE_WRITE ? V_OK : V_INVALID;
}

/* UC: what does not continue is dropped up to the next FIRST or ONLY. */
static enum verdict check_sequence_uc(struct qp *qp, const struct core_train *t)
{
	struct responder *r = &qp->resp;

	if (roce_opcode_is_first(t->head.bth.opcode)) {
		r->message = MESSAGE_NONE;
		return V_OK;
	}
	if (check_sequence_rc(qp, t) == V_OK)
		return V_OK;
	r->message = MESSAGE_DROPPING;
	device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_SEQUENCE);
	return V_DONE;
}

static enum verdict check_placement_enabled(const struct qp *qp, const struct core_train *t)
{
	uint32_t flags = qp->attr.qp_access_flags, need = MR_REMOTE_WRITE;
	uint32_t feature = UHCA_ABI_HAS_ATOMIC_WRITE;

	if (request_info(t)->operation == ROCE_OP_FLUSH) {
		need = request_flush_rights(t);
		feature = UHCA_ABI_HAS_FLUSH;
	}
	return need && (flags & need) == need && (qp->dev->cfg.features & feature) ? V_OK
										   : V_INVALID;
}

static enum verdict check_masked_enabled(const struct qp *qp)
{
	return qp->attr.qp_access_flags & MR_REMOTE_ATOMIC &&
			       qp->dev->cfg.features & UHCA_ABI_HAS_MASKED_ATOMICS
		       ? V_OK
		       : V_INVALID;
}

/*
 * The SRQ that each XRC request names (annex A14): one of the QP's domain, the same for all
 * packets of a message, and in order. The request has its receives, CQ and protection domain.
 */
static enum verdict check_srq(struct qp *qp, const struct core_train *t)
{
	struct srq *srq = xrcd_find_srq(qp->dev, qp->domain, t->head.xrcsrq);

	if (!srq || (qp->srq != srq && !roce_opcode_is_first(t->head.bth.opcode)))
		return V_INVALID;
	if (srq->error)
		return V_OPERATION;
	qp_use_srq(qp, srq);
	return V_OK;
}

/* The QP must have been told to allow it (10.2.4: remote access flags of the QP). */
static enum verdict check_enabled(struct qp *qp, const struct core_train *t)
{
	uint32_t flags = qp->attr.qp_access_flags;

	switch (request_info(t)->operation) {
	case ROCE_OP_SEND:
		return V_OK;
	case ROCE_OP_WRITE:
		return flags & MR_REMOTE_WRITE ? V_OK : V_INVALID;
	case ROCE_OP_READ_REQ:
		return flags & MR_REMOTE_READ ? V_OK : V_INVALID;
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
		return flags & MR_REMOTE_ATOMIC ? V_OK : V_INVALID;
	case ROCE_OP_ATOMIC_WRITE:
	case ROCE_OP_FLUSH:
		return check_placement_enabled(qp, t);
	case ROCE_OP_MASKED_CMP_SWAP:
	case ROCE_OP_MASKED_FETCH_ADD:
		return check_masked_enabled(qp);
	case ROCE_OP_READ_RESP:
	case ROCE_OP_ACK:
	case ROCE_OP_ATOMIC_ACK:
	case ROCE_OP_CNP:
	case ROCE_OP_COUNT:
		break;
	}
	return V_INVALID;
}

/* Payload of each packet against its position and the path MTU (9.7.4.1.6 and C9-92 ff.). */
static enum verdict check_length(struct qp *qp, const struct core_train *t)
{
	uint32_t last = t->length - (t->count - 1) * t->segment;
	struct responder *r = &qp->resp;
	uint32_t left;

	if (!request_is_message(t))
		return V_OK;
	if (last > qp->mtu || (t->count > 1 && t->segment != qp->mtu))
		return V_INVALID;
	if (!request_ends_message(t) && last != qp->mtu)
		return V_INVALID;
	if (request_last_info(t)->position == ROCE_POS_LAST && last == 0)
		return V_INVALID;
	if (request_info(t)->operation != ROCE_OP_WRITE)
		return V_OK;
	left = roce_opcode_is_first(t->head.bth.opcode) ? t->head.reth.length : r->write_left;
	if (t->length > left || (request_ends_message(t) ? t->length != left : t->length == left))
		return V_INVALID;
	return V_OK;
}

/* A receive request for what needs one; a train is split so that the RNR NAK names its packet. */
static enum verdict check_resource(struct qp *qp, const struct core_train *t)
{
	bool send = request_info(t)->operation == ROCE_OP_SEND;

	if (!request_is_message(t) || !request_wants_receive(t) ||
	    (!send && !request_ends_message(t)))
		return V_OK;
	if (!receive_take(qp)) {
		if (qp->state == QPS_ERR)
			return V_DONE;
		return send || t->count == 1 ? V_RNR : V_SPLIT;
	}
	if (!send)
		return V_OK;
	if (roce_opcode_is_first(t->head.bth.opcode))
		qp->resp.received = 0;
	return (uint64_t)qp->resp.received + t->length > receive_capacity(qp) ? V_LENGTH : V_OK;
}

/* READs and atomics: no more at a time than agreed, lengths and alignment (9.7.4.1.1, 9.4.5). */
static enum verdict check_request(struct qp *qp, const struct core_train *t)
{
	struct masked_atomic m;

	if (request_is_message(t))
		return V_OK;
	if (!replay_has_room(&qp->resp.replay))
		return V_INVALID;
	switch (request_info(t)->operation) {
	case ROCE_OP_READ_REQ:
	case ROCE_OP_FLUSH:
		return t->head.reth.length > 0x80000000u || t->length ? V_INVALID : V_OK;
	case ROCE_OP_ATOMIC_WRITE:
		return t->head.reth.va & 7 || t->head.reth.length != 8 || t->length != 8 ? V_INVALID
											 : V_OK;
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
		return t->head.atomiceth.va & 7 ? V_INVALID : V_OK;
	case ROCE_OP_MASKED_CMP_SWAP:
	case ROCE_OP_MASKED_FETCH_ADD:
		return masked_parse(qp->dev->cfg.features, t, &m) ? V_OK : V_INVALID;
	case ROCE_OP_SEND:
	case ROCE_OP_WRITE:
	case ROCE_OP_READ_RESP:
	case ROCE_OP_ACK:
	case ROCE_OP_ATOMIC_ACK:
	case ROCE_OP_CNP:
	case ROCE_OP_COUNT:
		break;
	}
	return V_INVALID;
}

/* ---- what was found, and what follows ---- */

static const stage_fn rc_stages[] = {
	check_psn_rc,   check_sequence_rc, check_enabled,   check_length,
	check_resource, check_request,     execute_request, NULL};
static const stage_fn xrc_stages[] = {check_psn_rc,  check_sequence_rc, check_srq,
				      check_enabled, check_length,      check_resource,
				      check_request, execute_request,   NULL};
static const stage_fn uc_stages[] = {check_psn_uc,   check_sequence_uc, check_enabled, check_length,
				     check_resource, execute_request,   NULL};

/* Table 58 (RC responder): NAK code, the receive's status if one was taken, the event. */
static const struct {
	uint8_t nak;
	uint8_t status;
	uint32_t event;
} rc_fault[V_COUNT] = {
	[V_INVALID] = {ROCE_NAK_INVALID_REQUEST, UHCA_ABI_WC_REM_INV_REQ_ERR,
		       UHCA_ABI_EVENT_QP_REQ_ERR},
	/* Only a WRITE with immediate has a receive then: "local access error" (11.6.2). */
	[V_ACCESS] = {ROCE_NAK_REMOTE_ACCESS, UHCA_ABI_WC_LOC_ACCESS_ERR,
		      UHCA_ABI_EVENT_QP_ACCESS_ERR},
	[V_OPERATION] = {ROCE_NAK_REMOTE_OPERATIONAL, UHCA_ABI_WC_LOC_PROT_ERR, UINT32_MAX},
	[V_LENGTH] = {ROCE_NAK_INVALID_REQUEST, UHCA_ABI_WC_LOC_LEN_ERR, UINT32_MAX},
};

/* Completes the receive at hand in error, if there is one. */
static void fail_receive(struct qp *qp, uint8_t status)
{
	struct uhca_abi_cqe e = {.status = status, .opcode = UHCA_ABI_WC_RECV};

	if (qp->resp.have_wr)
		receive_complete(qp, &e);
}

/* A short message alone; what is part of more has a sender that waits for its window. */
static bool may_wait(const struct qp *qp, const struct core_train *t)
{
	if (qp->dev->cfg.lazy_acks)
		return true;
	return t->from_network && t->count == 1 && roce_opcode_is_first(t->head.bth.opcode);
}

static void conclude_rc(struct qp *qp, const struct core_train *t, enum verdict v)
{
	struct responder *r = &qp->resp;

	switch (v) {
	case V_OK:
		r->epsn = psn_add(r->epsn, request_psns(qp, t));
		if (request_ends_message(t))
			r->msn = psn_add(r->msn, 1);
		if (request_is_message(t) && t->last_ackreq)
			answer_ack(qp, psn_add(r->epsn, ROCE_PSN_MASK), may_wait(qp, t));
		return;
	case V_DONE:
	case V_SPLIT:
	case V_COUNT:
		return;
	case V_SEQUENCE:
		/* One NAK per gap (9.7.5.2.8), then silence until the expected PSN comes. */
		if (r->nak_sent)
			device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_SEQUENCE);
		else
			answer_nak(qp, roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE));
		r->nak_sent = true;
		return;
	case V_RNR:
		qp->dev->counters.rnr_sent++;
		answer_nak(qp, roce_syndrome(ROCE_RNR_NAK, qp->attr.min_rnr_timer));
		r->nak_sent = true;
		return;
	case V_INVALID:
	case V_ACCESS:
	case V_OPERATION:
	case V_LENGTH:
		fail_receive(qp, rc_fault[v].status);
		answer_nak(qp, roce_syndrome(ROCE_NAK, rc_fault[v].nak));
		qp_fail(qp, rc_fault[v].event);
		return;
	case V_KEY:
		/*
		 * Class J (9.9.6.3, table 58): an error of this side alone, told by the receive. No
		 * NAK: the requester repeats its request until it gives up. What came before is
		 * answered.
		 */
		fail_receive(qp, UHCA_ABI_WC_REM_INV_REQ_ERR);
		r->gave_up = true;
		qp_fail(qp, UINT32_MAX);
		return;
	}
}

/* UC has no answers: the message is dropped, or the receive completes in error (9.9.3.1). */
static void conclude_uc(struct qp *qp, const struct core_train *t, enum verdict v)
{
	switch (v) {
	case V_OK:
	case V_DONE:
	case V_SPLIT:
	case V_COUNT:
		return;
	case V_LENGTH:
	case V_OPERATION:
		if (!qp->resp.have_wr)
			break;
		fail_receive(qp, rc_fault[v].status);
		qp_fail(qp, UINT32_MAX);
		return;
	case V_RNR:
		device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_NO_RECV);
		qp->resp.message = MESSAGE_DROPPING;
		return;
	case V_SEQUENCE:
	case V_INVALID:
	case V_ACCESS:
	case V_KEY:
		break;
	}
	device_drop(qp->dev, qp->qpn, t->head.bth.psn, CORE_DROP_LENGTH);
	qp->resp.message = MESSAGE_DROPPING;
}

static enum verdict walk(struct qp *qp, const struct core_train *t)
{
	const stage_fn *stage = qp->type == QPT_UC         ? uc_stages
				: qp->type == QPT_XRC_RECV ? xrc_stages
							   : rc_stages;
	enum verdict v = V_OK;

	for (; *stage && v == V_OK; stage++)
		v = (*stage)(qp, t);
	return v;
}

static enum verdict receive_one(struct qp *qp, const struct core_train *t)
{
	enum verdict v = walk(qp, t);

	if (qp->type == QPT_UC)
		conclude_uc(qp, t, v);
	else
		conclude_rc(qp, t, v);
	return v;
}

void responder_receive(struct qp *qp, const struct core_train *t)
{
	struct core_train one;

	if (receive_one(qp, t) != V_SPLIT)
		return;
	for (uint32_t i = 0; i < t->count && qp->state != QPS_ERR; i++) {
		core_train_single(t, i, &one);
		receive_one(qp, &one);
	}
}
