/* SPDX-License-Identifier: BSD-2-Clause */
/* Retransmission: ACK timeout, retry and RNR retry counters, going back to the oldest PSN. */
#include "retry.h"

#include "completer.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/qp/queue_pair.h"
#include "requester.h"
#include "send_window.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#define RNR_INFINITE 7
#define LONGEST      (300 * 1000000ull)

/* 4.096 us * 2^code; code 0 means that nothing is ever timed out (table 44, local ACK timeout). */
static uint64_t ack_timeout(const struct qp *qp)
{
	return qp->attr.timeout ? 4096ull << qp->attr.timeout : 0;
}

/*
 * How long this try is waited for. The specification lets a device wait up to four times the
 * timeout (9.7.6.1.3): where several tries had no answer, the peer is more likely to be kept from
 * its processor than out of reach, and a machine with much else to do keeps it for longer than
 * eight of the usual 67 ms. Not beyond LONGEST, so that the end of a peer is not heard of later
 * than need be.
 */
static uint64_t stall_time(const struct qp *qp)
{
	uint64_t timeout = ack_timeout(qp), longer;
	int tries = qp->attr.retry_cnt - qp->req.retries_left;

	longer = tries < 2 ? timeout : timeout * (tries == 2 ? 2 : 4);
	if (longer > LONGEST)
		longer = LONGEST;
	return longer > timeout ? longer : timeout;
}

/* By the clock of the timers, which stands still while the wire is frozen. */
static uint64_t wait_time(const struct qp *qp)
{
	return timer_heap_time(&qp->dev->timers, qp->dev->now);
}

void retry_refill(struct qp *qp)
{
	qp->req.retries_left = qp->attr.retry_cnt;
	qp->req.rnr_left = qp->attr.rnr_retry;
	qp->req.resent = 0;
}

void retry_sent(struct qp *qp, bool first)
{
	struct requester *r = &qp->req;
	uint64_t timeout = ack_timeout(qp);

	if (!timeout)
		return;
	/* A timer that runs for older packets must not time this one out early. */
	if (first || !timer_is_set(&r->timer))
		r->progress_at = wait_time(qp);
	if (!timer_is_set(&r->timer))
		timer_set(&qp->dev->timers, &r->timer, wait_time(qp) + timeout);
}

/* The window grows while it is what the QP waits for. */
static void look_at_window(struct qp *qp)
{
	struct requester *r = &qp->req;
	uint64_t acked = requester_acked(qp);

	if (r->blocked == BLOCKED_PSN_WINDOW || r->window.cut)
		send_window_grow(&r->window, &qp->dev->cfg, (uint32_t)(acked - r->window.acked),
				 qp->mtu);
	r->window.acked = acked;
	r->window.cut = false;
}

void retry_progress(struct qp *qp)
{
	look_at_window(qp);
	qp->req.progress_at = wait_time(qp);
	qp->req.gap_seen = false;
	retry_refill(qp);
}

static void trace(const struct qp *qp, enum core_retry why)
{
	const struct requester *r = &qp->req;
	const struct core_trace t = {
		.point = CORE_TRACE_RETRY,
		.qpn = qp->qpn,
		.a = r->una_psn,
		.b = why == CORE_RETRY_RNR ? r->rnr_left : r->retries_left,
		.c = why,
	};

	if (qp->dev->hooks & 1u << CORE_TRACE_RETRY)
		qp->dev->ops->trace(qp->dev->user, &t);
}

/* Puts the cursor back to una_psn (go-back-N, 9.7.5.1.1 and 9.7.8.2). */
static void go_back(struct qp *qp, enum core_retry why)
{
	struct requester *r = &qp->req;

	r->send = r->una;
	r->send_offset = 0;
	r->rd_outstanding = 0;
	r->gap_seen = false;
	if (r->una != r->sq.head) {
		const struct send_wr *w = requester_wr(r, r->una);
		r->send_offset = (uint32_t)psn_diff(r->una_psn, w->first_psn) * qp->mtu;
	}
	qp->dev->counters.retransmits++;
	qp->counters.retries++;
	if (r->resent < UINT8_MAX)
		r->resent++;
	trace(qp, why);
	qp_kick(qp);
}

void retry_lost(struct qp *qp, enum core_retry why)
{
	struct requester *r = &qp->req;

	if (r->una == r->sq.head)
		return;
	if (r->retries_left == 0) {
		completer_fail(qp, UHCA_ABI_WC_RETRY_EXC_ERR);
		return;
	}
	r->retries_left--;
	send_window_shrink(&r->window, &qp->dev->cfg);
	if (qp->congestion)
		congestion_lost(qp);
	r->progress_at = wait_time(qp);
	go_back(qp, why);
}

void retry_rnr(struct qp *qp, uint8_t code)
{
	struct requester *r = &qp->req;

	qp->dev->counters.rnr_received++;
	qp->counters.rnr++;
	if (r->blocked == BLOCKED_RNR)
		return; /* a copy: nothing was sent since the first */
	if (r->rnr_left == 0) {
		completer_fail(qp, UHCA_ABI_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (r->rnr_left != RNR_INFINITE)
		r->rnr_left--;
	/*
	 * Retries are for what does not arrive (9.9.2.4.1), and this packet did. A NAK for what was
	 * behind it may come when it is under way again, and would use up one in each round.
	 */
	r->retries_left = qp->attr.retry_cnt;
	go_back(qp, CORE_RETRY_RNR);
	r->blocked = BLOCKED_RNR;
	timer_set(&qp->dev->timers, &r->timer, wait_time(qp) + roce_rnr_timer_ns(code));
}

bool retry_timer_postpone(struct timer *t, uint64_t now)
{
	struct requester *r = list_entry(t, struct requester, timer);
	struct qp *qp = list_entry(r, struct qp, req);
	struct timer_heap *timers = &qp->dev->timers;

	if (r->blocked == BLOCKED_RNR)
		return false;
	timer_cancel(timers, t);
	if (!ack_timeout(qp) || !requester_outstanding(r) || qp->state == QPS_ERR)
		return true;
	timer_set(timers, t, r->progress_at + stall_time(qp));
	return t->deadline > timer_heap_time(timers, now);
}

void retry_timer_fired(struct timer *t, uint64_t now)
{
	struct requester *r = list_entry(t, struct requester, timer);
	struct qp *qp = list_entry(r, struct qp, req);
	uint64_t time = timer_heap_time(&qp->dev->timers, now);

	if (r->blocked == BLOCKED_RNR) {
		r->blocked = BLOCKED_NOT;
		r->progress_at = time;
		qp_kick(qp);
		return;
	}
	if (retry_timer_postpone(t, now))
		return;
	qp->dev->counters.timeouts++;
	timer_set(&qp->dev->timers, t, time + ack_timeout(qp));
	retry_lost(qp, CORE_RETRY_TIMEOUT);
}
