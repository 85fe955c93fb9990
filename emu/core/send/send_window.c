/* SPDX-License-Identifier: BSD-2-Clause */
/* The window of a reliable QP: grows with acknowledgements, shrinks after a loss. */
#include "send_window.h"

/* What is sent first behind a loss: the receiver's room may be full of what came behind the gap. */
#define AFRESH 16384u

static uint32_t most_of(const struct core_config *cfg)
{
	return cfg->window_most > cfg->window_bytes ? cfg->window_most : cfg->window_bytes;
}

/* What is too much for the receiver should not be found out with twice as much. */
void send_window_begin(struct send_window *w, const struct core_config *cfg)
{
	uint32_t half = most_of(cfg) / 2;

	w->bytes = cfg->window_bytes;
	w->known = half > w->bytes ? half : w->bytes;
	w->cut = false;
}

void send_window_grow(struct send_window *w, const struct core_config *cfg, uint32_t acked,
		      uint32_t mtu)
{
	uint64_t fast = w->bytes < w->known ? w->known - w->bytes : 0, more = acked;

	if (more > fast)
		more = fast + (more - fast) * mtu / (w->bytes + fast);
	w->bytes = w->bytes + more < most_of(cfg) ? (uint32_t)(w->bytes + more) : most_of(cfg);
}

void send_window_shrink(struct send_window *w, const struct core_config *cfg)
{
	w->known = w->bytes / 2 > cfg->window_bytes ? w->bytes / 2 : cfg->window_bytes;
	w->bytes = cfg->window_bytes < AFRESH ? cfg->window_bytes : AFRESH;
}
