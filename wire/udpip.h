/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The IP and UDP fields that RoCEv2 depends on (annex A17): what the ICRC covers, what a GRH
 * reports, what a capture needs. Addresses are 16 bytes; IPv4 is the mapped form
 * ::ffff:a.b.c.d, which is also how a RoCEv2 GID names it.
 */
#ifndef ROCE_UDPIP_H
#define ROCE_UDPIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_IPV4_LENGTH 20
#define ROCE_IPV6_LENGTH 40
#define ROCE_UDP_LENGTH  8

/* One direction of a flow: everything outside the BTH that a packet is sent with. */
struct roce_flow {
	uint8_t src[16];
	uint8_t dst[16];
	uint16_t sport; /* host order */
	uint16_t dport;
	uint8_t tclass; /* IPv4 TOS or IPv6 traffic class, ECN bits included */
	uint8_t hop_limit;
	uint32_t flow_label; /* 20 bits, IPv6 only on the wire */
};

/* The ECN field of a traffic class (RFC 3168). */
enum roce_ecn { ROCE_NOT_ECT, ROCE_ECT1, ROCE_ECT0, ROCE_CE };

#define ROCE_ECN_MASK 3u

static inline enum roce_ecn roce_flow_ecn(const struct roce_flow *f)
{
	return (enum roce_ecn)(f->tclass & ROCE_ECN_MASK);
}

/* The other bits stay. */
static inline void roce_flow_set_ecn(struct roce_flow *f, enum roce_ecn ecn)
{
	f->tclass = (uint8_t)((f->tclass & ~ROCE_ECN_MASK) | ecn);
}

/* 6 bits. */
static inline uint8_t roce_flow_dscp(const struct roce_flow *f)
{
	return f->tclass >> 2;
}

/* The priority, 0 to 7, that ports which trust the DSCP give it without a map of their own. */
static inline uint8_t roce_flow_priority(const struct roce_flow *f)
{
	return f->tclass >> 5;
}

/* True when the address is an IPv4-mapped one. */
bool roce_addr_is_v4(const uint8_t addr[16]);

/* True when all is zero, which is no address. */
bool roce_addr_is_zero(const uint8_t addr[16]);

/* True for a multicast group: ff00::/8, or a mapped IPv4 multicast address (annex A17). */
bool roce_addr_is_group(const uint8_t addr[16]);

/* True when both addresses of the flow are IPv4-mapped, that is, when it travels over IPv4. */
static inline bool roce_flow_is_v4(const struct roce_flow *f)
{
	return roce_addr_is_v4(f->src) && roce_addr_is_v4(f->dst);
}

/*
 * Writes the IP and UDP headers of one packet whose UDP payload is udp_payload bytes, as a Linux
 * UDP socket with IP_PMTUDISC_DO sends them: DF set, the given identification, IPv4 header
 * checksum filled in, UDP checksum 0. Returns 28 or 48; buf must hold 48 bytes.
 */
size_t roce_udpip_emit(const struct roce_flow *f, uint16_t ident, size_t udp_payload, uint8_t *buf);

/* The same with an IPv4 header checksum of 0, for the ICRC, which does not cover it. */
size_t roce_udpip_emit_unsummed(const struct roce_flow *f, uint16_t ident, size_t udp_payload,
				uint8_t *buf);

/*
 * Reads IPv4 or IPv6 plus UDP headers at buf. Returns their length in bytes (options included)
 * and fills *f, *ident (0 for IPv6) and *udp_payload, or returns 0 for anything that is not a
 * whole unfragmented UDP packet.
 */
size_t roce_udpip_parse(const uint8_t *buf, size_t len, struct roce_flow *f, uint16_t *ident,
			size_t *udp_payload);

/*
 * The pieces of the above that a GRH needs too. roce_ipv4_checksum: the Internet checksum (RFC
 * 1071) over a header without options; 0 when the header's own checksum is right. roce_ipv4_load
 * and roce_ipv6_load fill everything of *f but the ports; the latter returns false when the
 * header is not version 6 or its addresses are IPv4-mapped.
 */
uint16_t roce_ipv4_checksum(const uint8_t hdr[ROCE_IPV4_LENGTH]);
void roce_ipv4_load(const uint8_t hdr[ROCE_IPV4_LENGTH], struct roce_flow *f);
bool roce_ipv6_load(const uint8_t hdr[ROCE_IPV6_LENGTH], struct roce_flow *f);

#endif
