/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ibv_wr_* calls (ibv_wr_post(3)): a QP that was created with send_ops_flags carries a table
 * of functions, which the inline functions of <infiniband/verbs.h> call.
 *
 * Where the library keeps its mark that a QP has the table differs between releases, because it
 * stands behind struct ibv_qp_ex, which grew: it is found out at run time, and what lies behind
 * the mark is not written.
 */
#ifndef UHCAV_QP_EX_H
#define UHCAV_QP_EX_H

#include "provider/qp/qp.h"

#include <infiniband/verbs.h>
#include <stdint.h>

/* Newer than the oldest headers we are built with; bits of send_ops_flags. */
#define UHCAV_QP_EX_WITH_FLUSH (1u << 11)

/*
 * Finds the mark with the library's own ibv_qp_to_qp_ex. Called once, before any QP is made;
 * without, or when nothing is found, no QP has the table.
 */
void uhcav_qp_ex_probe(struct ibv_qp_ex *(*to_qp_ex)(struct ibv_qp *qp));

/* The opcodes (bits) that a device with these features (UHCA_ABI_HAS_*) can have on some QP. */
uint32_t uhcav_qp_ex_opcodes(uint32_t features);

/*
 * 0, or -EOPNOTSUPP: the flags ask for an operation that the QP (by its send_mask) does not take,
 * for one this library's struct has no room for, or the mark was not found.
 */
int uhcav_qp_ex_check(const struct uhcav_qp *qp, uint64_t send_ops_flags);

/* Fills in the table of a QP whose flags were checked. */
void uhcav_qp_ex_enable(struct uhcav_qp *qp, uint64_t send_ops_flags);

/*
 * For builders that are not libibverbs' (dv_wr.c): begins the next entry between ibv_wr_start and
 * ibv_wr_complete; NULL after an error. uhcav_qp_ex_fail keeps the first error; 0 is none.
 */
struct uhca_abi_send_wqe *uhcav_qp_ex_begin(struct uhcav_qp *qp, uint8_t opcode);
void uhcav_qp_ex_fail(struct uhcav_qp *qp, int err);

#endif
