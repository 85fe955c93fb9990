/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended transport headers: the places of the fields (IBTA vol. 1, 9.3; FETH annex A19). The
 * headers that are one number (immediate data, IETH, XRCETH, AtomicAckETH) are loaded and stored
 * where a packet is taken apart, in packet.c.
 */
#include "ext.h"

#include "bytes.h"

void roce_reth_parse(const uint8_t *p, struct roce_reth *out)
{
	out->va = roce_load_be64(p);
	out->rkey = roce_load_be32(p + 8);
	out->length = roce_load_be32(p + 12);
}

void roce_reth_emit(const struct roce_reth *h, uint8_t *p)
{
	roce_store_be64(p, h->va);
	roce_store_be32(p + 8, h->rkey);
	roce_store_be32(p + 12, h->length);
}

void roce_aeth_parse(const uint8_t *p, struct roce_aeth *out)
{
	out->syndrome = p[0];
	out->msn = roce_load_be24(p + 1);
}

void roce_aeth_emit(const struct roce_aeth *h, uint8_t *p)
{
	p[0] = h->syndrome;
	roce_store_be24(p + 1, h->msn);
}

void roce_deth_parse(const uint8_t *p, struct roce_deth *out)
{
	out->qkey = roce_load_be32(p);
	out->reserved = p[4];
	out->src_qp = roce_load_be24(p + 5);
}

void roce_deth_emit(const struct roce_deth *h, uint8_t *p)
{
	roce_store_be32(p, h->qkey);
	p[4] = h->reserved;
	roce_store_be24(p + 5, h->src_qp);
}

void roce_atomiceth_parse(const uint8_t *p, struct roce_atomiceth *out)
{
	out->va = roce_load_be64(p);
	out->rkey = roce_load_be32(p + 8);
	out->swap_add = roce_load_be64(p + 12);
	out->compare = roce_load_be64(p + 20);
}

void roce_atomiceth_emit(const struct roce_atomiceth *h, uint8_t *p)
{
	roce_store_be64(p, h->va);
	roce_store_be32(p + 8, h->rkey);
	roce_store_be64(p + 12, h->swap_add);
	roce_store_be64(p + 20, h->compare);
}

/* reserved (26 bits), selectivity level (2), placement type (4). */
void roce_feth_parse(const uint8_t *p, struct roce_feth *out)
{
	const uint32_t v = roce_load_be32(p);

	out->reserved = v >> 6;
	out->selectivity = (uint8_t)(v >> 4 & 3);
	out->placement = (uint8_t)(v & 0xf);
}

void roce_feth_emit(const struct roce_feth *h, uint8_t *p)
{
	roce_store_be32(p, h->reserved << 6 | (h->selectivity & 3u) << 4 | (h->placement & 0xfu));
}
