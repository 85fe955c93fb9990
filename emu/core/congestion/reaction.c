/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reaction point: what happens to the packets of a QP goes to its control, and the rate and the
 * window that come out keep its bursts.
 *
 * Times are the network's, which may be slower than the caller's.
 *
 * A burst leaves as soon as all before it are paid for at the rate. What is owed is kept in bits,
 * not as a time, because the rate changes meanwhile. A QP without work earns nothing for later; one
 * that waited and was woken late does, as much as LATE_NS of the caller's time.
 */
#include "congestion.h"

#include "wire/psn.h"

#include <errno.h>
#include <stdlib.h>

#define HEADERS   58u /* of a packet: Ethernet, IPv4, UDP, BTH, ICRC */
#define BURST_NS  100000u
#define LATE_NS   500000u
#define SECOND    1000000000
#define USUAL_BPS UINT64_C(100000000000) /* of a port that does not say */

static const struct core_congestion *config(const struct qp *qp)
{
	return &qp->dev->cfg.congestion;
}

/* It may go back a little, where the network's time stood still (network.h of emu/io). */
static uint64_t network_now(const struct qp *qp)
{
	return device_network_now(qp->dev);
}

static bool is_paced(const struct congestion *c)
{
	return c->flow.rate < c->flow.line_rate;
}

/* bit/s */
static int64_t rate_of(const struct qp *qp)
{
	return qp->congestion->flow.rate ? (int64_t)qp->congestion->flow.rate : 1;
}

static bool reacts(const struct qp *qp)
{
	return qp_is_reliable(qp) || config(qp)->control.ops->on_cnp;
}

void congestion_set_ecn(const struct qp *qp, struct roce_flow *flow)
{
	roce_flow_set_ecn(flow, reacts(qp) ? ROCE_ECT0 : ROCE_NOT_ECT);
}

/* ---- the rate ---- */

static int64_t late_time(const struct qp *qp)
{
	return LATE_NS / config(qp)->scale;
}

/* The time since the last look pays at the rate that the control had then. */
static void pay(struct qp *qp)
{
	struct congestion *c = qp->congestion;
	const int64_t rate = rate_of(qp), credit = c->waits ? late_time(qp) * rate : 0;
	const uint64_t now = network_now(qp), elapsed = now > c->owed_at ? now - c->owed_at : 0;

	c->owed_at += elapsed;
	if (c->owed <= -credit)
		return;
	if (elapsed > (uint64_t)((c->owed + credit) / rate))
		c->owed = -credit;
	else
		c->owed -= (int64_t)elapsed * rate;
}

/* Before the rate may change; one that was not limited owes nothing. */
static void settle(struct qp *qp)
{
	struct congestion *c = qp->congestion;

	if (is_paced(c)) {
		pay(qp);
	} else {
		c->owed = 0;
		c->owed_at = network_now(qp);
	}
}

static void go_on(struct timer *t, uint64_t now)
{
	struct congestion *c = list_entry(t, struct congestion, timer);

	(void)now;
	qp_kick(c->qp);
}

/* Until it is paid, or until the control may raise the rate. */
static void wait(struct qp *qp)
{
	struct congestion *c = qp->congestion;
	uint64_t until = c->owed_at + (uint64_t)((c->owed - 1) / rate_of(qp)) + 1;

	if (c->flow.deadline < until)
		until = c->flow.deadline;
	c->waits = true;
	timer_set(&qp->dev->rates, &c->timer, until);
}

bool congestion_allows(struct qp *qp)
{
	struct congestion *c = qp->congestion;

	settle(qp);
	if (c->flow.deadline <= network_now(qp))
		cc_timer(&c->flow, network_now(qp));
	if (is_paced(c) && c->owed > 0) {
		wait(qp);
		return false;
	}
	c->waits = false;
	return true;
}

size_t congestion_most(const struct qp *qp, size_t cap)
{
	const uint64_t time = BURST_NS / config(qp)->scale;
	uint64_t bytes = (uint64_t)rate_of(qp) * time / (8u * (uint64_t)SECOND);

	if (!is_paced(qp->congestion))
		return cap;
	bytes = bytes > qp->mtu ? bytes : qp->mtu;
	return bytes < cap ? (size_t)bytes : cap;
}

/* ---- the window ---- */

uint32_t congestion_room(const struct qp *qp, uint32_t packets)
{
	const struct cc_flow *f = &qp->congestion->flow;
	uint64_t window = f->window / f->packet, room;

	if (window <= packets)
		return 0;
	room = (window - packets) * qp->mtu;
	return f->window != CC_NO_WINDOW && room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* ---- what happens to its packets ---- */

void congestion_sent(struct qp *qp, const struct core_burst *t, bool timed)
{
	struct congestion *c = qp->congestion;
	const uint32_t bytes = t->length + HEADERS * t->count;

	if (is_paced(c))
		c->owed += (int64_t)bytes * 8 * SECOND;
	cc_sent(&c->flow, bytes, network_now(qp));
	if (!timed || c->timing)
		return;
	c->timing = true;
	c->timed_psn = psn_add(t->head.bth.psn, t->count - 1);
	c->timed_at = network_now(qp);
}

static void measure(struct qp *qp)
{
	struct congestion *c = qp->congestion;

	if (!c->timing || psn_diff(qp->req.una_psn, c->timed_psn) <= 0)
		return;
	c->timing = false;
	c->rtt = network_now(qp) > c->timed_at ? network_now(qp) - c->timed_at : 1;
}

void congestion_acked(struct qp *qp, uint32_t packets)
{
	struct congestion *c = qp->congestion;
	const struct requester *r = &qp->req;
	struct cc_ack a;

	measure(qp);
	c->acked += packets;
	a = (struct cc_ack){.rtt = c->rtt,
			    .through = c->acked,
			    .sent = c->acked + (uint32_t)psn_diff(r->high_psn, r->una_psn),
			    .packets = packets,
			    .marked = c->echoed ? packets : 0};
	settle(qp);
	if (c->rtt)
		cc_ack(&c->flow, &a, network_now(qp));
}

/* The answer to a packet that was sent twice tells nothing of its round trip. */
void congestion_lost(struct qp *qp)
{
	struct congestion *c = qp->congestion;

	c->timing = false;
	settle(qp);
	cc_loss(&c->flow, network_now(qp));
}

void congestion_notified(struct qp *qp, uint32_t count)
{
	struct congestion *c = qp->congestion;

	if (!c || !config(qp)->control.ops->on_cnp)
		return;
	settle(qp);
	for (uint32_t i = 0; i < count; i++)
		cc_cnp(&c->flow, network_now(qp));
	c->cnps_handled += count;
	qp->dev->counters.cnps_handled += count;
}

/* ---- life ---- */

static int construct(struct qp *qp)
{
	if (!config(qp)->control.ops || qp->type == QPT_UD || qp->type == QPT_RAW_PACKET)
		return 0;
	qp->congestion = calloc(1, sizeof(*qp->congestion));
	if (!qp->congestion)
		return -ENOMEM;
	qp->congestion->qp = qp;
	qp->congestion->timer.fire = go_on;
	return 0;
}

static void destruct(struct qp *qp)
{
	if (qp->congestion)
		timer_cancel(&qp->dev->rates, &qp->congestion->timer);
	free(qp->congestion);
	qp->congestion = NULL;
}

static void stop(struct qp *qp)
{
	struct congestion *c = qp->congestion;

	if (!c)
		return;
	timer_cancel(&qp->dev->rates, &c->timer);
	*c = (struct congestion){.qp = qp, .timer.fire = go_on, .flow = c->flow};
}

static void changed(struct qp *qp, enum qp_state old)
{
	struct congestion *c = qp->congestion;
	uint64_t speed = core_port_speed(qp->dev);

	if (!c || qp->state != QPS_RTR || old != QPS_INIT)
		return;
	c->flow = (struct cc_flow){.line_rate = speed ? speed * 100000000 : USUAL_BPS,
				   .base_rtt = config(qp)->base_rtt,
				   .packet = qp->mtu + HEADERS};
	cc_start(&c->flow, &config(qp)->control, network_now(qp));
}

const struct qp_engine congestion_engine = {
	.construct = construct,
	.destruct = destruct,
	.reset = stop,
	.changed = changed,
	.stop = stop,
};
