/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two tables that derive from opcode.def: opcode byte -> facts, and (service, operation,
 * position, variant) -> opcode byte. IBTA vol. 1, 9.2.1, table 38. Nothing here is typed by hand
 * twice: a wrong fact can only stand in opcode.def.
 */
#include "opcode.h"

#include "bth.h"
#include "ext.h"

#define PART_(headers, which, length) (((headers) & (uint32_t)(which)) ? (length) : 0)
#define HEADER_LENGTH_(h)                                                                          \
	(ROCE_BTH_LENGTH + PART_(h, ROCE_HDR_XRCETH, ROCE_XRCETH_LENGTH) +                         \
	 PART_(h, ROCE_HDR_DETH, ROCE_DETH_LENGTH) + PART_(h, ROCE_HDR_FETH, ROCE_FETH_LENGTH) +   \
	 PART_(h, ROCE_HDR_RETH, ROCE_RETH_LENGTH) +                                               \
	 PART_(h, ROCE_HDR_ATOMICETH, ROCE_ATOMICETH_LENGTH) +                                     \
	 PART_(h, ROCE_HDR_AETH, ROCE_AETH_LENGTH) +                                               \
	 PART_(h, ROCE_HDR_ATOMICACKETH, ROCE_ATOMICACKETH_LENGTH) +                               \
	 PART_(h, ROCE_HDR_IMMDT, ROCE_IMMDT_LENGTH) + PART_(h, ROCE_HDR_IETH, ROCE_IETH_LENGTH))

const struct roce_opcode_info roce_opcode_table[256] = {
#define ROCE_OPCODE(id, value, svc, op, pos, hdrs)                                                 \
	[(value)] = {                                                                              \
		.name = #id,                                                                       \
		.service = ROCE_SVC_##svc,                                                         \
		.operation = ROCE_OP_##op,                                                         \
		.position = ROCE_POS_##pos,                                                        \
		.headers = (hdrs),                                                                 \
		.header_length = HEADER_LENGTH_(hdrs),                                             \
	},
#include "opcode.def"
#undef ROCE_OPCODE
};

/* The third thing that tells two opcodes of one operation apart. */
enum variant { PLAIN, WITH_IMM, WITH_INV, VARIANT_COUNT };

#define VARIANT_(h)                                                                                \
	(((h) & (uint32_t)ROCE_HDR_IMMDT)  ? WITH_IMM                                              \
	 : ((h) & (uint32_t)ROCE_HDR_IETH) ? WITH_INV                                              \
					   : PLAIN)
#define SERVICE_COUNT (ROCE_SVC_XRC + 1)

/* The opcode byte plus one, so that 0 says "there is none" (RC SEND FIRST is opcode 0). */
static const uint8_t by_meaning[SERVICE_COUNT][ROCE_OP_COUNT][ROCE_POS_COUNT][VARIANT_COUNT] = {
#define ROCE_OPCODE(id, value, svc, op, pos, hdrs)                                                 \
	[ROCE_SVC_##svc][ROCE_OP_##op][ROCE_POS_##pos][VARIANT_(hdrs)] = (value) + 1,
#include "opcode.def"
#undef ROCE_OPCODE
};

bool roce_opcode_find(enum roce_service service, enum roce_operation operation,
		      enum roce_position position, bool imm, bool inv, roce_opcode *out)
{
	const enum variant variant = imm ? WITH_IMM : inv ? WITH_INV : PLAIN;

	if ((imm && inv) || (unsigned)service >= SERVICE_COUNT ||
	    (unsigned)operation >= ROCE_OP_COUNT || (unsigned)position >= ROCE_POS_COUNT)
		return false;
	const uint8_t found = by_meaning[service][operation][position][variant];

	if (found == 0)
		return false;
	out->v = (uint8_t)(found - 1);
	return true;
}
