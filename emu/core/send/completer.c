/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles ACKs, NAKs and responses: retires requests in order and writes their completions. */
#include "completer.h"

#include "emu/core/base/base.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/keys/keys.h"
#include "emu/core/qp/queue_pair.h"
#include "masked_atomic.h"
#include "retry.h"
#include "send_check.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <errno.h>

static bool names_memory(uint8_t opcode)
{
	switch (opcode) {
	case UHCA_ABI_WC_RDMA_WRITE:
	case UHCA_ABI_WC_RDMA_READ:
	case UHCA_ABI_WC_READ_WITH_INV:
	case UHCA_ABI_WC_ATOMIC_WRITE:
	case UHCA_ABI_WC_COMP_SWAP:
	case UHCA_ABI_WC_FETCH_ADD:
		return true;
	default:
		return false;
	}
}

/* Of a request that was found wrong the length was not taken. */
static uint32_t length_of(struct qp *qp, const struct send_wr *w)
{
	struct sgl l = requester_sgl(qp, w);

	if (!w->status)
		return w->length;
	return w->wqe.flags & UHCA_ABI_SEND_INLINE ? w->wqe.inline_length
						   : (uint32_t)sgl_length(&l);
}

/* What fails now: its packets may be long gone where somebody reads of it. */
static void trace_request(struct qp *qp, const struct send_wr *w)
{
	const struct device *dev = qp->dev;
	struct core_trace t = {.point = CORE_TRACE_REQUEST,
			       .qpn = qp->qpn,
			       .a = w->first_psn,
			       .b = w->n_psn,
			       .c = send_opcode(w->wqe.opcode)->completion,
			       .length = length_of(qp, w),
			       .wr_id = w->wqe.wr_id,
			       .peer_qpn = qp->type == QPT_UD ? w->wqe.ud.remote_qpn
							      : qp->attr.dest_qp_num};

	if (!(dev->hooks & 1u << CORE_TRACE_REQUEST))
		return;
	if (names_memory((uint8_t)t.c)) {
		t.remote_addr = w->wqe.rdma.remote_addr;
		t.rkey = t.c == UHCA_ABI_WC_COMP_SWAP || t.c == UHCA_ABI_WC_FETCH_ADD
				 ? w->wqe.atomic.rkey
				 : w->wqe.rdma.rkey;
	}
	dev->ops->trace(dev->user, &t);
}

/* Returns the vendor error. */
static uint32_t account_failure(struct qp *qp, const struct send_wr *w, uint8_t status)
{
	struct core_counters *c = &qp->dev->counters;

	c->send_errors++;
	c->send_flushes += status == UHCA_ABI_WC_WR_FLUSH_ERR && qp->failed;
	c->retries_exceeded += status == UHCA_ABI_WC_RETRY_EXC_ERR;
	c->rnr_exceeded += status == UHCA_ABI_WC_RNR_RETRY_EXC_ERR;
	if (status != UHCA_ABI_WC_WR_FLUSH_ERR)
		trace_request(qp, w);
	if (qp->dev->cfg.errors == CORE_ERRORS_MLX5)
		return vendor_err_mlx5(status, qp->dev->cause.kind, qp->failed);
	return vendor_err_send(status, w->status != 0);
}

/* What counts requests with this completion opcode; NULL: nothing. */
static struct comp_cntr *counter_of(const struct qp *qp, uint8_t opcode)
{
	if (!qp->counts)
		return NULL;
	switch (opcode) {
	case UHCA_ABI_WC_SEND:
		return qp->counter[UHCA_ABI_COMP_SEND];
	case UHCA_ABI_WC_RDMA_WRITE:
		return qp->counter[UHCA_ABI_COMP_RDMA_WRITE];
	case UHCA_ABI_WC_RDMA_READ:
	case UHCA_ABI_WC_READ_WITH_INV:
		return qp->counter[UHCA_ABI_COMP_RDMA_READ];
	default:
		return NULL;
	}
}

static void count_silent(struct qp *qp, const struct send_wr *w)
{
	struct comp_cntr *cntr;

	qp->counters.silent++;
	if (!qp->counts)
		return;
	cntr = counter_of(qp, send_opcode(w->wqe.opcode)->completion);
	if (cntr)
		comp_cntr_count(cntr, true, w->length);
}

void completer_push(struct qp *qp, const struct send_wr *w, uint8_t status)
{
	struct uhca_abi_cqe e = {
		.wr_id = w->wqe.wr_id,
		.qpn = qp->qpn,
		.byte_len = w->length,
		.status = status,
		.opcode = send_opcode(w->wqe.opcode)->completion,
		.wqe_index = w->index,
	};

	if (w->wqe.opcode == UHCA_ABI_WR_READ_WITH_INV && !status) {
		e.imm = requester_sgl(qp, w).sge[0].lkey;
		e.flags |= UHCA_ABI_WC_WITH_INV;
	}
	if (status)
		e.vendor_err = account_failure(qp, w, status);
	if (!cq_push_counted(qp->send_cq, &e, counter_of(qp, e.opcode)))
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
}

/* The oldest request is complete; its slot goes back to the client before the completion. */
static void retire_one(struct qp *qp, uint8_t status)
{
	struct requester *r = &qp->req;
	struct send_wr *w = requester_wr(r, r->una);

	r->una++;
	if (r->send - r->una > r->sq.entries) { /* the cursor never stays behind una */
		r->send = r->una;
		r->send_offset = 0;
	}
	send_retire(&r->sq, r->una);
	if (status || w->signaled)
		completer_push(qp, w, status);
	else
		count_silent(qp, w);
}

/* The same, with the local operations right behind it that are done already. */
static void retire(struct qp *qp, uint8_t status)
{
	struct requester *r = &qp->req;

	retire_one(qp, status);
	while (!status && r->una != r->sq.head && requester_wr(r, r->una)->executed)
		retire_one(qp, UHCA_ABI_WC_SUCCESS);
}

void completer_fail(struct qp *qp, uint8_t status)
{
	if (qp->req.una != qp->req.sq.head)
		retire(qp, status);
	device_forget_cause(qp->dev);
	qp_fail(qp, UINT32_MAX);
}

/* Of a request that fails by itself: why, as things are now. */
static void explain_local(struct qp *qp, const struct send_wr *w)
{
	struct sgl l = requester_sgl(qp, w);
	struct uhca_abi_cause c;

	if (qp->req.cause.kind == UHCA_ABI_CAUSE_NONE &&
	    (device_explains(qp->dev) || qp->dev->cfg.errors == CORE_ERRORS_MLX5)) {
		c = send_cause(qp, &w->wqe, &l, w->status);
		device_because(qp->dev, &c);
	} else {
		device_because(qp->dev, &qp->req.cause);
	}
	qp->req.cause.kind = UHCA_ABI_CAUSE_NONE;
}

bool completer_local_error(struct qp *qp, struct send_wr *w)
{
	struct requester *r = &qp->req;

	if (requester_wr(r, r->una) != w)
		return false;
	explain_local(qp, w);
	retire(qp, w->status);
	device_forget_cause(qp->dev);
	if (qp_is_reliable(qp) || qp->state == QPS_ERR) {
		qp_fail(qp, UINT32_MAX);
	} else {
		qp_set_state(qp, QPS_SQE);
		qp_flush(qp);
	}
	return true;
}

/* Pieces of a READ that end in (from, to]. */
static uint32_t pieces_ended(const struct qp *qp, const struct send_wr *w, uint32_t from,
			     uint32_t to)
{
	uint32_t piece = requester_read_piece(qp);
	uint32_t n = to / piece - from / piece;

	return n + (to == w->length && (to % piece || to == 0));
}

static void count_answered(struct qp *qp, uint32_t n)
{
	struct requester *r = &qp->req;

	r->rd_outstanding -= n < r->rd_outstanding ? n : r->rd_outstanding;
}

void completer_check_drained(struct qp *qp)
{
	struct requester *r = &qp->req;

	if (!r->draining || qp->state != QPS_SQD || requester_outstanding(r) || r->send_offset)
		return;
	r->draining = false;
	if (qp->attr.en_sqd_async_notify)
		qp_event(qp, UHCA_ABI_EVENT_SQ_DRAINED);
}

void completer_sent(struct qp *qp)
{
	qp->req.una_psn = qp->req.high_psn;
	retire(qp, UHCA_ABI_WC_SUCCESS);
	completer_check_drained(qp);
}

void completer_executed(struct qp *qp)
{
	struct requester *r = &qp->req;

	r->send++;
	r->send_offset = 0;
	if (requester_wr(r, r->una)->executed)
		retire(qp, UHCA_ABI_WC_SUCCESS);
	completer_check_drained(qp);
}

/* Moves una_psn to psn; the cursor is never behind it. */
static void move_una(struct qp *qp, uint32_t psn)
{
	struct requester *r = &qp->req;
	const struct send_wr *w;

	r->una_psn = psn;
	if (r->una == r->sq.head || r->send != r->una)
		return;
	w = requester_wr(r, r->una);
	if (psn_diff(psn, w->first_psn) > 0 &&
	    r->send_offset < (uint32_t)psn_diff(psn, w->first_psn) * qp->mtu)
		r->send_offset = (uint32_t)psn_diff(psn, w->first_psn) * qp->mtu;
}

/*
 * What stands at una_psn got lost. Once per position: neither what follows the gap in flight nor
 * a copy of the NAK may cost another retry. Nothing got lost behind an RNR NAK: the responder takes
 * nothing until the refused packet comes again (9.7.5.2.8), which it will anyway; soft-RoCE answers
 * what is under way with a NAK.
 */
static void gap_at_una(struct qp *qp, enum core_retry why)
{
	struct requester *r = &qp->req;

	if (r->gap_seen || r->blocked == BLOCKED_RNR)
		return;
	retry_lost(qp, why);
	r->gap_seen = qp->state != QPS_ERR;
}

/*
 * Everything before psn is acknowledged. A READ or atomic among it whose response did not come
 * stops this: the response is lost (9.7.5.1.2, implied NAK). Returns false then, or when the QP
 * left the states in which it may go on.
 */
static bool acknowledge(struct qp *qp, uint32_t psn)
{
	struct requester *r = &qp->req;
	const uint32_t before = r->una_psn;
	bool moved = false;

	while (r->una != r->sq.head && psn_diff(psn, r->una_psn) > 0) {
		struct send_wr *w = requester_wr(r, r->una);
		uint32_t end = psn_add(w->first_psn, w->n_psn);
		if (requester_awaits_response(w) || psn_diff(w->first_psn, psn) >= 0)
			break;
		moved = true;
		if (psn_diff(end, psn) > 0) {
			move_una(qp, psn);
			break;
		}
		move_una(qp, end);
		retire(qp, UHCA_ABI_WC_SUCCESS);
		if (qp->state == QPS_ERR)
			return false;
	}
	if (moved)
		retry_progress(qp);
	if (moved && qp->congestion)
		congestion_acked(qp, (uint32_t)psn_diff(r->una_psn, before));
	if (psn_diff(psn, r->una_psn) <= 0)
		return true;
	qp->dev->counters.implied_naks++;
	gap_at_una(qp, CORE_RETRY_GAP);
	return false;
}

static void take_credits(struct qp *qp, const struct roce_aeth *aeth)
{
	struct requester *r = &qp->req;
	uint8_t code = roce_syndrome_value(aeth->syndrome);

	r->has_credits = code != ROCE_CREDITS_UNLIMITED;
	if (r->has_credits)
		r->credit_limit_ssn = psn_add(aeth->msn, roce_credits_decode(code));
}

static void nak(struct qp *qp, uint8_t code)
{
	qp->dev->counters.naks_received++;
	switch (code) {
	case ROCE_NAK_PSN_SEQUENCE:
		qp->dev->counters.sequence_naks++;
		gap_at_una(qp, CORE_RETRY_NAK);
		return;
	case ROCE_NAK_INVALID_REQUEST:
		qp->dev->counters.invalid_request_naks++;
		completer_fail(qp, UHCA_ABI_WC_REM_INV_REQ_ERR);
		return;
	case ROCE_NAK_REMOTE_ACCESS:
		qp->dev->counters.access_naks++;
		completer_fail(qp, UHCA_ABI_WC_REM_ACCESS_ERR);
		return;
	case ROCE_NAK_REMOTE_OPERATIONAL:
		completer_fail(qp, UHCA_ABI_WC_REM_OP_ERR);
		return;
	default: /* a reserved code, or one of the RD service: the answer makes no sense */
		completer_fail(qp, UHCA_ABI_WC_BAD_RESP_ERR);
		return;
	}
}

static void receive_ack(struct qp *qp, const struct core_burst *t)
{
	uint32_t psn = t->head.bth.psn;
	uint8_t syndrome = t->head.aeth.syndrome;

	switch (roce_syndrome_kind(syndrome)) {
	case ROCE_ACK:
		if (qp->congestion)
			qp->congestion->echoed = t->head.bth.becn;
		take_credits(qp, &t->head.aeth);
		acknowledge(qp, psn_add(psn, 1));
		return;
	case ROCE_RNR_NAK:
		/* A NAK acknowledges all before its PSN (9.7.5.2.8). */
		if (acknowledge(qp, psn))
			retry_rnr(qp, roce_syndrome_value(syndrome));
		return;
	case ROCE_NAK:
		if (acknowledge(qp, psn))
			nak(qp, roce_syndrome_value(syndrome));
		return;
	case ROCE_ACK_RESERVED:
		return;
	}
}

/* Bytes that packets [offset / mtu, + count) of a READ response must carry. */
static uint32_t expected_bytes(const struct qp *qp, const struct send_wr *w, uint32_t offset,
			       uint32_t count)
{
	uint64_t full = (uint64_t)count * qp->mtu;

	return full < w->length - offset ? (uint32_t)full : w->length - offset;
}

/* With the rule of iWARP the sink must still allow its peer to write (send_check.h). */
static bool sink_allows(const struct qp *qp, const struct send_wr *w, const struct sgl *l)
{
	uint32_t need = send_local_rights(&qp->dev->cfg, w->wqe.opcode);

	return !(need & MR_REMOTE_WRITE) || sgl_check(l, need) == MR_OK;
}

/* All data of a READ is in its place; a key that goes with it goes before it completes. */
static void finish_read(struct qp *qp, const struct send_wr *w, const struct sgl *l)
{
	if (w->wqe.opcode == UHCA_ABI_WR_READ_WITH_INV &&
	    !invalidate_key(qp_key_user(qp), l->sge[0].lkey))
		completer_fail(qp, UHCA_ABI_WC_MW_BIND_ERR);
	else
		retire(qp, UHCA_ABI_WC_SUCCESS);
}

/* What memory does not take now is asked for again, as if the answer had been lost. */
static void not_placed(struct qp *qp, const struct send_wr *w, const struct sgl *l, int err)
{
	struct uhca_abi_cause c;

	if (err == -ESRCH)
		return;
	if (device_explains(qp->dev)) {
		c = sgl_cause(l, send_local_rights(&qp->dev->cfg, w->wqe.opcode));
		device_because(qp->dev, &c);
	}
	completer_fail(qp, UHCA_ABI_WC_LOC_PROT_ERR);
}

/* The answer is not as long as the bytes that are still to come. */
static void bad_response(struct qp *qp, uint32_t expected, const struct core_burst *t)
{
	device_because(qp->dev, &CAUSE(MESSAGE_LENGTH, .expected = expected, .got = t->length));
	completer_fail(qp, UHCA_ABI_WC_BAD_RESP_ERR);
}

/* A response arrived at una_psn for READ w: places the data, moves on. */
static void place_read(struct qp *qp, struct send_wr *w, const struct core_burst *t)
{
	uint32_t offset = (uint32_t)psn_diff(t->head.bth.psn, w->first_psn) * qp->mtu;
	struct sgl l = requester_sgl(qp, w);
	int err = 0;

	if (offset > w->length || t->length != expected_bytes(qp, w, offset, t->count) ||
	    psn_diff(psn_add(t->head.bth.psn, t->count), psn_add(w->first_psn, w->n_psn)) > 0) {
		bad_response(qp, w->length - (offset < w->length ? offset : w->length), t);
		return;
	}
	if (t->length)
		err = sink_allows(qp, w, &l) ? sgl_write(&l, offset, t->iov, t->n_iov) : -EACCES;
	if (err) {
		not_placed(qp, w, &l, err);
		return;
	}
	count_answered(qp, pieces_ended(qp, w, offset, offset + t->length));
	move_una(qp, psn_add(t->head.bth.psn, t->count));
	retry_progress(qp);
	if (qp->req.una_psn == psn_add(w->first_psn, w->n_psn))
		finish_read(qp, w, &l);
}

/* One packet was the whole answer, and all is where it belongs. */
static void answered_once(struct qp *qp, const struct send_wr *w)
{
	count_answered(qp, 1);
	move_una(qp, psn_add(w->first_psn, 1));
	retry_progress(qp);
	retire(qp, UHCA_ABI_WC_SUCCESS);
}

static void place_atomic(struct qp *qp, struct send_wr *w, const struct core_burst *t)
{
	uint64_t original = t->head.atomic_ack;
	struct iovec iov = {&original, sizeof original};
	struct sgl l = requester_sgl(qp, w);
	int err = sgl_write(&l, 0, &iov, 1);

	if (err) {
		not_placed(qp, w, &l, err);
		return;
	}
	answered_once(qp, w);
}

/* The value from before, big-endian in the answer, in host order in the elements. */
static void place_masked(struct qp *qp, struct send_wr *w, const struct core_burst *t)
{
	uint8_t value[MASKED_MAX];
	struct iovec iov = {value, w->length};
	struct sgl l = requester_sgl(qp, w);
	struct masked_int original;
	int err;

	if (t->count != 1 || t->length != w->length) {
		bad_response(qp, w->length, t);
		return;
	}
	masked_load_burst(t, &original);
	masked_store(&original, w->length, value);
	err = sgl_write(&l, 0, &iov, 1);
	if (err) {
		not_placed(qp, w, &l, err);
		return;
	}
	answered_once(qp, w);
}

/* FLUSH and ATOMIC WRITE: a READ response without payload (annex A19). */
static void place_nothing(struct qp *qp, const struct send_wr *w, const struct core_burst *t)
{
	if (t->length || t->count != 1) {
		bad_response(qp, 0, t);
		return;
	}
	answered_once(qp, w);
}

/* It answers nothing that is outstanding. */
static void drop_answer(struct qp *qp, const struct core_burst *t)
{
	const struct requester *r = &qp->req;

	device_because(qp->dev, &CAUSE(ANSWER, .expected = r->una_psn, .near = r->high_psn,
				       .got = t->head.bth.psn));
	device_drop(qp->dev, qp->qpn, t, CORE_DROP_RESPONSE);
}

static bool is_atomic(const struct send_wr *w)
{
	return w->wqe.opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	       w->wqe.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD;
}

static void receive_response(struct qp *qp, const struct core_burst *t)
{
	struct requester *r = &qp->req;
	bool read = roce_opcode_info(t->head.bth.opcode)->operation == ROCE_OP_READ_RESP;
	struct send_wr *w;

	/* A response acknowledges the SENDs and WRITEs before its READ (9.7.5.1.2). */
	if (!acknowledge(qp, t->head.bth.psn) || r->una_psn != t->head.bth.psn)
		return;
	if (r->una == r->sq.head)
		return;
	w = requester_wr(r, r->una);
	if (!requester_awaits_response(w) || read == is_atomic(w)) {
		drop_answer(qp, t);
		return;
	}
	if (!read)
		place_atomic(qp, w, t);
	else if (requester_is_masked(w))
		place_masked(qp, w, t);
	else if (w->wqe.opcode == UHCA_ABI_WR_RDMA_READ ||
		 w->wqe.opcode == UHCA_ABI_WR_READ_WITH_INV)
		place_read(qp, w, t);
	else
		place_nothing(qp, w, t);
}

static void receive_one(struct qp *qp, const struct core_burst *t)
{
	struct requester *r = &qp->req;
	uint32_t outstanding = (uint32_t)psn_diff(r->high_psn, r->una_psn);

	if (!psn_in_window(t->head.bth.psn, r->una_psn, outstanding)) {
		/* A ghost ACK, or a duplicate of an answer we had (9.7.5.1.3). */
		drop_answer(qp, t);
		return;
	}
	if (roce_opcode_info(t->head.bth.opcode)->operation == ROCE_OP_ACK)
		receive_ack(qp, t);
	else
		receive_response(qp, t);
	if (qp->state == QPS_ERR)
		return;
	completer_check_drained(qp);
	qp_kick(qp);
}

/* Does it begin with copies of what came before, and go on with what did not? */
static bool is_partly_new(const struct qp *qp, const struct core_burst *t)
{
	int32_t before = psn_diff(qp->req.una_psn, t->head.bth.psn);

	return before > 0 && (uint32_t)before < t->count;
}

void completer_receive(struct qp *qp, const struct core_burst *t)
{
	struct core_burst one;

	if (!is_partly_new(qp, t)) {
		receive_one(qp, t);
		return;
	}
	for (uint32_t i = 0; i < t->count && qp->state != QPS_ERR; i++) {
		core_burst_single(t, i, &one);
		receive_one(qp, &one);
	}
}
