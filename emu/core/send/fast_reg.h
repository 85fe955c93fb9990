/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registration as a queue operation: REG_MR (fast registration, IBTA vol. 1, 10.6.6 and 11.4.1.1),
 * REG_INTERLEAVED and REG_SG. Executed by local_op.c in the order of the queue.
 */
#ifndef CORE_FAST_REG_H
#define CORE_FAST_REG_H

#include "emu/abi/wqe.h"

#include <stdbool.h>

struct qp;
struct send_wr;

static inline bool fast_reg_is(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_REG_MR || opcode == UHCA_ABI_WR_REG_INTERLEAVED ||
	       opcode == UHCA_ABI_WR_REG_SG;
}

/*
 * Executes the request. False, nothing changed, when the rules forbid it: the key is no key of
 * core_alloc_key or of another protection domain than the QP, a fast registration on a key that is
 * valid, a key in use, or a description that indirect_describe refuses.
 */
bool fast_reg_run(struct qp *qp, const struct send_wr *w);

#endif
