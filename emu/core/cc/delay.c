/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controls that look at round-trip times. Swift (Kumar et al., SIGCOMM 2020): a window that aims at
 * a delay, below one packet with pacing. TIMELY (Mittal et al., SIGCOMM 2015): a rate that follows
 * the gradient of the delay, with the constants of HPCC's simulator.
 */
#include "controls.h"

/* ---- Swift ---- */

enum { TARGET, HOP, RANGE, SWIFT_AI, SWIFT_BETA, MAX_CUT, CWND_MAX };

#define PACKET   (UINT64_C(1) << 16)
#define CWND_MIN (PACKET / 10)

static const struct cc_param swift_params[] = {
	{"target", CC_TIME, 10 * CC_US, 0, 1000000000, "delay beyond that of an empty network"},
	{"hop", CC_TIME, 0, 0, 1000000, "more of it for each switch"},
	{"range", CC_TIME, 40 * CC_US, 0, 1000000000, "most that is added for small windows"},
	{"ai", CC_RATIO, CC_RATIO_ONE, 1, 100 * CC_RATIO_ONE, "packets more each round trip"},
	{"beta", CC_RATIO, CC_RATIO_ONE / 5 * 4, 1, CC_RATIO_ONE, "weight of the excess in a cut"},
	{"max-cut", CC_RATIO, CC_RATIO_ONE / 2, 1, CC_RATIO_ONE, "most that a cut takes"},
	{"max", CC_COUNT, 100, 1, 65536, "packets of the largest window"},
	{0}};

/* Flow scaling: alpha / sqrt(cwnd) - beta, which is the range at 0.1 packets and 0 at 100. */
static uint64_t scaling(const struct cc_flow *f)
{
	const uint64_t range = f->settings->value[RANGE];
	const uint64_t alpha = range * 10000 / 30623; /* 1 / sqrt(0.1) - 1 / sqrt(100) */
	const uint64_t term = (alpha << 16) / cc_root(f->s.swift.cwnd << 16);

	return term < alpha / 10 ? 0 : cc_least(term - alpha / 10, range);
}

static void swift_settle(struct cc_flow *f, uint64_t rtt)
{
	const uint64_t cwnd = f->s.swift.cwnd;

	f->window = cc_most((cwnd * f->packet) >> 16, f->packet);
	f->rate = f->line_rate;
	if (cwnd < PACKET && rtt)
		f->rate = cc_most(cc_scale(cwnd * f->packet, UINT64_C(8000000000), rtt << 16), 1);
}

static void swift_start(struct cc_flow *f, uint64_t now)
{
	const uint64_t most = f->settings->value[CWND_MAX] * PACKET;

	f->s.swift = (struct cc_swift){.cwnd = cc_least((cc_bdp(f) << 16) / f->packet, most),
				       .cut_at = now};
	swift_settle(f, 0);
}

static void swift_cut(struct cc_flow *f, uint64_t keep, uint64_t rtt, uint64_t now)
{
	struct cc_swift *s = &f->s.swift;

	if (now < s->cut_at)
		return;
	s->cwnd = cc_most(cc_part(s->cwnd, keep), CWND_MIN);
	s->cut_at = now + rtt;
}

static void swift_ack(struct cc_flow *f, const struct cc_ack *a, uint64_t now)
{
	const uint64_t *v = f->settings->value;
	struct cc_swift *s = &f->s.swift;
	const uint64_t target = f->base_rtt + v[TARGET] + a->hops * v[HOP] + scaling(f);

	if (a->rtt < target) {
		const uint64_t more = a->packets * (v[SWIFT_AI] >> 16);

		s->cwnd += s->cwnd >= PACKET ? (more << 16) / s->cwnd : more;
		s->cwnd = cc_least(s->cwnd, v[CWND_MAX] * PACKET);
	} else {
		const uint64_t excess = cc_scale(v[SWIFT_BETA], a->rtt - target, a->rtt);

		swift_cut(f, CC_RATIO_ONE - cc_least(excess, v[MAX_CUT]), a->rtt, now);
	}
	swift_settle(f, a->rtt);
}

static void swift_loss(struct cc_flow *f, uint64_t now)
{
	swift_cut(f, CC_RATIO_ONE - f->settings->value[MAX_CUT], f->base_rtt, now);
	swift_settle(f, f->base_rtt);
}

const struct cc_ops cc_swift = {.name = "swift",
				.help = "Swift: a window that aims at a delay",
				.params = swift_params,
				.start = swift_start,
				.on_ack = swift_ack,
				.on_loss = swift_loss};

/* ---- TIMELY ---- */

enum { LOW, HIGH, MIN_RTT, WEIGHT, BETA, TIMELY_AI, TIMELY_HAI, PER, MIN_RATE, TIMELY_WINDOW };

static const struct cc_param timely_params[] = {
	{"low", CC_TIME, 50 * CC_US, 0, 1000000000, "RTT below which the rate rises"},
	{"high", CC_TIME, 500 * CC_US, 1, 1000000000, "RTT above which it falls"},
	{"min-rtt", CC_TIME, 20 * CC_US, 1, 1000000000, "of which a gradient is a part"},
	{"weight", CC_RATIO, CC_RATIO_ONE / 8 * 7, 1, CC_RATIO_ONE, "of the latest difference"},
	{"beta", CC_RATIO, CC_RATIO_ONE / 5 * 4, 1, CC_RATIO_ONE,
	 "weight of the gradient in a cut"},
	{"ai", CC_RATE, 10 * CC_MB, 1, 1000000000000, "additive increase"},
	{"hai", CC_RATE, 50 * CC_MB, 1, 1000000000000, "after five increases"},
	{"per", CC_RATE, 10000 * CC_MB, 0, 10000000000000,
	 "ai and hai are those of this line rate; 0: of any"},
	{"min-rate", CC_RATE, 1000 * CC_MB, 1, 1000000000000, "no cut goes below it"},
	{"window", CC_COUNT, 0, 0, 1, "1: at most one bandwidth-delay product in flight"},
	{0}};

static void timely_settle(struct cc_flow *f)
{
	if (f->settings->value[TIMELY_WINDOW])
		f->window = cc_most(cc_scale(cc_bdp(f), f->rate, f->line_rate), f->packet);
}

static void timely_start(struct cc_flow *f, uint64_t now)
{
	(void)now;
	f->s.timely = (struct cc_timely){0};
	timely_settle(f);
}

/* What is left of the rate: 2^32 or more means that it rises. */
static uint64_t timely_keep(const struct cc_flow *f, uint64_t rtt)
{
	const uint64_t *v = f->settings->value;
	const int64_t difference = f->s.timely.difference;
	uint64_t part;

	if (rtt < v[LOW])
		return CC_RATIO_ONE;
	if (rtt > v[HIGH])
		return CC_RATIO_ONE - cc_scale(v[BETA], rtt - v[HIGH], rtt);
	if (difference <= 0)
		return CC_RATIO_ONE;
	part = cc_scale(v[BETA], (uint64_t)difference, v[MIN_RTT] << 8);
	return part < CC_RATIO_ONE ? CC_RATIO_ONE - part : 0;
}

static void timely_round(struct cc_flow *f, uint64_t rtt)
{
	const uint64_t *v = f->settings->value;
	struct cc_timely *t = &f->s.timely;
	const int64_t weight = (int64_t)(v[WEIGHT] >> 16);
	const int64_t latest = ((int64_t)rtt - (int64_t)t->last_rtt) * 256;
	uint64_t keep, step;

	t->difference += (latest - t->difference) * weight / 65536;
	keep = timely_keep(f, rtt);
	if (keep < CC_RATIO_ONE) {
		t->rises = 0;
		f->rate = cc_most(cc_part(f->rate, keep), cc_least(v[MIN_RATE], f->rate));
		return;
	}
	step = v[t->rises++ < 5 ? TIMELY_AI : TIMELY_HAI];
	f->rate = cc_least(f->rate + (v[PER] ? cc_scale(step, f->line_rate, v[PER]) : step),
			   f->line_rate);
}

/* Once each round trip: when a packet is acknowledged that was sent after the last time. */
static void timely_ack(struct cc_flow *f, const struct cc_ack *a, uint64_t now)
{
	struct cc_timely *t = &f->s.timely;

	(void)now;
	if (a->through <= t->round_end && t->last_rtt)
		return;
	if (t->last_rtt)
		timely_round(f, a->rtt);
	t->last_rtt = cc_most(a->rtt, 1);
	t->round_end = a->sent;
	timely_settle(f);
}

const struct cc_ops cc_timely = {.name = "timely",
				 .help = "TIMELY: a rate that follows the gradient of the delay",
				 .params = timely_params,
				 .start = timely_start,
				 .on_ack = timely_ack};
