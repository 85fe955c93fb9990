/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bottom box of a device's stack: RoCEv2 over UDP sockets of the kernel, one for each
 * address of the device (annex A17, port 4791). A send that the kernel does not take now is kept
 * and sent when it does; meanwhile the device is not asked for more.
 */
#ifndef IO_UDP_H
#define IO_UDP_H

#include "emu/io/device/devices.h"
#include "udp_errors.h"
#include "udp_flow.h"
#include "udp_rx.h"
#include "udp_tx.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct io_udp;

/* The socket of one address. */
struct io_udp_port {
	struct io_udp *udp;
	struct io_address address;
	int fd;
	size_t rcvbuf;      /* granted, in the kernel's count */
	uint64_t hot_until; /* there was traffic lately: look without being told */
	bool drained;       /* the last look took all there was */
	uint32_t overflow;  /* the kernel's count when we last saw it */
	bool gso;           /* segments can be sent */
	ev_io readable;
	struct io_udp_flows flows;
};

/* The socket of a multicast group, which receives only. */
struct io_udp_group {
	struct io_udp_group *next;
	struct io_udp_port port; /* its address is the group's */
};

struct io_udp_counters {
	uint64_t tx_packets;
	uint64_t tx_errors; /* packets that could not be sent */
	uint64_t tx_full;   /* times a send had to wait for the socket */
};

struct io_udp {
	struct netif netif;
	struct ev_loop *loop;
	char name[16]; /* of the device, for the log */
	unsigned n_sockets;
	struct io_udp_port *port; /* n_sockets of them */
	struct io_udp_group *groups;
	size_t rcvbuf;       /* the smallest granted */
	struct io_udp_rx rx; /* is_own is set by its owner */
	uint8_t *rx_memory;
	uint64_t now;     /* of the call that is running */
	uint8_t *blocked; /* set by its owner, or NULL: has IO_BLOCK_WIRE while a send waits */
	/* Short packets of one flow that leave together. */
	struct io_udp_batch *bundle;
	/* The send that waits for its socket, with its own copy of the payload. */
	struct io_udp_tx stalled;
	struct core_burst stalled_burst;
	uint8_t *stalled_payload;
	ev_io writable;
	struct io_udp_counters counters;
	struct io_udp_errors errors; /* set by its owner */
};

/*
 * Opens the sockets of a device's addresses; none at all with IO_WIRE_NEVER. 0 or -errno, logged:
 * EADDRINUSE when another RoCEv2 stack has the port, EADDRNOTAVAIL when this machine has not
 * such an address.
 */
int io_udp_open(struct io_udp *u, struct ev_loop *loop, const struct io_settings *settings,
		const struct io_identity *id);
void io_udp_close(struct io_udp *u);

/*
 * The device wants to hear a multicast group, on the interface of its first address of the group's
 * family. 0, also when it has no such address (what it sends to the group stays in the daemon, and
 * nothing comes from elsewhere), or -errno of socket, bind or the joining (logged).
 */
int io_udp_join(struct io_udp *u, const uint8_t gid[16]);
void io_udp_leave(struct io_udp *u, const uint8_t gid[16]);

/*
 * Unacknowledged payload that the receive buffer stands, in bytes, of one sender; 0 when there
 * are no sockets.
 */
uint32_t io_udp_window(const struct io_udp *u);

/*
 * A send waits: for up to so many nanoseconds for its socket, and no longer than it takes. True
 * when none waits any more.
 */
bool io_udp_wait(struct io_udp *u, uint64_t ns);

/* Looks at the sockets that had traffic lately. True when something had come. */
bool io_udp_poll(struct io_udp *u, uint64_t now);

/*
 * Takes all that lies in the sockets of the device's addresses, whenever they were looked at last:
 * as much as a receive buffer holds, so that what comes meanwhile does not keep the caller here.
 * True when there was something.
 */
bool io_udp_drain(struct io_udp *u, uint64_t now);

#endif
