/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One packet on its way through a net, and the changes that rules make to it. The packet borrows
 * its payload from the sender. After a change "text" holds header, payload and pad.
 *
 * A changed packet is written as bytes and parsed again, as a receiver reads it. A packet that
 * cannot be parsed is malformed, and no device sees it.
 */
#ifndef FAULT_PACKET_CHANGE_H
#define FAULT_PACKET_CHANGE_H

#include "emu/core/core.h"
#include "packet_field.h"

struct fault_packet {
	struct roce_packet pkt;
	struct roce_flow flow;
	struct core_burst_model model;
	enum fault_direction dir;
	bool from_network, urgent;
	/* Once something was changed: header, payload and pad. */
	uint8_t text[ROCE_MAX_PACKET_LENGTH];
};

enum fault_change {
	FAULT_CHANGED,
	FAULT_UNCHANGED, /* it has nothing like that */
	FAULT_MALFORMED, /* and is as it was before */
};

/* The ICRC is right again. */
enum fault_change fault_packet_change(struct fault_packet *p, const struct fault_setting *s);
enum fault_change fault_packet_truncate(struct fault_packet *p, uint64_t length);

/* "Congestion experienced" in the IP header; it has to say nothing else before. */
void fault_packet_mark(struct fault_packet *p);

/*
 * Wrong from now on: the ICRC alone, or one bit, counted from the first of the BTH, or one bit of
 * a payload byte. The numbers are taken modulo what the packet has; without payload the ICRC.
 */
void fault_packet_break_icrc(struct fault_packet *p);
void fault_packet_flip_bit(struct fault_packet *p, uint64_t bit);
void fault_packet_flip_payload(struct fault_packet *p, uint64_t byte);

/* Bits from the BTH to the end of the pad. */
uint64_t fault_packet_bits(const struct fault_packet *p);

/* As a burst of one, which points to the packet's payload. */
void fault_packet_burst(const struct fault_packet *p, struct core_burst *out);

#endif
