/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes send entries of direct verbs into the ring. */
#include "dv_wqe.h"

#include "provider/context/context.h"
#include "provider/post/post.h"

#include <errno.h>
#include <string.h>

#define BIT(opcode) (1u << (opcode))

static const struct {
	uint8_t opcode;
	uint32_t feature;
} kinds[] = {
	[UHCADV_WR_REG_MR_PAGES] = {UHCA_ABI_WR_REG_MR, UHCA_ABI_HAS_FAST_REG},
	[UHCADV_WR_REG_MR_BLOCKS] = {UHCA_ABI_WR_REG_MR, UHCA_ABI_HAS_BLOCK_LIST},
	[UHCADV_WR_REG_INTERLEAVED] = {UHCA_ABI_WR_REG_INTERLEAVED, UHCA_ABI_HAS_INTERLEAVED},
	[UHCADV_WR_REG_SG] = {UHCA_ABI_WR_REG_SG, UHCA_ABI_HAS_SG},
	[UHCADV_WR_READ_WITH_INV] = {UHCA_ABI_WR_READ_WITH_INV, UHCA_ABI_HAS_READ_WITH_INV},
	[UHCADV_WR_MASKED_CMP_SWP] = {UHCA_ABI_WR_MASKED_CMP_SWP, UHCA_ABI_HAS_MASKED_ATOMICS},
	[UHCADV_WR_MASKED_FETCH_ADD] = {UHCA_ABI_WR_MASKED_FETCH_ADD, UHCA_ABI_HAS_MASKED_ATOMICS},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

uint8_t uhcav_dv_opcode(enum uhcadv_wr_opcode kind)
{
	return (size_t)kind < N_KINDS ? kinds[kind].opcode : UHCA_ABI_WR_COUNT;
}

/*
 * Registration is local: any connected QP does it, as it invalidates and binds windows (IBTA
 * vol. 1, 10.7.2). What fetches is for RC alone: struct uhcadv_send_wr names no SRQ.
 */
uint32_t uhcav_dv_opcodes(enum ibv_qp_type type)
{
	const uint32_t local = BIT(UHCA_ABI_WR_REG_MR) | BIT(UHCA_ABI_WR_REG_INTERLEAVED) |
			       BIT(UHCA_ABI_WR_REG_SG);
	const uint32_t fetch = BIT(UHCA_ABI_WR_READ_WITH_INV) | BIT(UHCA_ABI_WR_MASKED_CMP_SWP) |
			       BIT(UHCA_ABI_WR_MASKED_FETCH_ADD);

	if (type == IBV_QPT_RC)
		return local | fetch;
	return type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND ? local : 0;
}

int uhcav_dv_check_kind(const struct uhcav_qp *qp, enum uhcadv_wr_opcode kind)
{
	uint32_t features;
	int err;

	if ((size_t)kind >= N_KINDS ||
	    !(uhcav_dv_opcodes(qp->qp.qp_type) & BIT(kinds[kind].opcode)))
		return uhcav_because(EINVAL, "opcode %u is not valid for a QP of type %d",
				     (unsigned)kind, (int)qp->qp.qp_type);
	err = uhcav_device_features(qp->ctx, &features);
	if (err)
		return -err;
	if (__atomic_load_n(&qp->peer_lacks, __ATOMIC_RELAXED) & BIT(kinds[kind].opcode))
		return uhcav_because(EOPNOTSUPP,
				     "the device of the QP's peer does not support opcode %u",
				     (unsigned)kind);
	if (!(features & kinds[kind].feature))
		return uhcav_because(EOPNOTSUPP, "the device does not support opcode %u",
				     (unsigned)kind);
	return 0;
}

int uhcav_dv_check_mr(const struct uhcav_qp *qp, const struct ibv_mr *mr)
{
	if (!mr)
		return uhcav_because(EINVAL, "mr is NULL");
	if (mr->context != qp->qp.context)
		return uhcav_because(EINVAL, "mr and QP belong to different contexts");
	return 0;
}

struct uhcav_description uhcav_dv_description(const struct uhcav_qp *qp, uint32_t index)
{
	return (struct uhcav_description){.list = uhcav_send_data(qp, index),
					  .room = qp->data_stride};
}

void uhcav_dv_put_reg(struct uhca_abi_send_wqe *wqe, const struct uhcav_description *d)
{
	wqe->reg = d->layout;
	wqe->inline_length = d->bytes;
}

static int check_operands(const struct uhcav_qp *qp, uint32_t size, unsigned n)
{
	uint32_t features;
	int err;

	if (size != 4 && size != 8 && size != 16 && size != 32)
		return uhcav_because(EINVAL, "size %u is not 4, 8, 16 or 32", size);
	err = uhcav_device_features(qp->ctx, &features);
	if (err)
		return -err;
	if (size != 8 && !(features & UHCA_ABI_HAS_MASKED_ATOMIC_SIZES))
		return uhcav_because(EOPNOTSUPP,
				     "size %u: the device supports masked atomics of 8 bytes only",
				     size);
	if (n * size > qp->data_stride)
		return uhcav_because(E2BIG, "%u operands of %u bytes exceed the QP's maximum, %u",
				     n, size, qp->data_stride);
	return 0;
}

static uint8_t *put_operand(uint8_t *at, const void *operand, int otherwise, uint32_t size)
{
	if (operand)
		memcpy(at, operand, size);
	else
		memset(at, otherwise, size);
	return at + size;
}

static void finish(struct uhca_abi_send_wqe *wqe, uint32_t size, unsigned n)
{
	wqe->masked.size = size;
	wqe->inline_length = n * size;
}

int uhcav_dv_put_cmp_swp(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			 const struct uhcadv_masked_cmp_swp *op)
{
	uint8_t *at = uhcav_send_data(qp, index);
	int err = op->compare && op->swap ? check_operands(qp, op->size, 4)
					  : uhcav_because(EINVAL, "compare or swap is NULL");

	if (err)
		return err;
	at = put_operand(at, op->compare, 0, op->size);
	at = put_operand(at, op->swap, 0, op->size);
	at = put_operand(at, op->compare_mask, 0xff, op->size);
	put_operand(at, op->swap_mask, 0xff, op->size);
	finish(wqe, op->size, 4);
	return 0;
}

int uhcav_dv_put_fetch_add(struct uhcav_qp *qp, uint32_t index, struct uhca_abi_send_wqe *wqe,
			   const struct uhcadv_masked_fetch_add *op)
{
	uint8_t *at = uhcav_send_data(qp, index);
	int err = op->add ? check_operands(qp, op->size, 2) : uhcav_because(EINVAL, "add is NULL");

	if (err)
		return err;
	at = put_operand(at, op->add, 0, op->size);
	put_operand(at, op->boundary, 0, op->size); /* none: what the highest bit carries is lost */
	finish(wqe, op->size, 2);
	return 0;
}
