/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header that an RDMA IP connection manager puts in front of the consumer's private data of a
 * REQ or a SIDR_REQ (IBTA vol. 1, annex A11): who calls, in IP terms.
 *
 *   byte 0   major version (4), minor version (4): both 0
 *   byte 1   IP version (4): 4 or 6; reserved (4)
 *   byte 2   source port
 *   byte 4   source address; IPv4 in the last four bytes, the others zero
 *   byte 20  destination address, likewise
 */
#ifndef ROCE_CMA_HDR_H
#define ROCE_CMA_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define ROCE_CMA_HDR_LENGTH 36

struct roce_cma_hdr {
	uint8_t ip_version; /* 4 or 6; a mapped address may well stand in a header of version 6 */
	uint16_t sport;     /* host order */
	uint8_t src[16];    /* IPv4 as ::ffff:a.b.c.d, as everywhere in wire/ */
	uint8_t dst[16];
};

/*
 * Reads 36 bytes. Returns false for a version other than 0.0 or an IP version other than 4 and
 * 6; bits that the specification reserves are ignored.
 */
bool roce_cma_hdr_parse(const uint8_t *p, struct roce_cma_hdr *out);

/* Writes 36 bytes; ip_version is 4 or 6, and with 4 only the last four bytes of each address go. */
void roce_cma_hdr_emit(const struct roce_cma_hdr *hdr, uint8_t *p);

#endif
