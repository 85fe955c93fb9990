/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connected requests, RC and UC. A burst walks a list of stages in the order in which IBTA vol. 1,
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

typedef enum verdict (*stage_fn)(struct qp *qp, const struct core_burst *t);

/* ---- duplicates (9.7.5.1.4) ---- */

static struct uhca_abi_cause behind(const struct qp *qp, const struct core_burst *t,
				    enum uhca_abi_cause_kind kind)
{
	return (struct uhca_abi_cause){
		.kind = kind, .expected = qp->resp.epsn, .got = t->head.bth.psn};
}

static void forgotten(struct qp *qp, const struct core_burst *t)
{
	const struct uhca_abi_cause c = behind(qp, t, UHCA_ABI_CAUSE_FORGOTTEN);

	device_because(qp->dev, &c);
	device_drop(qp->dev, qp->qpn, t, CORE_DROP_DUPLICATE);
}

static void note_duplicate(struct qp *qp, const struct core_burst *t)
{
	const struct uhca_abi_cause c = behind(qp, t, UHCA_ABI_CAUSE_PSN_BEHIND);

	device_because(qp->dev, &c);
	device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_DUPLICATE);
}

static void again(struct qp *qp, const struct core_burst *t, struct replay_entry *e, uint32_t start,
		  uint32_t end)
{
	answer_again(qp, e, start, end);
	note_duplicate(qp, t);
}

/* A duplicate READ may ask for the rest of the first request only, never for anything else. */
static void duplicate_read(struct qp *qp, const struct core_burst *t)
{
	struct replay_entry *e = replay_find(&qp->resp.replay, t->head.bth.psn);
	const struct roce_reth *h = &t->head.reth;
	uint32_t skipped = e ? (uint32_t)psn_diff(t->head.bth.psn, e->psn) * qp->mtu : 0;

	if (!e || e->kind != REPLAY_READ || h->rkey != e->rkey || h->va != e->va + skipped ||
	    skipped > e->length || h->length > e->length - skipped)
		forgotten(qp, t);
	else
		again(qp, t, e, skipped, skipped + h->length);
}

/* Atomics, FLUSH and ATOMIC WRITE are executed once and answered as often as they come. */
static void duplicate_once(struct qp *qp, const struct core_burst *t, enum replay_kind kind)
{
	struct replay_entry *e = replay_find(&qp->resp.replay, t->head.bth.psn);

	if (!e || e->kind != kind)
		forgotten(qp, t);
	else
		again(qp, t, e, 0, e->length);
}

static enum replay_kind kind_of(const struct core_burst *t)
{
	if (request_is_placement(t))
		return REPLAY_PLACED;
	return request_is_masked(t) ? REPLAY_MASKED : REPLAY_ATOMIC;
}

static enum verdict duplicate(struct qp *qp, const struct core_burst *t)
{
	qp->dev->counters.duplicates += t->count;
	if (request_is_message(t)) {
		answer_ack(qp, psn_add(qp->resp.epsn, ROCE_PSN_MASK), false);
		note_duplicate(qp, t);
	} else if (request_info(t)->operation == ROCE_OP_READ_REQ)
		duplicate_read(qp, t);
	else
		duplicate_once(qp, t, kind_of(t));
	return V_DONE;
}

/* ---- stages ---- */

static enum verdict check_psn_rc(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;
	int32_t diff = psn_diff(t->head.bth.psn, r->epsn);

	if (diff == 0) {
		r->nak_sent = false;
		return V_OK;
	}
	if (diff > 0)
		return request_fault(qp, V_SEQUENCE, behind(qp, t, UHCA_ABI_CAUSE_PSN_AHEAD));
	/* A burst that reaches beyond what was received has a new part. */
	return -diff < (int32_t)t->count ? V_SPLIT : duplicate(qp, t);
}

/* UC: any PSN starts anew; a gap kills the message under way (9.8.2.2.1). */
static enum verdict check_psn_uc(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;

	if (t->head.bth.psn != r->epsn && r->message != MESSAGE_NONE)
		r->message = MESSAGE_DROPPING;
	r->epsn = psn_add(t->head.bth.psn, t->count);
	return V_OK;
}

/* May a packet at this position arrive while this message is under way? (9.7.4.1.2) */
static enum verdict check_sequence_rc(struct qp *qp, const struct core_burst *t)
{
	enum responder_message m = qp->resp.message;
	bool first = roce_opcode_is_first(t->head.bth.opcode);
	enum responder_message due =
		request_info(t)->operation == ROCE_OP_SEND ? MESSAGE_SEND : MESSAGE_WRITE;

	if (m == (first ? MESSAGE_NONE : due))
		return V_OK;
	return request_fault(qp, V_INVALID, CAUSE(ORDER, .got = t->head.bth.psn));
}

/* UC: what does not continue is dropped up to the next FIRST or ONLY. */
static enum verdict check_sequence_uc(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;

	if (roce_opcode_is_first(t->head.bth.opcode)) {
		r->message = MESSAGE_NONE;
		return V_OK;
	}
	if (check_sequence_rc(qp, t) == V_OK)
		return V_OK;
	r->message = MESSAGE_DROPPING;
	device_drop(qp->dev, qp->qpn, t, CORE_DROP_SEQUENCE);
	return V_DONE;
}

/* The device, or its profile, does not have the operation. */
static enum verdict missing(struct qp *qp)
{
	return request_fault(qp, V_INVALID, CAUSE(OPERATION, .got = 0));
}

/* The QP's own access flags (10.2.4). */
static enum verdict allowed(struct qp *qp, uint32_t need)
{
	uint32_t lacks = need & ~(uint32_t)qp->attr.qp_access_flags;

	return lacks ? request_fault(qp, V_INVALID, CAUSE(QP_RIGHT, .rights = lacks)) : V_OK;
}

static enum verdict check_placement_enabled(struct qp *qp, const struct core_burst *t)
{
	uint32_t need = MR_REMOTE_WRITE;
	uint32_t feature = UHCA_ABI_HAS_ATOMIC_WRITE;

	if (request_info(t)->operation == ROCE_OP_FLUSH) {
		need = request_flush_rights(t);
		feature = UHCA_ABI_HAS_FLUSH;
	}
	if (!need || !(qp->dev->cfg.features & feature))
		return missing(qp);
	return allowed(qp, need);
}

static enum verdict check_masked_enabled(struct qp *qp)
{
	if (!(qp->dev->cfg.features & UHCA_ABI_HAS_MASKED_ATOMICS))
		return missing(qp);
	return allowed(qp, MR_REMOTE_ATOMIC);
}

/*
 * The SRQ that each XRC request names (annex A14): one of the QP's domain, the same for all
 * packets of a message, and in order. The request has its receives, CQ and protection domain.
 */
static enum verdict check_srq(struct qp *qp, const struct core_burst *t)
{
	struct srq *srq = xrcd_find_srq(qp->dev, qp->domain, t->head.xrcsrq);

	if (!srq || (qp->srq != srq && !roce_opcode_is_first(t->head.bth.opcode)))
		return request_fault(qp, V_INVALID, CAUSE(SRQ, .got = t->head.xrcsrq));
	if (srq->error)
		return V_OPERATION;
	qp_use_srq(qp, srq);
	return V_OK;
}

/* The QP must have been told to allow it (10.2.4: remote access flags of the QP). */
static enum verdict check_enabled(struct qp *qp, const struct core_burst *t)
{
	switch (request_info(t)->operation) {
	case ROCE_OP_SEND:
		return V_OK;
	case ROCE_OP_WRITE:
		return allowed(qp, MR_REMOTE_WRITE);
	case ROCE_OP_READ_REQ:
		return allowed(qp, MR_REMOTE_READ);
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
		return allowed(qp, MR_REMOTE_ATOMIC);
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

static enum verdict wrong_packet(struct qp *qp, uint32_t length)
{
	return request_fault(qp, V_INVALID,
			     CAUSE(PACKET_LENGTH, .expected = qp->mtu, .got = length));
}

/* Payload of each packet against its position and the path MTU (9.7.4.1.6 and C9-92 ff.). */
static enum verdict check_length(struct qp *qp, const struct core_burst *t)
{
	uint32_t last = t->length - (t->count - 1) * t->segment;
	struct responder *r = &qp->resp;
	uint32_t left;

	if (!request_is_message(t))
		return V_OK;
	if (t->count > 1 && t->segment != qp->mtu)
		return wrong_packet(qp, t->segment);
	if (last > qp->mtu || (!request_ends_message(t) && last != qp->mtu) ||
	    (request_last_info(t)->position == ROCE_POS_LAST && last == 0))
		return wrong_packet(qp, last);
	if (request_info(t)->operation != ROCE_OP_WRITE)
		return V_OK;
	left = roce_opcode_is_first(t->head.bth.opcode) ? t->head.reth.length : r->write_left;
	if (t->length > left || (request_ends_message(t) ? t->length != left : t->length == left))
		return request_fault(qp, V_INVALID,
				     CAUSE(MESSAGE_LENGTH, .expected = left, .got = t->length));
	return V_OK;
}

/* The sender's device tells how long the message is; a packet that came by the network does not. */
static struct uhca_abi_cause too_long(const struct qp *qp, const struct core_burst *t)
{
	uint32_t here = qp->resp.received + t->length;
	uint32_t all = t->model.has_wr && t->model.total > here ? t->model.total : here;

	return CAUSE(RECEIVE_SHORT, .expected = receive_capacity(qp), .got = all,
		     .rest = all == here && !request_ends_message(t));
}

/* A receive request for what needs one; a burst is split so that the RNR NAK names its packet. */
static enum verdict check_resource(struct qp *qp, const struct core_burst *t)
{
	bool send = request_info(t)->operation == ROCE_OP_SEND;

	if (!request_is_message(t) || !request_wants_receive(t) ||
	    (!send && !request_ends_message(t)))
		return V_OK;
	if (!receive_take(qp)) {
		if (qp->state == QPS_ERR)
			return V_DONE;
		if (!send && t->count > 1)
			return V_SPLIT;
		return request_fault(qp, V_RNR, CAUSE(NO_RECEIVE, .got = t->head.bth.psn));
	}
	if (!send)
		return V_OK;
	if (roce_opcode_is_first(t->head.bth.opcode))
		qp->resp.received = 0;
	if ((uint64_t)qp->resp.received + t->length <= receive_capacity(qp))
		return V_OK;
	return request_fault(qp, V_LENGTH, too_long(qp, t));
}

#define MESSAGE_MOST 0x80000000u

static enum verdict wrong_length(struct qp *qp, uint32_t expected, uint32_t got)
{
	return request_fault(qp, V_INVALID,
			     CAUSE(MESSAGE_LENGTH, .expected = expected, .got = got));
}

static enum verdict misaligned(struct qp *qp, uint32_t key, uint64_t va, uint32_t size)
{
	return request_fault(
		qp, V_INVALID,
		CAUSE(ALIGNMENT, .key = key, .at = va, .bytes = size, .expected = size));
}

static enum verdict aligned(struct qp *qp, uint32_t key, uint64_t va)
{
	return va & 7 ? misaligned(qp, key, va, 8) : V_OK;
}

static enum verdict wrong_masked(struct qp *qp, const struct core_burst *t)
{
	const struct roce_reth *h = &t->head.reth;

	if (!masked_size_ok(qp->dev->cfg.features, h->length))
		return missing(qp);
	if (h->va & (h->length - 1))
		return misaligned(qp, h->rkey, h->va, h->length);
	return wrong_length(qp, h->length, t->length);
}

/* READs and atomics: no more at a time than agreed, lengths and alignment (9.7.4.1.1, 9.4.5). */
static enum verdict check_request(struct qp *qp, const struct core_burst *t)
{
	struct masked_atomic m;

	if (request_is_message(t))
		return V_OK;
	if (!replay_has_room(&qp->resp.replay))
		return request_fault(qp, V_INVALID, CAUSE(READS, .expected = qp->resp.replay.size));
	switch (request_info(t)->operation) {
	case ROCE_OP_READ_REQ:
	case ROCE_OP_FLUSH:
		return t->head.reth.length > MESSAGE_MOST || t->length
			       ? wrong_length(qp, MESSAGE_MOST, t->head.reth.length)
			       : V_OK;
	case ROCE_OP_ATOMIC_WRITE:
		if (t->head.reth.length != 8 || t->length != 8)
			return wrong_length(qp, 8, t->head.reth.length);
		return aligned(qp, t->head.reth.rkey, t->head.reth.va);
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
		return aligned(qp, t->head.atomiceth.rkey, t->head.atomiceth.va);
	case ROCE_OP_MASKED_CMP_SWAP:
	case ROCE_OP_MASKED_FETCH_ADD:
		return masked_parse(qp->dev->cfg.features, t, &m) ? V_OK : wrong_masked(qp, t);
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

/* Requests are counted as mlx5 counts them: those that the QP allows, whatever their key. */
static enum verdict count_request(struct qp *qp, const struct core_burst *t)
{
	struct core_counters *c = &qp->dev->counters;
	const enum roce_operation op = request_info(t)->operation;

	if (!roce_opcode_is_first(t->head.bth.opcode))
		return V_OK;
	c->write_requests += op == ROCE_OP_WRITE;
	c->read_requests += op == ROCE_OP_READ_REQ;
	c->atomic_requests += op == ROCE_OP_CMP_SWAP || op == ROCE_OP_FETCH_ADD;
	return V_OK;
}

/* The second of each pair counts requests (config.counts_requests). */
static const stage_fn rc_stages[][9] = {
	{check_psn_rc, check_sequence_rc, check_enabled, check_length, check_resource,
	 check_request, execute_request},
	{check_psn_rc, check_sequence_rc, check_enabled, count_request, check_length,
	 check_resource, check_request, execute_request}};
static const stage_fn xrc_stages[][10] = {
	{check_psn_rc, check_sequence_rc, check_srq, check_enabled, check_length, check_resource,
	 check_request, execute_request},
	{check_psn_rc, check_sequence_rc, check_srq, check_enabled, count_request, check_length,
	 check_resource, check_request, execute_request}};
static const stage_fn uc_stages[][8] = {{check_psn_uc, check_sequence_uc, check_enabled,
					 check_length, check_resource, execute_request},
					{check_psn_uc, check_sequence_uc, check_enabled,
					 count_request, check_length, check_resource,
					 execute_request}};

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

/* Does the program sleep until the receive CQ has an event, as far as its past says? */
static bool waits_for_events(const struct qp *qp)
{
	return qp->recv_cq && qp->recv_cq->comp_events > 0;
}

/*
 * A short message alone; what is part of more has a sender that waits for its window. A program
 * that sleeps answers late: its peer, which sleeps as well, has to find the completion of its
 * request before that answer, as with an adapter, whose ACK waits for no program.
 */
static bool may_wait(const struct qp *qp, const struct core_burst *t)
{
	if (qp->dev->cfg.lazy_acks)
		return true;
	if (waits_for_events(qp))
		return false;
	return t->from_network && t->count == 1 && roce_opcode_is_first(t->head.bth.opcode);
}

/* A READ or WRITE of the peer that is refused for good. */
static void count_refused(const struct qp *qp, const struct core_burst *t)
{
	const enum roce_operation op = request_info(t)->operation;

	if (op == ROCE_OP_WRITE)
		qp_count(qp, UHCA_ABI_COMP_REMOTE_RDMA_WRITE, false, 0);
	if (op == ROCE_OP_READ_REQ)
		qp_count(qp, UHCA_ABI_COMP_REMOTE_RDMA_READ, false, 0);
}

static void conclude_rc(struct qp *qp, const struct core_burst *t, enum verdict v)
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
		qp->dev->counters.sequence_errors += t->count;
		/* One NAK per gap (9.7.5.2.8), then silence until the expected PSN comes. */
		if (r->nak_sent) {
			device_drop(qp->dev, qp->qpn, t, CORE_DROP_SEQUENCE);
			return;
		}
		answer_nak(qp, roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE));
		r->nak_sent = true;
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_REFUSED);
		return;
	case V_RNR:
		qp->dev->counters.rnr_sent++;
		answer_nak(qp, roce_syndrome(ROCE_RNR_NAK, qp->attr.min_rnr_timer));
		r->nak_sent = true;
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_NOT_READY);
		return;
	case V_INVALID:
	case V_ACCESS:
	case V_OPERATION:
	case V_LENGTH:
		count_refused(qp, t);
		fail_receive(qp, rc_fault[v].status);
		answer_nak(qp, roce_syndrome(ROCE_NAK, rc_fault[v].nak));
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_REFUSED);
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
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_FAILED);
		qp_fail(qp, UINT32_MAX);
		return;
	}
}

/* UC has no answers: the message is dropped, or the receive completes in error (9.9.3.1). */
static void conclude_uc(struct qp *qp, const struct core_burst *t, enum verdict v)
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
		device_judged(qp->dev, qp->qpn, t, CORE_JUDGED_FAILED);
		qp_fail(qp, UINT32_MAX);
		return;
	case V_RNR:
		device_drop(qp->dev, qp->qpn, t, CORE_DROP_NO_RECV);
		qp->resp.message = MESSAGE_DROPPING;
		return;
	case V_SEQUENCE:
	case V_INVALID:
	case V_ACCESS:
	case V_KEY:
		break;
	}
	device_drop(qp->dev, qp->qpn, t, CORE_DROP_LENGTH);
	qp->resp.message = MESSAGE_DROPPING;
}

static enum verdict walk(struct qp *qp, const struct core_burst *t)
{
	const bool counts = qp->dev->cfg.counts_requests;
	const stage_fn *stage = qp->type == QPT_UC         ? uc_stages[counts]
				: qp->type == QPT_XRC_RECV ? xrc_stages[counts]
							   : rc_stages[counts];
	enum verdict v = V_OK;

	for (; *stage && v == V_OK; stage++)
		v = (*stage)(qp, t);
	return v;
}

static enum verdict receive_one(struct qp *qp, const struct core_burst *t)
{
	enum verdict v = walk(qp, t);

	if (qp->type == QPT_UC)
		conclude_uc(qp, t, v);
	else
		conclude_rc(qp, t, v);
	return v;
}

void responder_receive(struct qp *qp, const struct core_burst *t)
{
	struct core_burst one;

	if (receive_one(qp, t) != V_SPLIT)
		return;
	for (uint32_t i = 0; i < t->count && qp->state != QPS_ERR; i++) {
		core_burst_single(t, i, &one);
		receive_one(qp, &one);
	}
}
