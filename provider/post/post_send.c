/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_post_send: a work request becomes an entry of the send ring. Nothing here allocates, and
 * the only system call is the one that wakes a sleeping daemon. The producer index is published
 * once per call, after all entries that it covers. What becomes of the payload is send_wqe.c.
 */
#include "post_send.h"

#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/keys/keys.h"
#include "provider/qp/qp.h"
#include "send_wqe.h"

#include <errno.h>
#include <string.h>

#define BIT(opcode) (1u << (opcode))

#define WITH_IMMEDIATE (BIT(IBV_WR_SEND_WITH_IMM) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM))
#define WITH_KEY       (BIT(IBV_WR_SEND_WITH_INV) | BIT(IBV_WR_LOCAL_INV))
/* What names no data at all. */
#define WITHOUT_DATA   (BIT(IBV_WR_LOCAL_INV) | BIT(IBV_WR_BIND_MW))
/* enum ibv_wr_opcode but FLUSH, whose fields struct ibv_send_wr has not: it is for ibv_wr_flush. */
#define OPCODES        ((BIT(IBV_WR_DRIVER1 + 1) - 1) | BIT(UHCA_ABI_WR_ATOMIC_WRITE))

_Static_assert((int)UHCA_ABI_WR_SEND == (int)IBV_WR_SEND &&
		       (int)UHCA_ABI_WR_RDMA_READ == (int)IBV_WR_RDMA_READ &&
		       (int)UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD == (int)IBV_WR_ATOMIC_FETCH_AND_ADD,
	       "opcodes are not translated");

static int check(const struct uhcav_qp *qp, const struct ibv_send_wr *wr)
{
	if ((unsigned)wr->opcode >= 32 || !(OPCODES & BIT(wr->opcode)))
		return uhcav_because(EINVAL, "opcode %u is not valid for ibv_post_send",
				     (unsigned)wr->opcode);
	if (wr->send_flags & ~UHCAV_SEND_FLAGS)
		return uhcav_because(EINVAL, "send_flags 0x%x has bits beyond 0x%x", wr->send_flags,
				     UHCAV_SEND_FLAGS);
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return uhcav_because(EINVAL,
				     "num_sge %d is not from 0 to the QP's max_send_sge, %u",
				     wr->num_sge, qp->sq.max_sge);
	if (!(qp->send_mask & BIT(wr->opcode)))
		return 0; /* its other fields mean nothing */
	if (wr->opcode == IBV_WR_BIND_MW && !wr->bind_mw.mw)
		return uhcav_because(EINVAL, "bind_mw.mw is NULL");
	if (qp->qp.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
		return uhcav_because(EINVAL, "wr.ud.ah is NULL");
	return 0;
}

/* The window has its new key from the post on: the request behind may name it. */
static void put_bind(const struct uhcav_qp *qp, const struct ibv_send_wr *wr,
		     enum ibv_mw_type window, struct uhca_abi_send_wqe *wqe)
{
	if (uhcav_mw_put_bind(wqe, qp->qp.context, window, wr->bind_mw.mw, wr->bind_mw.rkey,
			      &wr->bind_mw.bind_info))
		wr->bind_mw.mw->rkey = wqe->bind.new_rkey;
}

/* The part of an entry that depends on QP type and opcode. */
static void put_target(const struct uhcav_qp *qp, const struct ibv_send_wr *wr,
		       enum ibv_mw_type window, struct uhca_abi_send_wqe *wqe)
{
	const uint32_t atomics = BIT(IBV_WR_ATOMIC_CMP_AND_SWP) | BIT(IBV_WR_ATOMIC_FETCH_AND_ADD);

	if (qp->qp.qp_type == IBV_QPT_UD) {
		wqe->ud.ah = uhcav_ah_name(qp->qp.context, wr->wr.ud.ah);
		wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
		wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		put_bind(qp, wr, window, wqe);
	} else if (atomics & BIT(wr->opcode)) {
		wqe->atomic.remote_addr = wr->wr.atomic.remote_addr;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		wqe->atomic.swap = wr->wr.atomic.swap;
		wqe->atomic.rkey = wr->wr.atomic.rkey;
	} else {
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		wqe->rdma.rkey = wr->wr.rdma.rkey;
	}
}

/* What the request is about. 0 or an errno value. */
static int fill(struct uhcav_qp *qp, uint32_t index, const struct ibv_send_wr *wr,
		enum ibv_mw_type window, struct uhca_abi_send_wqe *wqe)
{
	int err = 0;

	if (wr->send_flags & IBV_SEND_INLINE)
		err = uhcav_send_put_inline(qp, index, wqe, wr->sg_list, wr->num_sge);
	else if (!(WITHOUT_DATA & BIT(wr->opcode)))
		err = uhcav_send_put_elements(qp, index, wqe, wr->sg_list, (size_t)wr->num_sge);
	if (err)
		return err;
	if (WITH_IMMEDIATE & BIT(wr->opcode))
		wqe->imm = wr->imm_data;
	else if (WITH_KEY & BIT(wr->opcode))
		wqe->imm = wr->invalidate_rkey;
	if (qp->qp.qp_type == IBV_QPT_XRC_SEND)
		wqe->xrc_srqn = wr->qp_type.xrc.remote_srqn;
	put_target(qp, wr, window, wqe);
	return 0;
}

/*
 * One request into the slot at the producer index. 0 or an errno value. Under the lock. Of one that
 * the QP's transport does not have the device learns the opcode, and completes it with
 * LOC_QP_OP_ERR when its turn comes (10.8.3.1).
 */
static int send_wqe_write(struct uhcav_qp *qp, const struct ibv_send_wr *wr,
			  enum ibv_mw_type window)
{
	uint32_t index = qp->sq.producer;
	struct uhca_abi_send_wqe *slot = uhcav_send_slot(qp, index);
	struct uhca_abi_send_wqe wqe = {.wr_id = wr->wr_id,
					.opcode = (uint8_t)wr->opcode,
					.flags = uhcav_send_flags(wr->send_flags)};
	int err = 0;

	if (qp->send_mask & BIT(wr->opcode))
		err = fill(qp, index, wr, window, &wqe);
	if (err)
		return err;
	memcpy(slot, &wqe, sizeof(wqe));
	uhcav_send_note(qp, index, &wqe);
	return 0;
}

static int post(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
		enum ibv_mw_type window)
{
	int err = uhcav_send_state(qp);

	for (; wr; wr = wr->next) {
		if (!err)
			err = check(qp, wr);
		if (!err && uhcav_work_queue_full(&qp->sq))
			err = ENOMEM;
		if (!err)
			err = send_wqe_write(qp, wr, window);
		if (err) {
			*bad_wr = wr;
			break;
		}
		qp->sq.producer++;
	}
	return err;
}

/* Windows of the type may be bound: each type has its own call (ibv_bind_mw(3)). */
static int post_all(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
		    enum ibv_mw_type window)
{
	uint32_t before;
	bool posted;
	int err;

	uhcav_lock(&qp->sq.lock);
	before = qp->sq.producer;
	err = post(qp, wr, bad_wr, window);
	posted = qp->sq.producer != before;
	if (posted)
		uhca_ring_publish(&qp->sq.ring->producer, qp->sq.producer);
	uhcav_unlock(&qp->sq.lock);
	if (posted)
		uhcav_context_ring(qp->ctx, qp->doorbell);
	return err;
}

/* Asks first: the list may have to end early, or not to be posted at all. */
static int post_asked(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
		      enum ibv_mw_type window)
{
	struct uhca_cmd_fault_check ask = {.verb = window == IBV_MW_TYPE_1 ? UHCA_FAULT_BIND_MW
									   : UHCA_FAULT_POST_SEND,
					   .qpn = qp->qp.qp_num};
	struct uhcav_post_fault fault;
	int err = 0;

	for (const struct ibv_send_wr *w = wr; w; w = w->next)
		ask.requests++;
	fault = uhcav_post_fault(qp->ctx, &ask);
	if (!fault.err)
		return post_all(qp, wr, bad_wr, window);
	for (; fault.first > 0 && !err; fault.first--) {
		struct ibv_send_wr one = *wr, *bad;

		one.next = NULL;
		err = post_all(qp, &one, &bad, window);
		if (!err)
			wr = wr->next;
	}
	*bad_wr = wr;
	return err ? err : fault.err;
}

static int post_send(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr,
		     enum ibv_mw_type window)
{
	int err;

	if (uhcav_life(qp->ctx) != UHCAV_ALIVE) {
		*bad_wr = wr;
		return EIO;
	}
	err = uhcav_post_watched(qp->ctx) ? post_asked(qp, wr, bad_wr, window)
					  : post_all(qp, wr, bad_wr, window);
	if (__builtin_expect(err != 0, 0))
		uhcav_send_refused(qp, window == IBV_MW_TYPE_1 ? "bind_mw" : "post_send", err,
				   *bad_wr ? (*bad_wr)->wr_id : 0);
	return err;
}

int uhcav_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return uhcav_failed(post_send(uhcav_qp_of(ibqp), wr, bad_wr, IBV_MW_TYPE_2));
}

int uhcav_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr *bad;
	struct ibv_send_wr wr = {.wr_id = bind->wr_id,
				 .opcode = IBV_WR_BIND_MW,
				 .send_flags = bind->send_flags,
				 .bind_mw = {.mw = mw,
					     .rkey = ibv_inc_rkey(mw->rkey),
					     .bind_info = bind->bind_info}};

	if (mw->type != IBV_MW_TYPE_1)
		return uhcav_failed(uhcav_refuse(
			uhcav_qp_of(qp)->ctx, "bind_mw", EINVAL,
			"the window is of type %d: ibv_bind_mw needs type 1", (int)mw->type));
	return uhcav_failed(post_send(uhcav_qp_of(qp), &wr, &bad, IBV_MW_TYPE_1));
}
