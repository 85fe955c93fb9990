/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a QP may have under way. A receiver's socket holds what it holds, and nobody says how
 * much: who does not know finds out. The window begins with config.window_bytes, which any
 * receiver has room for, and grows by what is acknowledged while it is what keeps the QP from
 * sending, or from sending as much in one burst as it could: fast up to half of the most it may be,
 * and beyond that by a packet for each window. Behind a loss little goes first, because the
 * receiver's room may be full of what came behind the gap; it then grows fast up to half of what
 * was too much, but at least to what it began with.
 *
 * Not here: credits (9.7.7.2), which are the responder's word.
 */
#ifndef CORE_SEND_WINDOW_H
#define CORE_SEND_WINDOW_H

#include "emu/core/qp/queue_pair.h"

/* As a connection begins. */
void send_window_begin(struct send_window *w, const struct core_config *cfg);

/* "acked" bytes were acknowledged, in packets of mtu bytes, and the window was all used. */
void send_window_grow(struct send_window *w, const struct core_config *cfg, uint32_t acked,
		      uint32_t mtu);

/* Something got lost. */
void send_window_shrink(struct send_window *w, const struct core_config *cfg);

#endif
