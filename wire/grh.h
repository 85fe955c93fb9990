/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 40 bytes that stand before a datagram's payload in the receive buffer (IBTA vol. 1, 8.3;
 * annex A17: for RoCEv2 over IPv4 the first 20 bytes are undefined (zero here) and the last 20
 * hold the IPv4 header; over IPv6 they hold the IPv6 header).
 */
#ifndef ROCE_GRH_H
#define ROCE_GRH_H

#include "udpip.h"

#define ROCE_GRH_LENGTH 40

/* Writes the 40 bytes for a packet of the flow with udp_payload bytes behind the UDP header. */
void roce_grh_emit(const struct roce_flow *f, size_t udp_payload, uint8_t out[ROCE_GRH_LENGTH]);

/*
 * Recovers source and destination address and traffic class from such 40 bytes. Returns false
 * when neither an IPv4 nor an IPv6 header stands there.
 */
bool roce_grh_parse(const uint8_t grh[ROCE_GRH_LENGTH], struct roce_flow *f);

#endif
