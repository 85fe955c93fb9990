/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header that an RDMA IP connection manager puts in front of the consumer's private data of a
 * REQ or a SIDR_REQ, and its service ids (IBTA vol. 1, annex A11): who calls, in IP terms.
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

/* IP protocol numbers that stand in a service id: the port spaces TCP and UDP. */
#define ROCE_CMA_PROTOCOL_TCP 0x06
#define ROCE_CMA_PROTOCOL_UDP 0x11

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

/* Service id of a port of an IP protocol (A11): 0x0000000001, protocol, port. */
static inline uint64_t roce_cma_service_id(uint8_t protocol, uint16_t port)
{
	return UINT64_C(0x01000000) | (uint64_t)protocol << 16 | port;
}

/* The opposite: false when the service id is not one of an IP port. */
static inline bool roce_cma_service_port(uint64_t service_id, uint8_t *protocol, uint16_t *port)
{
	if (service_id >> 24 != 1)
		return false;
	*protocol = (uint8_t)(service_id >> 16);
	*port = (uint16_t)service_id;
	return true;
}

#endif
