/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds an Ethernet frame with IP and UDP headers around a packet. */
#include "packet_frame.h"

#include "wire/icrc.h"
#include "wire/packet.h"
#include "wire/udpip.h"

#include <string.h>

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define IPV4_UDP       28
#define IPV6_UDP       48

static size_t put_ethernet(uint8_t *p, const struct roce_flow *f)
{
	uint16_t type = roce_flow_is_v4(f) ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;

	p[0] = p[6] = 0x02;
	p[1] = p[7] = 0;
	memcpy(p + 2, f->dst + 12, 4);
	memcpy(p + 8, f->src + 12, 4);
	p[12] = (uint8_t)(type >> 8);
	p[13] = (uint8_t)type;
	return IO_FRAME_ETHERNET;
}

/* Copies len bytes of the burst's payload from offset on. */
static void copy_payload(uint8_t *to, const struct core_burst *t, uint32_t offset, uint32_t len)
{
	for (unsigned i = 0; i < t->n_iov && len > 0; i++) {
		uint32_t piece = (uint32_t)t->iov[i].iov_len;

		if (offset >= piece) {
			offset -= piece;
			continue;
		}
		piece -= offset;
		if (piece > len)
			piece = len;
		memcpy(to, (const uint8_t *)t->iov[i].iov_base + offset, piece);
		to += piece;
		len -= piece;
		offset = 0;
	}
}

/* One that went wrong on purpose goes on being wrong. */
static void put_icrc(const struct core_burst *t, size_t udp, const uint8_t *bth, uint8_t *p)
{
	uint32_t sum = roce_icrc_begin(&t->flow, 0, udp, bth, (size_t)(p - bth));

	roce_icrc_store(t->model.bad_icrc ? ~sum : sum, p);
}

size_t io_frame_make(const struct core_burst *t, uint32_t i, uint8_t *p, size_t room)
{
	struct roce_packet pkt;
	uint8_t *start = p;
	uint8_t *bth;
	uint32_t offset;
	size_t udp;
	size_t length;
	uint32_t fits;

	core_burst_packet(t, i, &pkt, &offset);
	udp = roce_header_length(pkt.bth.opcode) + pkt.payload_len + pkt.bth.pad + ROCE_ICRC_LENGTH;
	p += put_ethernet(p, &t->flow);
	p += roce_udpip_emit(&t->flow, 0, udp, p);
	bth = p;
	p += roce_packet_emit_headers(&pkt, p, ROCE_MAX_HEADER_LENGTH);
	length = (size_t)(bth - start) + udp;
	fits = pkt.payload_len;
	if ((size_t)(p - start) + fits > room)
		fits = (uint32_t)(room - (size_t)(p - start));
	copy_payload(p, t, offset, fits);
	if (length > room)
		return length;
	p += pkt.payload_len;
	memset(p, 0, pkt.bth.pad);
	p += pkt.bth.pad;
	put_icrc(t, udp, bth, p);
	return length;
}

size_t io_frame_wrap(const struct roce_flow *flow, const uint8_t *bytes, size_t len, uint8_t *p,
		     size_t room)
{
	size_t head = put_ethernet(p, flow);

	head += roce_udpip_emit(flow, 0, len, p + head);
	memcpy(p + head, bytes, head + len > room ? room - head : len);
	return head + len;
}

size_t io_frame_headers(const struct core_burst *t, uint32_t i)
{
	struct roce_packet pkt;
	uint32_t offset;

	core_burst_packet(t, i, &pkt, &offset);
	return IO_FRAME_ETHERNET + (roce_flow_is_v4(&t->flow) ? IPV4_UDP : IPV6_UDP) +
	       roce_header_length(pkt.bth.opcode);
}
