/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From received UDP buffers to bursts: a buffer is one datagram, or as many as the kernel's
 * receive offload (UDP_GRO) put together; each is checked (length, ICRC, headers) and then
 * coalesced with those it continues. Pieces that fail a check are counted and dropped.
 *
 * How the ICRC is judged over IPv4, where the socket does not show the identification that it
 * covers: IO_ICRC_STRICT takes what our own sender produces, identification 0 or the place in a
 * segmented send; IO_ICRC_LENIENT takes any identification that makes the ICRC right, which
 * leaves a 16-bit check, but from devices of this daemon, whose sender is ours, only what strict
 * takes; IO_ICRC_OFF does not look. Over IPv6 nothing is unknown and both modes check in full.
 */
#ifndef IO_UDP_RX_H
#define IO_UDP_RX_H

#include "emu/core/core.h"
#include "emu/io/device/devices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io_udp_rx_counters {
	uint64_t buffers; /* received from the socket */
	uint64_t packets; /* that passed all checks */
	uint64_t bursts;  /* they became */
	uint64_t bad_icrc;
	uint64_t malformed; /* too short, unknown opcode, wrong version, wrong length */
	uint64_t overflow;  /* lost in front of us: the receive buffer was full */
};

struct io_udp_rx {
	enum io_icrc_mode icrc;
	/* Is that the address of a device of this daemon? NULL: nobody's is. */
	bool (*is_own)(const void *own, const uint8_t gid[16]);
	const void *own;
	struct io_udp_rx_counters counters;
	/* Gets each burst; it is valid during the call. */
	void (*deliver)(void *arg, const struct core_burst *t);
	/* Optional: gets what failed a check, from the BTH to the ICRC. */
	void (*refuse)(void *arg, const struct roce_flow *flow, const uint8_t *p, size_t len,
		       const char *why);
	void *arg;
	/* The burst that is growing; count 0: none. */
	struct core_burst burst;
	/* Of the last packet that failed: for one line in the log. */
	const char *why;
};

void io_udp_rx_init(struct io_udp_rx *rx, enum io_icrc_mode icrc,
		    void (*deliver)(void *arg, const struct core_burst *t), void *arg);

/*
 * One received buffer of the flow (dport is ours): len bytes, datagrams of "segment" bytes each
 * but the last, or one when segment is 0. The memory must stay as it is until io_udp_rx_flush.
 */
void io_udp_rx_buffer(struct io_udp_rx *rx, const struct roce_flow *flow, const uint8_t *p,
		      size_t len, size_t segment);

/* Delivers the burst that is growing. */
void io_udp_rx_flush(struct io_udp_rx *rx);

#endif
