/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast packets leave that nobody acknowledges. A RoCE network loses nothing by itself; a UDP
 * socket drops what it has no room for. RC has a window for that, UC and UD have nothing, and of
 * long messages a train is one call for its sender, but several datagrams for its receiver. So they
 * leave in bursts for which there is room, and more slowly than a receiver takes them that has a
 * processor for itself.
 */
#ifndef IO_UDP_PACE_H
#define IO_UDP_PACE_H

#include "emu/core/core.h"

#include <stdbool.h>
#include <stdint.h>

struct io_udp_pace {
	uint32_t burst; /* bytes */
	uint32_t bytes; /* of the burst that has begun */
	uint64_t began;
	uint64_t until; /* the pause behind it; 0: there is none */
};

/* room: of a receiver, in bytes, as io_udp_window has it. */
void io_udp_pace_init(struct io_udp_pace *p, uint32_t room);

/* The train leaves at now. True: a pause begins. */
bool io_udp_pace_sent(struct io_udp_pace *p, const struct core_train *t, uint64_t now);

/* Ends a pause whose time is over. True: it has. */
bool io_udp_pace_over(struct io_udp_pace *p, uint64_t now);

#endif
