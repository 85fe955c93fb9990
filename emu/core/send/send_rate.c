/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See send_rate.h. Times are the network's. "next" is when the bytes that have left are paid for;
 * as long as that is less than a burst ago the difference is credit.
 */
#include "send_rate.h"

#define HEADERS     58u /* of a packet: Ethernet, IPv4, UDP, BTH, ICRC */
#define NS_PER_MSEC 1000000u
#define BURST_NS    (NS_PER_MSEC / 2)

/* Of the caller's time, which may be faster. */
static uint64_t burst_time(const struct qp *qp)
{
	return BURST_NS / qp->dev->cfg.congestion.scale;
}

/* kbps: bits in a millisecond. */
static uint64_t time_of(const struct qp *qp, uint64_t bytes)
{
	return bytes * 8 * NS_PER_MSEC / qp->req.rate.kbps;
}

static uint64_t burst_of(const struct qp *qp)
{
	uint64_t burst = qp->req.rate.max_burst;

	if (!burst)
		burst = (uint64_t)qp->req.rate.kbps * burst_time(qp) / NS_PER_MSEC / 8;
	return burst > qp->mtu + HEADERS ? burst : qp->mtu + HEADERS;
}

/*
 * The time by which it may be behind: a burst goes whenever what has left is paid for, so it is a
 * burst without a burst. Where no burst was asked for it makes up for timers that come late.
 */
static uint64_t credit_of(const struct qp *qp)
{
	uint32_t bytes = qp->dev->cfg.burst_bytes, burst = qp->req.rate.max_burst;

	if (!burst)
		return burst_time(qp);
	return burst > bytes ? time_of(qp, burst - bytes) : 0;
}

static void go_on(struct timer *t, uint64_t now)
{
	(void)now;
	qp_kick(list_entry(t, struct qp, req.rate.timer));
}

bool send_rate_wait(struct qp *qp)
{
	struct send_rate *r = &qp->req.rate;
	struct device *dev = qp->dev;

	if (device_network_now(dev) >= r->next)
		return true;
	r->timer.fire = go_on;
	timer_set(&dev->rates, &r->timer, r->next);
	return false;
}

size_t send_rate_most(const struct qp *qp, size_t cap)
{
	uint64_t burst = burst_of(qp);

	return burst < cap ? (size_t)burst : cap;
}

void send_rate_count(struct qp *qp, uint32_t bytes, uint32_t packets)
{
	struct send_rate *r = &qp->req.rate;
	uint64_t credit = credit_of(qp), now = device_network_now(qp->dev);
	uint64_t oldest = now > credit ? now - credit : 0;

	if (r->next < oldest)
		r->next = oldest;
	r->next += time_of(qp, bytes + (uint64_t)HEADERS * packets);
}
