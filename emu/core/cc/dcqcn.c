/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DCQCN, the reaction point (Zhu et al., SIGCOMM 2015). A CNP cuts the rate by alpha / 2; alpha
 * follows how often CNPs come. Then a timer and a byte counter raise the rate: first half way back
 * to the rate before the cut, then additively, then faster.
 *
 * Two forms are in use. The paper's cuts at once, and restarts alpha's timer at each CNP. That of
 * ConnectX adapters and of HPCC's simulator looks at fixed intervals whether a CNP has come, for
 * alpha and for cuts, and has one counter of stages ("interval"). Timers are not run while nothing
 * asks: alpha's steps are a power, and expired increases are made up for.
 */
#include "controls.h"

enum {
	G,
	ALPHA_TIMER,
	INTERVAL,
	TIMER,
	BYTES,
	STAGES,
	AI,
	HAI,
	PER,
	MIN_RATE,
	CLAMP,
	WINDOW,
};

/* X(name, unit, usual value in the paper, in HPCC's simulator, in mlx5, least, most, help) */
#define PARAMS(X)                                                                                  \
	X("g", CC_RATIO, CC_RATIO_ONE / 256, CC_RATIO_ONE / 256, CC_RATIO_ONE / 1024 * 5, 1,       \
	  CC_RATIO_ONE, "weight of a CNP in alpha")                                                \
	X("alpha-timer", CC_TIME, 55 * CC_US, 50 * CC_US, 1 * CC_US, 100, 1000000000,              \
	  "time between steps of alpha")                                                           \
	X("interval", CC_TIME, 0, 50 * CC_US, 4 * CC_US, 0, 1000000000,                            \
	  "time between cuts; 0: each CNP cuts at once")                                           \
	X("timer", CC_TIME, 55 * CC_US, 55 * CC_US, 300 * CC_US, 1000, 1000000000,                 \
	  "of rate increases")                                                                     \
	X("bytes", CC_BYTES, 10 * CC_MB, 0, 0, 0, 1000000000000,                                   \
	  "between increases; 0: only the timer")                                                  \
	X("stages", CC_COUNT, 5, 1, 1, 0, 1000, "of fast recovery")                                \
	X("ai", CC_RATE, 40 * CC_MB, 5 * CC_MB, 5 * CC_MB, 1, 1000000000000, "additive increase")  \
	X("hai", CC_RATE, 400 * CC_MB, 50 * CC_MB, 50 * CC_MB, 0, 1000000000000, "hyper increase") \
	X("per", CC_RATE, 0, 25000 * CC_MB, 0, 0, 10000000000000,                                  \
	  "ai and hai are those of this line rate; 0: of any")                                     \
	X("min-rate", CC_RATE, 40 * CC_MB, 1000 * CC_MB, 1 * CC_MB, 1, 1000000000000,              \
	  "no cut goes below it")                                                                  \
	X("clamp", CC_COUNT, 1, 0, 0, 0, 1,                                                        \
	  "0: only the first cut after an increase moves the target")                              \
	X("window", CC_COUNT, 0, 0, 0, 0, 1, "1: at most one bandwidth-delay product in flight")

#define PAPER(name, unit, paper, hpcc, mlx5, min, max, help) {name, unit, paper, min, max, help},
#define HPCC(name, unit, paper, hpcc, mlx5, min, max, help)  {name, unit, hpcc, min, max, help},
#define MLX5(name, unit, paper, hpcc, mlx5, min, max, help)  {name, unit, mlx5, min, max, help},
static const struct cc_param paper_params[] = {PARAMS(PAPER){0}};
static const struct cc_param hpcc_params[] = {PARAMS(HPCC){0}};
static const struct cc_param mlx5_params[] = {PARAMS(MLX5){0}};

static uint64_t value(const struct cc_flow *f, unsigned i)
{
	return f->settings->value[i];
}

/* What follows from the rate. A timer matters to a flow that its rate holds back. */
static void settle(struct cc_flow *f)
{
	const struct cc_dcqcn *d = &f->s.dcqcn;

	if (value(f, WINDOW))
		f->window = cc_most(cc_scale(cc_bdp(f), f->rate, f->line_rate), f->packet);
	f->deadline = cc_least(d->timer_at, d->cut_at);
}

static void start(struct cc_flow *f, uint64_t now)
{
	f->s.dcqcn = (struct cc_dcqcn){.target = f->line_rate,
				       .alpha = CC_RATIO_ONE,
				       .alpha_at = now,
				       .timer_at = CC_NEVER,
				       .cut_at = CC_NEVER};
	settle(f);
}

/* Alpha's steps up to now: in the first of them a CNP may have come, in the others none has. */
static void step_alpha(struct cc_flow *f, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;
	const uint64_t every = value(f, ALPHA_TIMER), keep = CC_RATIO_ONE - value(f, G);
	uint64_t steps;

	if (now < d->alpha_at)
		return;
	steps = (now - d->alpha_at) / every + 1;
	d->alpha_at += steps * every;
	if (d->seen) {
		d->alpha = cc_part(d->alpha, keep) + value(f, G);
		d->seen = false;
		steps--;
	}
	d->alpha = cc_part(d->alpha, cc_power(keep, steps));
}

static uint64_t step_of(const struct cc_flow *f, unsigned i)
{
	return value(f, PER) ? cc_scale(value(f, i), f->line_rate, value(f, PER)) : value(f, i);
}

/* Half way to the target; the last thousandth of the line rate in one step. */
static void approach(struct cc_flow *f)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	d->target = cc_least(d->target, f->line_rate);
	f->rate = (f->rate + d->target) / 2;
	if (d->target == f->line_rate && f->line_rate - f->rate < f->line_rate / 1000)
		f->rate = f->line_rate;
	if (f->rate == f->line_rate)
		d->timer_at = CC_NEVER;
}

/* After a stage of the timer or of the byte counter. */
static void increase(struct cc_flow *f)
{
	struct cc_dcqcn *d = &f->s.dcqcn;
	const uint64_t stages = value(f, STAGES);
	const uint64_t most = cc_most(d->timer_stage, d->byte_stage);
	const uint64_t least = cc_least(d->timer_stage, d->byte_stage);

	if (value(f, INTERVAL)) {
		if (d->timer_stage == stages + 1)
			d->target += step_of(f, AI);
		else if (d->timer_stage > stages + 1)
			d->target += step_of(f, HAI);
	} else if (most >= stages) {
		d->target += least >= stages && value(f, HAI)
				     ? step_of(f, HAI) * (least - stages + 1)
				     : step_of(f, AI);
	}
	approach(f);
}

static void timer_expired(struct cc_flow *f)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	d->timer_at += value(f, TIMER);
	d->timer_stage += d->timer_stage < UINT16_MAX;
	increase(f);
}

static void cut(struct cc_flow *f, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	if (value(f, CLAMP) || d->timer_stage)
		d->target = f->rate;
	f->rate = cc_most(f->rate - cc_part(f->rate, d->alpha / 2),
			  cc_least(value(f, MIN_RATE), f->rate));
	d->timer_stage = d->byte_stage = 0;
	d->bytes = value(f, BYTES);
	d->timer_at = now + value(f, TIMER);
	d->cut_at = CC_NEVER;
}

/* All that was due, in its order. */
static void advance(struct cc_flow *f, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	while (cc_least(d->timer_at, d->cut_at) <= now) {
		if (d->cut_at <= d->timer_at) {
			step_alpha(f, d->cut_at);
			cut(f, d->cut_at);
		} else {
			timer_expired(f);
		}
	}
}

/* The form with intervals: the first CNP sets alpha to 1 and begins all intervals. */
static void note_cnp(struct cc_flow *f, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;
	const uint64_t interval = value(f, INTERVAL);

	step_alpha(f, now);
	d->seen = d->known;
	if (!d->known) {
		d->known = true;
		d->alpha = CC_RATIO_ONE;
		d->alpha_at = now + value(f, ALPHA_TIMER);
		d->cut_base = now + 1;
	}
	if (d->cut_at == CC_NEVER) {
		const uint64_t since = now < d->cut_base ? 0 : now - d->cut_base;

		d->cut_at = d->cut_base + (since / interval + 1) * interval;
	}
}

static void on_cnp(struct cc_flow *f, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	advance(f, now);
	if (value(f, INTERVAL)) {
		note_cnp(f, now);
	} else {
		if (d->known)
			step_alpha(f, now);
		d->known = true;
		cut(f, now);
		d->alpha = cc_part(d->alpha, CC_RATIO_ONE - value(f, G)) + value(f, G);
		d->alpha_at = now + value(f, ALPHA_TIMER);
	}
	settle(f);
}

static void on_timer(struct cc_flow *f, uint64_t now)
{
	advance(f, now);
	settle(f);
}

/* Its window follows the rate, which a sender that waits for ACKs does not ask for. */
static void on_ack(struct cc_flow *f, const struct cc_ack *a, uint64_t now)
{
	(void)a;
	if (value(f, WINDOW))
		on_timer(f, now);
}

static void on_sent(struct cc_flow *f, uint32_t bytes, uint64_t now)
{
	struct cc_dcqcn *d = &f->s.dcqcn;

	if (d->timer_at == CC_NEVER && d->cut_at == CC_NEVER)
		return;
	advance(f, now);
	if (value(f, BYTES) && d->timer_at != CC_NEVER) {
		if (d->bytes > bytes) {
			d->bytes -= bytes;
		} else {
			d->bytes += value(f, BYTES) > bytes ? value(f, BYTES) - bytes : 0;
			d->byte_stage += d->byte_stage < UINT16_MAX;
			increase(f);
		}
	}
	settle(f);
}

#define DCQCN_FUNCTIONS                                                                            \
	.start = start, .on_ack = on_ack, .on_cnp = on_cnp, .on_timer = on_timer, .on_sent = on_sent

const struct cc_ops cc_dcqcn = {.name = "dcqcn",
				.help = "DCQCN with the parameters of SIGCOMM 2015",
				.params = paper_params,
				DCQCN_FUNCTIONS};
const struct cc_ops cc_dcqcn_hpcc = {.name = "dcqcn-hpcc",
				     .help = "DCQCN as in HPCC's simulator (dcqcn_paper)",
				     .params = hpcc_params,
				     DCQCN_FUNCTIONS};
const struct cc_ops cc_dcqcn_mlx5 = {.name = "dcqcn-mlx5",
				     .help = "DCQCN with the defaults of mlx5",
				     .params = mlx5_params,
				     DCQCN_FUNCTIONS};
