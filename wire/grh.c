/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The GRH area of a received datagram. A reader (ibv_init_ah_from_wc) tells the two forms apart
 * by the version nibble of the first byte, and trusts the IPv4 form only when its header checksum
 * is right: hence the zeros in front of the IPv4 header and the checksum in it.
 */
#include "grh.h"

#include <string.h>

#define IPV4_OFFSET     (ROCE_GRH_LENGTH - ROCE_IPV4_LENGTH)
#define IPV4_FIRST_BYTE 0x45

void roce_grh_emit(const struct roce_flow *f, size_t udp_payload, uint8_t out[ROCE_GRH_LENGTH])
{
	uint8_t headers[ROCE_IPV6_LENGTH + ROCE_UDP_LENGTH];
	const size_t ip_len = roce_udpip_emit(f, 0, udp_payload, headers) - ROCE_UDP_LENGTH;

	memset(out, 0, ROCE_GRH_LENGTH - ip_len);
	memcpy(out + ROCE_GRH_LENGTH - ip_len, headers, ip_len);
}

bool roce_grh_parse(const uint8_t grh[ROCE_GRH_LENGTH], struct roce_flow *f)
{
	const uint8_t *v4 = grh + IPV4_OFFSET;

	memset(f, 0, sizeof(*f));
	if (grh[0] >> 4 == 6)
		return roce_ipv6_load(grh, f);
	if (v4[0] != IPV4_FIRST_BYTE || roce_ipv4_checksum(v4) != 0)
		return false;
	roce_ipv4_load(v4, f);
	return true;
}
