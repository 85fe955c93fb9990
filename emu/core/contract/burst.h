/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What devices send each other: bursts of packets. Part of core.h.
 */
#ifndef CORE_BURST_H
#define CORE_BURST_H

#include "trace.h"
#include "wire/packet.h"
#include "wire/udpip.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define CORE_BURST_IOV 64

/*
 * A burst (design D8): one packet, or consecutive packets of one message with consecutive PSNs
 * and equal payload segments (the last may be shorter). head holds the headers of the first
 * packet; its payload and pad fields are not used. AETH, immediate data and IETH, where the last
 * packet has them, stand in head too: first and last never differ in them.
 */
struct core_burst {
	struct roce_packet head;
	struct roce_flow flow;
	roce_opcode last_opcode;          /* == head.bth.opcode when count is 1 */
	bool last_ackreq, last_solicited; /* of the last packet; those before ask for none */
	bool from_network;                /* it cost a system call to get here: see ack_delay_ns */
	bool urgent;      /* of a low-latency QP: nothing holds it back to make a batch */
	uint32_t count;   /* packets */
	uint32_t segment; /* payload bytes of each packet but the last */
	uint32_t length;  /* payload bytes of all */
	struct core_burst_model model;
	unsigned n_iov;
	struct iovec iov[CORE_BURST_IOV];
};

/*
 * Header values of packet i of a burst (0 <= i < count), of which the payload is NULL: *offset is
 * where that starts in the burst. And the packet as a burst of its own, of the same payload.
 */
void core_burst_packet(const struct core_burst *t, uint32_t i, struct roce_packet *out,
		       uint32_t *offset);
void core_burst_single(const struct core_burst *t, uint32_t i, struct core_burst *out);

/* Makes a burst of one parsed packet (whose payload it points to). */
void core_burst_start(struct core_burst *t, const struct roce_packet *pkt,
		      const struct roce_flow *flow);

/*
 * Adds the next packet when it continues the burst: same QP and flow, next PSN, an opcode that
 * may follow, full segment so far. Returns false, the burst unchanged, when it does not.
 */
bool core_burst_append(struct core_burst *t, const struct roce_packet *pkt,
		       const struct roce_flow *flow);

#endif
