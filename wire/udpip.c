/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IPv4 (RFC 791), IPv6 (RFC 8200) and UDP (RFC 768) headers as RoCEv2 uses them (annex A17): no
 * options or extension headers of our own, UDP checksum 0 (RFC 6935 for IPv6). Not an IP stack:
 * checksums of received headers are the kernel's business and are not verified.
 */
#include "udpip.h"

#include "bytes.h"

#include <string.h>

#define IPPROTO_UDP_    17
#define IPV4_DONT_FRAG  0x4000u
#define IPV4_FRAG_MASK  0x3fffu /* more fragments, and the fragment offset */
#define IPV4_MIN_IHL    5u
#define MAPPED_PREFIX   12
#define FLOW_LABEL_MASK 0xfffffu

static const uint8_t mapped_prefix[MAPPED_PREFIX] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool roce_addr_is_v4(const uint8_t addr[16])
{
	return memcmp(addr, mapped_prefix, MAPPED_PREFIX) == 0;
}

bool roce_addr_is_zero(const uint8_t addr[16])
{
	static const uint8_t none[16];

	return memcmp(addr, none, sizeof(none)) == 0;
}

bool roce_addr_is_group(const uint8_t addr[16])
{
	return addr[0] == 0xff || ((addr[MAPPED_PREFIX] & 0xf0) == 0xe0 && roce_addr_is_v4(addr));
}

static void load_v4_addr(const uint8_t *p, uint8_t addr[16])
{
	memcpy(addr, mapped_prefix, MAPPED_PREFIX);
	memcpy(addr + MAPPED_PREFIX, p, 4);
}

uint16_t roce_ipv4_checksum(const uint8_t hdr[ROCE_IPV4_LENGTH])
{
	uint32_t sum = 0;

	for (size_t i = 0; i < ROCE_IPV4_LENGTH; i += 2)
		sum += roce_load_be16(hdr + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void emit_v4(const struct roce_flow *f, uint16_t ident, size_t ip_payload, uint8_t *p)
{
	p[0] = 4u << 4 | IPV4_MIN_IHL;
	p[1] = f->tclass;
	roce_store_be16(p + 2, (uint16_t)(ROCE_IPV4_LENGTH + ip_payload));
	roce_store_be16(p + 4, ident);
	roce_store_be16(p + 6, IPV4_DONT_FRAG);
	p[8] = f->hop_limit;
	p[9] = IPPROTO_UDP_;
	roce_store_be16(p + 10, 0);
	memcpy(p + 12, f->src + MAPPED_PREFIX, 4);
	memcpy(p + 16, f->dst + MAPPED_PREFIX, 4);
}

static void emit_v6(const struct roce_flow *f, size_t ip_payload, uint8_t *p)
{
	roce_store_be32(p,
			6u << 28 | (uint32_t)f->tclass << 20 | (f->flow_label & FLOW_LABEL_MASK));
	roce_store_be16(p + 4, (uint16_t)ip_payload);
	p[6] = IPPROTO_UDP_;
	p[7] = f->hop_limit;
	memcpy(p + 8, f->src, 16);
	memcpy(p + 24, f->dst, 16);
}

size_t roce_udpip_emit_unsummed(const struct roce_flow *f, uint16_t ident, size_t udp_payload,
				uint8_t *buf)
{
	const size_t udp_len = ROCE_UDP_LENGTH + udp_payload;
	size_t ip_len;

	if (roce_flow_is_v4(f)) {
		emit_v4(f, ident, udp_len, buf);
		ip_len = ROCE_IPV4_LENGTH;
	} else {
		emit_v6(f, udp_len, buf);
		ip_len = ROCE_IPV6_LENGTH;
	}
	buf += ip_len;
	roce_store_be16(buf, f->sport);
	roce_store_be16(buf + 2, f->dport);
	roce_store_be16(buf + 4, (uint16_t)udp_len);
	roce_store_be16(buf + 6, 0);
	return ip_len + ROCE_UDP_LENGTH;
}

size_t roce_udpip_emit(const struct roce_flow *f, uint16_t ident, size_t udp_payload, uint8_t *buf)
{
	const size_t n = roce_udpip_emit_unsummed(f, ident, udp_payload, buf);

	if (n == ROCE_IPV4_LENGTH + ROCE_UDP_LENGTH)
		roce_store_be16(buf + 10, roce_ipv4_checksum(buf));
	return n;
}

void roce_ipv4_load(const uint8_t hdr[ROCE_IPV4_LENGTH], struct roce_flow *f)
{
	f->tclass = hdr[1];
	f->hop_limit = hdr[8];
	f->flow_label = 0;
	load_v4_addr(hdr + 12, f->src);
	load_v4_addr(hdr + 16, f->dst);
}

bool roce_ipv6_load(const uint8_t hdr[ROCE_IPV6_LENGTH], struct roce_flow *f)
{
	const uint32_t first = roce_load_be32(hdr);

	f->tclass = (uint8_t)(first >> 20);
	f->flow_label = first & FLOW_LABEL_MASK;
	f->hop_limit = hdr[7];
	memcpy(f->src, hdr + 8, 16);
	memcpy(f->dst, hdr + 24, 16);
	/* A mapped address never travels in an IPv6 header; here it would turn into IPv4. */
	return first >> 28 == 6 && !roce_flow_is_v4(f);
}

/* Length of the IPv4 header, with *ip_payload bytes behind it; 0 when it is not ours. */
static size_t parse_v4(const uint8_t *p, size_t len, struct roce_flow *f, uint16_t *ident,
		       size_t *ip_payload)
{
	if (len < ROCE_IPV4_LENGTH)
		return 0;
	const size_t header = (size_t)(p[0] & 0xf) * 4;
	const size_t total = roce_load_be16(p + 2);

	if (header < ROCE_IPV4_LENGTH || total < header || total > len)
		return 0;
	if (p[9] != IPPROTO_UDP_ || (roce_load_be16(p + 6) & IPV4_FRAG_MASK))
		return 0;
	roce_ipv4_load(p, f);
	*ident = roce_load_be16(p + 4);
	*ip_payload = total - header;
	return header;
}

static size_t parse_v6(const uint8_t *p, size_t len, struct roce_flow *f, uint16_t *ident,
		       size_t *ip_payload)
{
	if (len < ROCE_IPV6_LENGTH || !roce_ipv6_load(p, f) || p[6] != IPPROTO_UDP_)
		return 0;
	*ident = 0;
	*ip_payload = roce_load_be16(p + 4);
	return *ip_payload <= len - ROCE_IPV6_LENGTH ? ROCE_IPV6_LENGTH : 0;
}

size_t roce_udpip_parse(const uint8_t *buf, size_t len, struct roce_flow *f, uint16_t *ident,
			size_t *udp_payload)
{
	size_t ip_payload = 0;
	size_t ip_len = 0;

	if (len > 0 && buf[0] >> 4 == 4)
		ip_len = parse_v4(buf, len, f, ident, &ip_payload);
	else if (len > 0 && buf[0] >> 4 == 6)
		ip_len = parse_v6(buf, len, f, ident, &ip_payload);
	if (ip_len == 0 || ip_payload < ROCE_UDP_LENGTH)
		return 0;

	const uint8_t *udp = buf + ip_len;
	const size_t udp_len = roce_load_be16(udp + 4);

	if (udp_len < ROCE_UDP_LENGTH || udp_len > ip_payload)
		return 0;
	f->sport = roce_load_be16(udp);
	f->dport = roce_load_be16(udp + 2);
	*udp_payload = udp_len - ROCE_UDP_LENGTH;
	return ip_len + ROCE_UDP_LENGTH;
}
