/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Header offsets: IEEE 802.3 and 802.1Q, RFC 791, RFC 8200 (without extension headers: what
 * follows one is not looked at), RFC 9293, RFC 768, RFC 7348 (VXLAN), RFC 2890 (GRE).
 */
#include "frame.h"

#include "bytes.h"

#include <string.h>

#define ETHER_IPV4  0x0800u
#define ETHER_IPV6  0x86ddu
#define ETHER_VLAN  0x8100u
#define ETHER_QINQ  0x88a8u
#define PROTO_TCP   6u
#define PROTO_UDP   17u
#define PROTO_GRE   47u
#define PORT_VXLAN  4789u
#define GRE_CSUM    0x8000u
#define GRE_KEY     0x2000u
#define IPV4_OFFSET 0x1fffu /* fragment offset */

static void parse_gre(const uint8_t *p, size_t left, struct roce_frame *out)
{
	size_t need = 4;

	if (left < need)
		return;
	out->gre_key = (roce_load_be16(p) & GRE_KEY) != 0;
	need += (roce_load_be16(p) & GRE_CSUM) ? 4 : 0;
	need += out->gre_key ? 4 : 0;
	if (left >= need)
		out->gre = p;
	else
		out->gre_key = false;
}

static void parse_transport(const uint8_t *p, size_t left, struct roce_frame *out)
{
	if (out->protocol == PROTO_TCP && left >= 20)
		out->tcp = p;
	if (out->protocol == PROTO_GRE)
		parse_gre(p, left, out);
	if (out->protocol != PROTO_UDP || left < 8)
		return;
	out->udp = p;
	if (roce_load_be16(p + 2) == PORT_VXLAN && left >= 16)
		out->vxlan = p + 8;
}

static void parse_ipv4(const uint8_t *p, size_t left, struct roce_frame *out)
{
	size_t header;

	if (left < 20 || p[0] >> 4 != 4)
		return;
	header = (size_t)(p[0] & 15u) * 4;
	if (header < 20 || header > left)
		return;
	out->ipv4 = p;
	out->protocol = p[9];
	/* Only the first fragment has a transport header. */
	if ((roce_load_be16(p + 6) & IPV4_OFFSET) == 0)
		parse_transport(p + header, left - header, out);
}

static void parse_ipv6(const uint8_t *p, size_t left, struct roce_frame *out)
{
	if (left < 40 || p[0] >> 4 != 6)
		return;
	out->ipv6 = p;
	out->protocol = p[6];
	parse_transport(p + 40, left - 40, out);
}

bool roce_frame_parse(const uint8_t *bytes, size_t length, struct roce_frame *out)
{
	size_t at = ROCE_FRAME_MIN;

	*out = (struct roce_frame){0};
	if (length < ROCE_FRAME_MIN)
		return false;
	out->eth = bytes;
	out->ether_type = roce_load_be16(bytes + 12);
	while ((out->ether_type == ETHER_VLAN || out->ether_type == ETHER_QINQ) &&
	       length - at >= 4) {
		if (!out->vlan)
			out->vlan_tag = roce_load_be16(bytes + at);
		out->vlan = true;
		out->ether_type = roce_load_be16(bytes + at + 2);
		at += 4;
	}
	if (out->ether_type == ETHER_IPV4)
		parse_ipv4(bytes + at, length - at, out);
	else if (out->ether_type == ETHER_IPV6)
		parse_ipv6(bytes + at, length - at, out);
	return true;
}

bool roce_frame_is_multicast(const struct roce_frame *f)
{
	return f->eth[0] & 1u;
}

static unsigned eth_fields(const struct roce_frame *f, uint8_t *out)
{
	memcpy(out, f->eth, 12);
	roce_store_be16(out + 12, f->ether_type);
	roce_store_be16(out + 14, f->vlan_tag);
	return 16;
}

/* Version and flags of an IPv4 header: src, dst, then protocol, tos, ttl, flags (three bits). */
static unsigned ipv4_fields(const struct roce_frame *f, bool ext, uint8_t *out)
{
	if (!f->ipv4)
		return 0;
	memcpy(out, f->ipv4 + 12, 8);
	if (!ext)
		return 8;
	out[8] = f->ipv4[9];
	out[9] = f->ipv4[1];
	out[10] = f->ipv4[8];
	out[11] = f->ipv4[6] >> 5;
	return 12;
}

static unsigned ipv6_fields(const struct roce_frame *f, uint8_t *out)
{
	if (!f->ipv6)
		return 0;
	memcpy(out, f->ipv6 + 8, 32);
	roce_store_be32(out + 32, roce_load_be32(f->ipv6) & 0xfffffu);
	out[36] = f->protocol;
	out[37] = (uint8_t)(roce_load_be16(f->ipv6) >> 4);
	out[38] = f->ipv6[7];
	return 39;
}

/* Destination port first, as the filter has it. */
static unsigned port_fields(const uint8_t *transport, uint8_t *out)
{
	if (!transport)
		return 0;
	memcpy(out, transport + 2, 2);
	memcpy(out + 2, transport, 2);
	return 4;
}

static unsigned vxlan_fields(const struct roce_frame *f, uint8_t *out)
{
	if (!f->vxlan)
		return 0;
	memcpy(out + 1, f->vxlan + 4, 3); /* a 24-bit network identifier in a 32-bit number */
	return 4;
}

static unsigned gre_fields(const struct roce_frame *f, uint8_t *out)
{
	if (!f->gre)
		return 0;
	memcpy(out, f->gre, 4);
	if (f->gre_key)
		memcpy(out + 4, f->gre + (roce_load_be16(f->gre) & GRE_CSUM ? 8 : 4), 4);
	return 8;
}

unsigned roce_frame_fields(const struct roce_frame *f, enum roce_frame_layer layer,
			   uint8_t out[ROCE_FRAME_FIELDS])
{
	memset(out, 0, ROCE_FRAME_FIELDS);
	switch (layer) {
	case ROCE_FRAME_ETH:
		return eth_fields(f, out);
	case ROCE_FRAME_IPV4:
		return ipv4_fields(f, false, out);
	case ROCE_FRAME_IPV4_EXT:
		return ipv4_fields(f, true, out);
	case ROCE_FRAME_IPV6:
		return ipv6_fields(f, out);
	case ROCE_FRAME_TCP:
		return port_fields(f->tcp, out);
	case ROCE_FRAME_UDP:
		return port_fields(f->udp, out);
	case ROCE_FRAME_VXLAN:
		return vxlan_fields(f, out);
	case ROCE_FRAME_GRE:
		return gre_fields(f, out);
	case ROCE_FRAME_LAYERS:
		break;
	}
	return 0;
}
