/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariant CRC of RoCEv2 (annex A17.3.3): CRC-32 over eight bytes of ones, the IP and UDP
 * headers with the fields a router may change masked to ones, the BTH with its byte 4 masked,
 * and the rest of the packet up to the pad. It stands little-endian behind the pad.
 *
 * The IPv4 identification is covered, but a UDP socket does not show it on receipt; because a
 * CRC is linear, roce_icrc_solve_ident recovers the one value that makes a packet valid, which
 * leaves a 16-bit check.
 */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include "udpip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts the ICRC of a packet: pseudo header (masked) with the given IPv4 identification for
 * udp_payload bytes behind the UDP header (BTH to ICRC inclusive), then the hdr_len bytes of BTH
 * and extension headers at hdr (at least 12; byte 4 is masked here). Returns the running value.
 */
uint32_t roce_icrc_begin(const struct roce_flow *f, uint16_t ident, size_t udp_payload,
			 const uint8_t *hdr, size_t hdr_len);

/* Adds payload or pad bytes. */
uint32_t roce_icrc_update(uint32_t icrc, const uint8_t *p, size_t len);

/* Writes the finished value's four bytes. */
void roce_icrc_store(uint32_t icrc, uint8_t *p);

/* Whole packet: the len bytes at pkt from BTH to ICRC inclusive. True when the ICRC is right. */
bool roce_icrc_check(const struct roce_flow *f, uint16_t ident, const uint8_t *pkt, size_t len);

/*
 * For an IPv4 packet whose identification is unknown: true when exactly some identification
 * makes the ICRC right, which is stored in *ident. For IPv6 the same as roce_icrc_check.
 */
bool roce_icrc_solve_ident(const struct roce_flow *f, const uint8_t *pkt, size_t len,
			   uint16_t *ident);

#endif
