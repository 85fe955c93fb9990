/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Send entries of uhcadv.h's requests: what uhcadv_post_send (dv_post.c) and the builders
 * (dv_wr.c) have in common. Under the send queue's lock, as send_wqe.h.
 */
#ifndef UHCAV_DV_WQE_H
#define UHCAV_DV_WQE_H

#include "dv_layout.h"
#include "provider/qp/qp.h"

#include <infiniband/uhcadv.h>
#include <stdint.h>

/* Bytes of the longest operands. */
#define UHCAV_OPERAND_BYTES (4u * 32u)

/* The opcode of a request; UHCA_ABI_WR_COUNT for what is none. */
uint8_t uhcav_dv_opcode(enum uhcadv_wr_opcode kind);

/* The opcodes (bits) that QPs of the type take. */
uint32_t uhcav_dv_opcodes(enum ibv_qp_type type);

/* 0; EINVAL: QPs of this type never take the request; EOPNOTSUPP: the device has it not. */
int uhcav_dv_check_kind(const struct uhcav_qp *qp, enum uhcadv_wr_opcode kind);

/* The region is one of this QP's context. 0 or EINVAL. */
int uhcav_dv_check_mr(const struct uhcav_qp *qp, const struct ibv_mr *mr);

/* A description whose list goes to the entry's data. */
struct uhcav_description uhcav_dv_description(const struct uhcav_qp *qp, uint32_t index);

/* The indirect memory key into the entry. */
void uhcav_dv_put_reg(struct uhca_abi_send_wqe *wqe, const struct uhcav_description *d);

/*
 * Size and operands into the entry and its data. 0; EINVAL for a size that no device has, or
 * operands that are missing; EOPNOTSUPP for a size that this device has not; E2BIG when they are
 * longer than the entry's data.
 */
int uhcav_dv_put_cmp_swp(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			 const struct uhcadv_masked_cmp_swp *op);
int uhcav_dv_put_fetch_add(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			   const struct uhcadv_masked_fetch_add *op);

#endif
