/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets by source port. RoCEv2 spreads flows over paths and queues by their UDP source port
 * (annex A17), and a UDP socket sends from the port that it is bound to. So each flow of an address
 * has a socket, created at its first packet. At the limit, the socket that is idle for longest is
 * closed. A port that another socket has is replaced by the RoCEv2 port, which every receiver
 * accepts.
 */
#ifndef IO_UDP_FLOW_H
#define IO_UDP_FLOW_H

#include "emu/io/base/base.h"

#include <stdint.h>

#define IO_UDP_FLOWS 256 /* of one address */

struct io_udp_flow {
	int fd;         /* -1: free; the fallback's where the port belongs to somebody else */
	uint16_t port;  /* asked for */
	uint16_t bound; /* what it really is */
	uint64_t used;  /* when it sent last */
};

struct io_udp_flows {
	struct io_address address;
	int fallback; /* the address's main socket, borrowed */
	unsigned count;
	struct io_udp_flow slot[IO_UDP_FLOWS];
};

void io_udp_flows_init(struct io_udp_flows *f, const struct io_address *a, int fallback);
void io_udp_flows_close(struct io_udp_flows *f);

/* Socket for this source port; *port becomes the one it really has. Never fails. */
int io_udp_flows_get(struct io_udp_flows *f, uint16_t *port, uint64_t now);

#endif
