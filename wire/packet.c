/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet taken apart and put together. The opcode's header mask drives both directions, in the
 * order in which enum roce_header lists the headers, which is their order on the wire. All length
 * checks of parse happen before the first extension header is read; those of emit before the
 * first byte is written. ICRC, IP and UDP are not looked at here.
 */
#include "packet.h"

#include "bytes.h"

#include <string.h>

#define HEADERS_ (~(uint32_t)ROCE_HDR_PAYLOAD)

/* p has the opcode's header_length - ROCE_BTH_LENGTH bytes. */
static void parse_extensions(const uint8_t *p, uint32_t headers, struct roce_packet *out)
{
	if (headers & ROCE_HDR_XRCETH) {
		out->xrc_reserved = p[0];
		out->xrcsrq = roce_load_be24(p + 1);
		p += ROCE_XRCETH_LENGTH;
	}
	if (headers & ROCE_HDR_DETH) {
		roce_deth_parse(p, &out->deth);
		p += ROCE_DETH_LENGTH;
	}
	if (headers & ROCE_HDR_FETH) {
		roce_feth_parse(p, &out->feth);
		p += ROCE_FETH_LENGTH;
	}
	if (headers & ROCE_HDR_RETH) {
		roce_reth_parse(p, &out->reth);
		p += ROCE_RETH_LENGTH;
	}
	if (headers & ROCE_HDR_ATOMICETH) {
		roce_atomiceth_parse(p, &out->atomiceth);
		p += ROCE_ATOMICETH_LENGTH;
	}
	if (headers & ROCE_HDR_AETH) {
		roce_aeth_parse(p, &out->aeth);
		p += ROCE_AETH_LENGTH;
	}
	if (headers & ROCE_HDR_ATOMICACKETH) {
		out->atomic_ack = roce_load_be64(p);
		p += ROCE_ATOMICACKETH_LENGTH;
	}
	if (headers & ROCE_HDR_IMMDT) {
		out->immdt = roce_load_be32(p);
		p += ROCE_IMMDT_LENGTH;
	}
	if (headers & ROCE_HDR_IETH)
		out->ieth = roce_load_be32(p);
}

static void emit_extensions(const struct roce_packet *pkt, uint32_t headers, uint8_t *p)
{
	if (headers & ROCE_HDR_XRCETH) {
		p[0] = pkt->xrc_reserved;
		roce_store_be24(p + 1, pkt->xrcsrq);
		p += ROCE_XRCETH_LENGTH;
	}
	if (headers & ROCE_HDR_DETH) {
		roce_deth_emit(&pkt->deth, p);
		p += ROCE_DETH_LENGTH;
	}
	if (headers & ROCE_HDR_FETH) {
		roce_feth_emit(&pkt->feth, p);
		p += ROCE_FETH_LENGTH;
	}
	if (headers & ROCE_HDR_RETH) {
		roce_reth_emit(&pkt->reth, p);
		p += ROCE_RETH_LENGTH;
	}
	if (headers & ROCE_HDR_ATOMICETH) {
		roce_atomiceth_emit(&pkt->atomiceth, p);
		p += ROCE_ATOMICETH_LENGTH;
	}
	if (headers & ROCE_HDR_AETH) {
		roce_aeth_emit(&pkt->aeth, p);
		p += ROCE_AETH_LENGTH;
	}
	if (headers & ROCE_HDR_ATOMICACKETH) {
		roce_store_be64(p, pkt->atomic_ack);
		p += ROCE_ATOMICACKETH_LENGTH;
	}
	if (headers & ROCE_HDR_IMMDT) {
		roce_store_be32(p, pkt->immdt);
		p += ROCE_IMMDT_LENGTH;
	}
	if (headers & ROCE_HDR_IETH)
		roce_store_be32(p, pkt->ieth);
}

/*
 * Zeroes the padding of the struct as well, so that equal packets compare equal. In two pieces,
 * each short enough to become plain stores: for the whole gcc takes a call, or "rep stos", which
 * alone costs more than the rest of parse.
 */
static void clear(struct roce_packet *out)
{
	const size_t piece = sizeof(*out) / 2;

	memset(out, 0, piece);
	memset((uint8_t *)out + piece, 0, sizeof(*out) - piece);
}

enum roce_parse_result roce_packet_parse(const uint8_t *buf, size_t len, struct roce_packet *out)
{
	if (len < ROCE_BTH_LENGTH)
		return ROCE_PARSE_SHORT;
	clear(out);
	roce_bth_parse(buf, &out->bth);
	if (out->bth.version != 0)
		return ROCE_PARSE_VERSION;

	const struct roce_opcode_info *info = roce_opcode_info(out->bth.opcode);

	if (!info->name)
		return ROCE_PARSE_OPCODE;

	const size_t around = (size_t)info->header_length + out->bth.pad;

	if (len < around)
		return ROCE_PARSE_SHORT;
	const size_t payload_len = len - around;

	if (payload_len > ((info->headers & ROCE_HDR_PAYLOAD) ? ROCE_MAX_MTU : 0))
		return ROCE_PARSE_LENGTH;
	if (info->headers & HEADERS_)
		parse_extensions(buf + ROCE_BTH_LENGTH, info->headers, out);
	if (payload_len) {
		out->payload = buf + info->header_length;
		out->payload_len = (uint32_t)payload_len;
	}
	if (out->bth.pad)
		memcpy(out->pad_bytes, buf + len - out->bth.pad, out->bth.pad);
	return ROCE_PARSE_OK;
}

const char *roce_parse_name(enum roce_parse_result r)
{
	switch (r) {
	case ROCE_PARSE_OK:
		return "ok";
	case ROCE_PARSE_SHORT:
		return "short packet";
	case ROCE_PARSE_VERSION:
		return "unknown transport version";
	case ROCE_PARSE_OPCODE:
		return "unknown opcode";
	case ROCE_PARSE_LENGTH:
		return "wrong payload length";
	}
	return "unknown result";
}

size_t roce_packet_emit_headers(const struct roce_packet *pkt, uint8_t *buf, size_t cap)
{
	const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);

	if (!info->name || cap < info->header_length)
		return 0;
	roce_bth_emit(&pkt->bth, buf);
	if (info->headers & HEADERS_)
		emit_extensions(pkt, info->headers, buf + ROCE_BTH_LENGTH);
	return info->header_length;
}

size_t roce_packet_emit(const struct roce_packet *pkt, uint8_t *buf, size_t cap)
{
	const size_t headers = roce_header_length(pkt->bth.opcode);
	const size_t pad = pkt->bth.pad & 3u;

	if (cap < headers + pad || cap - headers - pad < pkt->payload_len ||
	    roce_packet_emit_headers(pkt, buf, cap) == 0)
		return 0;
	if (pkt->payload_len)
		memcpy(buf + headers, pkt->payload, pkt->payload_len);
	if (pad)
		memcpy(buf + headers + pkt->payload_len, pkt->pad_bytes, pad);
	return headers + pkt->payload_len + pad;
}

void roce_packet_cnp(struct roce_packet *out, uint32_t dest_qp, uint16_t pkey)
{
	*out = (struct roce_packet){
		.bth = {.opcode = {ROCE_CNP}, .becn = true, .pkey = pkey, .dest_qp = dest_qp}};
}
