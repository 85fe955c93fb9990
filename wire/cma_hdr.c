/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA IP CM private data header (IBTA vol. 1, annex A11). Only the layout: which REQ carries one
 * is said by its service id.
 */
#include "cma_hdr.h"

#include "bytes.h"

#include <string.h>

#define V4_OFFSET 12

/* Turns the address as it stands on the wire into the form of wire/. */
static void load_addr(const uint8_t *p, bool v4, uint8_t addr[16])
{
	memcpy(addr, p, 16);
	if (v4) {
		memset(addr, 0, V4_OFFSET);
		memset(addr + V4_OFFSET - 2, 0xff, 2);
	}
}

static void store_addr(const uint8_t addr[16], bool v4, uint8_t *p)
{
	memcpy(p, addr, 16);
	if (v4)
		memset(p, 0, V4_OFFSET);
}

bool roce_cma_hdr_parse(const uint8_t *p, struct roce_cma_hdr *out)
{
	const uint8_t ip_version = p[1] >> 4;

	if (p[0] != 0 || (ip_version != 4 && ip_version != 6))
		return false;
	out->ip_version = ip_version;
	out->sport = roce_load_be16(p + 2);
	load_addr(p + 4, ip_version == 4, out->src);
	load_addr(p + 20, ip_version == 4, out->dst);
	return true;
}

void roce_cma_hdr_emit(const struct roce_cma_hdr *hdr, uint8_t *p)
{
	const bool v4 = hdr->ip_version == 4;

	p[0] = 0;
	p[1] = (uint8_t)(hdr->ip_version << 4);
	roce_store_be16(p + 2, hdr->sport);
	store_addr(hdr->src, v4, p + 4);
	store_addr(hdr->dst, v4, p + 20);
}
