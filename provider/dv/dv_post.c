/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcadv_post_send: requests of uhcadv.h into the same ring as ibv_post_send's, by the same
 * rules of order, locking and publication (post_send.c). Lists and operands are copied to the
 * entry's data.
 */
#include "dv.h"
#include "dv_layout.h"
#include "dv_wqe.h"
#include "provider/context/context.h"
#include "provider/post/post.h"

#include <errno.h>
#include <string.h>

/* A list or operands stand where inline data would. */
#define FLAGS (UHCAV_SEND_FLAGS & ~(unsigned)IBV_SEND_INLINE)

static bool is_reg(enum uhcadv_wr_opcode kind)
{
	return kind == UHCADV_WR_REG_MR_PAGES || kind == UHCADV_WR_REG_MR_BLOCKS ||
	       kind == UHCADV_WR_REG_INTERLEAVED || kind == UHCADV_WR_REG_SG;
}

static int check(const struct uhcav_qp *qp, const struct uhcadv_send_wr *wr)
{
	int err;

	if (wr->comp_mask)
		return uhcav_dv_no_comp_mask(wr->comp_mask);
	if (wr->send_flags & ~FLAGS)
		return uhcav_because(EINVAL, "send_flags 0x%x has bits beyond 0x%x", wr->send_flags,
				     FLAGS);
	err = uhcav_dv_check_kind(qp, wr->opcode);
	if (err)
		return err;
	if (is_reg(wr->opcode) && !wr->num_sge)
		return uhcav_dv_check_mr(qp, wr->reg.mr);
	if (is_reg(wr->opcode))
		return uhcav_because(EINVAL, "num_sge %d of a registration must be 0", wr->num_sge);
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return uhcav_because(EINVAL,
				     "num_sge %d is not from 0 to the QP's max_send_sge, %u",
				     wr->num_sge, qp->sq.max_sge);
	if (wr->opcode == UHCADV_WR_READ_WITH_INV && wr->num_sge != 1)
		return uhcav_because(EINVAL, "num_sge %d of a READ with invalidate must be 1",
				     wr->num_sge);
	return 0;
}

static int put_reg(struct uhcav_qp *qp, uint32_t index, const struct uhcadv_send_wr *wr,
		   struct uhca_abi_send_wqe *wqe)
{
	struct uhcav_description d = uhcav_dv_description(qp, index);
	const struct uhcadv_reg_attr *attr = &wr->reg.attr;
	int err;

	if (wr->opcode == UHCADV_WR_REG_MR_PAGES)
		err = uhcav_describe_pages(&d, wr->reg.mr, attr, &wr->reg.pages);
	else if (wr->opcode == UHCADV_WR_REG_INTERLEAVED)
		err = uhcav_describe_interleaved(&d, wr->reg.mr, attr, &wr->reg.interleaved);
	else
		err = uhcav_describe_blocks(&d, wr->reg.mr, attr, wr->reg.block, wr->reg.n_blocks);
	if (err)
		return err;
	uhcav_dv_put_reg(wqe, &d);
	uhcav_use_key(&d, wr->reg.mr);
	return 0;
}

/* READ with invalidate, and the masked atomics: a place at the other end, elements at ours. */
static int put_fetch(struct uhcav_qp *qp, uint32_t index, const struct uhcadv_send_wr *wr,
		     struct uhca_abi_send_wqe *wqe)
{
	if (wr->opcode == UHCADV_WR_READ_WITH_INV) {
		wqe->rdma.remote_addr = wr->rdma.remote_addr;
		wqe->rdma.rkey = wr->rdma.rkey;
	} else {
		int err = wr->opcode == UHCADV_WR_MASKED_CMP_SWP
				  ? uhcav_dv_put_cmp_swp(qp, index, wqe, &wr->atomic.cmp_swp)
				  : uhcav_dv_put_fetch_add(qp, index, wqe, &wr->atomic.fetch_add);
		if (err)
			return err;
		wqe->masked.remote_addr = wr->atomic.remote_addr;
		wqe->masked.rkey = wr->atomic.rkey;
	}
	return uhcav_send_put_elements(qp, index, wqe, wr->sg_list, (size_t)wr->num_sge);
}

static int dv_wqe_write(struct uhcav_qp *qp, const struct uhcadv_send_wr *wr)
{
	uint32_t index = qp->sq.producer;
	struct uhca_abi_send_wqe wqe = {
		.wr_id = wr->wr_id,
		.opcode = uhcav_dv_opcode(wr->opcode),
		.flags = uhcav_send_flags(wr->send_flags & ~(unsigned)IBV_SEND_SOLICITED)};
	int err =
		is_reg(wr->opcode) ? put_reg(qp, index, wr, &wqe) : put_fetch(qp, index, wr, &wqe);

	if (err)
		return err;
	memcpy(uhcav_send_slot(qp, index), &wqe, sizeof(wqe));
	uhcav_send_note(qp, index, &wqe);
	return 0;
}

static int post(struct uhcav_qp *qp, struct uhcadv_send_wr *wr, struct uhcadv_send_wr **bad_wr)
{
	int err = uhcav_send_state(qp);

	for (; wr; wr = wr->next) {
		if (!err)
			err = check(qp, wr);
		if (!err && uhcav_work_queue_full(&qp->sq))
			err = ENOMEM;
		if (!err)
			err = dv_wqe_write(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		qp->sq.producer++;
	}
	return err;
}

static int post_all(struct uhcav_qp *qp, struct uhcadv_send_wr *wr, struct uhcadv_send_wr **bad_wr)
{
	uint32_t before;
	bool posted;
	int err;

	uhcav_lock(&qp->sq.lock);
	before = qp->sq.producer;
	err = post(qp, wr, bad_wr);
	posted = qp->sq.producer != before;
	if (posted)
		uhca_ring_publish(&qp->sq.ring->producer, qp->sq.producer);
	uhcav_unlock(&qp->sq.lock);
	if (posted)
		uhcav_context_ring(qp->ctx, qp->doorbell);
	return err;
}

/* As post_asked of post_send.c. */
static int post_asked(struct uhcav_qp *qp, struct uhcadv_send_wr *wr,
		      struct uhcadv_send_wr **bad_wr)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_POST_SEND, .qpn = qp->qp.qp_num};
	struct uhcav_post_fault fault;
	int err = 0;

	for (const struct uhcadv_send_wr *w = wr; w; w = w->next)
		ask.requests++;
	fault = uhcav_post_fault(qp->ctx, &ask);
	if (!fault.err)
		return post_all(qp, wr, bad_wr);
	for (; fault.first > 0 && !err; fault.first--) {
		struct uhcadv_send_wr one = *wr, *bad;

		one.next = NULL;
		err = post_all(qp, &one, &bad);
		if (!err)
			wr = wr->next;
	}
	*bad_wr = wr;
	return err ? err : fault.err;
}

int uhcav_dv_post_send(struct ibv_qp *ibqp, struct uhcadv_send_wr *wr,
		       struct uhcadv_send_wr **bad_wr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	uint32_t features;
	int err = uhcav_life(qp->ctx) == UHCAV_ALIVE ? 0 : EIO;

	if (!err) /* what the checks need to know, before the lock: the device may be asked */
		err = -uhcav_device_features(qp->ctx, &features);
	if (err) {
		*bad_wr = wr;
		return err;
	}
	err = uhcav_post_watched(qp->ctx) ? post_asked(qp, wr, bad_wr) : post_all(qp, wr, bad_wr);
	if (__builtin_expect(err != 0, 0))
		uhcav_send_refused(qp, "uhcadv_post_send", err, *bad_wr ? (*bad_wr)->wr_id : 0);
	return err;
}
