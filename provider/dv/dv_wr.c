/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builders for uhcadv.h's requests. A key that is described gets its byte at once, so that the
 * next builder of the same post can name it; a post that is aborted or fails leaves it so, and
 * the program sets the byte back (uhcadv_set_key_byte).
 */
#include "dv_wr.h"

#include "dv.h"
#include "dv_wqe.h"
#include "provider/context/context.h"
#include "provider/post/post.h"

#include <errno.h>
#include <stddef.h>

#define BIT(opcode) (1u << (opcode))

static const struct {
	uint64_t flag;
	uint8_t opcode;
	uint32_t features; /* any of them */
} operations[] = {
	{UHCADV_QP_WITH_REG_MR, UHCA_ABI_WR_REG_MR,
	 UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST},
	{UHCADV_QP_WITH_REG_INTERLEAVED, UHCA_ABI_WR_REG_INTERLEAVED, UHCA_ABI_HAS_INTERLEAVED},
	{UHCADV_QP_WITH_REG_SG, UHCA_ABI_WR_REG_SG, UHCA_ABI_HAS_SG},
	{UHCADV_QP_WITH_READ_WITH_INV, UHCA_ABI_WR_READ_WITH_INV, UHCA_ABI_HAS_READ_WITH_INV},
	{UHCADV_QP_WITH_MASKED_CMP_SWP, UHCA_ABI_WR_MASKED_CMP_SWP, UHCA_ABI_HAS_MASKED_ATOMICS},
	{UHCADV_QP_WITH_MASKED_FETCH_ADD, UHCA_ABI_WR_MASKED_FETCH_ADD,
	 UHCA_ABI_HAS_MASKED_ATOMICS},
};

int uhcav_dv_wr_opcodes(uint64_t flags, enum ibv_qp_type type, uint32_t features, uint32_t *opcodes)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (!(flags & operations[i].flag))
			continue;
		if (!(features & operations[i].features))
			return uhcav_because(-EOPNOTSUPP,
					     "send_ops_flags: the device does not support 0x%llx",
					     (unsigned long long)operations[i].flag);
		mask |= BIT(operations[i].opcode);
		flags &= ~operations[i].flag;
	}
	if (flags)
		return uhcav_because(-EOPNOTSUPP, "send_ops_flags 0x%llx is not in uhcadv.h",
				     (unsigned long long)flags);
	if (mask & ~uhcav_dv_opcodes(type))
		return uhcav_because(-EOPNOTSUPP,
				     "send_ops_flags: QPs of type %d do not support all flags",
				     (int)type);
	*opcodes = mask;
	return 0;
}

static struct uhcav_qp *of(struct uhcadv_qp_ex *dv)
{
	return (struct uhcav_qp *)(void *)((char *)dv - offsetof(struct uhcav_qp, dv));
}

/* Begins an entry that the QP can have (the device's word on it is known by now). */
static struct uhca_abi_send_wqe *begin(struct uhcav_qp *qp, enum uhcadv_wr_opcode kind)
{
	struct uhca_abi_send_wqe *wqe = uhcav_qp_ex_begin(qp, uhcav_dv_opcode(kind));

	if (!wqe)
		return NULL;
	wqe->flags &= (uint16_t)~UHCA_ABI_SEND_SOLICITED;
	uhcav_qp_ex_fail(qp, uhcav_dv_check_kind(qp, kind));
	return qp->build.err ? NULL : wqe;
}

/* ---- registration ---- */

static struct uhca_abi_send_wqe *begin_reg(struct uhcav_qp *qp, enum uhcadv_wr_opcode kind,
					   const struct ibv_mr *mr, struct uhcav_description *d)
{
	struct uhca_abi_send_wqe *wqe = begin(qp, kind);

	if (!wqe)
		return NULL;
	qp->build.has_data = true;
	uhcav_qp_ex_fail(qp, uhcav_dv_check_mr(qp, mr));
	*d = uhcav_dv_description(qp, qp->build.index);
	return qp->build.err ? NULL : wqe;
}

static void end_reg(struct uhcav_qp *qp, struct uhca_abi_send_wqe *wqe, struct ibv_mr *mr,
		    const struct uhcav_description *d, int err)
{
	if (err) {
		uhcav_qp_ex_fail(qp, err);
		return;
	}
	uhcav_dv_put_reg(wqe, d);
	uhcav_use_key(d, mr);
}

static void wr_reg_mr_pages(struct uhcadv_qp_ex *dv, struct ibv_mr *mr,
			    const struct uhcadv_reg_attr *attr,
			    const struct uhcadv_page_list *pages)
{
	struct uhcav_description d;
	struct uhca_abi_send_wqe *wqe = begin_reg(of(dv), UHCADV_WR_REG_MR_PAGES, mr, &d);

	if (wqe)
		end_reg(of(dv), wqe, mr, &d, uhcav_describe_pages(&d, mr, attr, pages));
}

static void wr_reg_mr_blocks(struct uhcadv_qp_ex *dv, struct ibv_mr *mr,
			     const struct uhcadv_reg_attr *attr, const struct uhcadv_block *block,
			     uint32_t n)
{
	struct uhcav_description d;
	struct uhca_abi_send_wqe *wqe = begin_reg(of(dv), UHCADV_WR_REG_MR_BLOCKS, mr, &d);

	if (wqe)
		end_reg(of(dv), wqe, mr, &d, uhcav_describe_blocks(&d, mr, attr, block, n));
}

static void wr_reg_interleaved(struct uhcadv_qp_ex *dv, struct ibv_mr *mr,
			       const struct uhcadv_reg_attr *attr,
			       const struct uhcadv_interleaved *layout)
{
	struct uhcav_description d;
	struct uhca_abi_send_wqe *wqe = begin_reg(of(dv), UHCADV_WR_REG_INTERLEAVED, mr, &d);

	if (wqe)
		end_reg(of(dv), wqe, mr, &d, uhcav_describe_interleaved(&d, mr, attr, layout));
}

static void wr_reg_sg(struct uhcadv_qp_ex *dv, struct ibv_mr *mr,
		      const struct uhcadv_reg_attr *attr, const struct uhcadv_block *block,
		      uint32_t n)
{
	struct uhcav_description d;
	struct uhca_abi_send_wqe *wqe = begin_reg(of(dv), UHCADV_WR_REG_SG, mr, &d);

	if (wqe)
		end_reg(of(dv), wqe, mr, &d, uhcav_describe_blocks(&d, mr, attr, block, n));
}

/* ---- what fetches: libibverbs' setters of elements follow ---- */

static void wr_read_with_inv(struct uhcadv_qp_ex *dv, uint32_t rkey, uint64_t remote_addr)
{
	struct uhca_abi_send_wqe *wqe = begin(of(dv), UHCADV_WR_READ_WITH_INV);

	if (!wqe)
		return;
	wqe->rdma.remote_addr = remote_addr;
	wqe->rdma.rkey = rkey;
}

static struct uhca_abi_send_wqe *begin_masked(struct uhcav_qp *qp, enum uhcadv_wr_opcode kind,
					      uint32_t rkey, uint64_t remote_addr)
{
	struct uhca_abi_send_wqe *wqe = begin(qp, kind);

	if (wqe) {
		wqe->masked.remote_addr = remote_addr;
		wqe->masked.rkey = rkey;
	}
	return wqe;
}

static void wr_masked_cmp_swp(struct uhcadv_qp_ex *dv, uint32_t rkey, uint64_t remote_addr,
			      const struct uhcadv_masked_cmp_swp *op)
{
	struct uhcav_qp *qp = of(dv);
	struct uhca_abi_send_wqe *wqe =
		begin_masked(qp, UHCADV_WR_MASKED_CMP_SWP, rkey, remote_addr);

	if (wqe)
		uhcav_qp_ex_fail(qp, uhcav_dv_put_cmp_swp(qp, qp->build.index, wqe, op));
}

static void wr_masked_fetch_add(struct uhcadv_qp_ex *dv, uint32_t rkey, uint64_t remote_addr,
				const struct uhcadv_masked_fetch_add *op)
{
	struct uhcav_qp *qp = of(dv);
	struct uhca_abi_send_wqe *wqe =
		begin_masked(qp, UHCADV_WR_MASKED_FETCH_ADD, rkey, remote_addr);

	if (wqe)
		uhcav_qp_ex_fail(qp, uhcav_dv_put_fetch_add(qp, qp->build.index, wqe, op));
}

/* ---- */

/* All of them: one that was not asked for fails the post, instead of the program. */
void uhcav_dv_wr_enable(struct uhcav_qp *qp, uint32_t opcodes)
{
	qp->build.ops |= opcodes;
	qp->dv = (struct uhcadv_qp_ex){
		.wr_reg_mr_pages = wr_reg_mr_pages,
		.wr_reg_mr_blocks = wr_reg_mr_blocks,
		.wr_reg_interleaved = wr_reg_interleaved,
		.wr_reg_sg = wr_reg_sg,
		.wr_read_with_inv = wr_read_with_inv,
		.wr_masked_cmp_swp = wr_masked_cmp_swp,
		.wr_masked_fetch_add = wr_masked_fetch_add,
	};
}

struct uhcadv_qp_ex *uhcav_dv_qp_ex(struct ibv_qp_ex *qpx)
{
	struct uhcav_qp *qp = uhcav_qp_of(&qpx->qp_base);

	if (qp->build.ops & uhcav_dv_opcodes(qp->qp.qp_type))
		return &qp->dv;
	return uhcav_no_object(
		NULL, uhcav_refuse(qp->ctx, "uhcadv_qp_ex_from_ibv_qp_ex", -EOPNOTSUPP,
				   "the QP was created without send_ops_flags of uhcadv.h"));
}
