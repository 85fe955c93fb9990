/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes one packet: set a field, truncate, mark ECN, flip a bit, break the ICRC. */
#include "packet_change.h"

#include <string.h>

/* The packet as bytes in out; their number. */
static size_t write_out(const struct roce_packet *pkt, uint8_t out[ROCE_MAX_PACKET_LENGTH])
{
	struct roce_packet p = *pkt;

	p.bth.pad = roce_pad(p.payload_len);
	memset(p.pad_bytes, 0, sizeof(p.pad_bytes));
	return roce_packet_emit(&p, out, ROCE_MAX_PACKET_LENGTH);
}

/* The bytes become the packet's; false when nobody can read them. */
static bool read_back(struct fault_packet *p, const uint8_t *bytes, size_t len)
{
	struct roce_packet parsed;

	if (roce_packet_parse(bytes, len, &parsed) != ROCE_PARSE_OK)
		return false;
	if (bytes != p->text)
		memcpy(p->text, bytes, len);
	p->pkt = parsed;
	if (parsed.payload_len)
		p->pkt.payload = p->text + (parsed.payload - bytes);
	return true;
}

enum fault_change fault_packet_change(struct fault_packet *p, const struct fault_setting *s)
{
	uint8_t payload[ROCE_MAX_MTU], bytes[ROCE_MAX_PACKET_LENGTH];
	struct roce_packet changed = p->pkt;
	size_t len;

	if (changed.payload_len)
		memcpy(payload, changed.payload, changed.payload_len);
	changed.payload = payload;
	if (!fault_packet_set(&changed, payload, s))
		return FAULT_UNCHANGED;
	len = write_out(&changed, bytes);
	return len && read_back(p, bytes, len) ? FAULT_CHANGED : FAULT_MALFORMED;
}

enum fault_change fault_packet_truncate(struct fault_packet *p, uint64_t length)
{
	if (length >= p->pkt.payload_len)
		return FAULT_UNCHANGED;
	p->pkt.payload_len = (uint32_t)length;
	p->pkt.bth.pad = roce_pad(p->pkt.payload_len);
	memset(p->pkt.pad_bytes, 0, sizeof(p->pkt.pad_bytes));
	if (!length)
		p->pkt.payload = NULL;
	return FAULT_CHANGED;
}

void fault_packet_mark(struct fault_packet *p)
{
	roce_flow_set_ecn(&p->flow, ROCE_CE);
}

void fault_packet_break_icrc(struct fault_packet *p)
{
	p->model.bad_icrc = true;
}

uint64_t fault_packet_bits(const struct fault_packet *p)
{
	return (roce_header_length(p->pkt.bth.opcode) + p->pkt.payload_len + p->pkt.bth.pad) * 8;
}

/*
 * A bit that makes the packet unreadable stays as it was: all that anybody sees of such a packet
 * is its ICRC, and that is wrong either way.
 */
void fault_packet_flip_bit(struct fault_packet *p, uint64_t bit)
{
	uint8_t bytes[ROCE_MAX_PACKET_LENGTH];
	size_t len = write_out(&p->pkt, bytes);

	fault_packet_break_icrc(p);
	if (!len)
		return;
	bit %= len * 8;
	bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	read_back(p, bytes, len);
}

void fault_packet_flip_payload(struct fault_packet *p, uint64_t byte)
{
	size_t head = roce_header_length(p->pkt.bth.opcode);

	if (p->pkt.payload_len)
		fault_packet_flip_bit(p, (head + byte % p->pkt.payload_len) * 8);
	fault_packet_break_icrc(p);
}

void fault_packet_burst(const struct fault_packet *p, struct core_burst *out)
{
	core_burst_start(out, &p->pkt, &p->flow);
	out->model = p->model;
	out->from_network = p->from_network;
	out->urgent = p->urgent;
}
