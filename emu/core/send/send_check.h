/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of a send request that need no packet: opcode against the QP's type, lengths, local
 * keys, address handle (IBTA vol. 1, 10.7.2.2 and 9.9.2.1, the locally detected errors).
 */
#ifndef CORE_SEND_CHECK_H
#define CORE_SEND_CHECK_H

#include "emu/core/keys/keys.h"

struct qp;

/* What an opcode of a send request (UHCA_ABI_WR_*) means. */
struct send_opcode {
	uint8_t types; /* of queue pairs that take it: bits of send_check.c; 0: no such opcode */
	uint8_t completion; /* its completion's opcode, UHCA_ABI_WC_* */
	uint8_t operation;  /* of its packets, enum roce_operation; of local ones SEND */
	uint32_t features;  /* UHCA_ABI_HAS_* that the device needs for it */
};
extern const struct send_opcode send_opcodes[UHCA_ABI_WR_COUNT + 1];

/* Never NULL: the last row is for what is no opcode. */
static inline const struct send_opcode *send_opcode(uint8_t opcode)
{
	return &send_opcodes[opcode < UHCA_ABI_WR_COUNT ? opcode : UHCA_ABI_WR_COUNT];
}

/*
 * Returns the completion status (UHCA_ABI_WC_*; SUCCESS when the request may be sent) and the
 * message length in bytes, 0 when the status is an error.
 */
uint8_t send_check(const struct qp *qp, const struct uhca_abi_send_wqe *wqe, const struct sgl *l,
		   uint32_t *length);

/*
 * Rights (MR_*, for sgl_check) that the elements of such a request need: when it is checked, and
 * again when its answer is placed.
 */
uint32_t send_local_rights(const struct core_config *cfg, uint8_t opcode);

/* Elements a READ may have. */
uint32_t send_max_read_sge(const struct core_config *cfg);

/*
 * Why send_check, or an attempt to send the request, just gave this status, which is no success;
 * kind NONE where the status says it all.
 */
struct uhca_abi_cause send_cause(const struct qp *qp, const struct uhca_abi_send_wqe *wqe,
				 const struct sgl *l, uint8_t status);

#endif
