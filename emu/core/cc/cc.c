/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of congestion controls, the two simplest ones, and shared arithmetic. See cc.h. */
#include "cc.h"

#include "controls.h"

#include <stddef.h>

const struct cc_ops *cc_at(unsigned i)
{
	static const struct cc_ops *const all[] = {&cc_none,       &cc_window,     &cc_dcqcn,
						   &cc_dcqcn_hpcc, &cc_dcqcn_mlx5, &cc_swift,
						   &cc_timely,     &cc_dctcp,      NULL};

	return all[i];
}

void cc_settings_init(struct cc_settings *s, const struct cc_ops *ops)
{
	*s = (struct cc_settings){.ops = ops};
	for (unsigned i = 0; ops->params && ops->params[i].name; i++)
		s->value[i] = ops->params[i].usual;
}

void cc_start(struct cc_flow *f, const struct cc_settings *s, uint64_t now)
{
	f->settings = s;
	f->rate = f->line_rate;
	f->window = CC_NO_WINDOW;
	f->deadline = CC_NEVER;
	if (s->ops->start)
		s->ops->start(f, now);
}

uint64_t cc_bdp(const struct cc_flow *f)
{
	return cc_most(cc_scale(f->line_rate, f->base_rtt, UINT64_C(8000000000)), f->packet);
}

uint64_t cc_power(uint64_t ratio, uint64_t n)
{
	uint64_t result = CC_RATIO_ONE;

	for (; n; n >>= 1) {
		if (n & 1)
			result = cc_part(result, ratio);
		ratio = cc_part(ratio, ratio);
	}
	return result;
}

uint64_t cc_root(uint64_t v)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= v)
			root += bit;
	return root;
}

/* ---- none: at line rate whatever happens ---- */

const struct cc_ops cc_none = {.name = "none", .help = "line rate, whatever happens"};

/* ---- window: at line rate, but no more in flight than the path holds ---- */

enum { WINDOW_FACTOR };

static const struct cc_param window_params[] = {{"factor", CC_RATIO, CC_RATIO_ONE,
						 CC_RATIO_ONE / 100, 1000 * CC_RATIO_ONE,
						 "window in bandwidth-delay products"},
						{0}};

static void window_start(struct cc_flow *f, uint64_t now)
{
	(void)now;
	f->window = cc_most(cc_part(cc_bdp(f), f->settings->value[WINDOW_FACTOR]), f->packet);
}

const struct cc_ops cc_window = {.name = "window",
				 .help = "line rate, one bandwidth-delay product in flight",
				 .params = window_params,
				 .start = window_start};
