/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTH opcodes (IBTA vol. 1, table 38; annex A14 for XRC, A19 for the memory placement
 * extensions; two of our own where manufacturers may have theirs). One X-macro list, opcode.def,
 * holds every fact about every opcode; the enumeration, the names, the header masks and the lengths
 * derive from it.
 *
 * An opcode travels as a one-field struct, so that it can never be mistaken for a mask of
 * headers or of traits (the compiler refuses).
 */
#ifndef ROCE_OPCODE_H
#define ROCE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Transport service: bits 7..5 of the opcode byte, but for those of our own, which are RC. */
enum roce_service {
	ROCE_SVC_RC = 0,
	ROCE_SVC_UC = 1,
	ROCE_SVC_RD = 2,
	ROCE_SVC_UD = 3,
	ROCE_SVC_CNP = 4,
	ROCE_SVC_XRC = 5,
};

/* What a packet does, whatever its service and its position in the message. */
enum roce_operation {
	ROCE_OP_SEND,
	ROCE_OP_WRITE,
	ROCE_OP_READ_REQ,
	ROCE_OP_READ_RESP,
	ROCE_OP_ACK,
	ROCE_OP_ATOMIC_ACK,
	ROCE_OP_CMP_SWAP,
	ROCE_OP_FETCH_ADD,
	ROCE_OP_ATOMIC_WRITE,
	ROCE_OP_FLUSH,
	ROCE_OP_MASKED_CMP_SWAP,
	ROCE_OP_MASKED_FETCH_ADD,
	ROCE_OP_CNP,
	ROCE_OP_COUNT
};

/* Position of a packet in its message. */
enum roce_position {
	ROCE_POS_FIRST,
	ROCE_POS_MIDDLE,
	ROCE_POS_LAST,
	ROCE_POS_ONLY,
	ROCE_POS_COUNT
};

/* Headers that may follow the BTH, in the order in which they stand on the wire. */
enum roce_header {
	ROCE_HDR_XRCETH = 1u << 0,
	ROCE_HDR_DETH = 1u << 1,
	ROCE_HDR_FETH = 1u << 2,
	ROCE_HDR_RETH = 1u << 3,
	ROCE_HDR_ATOMICETH = 1u << 4,
	ROCE_HDR_AETH = 1u << 5,
	ROCE_HDR_ATOMICACKETH = 1u << 6,
	ROCE_HDR_IMMDT = 1u << 7,
	ROCE_HDR_IETH = 1u << 8,
	ROCE_HDR_PAYLOAD = 1u << 9, /* not a header: the opcode may carry a payload */
};

typedef struct {
	uint8_t v;
} roce_opcode;

/* ROCE_RC_SEND_FIRST, ROCE_UD_SEND_ONLY_IMM, ...: the opcode byte of each line of the list. */
enum roce_opcode_value {
#define ROCE_OPCODE(name, value, service, operation, position, headers) ROCE_##name = (value),
#include "opcode.def"
#undef ROCE_OPCODE
};

/* Everything known about one opcode. */
struct roce_opcode_info {
	const char *name; /* as in opcode.def: "RC_SEND_FIRST"; NULL for an opcode not in it */
	enum roce_service service;
	enum roce_operation operation;
	enum roce_position position;
	uint32_t headers;      /* enum roce_header bits */
	uint8_t header_length; /* bytes of BTH and extension headers together */
};

/* One entry per opcode byte; those of no opcode are zero. Read through roce_opcode_info. */
extern const struct roce_opcode_info roce_opcode_table[256];

/*
 * Facts about an opcode. Never NULL: an unknown opcode gives an entry whose name is NULL (the
 * rest of it is zero: it has no headers and header_length 0).
 */
static inline const struct roce_opcode_info *roce_opcode_info(roce_opcode op)
{
	return &roce_opcode_table[op.v];
}

/*
 * The opcode of a (service, operation, position) with or without immediate data (imm) or
 * invalidate key (inv). Returns false when no such opcode exists (for example READ on UC).
 */
bool roce_opcode_find(enum roce_service service, enum roce_operation operation,
		      enum roce_position position, bool imm, bool inv, roce_opcode *out);

static inline bool roce_opcode_known(roce_opcode op)
{
	return roce_opcode_info(op)->name != NULL;
}

static inline bool roce_opcode_equal(roce_opcode a, roce_opcode b)
{
	return a.v == b.v;
}

static inline bool roce_opcode_is_first(roce_opcode op)
{
	enum roce_position p = roce_opcode_info(op)->position;
	return p == ROCE_POS_FIRST || p == ROCE_POS_ONLY;
}

static inline bool roce_opcode_is_last(roce_opcode op)
{
	enum roce_position p = roce_opcode_info(op)->position;
	return p == ROCE_POS_LAST || p == ROCE_POS_ONLY;
}

#endif
