/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An Ethernet segment with both devices of a pair on it, for raw packet QPs: frames are made here,
 * travel at once, and are expected in the receive buffers.
 */
#ifndef SIM_SEGMENT_H
#define SIM_SEGMENT_H

#include "pair.h"

#include "emu/abi/cmd_raw.h"

#define SEGMENT_FRAME 128u /* bytes of the frames made here */

/* A frame by what rules look at; zero is a value as any other. */
struct segment_frame {
	uint8_t dst[6], src[6];
	uint16_t vlan; /* 0: no tag */
	bool ipv6;
	uint32_t src_ip, dst_ip; /* the last four bytes of an IPv6 address */
	uint8_t protocol;
	uint16_t src_port, dst_port;
};

/* A unicast UDP frame over IPv4. */
struct segment_frame segment_udp(void);

/* Bytes of the frame (SEGMENT_FRAME of them); what is behind the headers counts up from fill. */
void segment_bytes(const struct segment_frame *f, uint8_t fill, uint8_t *out);

/* A pair of raw packet QPs, RTS, 64 receives of 1024 bytes each at offset 64 KiB. */
void segment_create(struct pair *p);

/* RESET to the state with the attributes a raw packet QP has. */
void segment_activate(struct vqp *qp);

/* Sends the frame from side s's QP and delivers what is sent. */
void segment_send(struct side *s, const struct segment_frame *f, uint64_t wr_id);

/* Pulls frames of both devices and gives each to both. Returns how many there were. */
unsigned segment_run(struct pair *p);

/* A rule for the QP of a side. 0 or -errno. */
int segment_rule(struct side *s, const struct uhca_cmd_create_flow *in, uint32_t *handle);

/* A rule of this type and priority with one specification (none: type 0). */
struct uhca_cmd_create_flow segment_request(uint32_t type, uint16_t priority, uint32_t spec);

#endif
