/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ethernet frames of raw packet queue pairs: where the headers of a frame are, and the fields that
 * steering rules and receive hashing look at. Nothing here has to do with RoCE packets.
 *
 * Frames are hostile: every header is looked at only when all of it is there, and what does not
 * parse simply has no such layer.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_FRAME_MIN 14u   /* an Ethernet header */
#define ROCE_FRAME_MAX 9216u /* jumbo frames as switches carry them, without checksum */

/* Layers; NULL when the frame does not have it. */
struct roce_frame {
	const uint8_t *eth;
	uint16_t ether_type; /* behind the last VLAN tag */
	uint16_t vlan_tag;   /* outermost tag's control information; 0 without */
	bool vlan;
	const uint8_t *ipv4;
	const uint8_t *ipv6;
	uint8_t protocol; /* of the IP header */
	const uint8_t *tcp;
	const uint8_t *udp;
	const uint8_t *vxlan;
	const uint8_t *gre;
	bool gre_key; /* the optional key is there */
};

/*
 * Finds the layers of the length bytes at bytes, which must stay while *out is used. False when
 * there is not even an Ethernet header.
 */
bool roce_frame_parse(const uint8_t *bytes, size_t length, struct roce_frame *out);

/* The destination address is a multicast one (the broadcast address included). */
bool roce_frame_is_multicast(const struct roce_frame *f);

/* The layers of which fields can be taken. */
enum roce_frame_layer {
	ROCE_FRAME_ETH,
	ROCE_FRAME_IPV4,
	ROCE_FRAME_IPV4_EXT,
	ROCE_FRAME_IPV6,
	ROCE_FRAME_TCP,
	ROCE_FRAME_UDP,
	ROCE_FRAME_VXLAN,
	ROCE_FRAME_GRE,
	ROCE_FRAME_LAYERS
};

#define ROCE_FRAME_FIELDS 40u /* bytes, the most a layer has */

/*
 * The fields of a layer, laid out as the filter structures of <infiniband/verbs.h> have them
 * (ibv_flow_eth_filter and so on), numbers big-endian; the rest of "out" is zeroed. Returns how
 * many bytes the layer has, 0 when the frame does not have it.
 */
unsigned roce_frame_fields(const struct roce_frame *f, enum roce_frame_layer layer,
			   uint8_t out[ROCE_FRAME_FIELDS]);

#endif
