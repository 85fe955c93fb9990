/* SPDX-License-Identifier: BSD-2-Clause */
/* See wire_gen.h. Fields are drawn with their width on the wire, so that equality is exact. */
#include "wire_gen.h"

#include <string.h>

static uint8_t gen_payload[ROCE_MAX_MTU];

static bool gen_bool(struct prng *r)
{
	return prng_bits(r, 1) != 0;
}

void gen_bth(struct prng *r, struct roce_bth *out)
{
	memset(out, 0, sizeof(*out));
	out->solicited = gen_bool(r);
	out->migreq = gen_bool(r);
	out->pad = (uint8_t)prng_bits(r, 2);
	out->pkey = (uint16_t)prng_bits(r, 16);
	out->fecn = gen_bool(r);
	out->becn = gen_bool(r);
	out->reserved6 = (uint8_t)prng_bits(r, 6);
	out->dest_qp = (uint32_t)prng_bits(r, 24);
	out->ackreq = gen_bool(r);
	out->reserved7 = (uint8_t)prng_bits(r, 7);
	out->psn = (uint32_t)prng_bits(r, 24);
}

static void gen_memory_headers(struct prng *r, uint32_t headers, struct roce_packet *out)
{
	if (headers & ROCE_HDR_RETH) {
		out->reth.va = prng_u64(r);
		out->reth.rkey = prng_u32(r);
		out->reth.length = prng_u32(r);
	}
	if (headers & ROCE_HDR_ATOMICETH) {
		out->atomiceth.va = prng_u64(r);
		out->atomiceth.rkey = prng_u32(r);
		out->atomiceth.swap_add = prng_u64(r);
		out->atomiceth.compare = prng_u64(r);
	}
	if (headers & ROCE_HDR_FETH) {
		out->feth.reserved = (uint32_t)prng_bits(r, 26);
		out->feth.selectivity = (uint8_t)prng_bits(r, 2);
		out->feth.placement = (uint8_t)prng_bits(r, 4);
	}
}

static void gen_other_headers(struct prng *r, uint32_t headers, struct roce_packet *out)
{
	if (headers & ROCE_HDR_XRCETH) {
		out->xrc_reserved = (uint8_t)prng_bits(r, 8);
		out->xrcsrq = (uint32_t)prng_bits(r, 24);
	}
	if (headers & ROCE_HDR_DETH) {
		out->deth.qkey = prng_u32(r);
		out->deth.reserved = (uint8_t)prng_bits(r, 8);
		out->deth.src_qp = (uint32_t)prng_bits(r, 24);
	}
	if (headers & ROCE_HDR_AETH) {
		out->aeth.syndrome = (uint8_t)prng_bits(r, 8);
		out->aeth.msn = (uint32_t)prng_bits(r, 24);
	}
	if (headers & ROCE_HDR_ATOMICACKETH)
		out->atomic_ack = prng_u64(r);
	if (headers & ROCE_HDR_IMMDT)
		out->immdt = prng_u32(r);
	if (headers & ROCE_HDR_IETH)
		out->ieth = prng_u32(r);
}

void gen_packet(struct prng *r, roce_opcode op, struct roce_packet *out)
{
	const uint32_t headers = roce_opcode_info(op)->headers;

	memset(out, 0, sizeof(*out));
	gen_bth(r, &out->bth);
	out->bth.opcode = op;
	gen_memory_headers(r, headers, out);
	gen_other_headers(r, headers, out);
	if (headers & ROCE_HDR_PAYLOAD)
		out->payload_len = gen_bool(r) ? prng_below(r, ROCE_MAX_MTU + 1) : prng_below(r, 9);
	if (out->payload_len) {
		prng_fill(r, gen_payload, out->payload_len);
		out->payload = gen_payload;
	}
	out->bth.pad = roce_pad(out->payload_len);
	prng_fill(r, out->pad_bytes, out->bth.pad);
}

static void gen_addr(struct prng *r, bool v4, uint8_t addr[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	prng_fill(r, addr, 16);
	if (v4)
		memcpy(addr, prefix, sizeof(prefix));
	else
		addr[0] |= 0x20;
}

void gen_flow(struct prng *r, bool v4, struct roce_flow *out)
{
	memset(out, 0, sizeof(*out));
	gen_addr(r, v4, out->src);
	gen_addr(r, v4, out->dst);
	out->sport = (uint16_t)prng_bits(r, 16);
	out->dport = (uint16_t)prng_bits(r, 16);
	out->tclass = (uint8_t)prng_bits(r, 8);
	out->hop_limit = (uint8_t)prng_bits(r, 8);
	if (!v4)
		out->flow_label = (uint32_t)prng_bits(r, 20);
}
