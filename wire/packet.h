/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One whole RoCEv2 packet between the UDP header and the ICRC: BTH, extension headers, payload,
 * pad. A packet is checked once, in roce_packet_parse; afterwards no accessor can fail. Parse
 * and emit are inverses: parse(emit(x)) == x, and emit(parse(b)) == b for each b that parses.
 */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include "bth.h"
#include "ext.h"
#include "opcode.h"

#include <stddef.h>
#include <stdint.h>

#define ROCE_UDP_PORT          4791
/* Longest header chain: BTH, XRCETH, ATOMICETH. */
#define ROCE_MAX_HEADER_LENGTH (ROCE_BTH_LENGTH + ROCE_XRCETH_LENGTH + ROCE_ATOMICETH_LENGTH)
#define ROCE_ICRC_LENGTH       4
#define ROCE_MAX_MTU           4096
/* A packet with its ICRC never exceeds this. */
#define ROCE_MAX_PACKET_LENGTH (ROCE_MAX_HEADER_LENGTH + ROCE_MAX_MTU + 3 + ROCE_ICRC_LENGTH)

struct roce_packet {
	struct roce_bth bth;
	/* Valid where the opcode's header mask has the bit; zero otherwise. */
	struct roce_reth reth;
	struct roce_aeth aeth;
	struct roce_deth deth;
	struct roce_atomiceth atomiceth;
	struct roce_feth feth;
	uint64_t atomic_ack; /* AtomicAckETH: the value before the operation */
	uint32_t immdt;
	uint32_t ieth;
	uint32_t xrcsrq;        /* XRCETH, 24 bits */
	uint8_t xrc_reserved;   /* the byte before them: sent as 0, ignored on receipt */
	uint8_t pad_bytes[3];   /* the first bth.pad of them stand behind the payload; sent as 0 */
	const uint8_t *payload; /* into the parsed buffer, without pad; NULL when empty */
	uint32_t payload_len;
};

enum roce_parse_result {
	ROCE_PARSE_OK = 0,
	ROCE_PARSE_SHORT,   /* ends inside a header, or pad exceeds what is there */
	ROCE_PARSE_VERSION, /* TVer is not 0 (C9-7) */
	ROCE_PARSE_OPCODE,  /* no such opcode */
	ROCE_PARSE_LENGTH,  /* payload where the opcode has none, or longer than the largest MTU */
};

/*
 * Parses the len bytes from the BTH up to, not including, the ICRC. *out points into buf.
 * Anything but ROCE_PARSE_OK leaves *out unspecified.
 */
enum roce_parse_result roce_packet_parse(const uint8_t *buf, size_t len, struct roce_packet *out);

/* "ok", "short packet", ...: static text. */
const char *roce_parse_name(enum roce_parse_result r);

/* Length of BTH and extension headers for an opcode; 0 when it does not exist. */
static inline size_t roce_header_length(roce_opcode op)
{
	return roce_opcode_info(op)->header_length;
}

/* Pad bytes that bring n payload bytes to a multiple of four (C9-8). */
static inline uint8_t roce_pad(size_t n)
{
	return (uint8_t)(-n & 3);
}

/*
 * Writes BTH and extension headers; bth.pad goes out as it stands. Returns the bytes written, or
 * 0 when the opcode does not exist or cap is too small.
 */
size_t roce_packet_emit_headers(const struct roce_packet *pkt, uint8_t *buf, size_t cap);

/*
 * Writes headers, payload and pad (bth.pad of the pad_bytes), no ICRC. Returns the bytes written,
 * or 0 when it does not fit.
 */
size_t roce_packet_emit(const struct roce_packet *pkt, uint8_t *buf, size_t cap);

/* Congestion notification packets (annex A17.9.3). */
#define ROCE_CNP_RESERVED 16u /* bytes of zero that are its payload */
#define ROCE_CNP_DSCP     48u /* as mlx5 has it: class selector 6 */

/* Headers of a CNP to a QP; its payload is the caller's. */
void roce_packet_cnp(struct roce_packet *out, uint32_t dest_qp, uint16_t pkey);

#endif
