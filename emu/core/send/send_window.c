/* SPDX-License-Identifier: BSD-2-Clause */
/* See send_window.h. */
#include "send_window.h"

/* What is sent first behind a loss: the receiver's room may be full of what came behind the gap. */
#define AFRESH 16384u

static uint32_t most_of(const struct core_config *cfg)
{
	return cfg->window_most > cfg->window_bytes ? cfg->window_most : cfg->window_bytes;
}

void send_window_begin(struct send_window *w, const struct core_config *cfg)
{
	w->bytes = cfg->window_bytes;
	w->known = most_of(cfg);
	w->cut = false;
}

void send_window_grow(struct send_window *w, const struct core_config *cfg, uint32_t acked,
		      uint32_t mtu)
{
	uint64_t more = acked, most = most_of(cfg);

	if (w->bytes >= w->known)
		more = more * mtu / w->bytes;
	w->bytes = w->bytes + more < most ? (uint32_t)(w->bytes + more) : (uint32_t)most;
}

void send_window_shrink(struct send_window *w, const struct core_config *cfg)
{
	w->known = w->bytes / 2 > cfg->window_bytes ? w->bytes / 2 : cfg->window_bytes;
	w->bytes = cfg->window_bytes < AFRESH ? cfg->window_bytes : AFRESH;
}
