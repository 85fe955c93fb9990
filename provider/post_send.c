/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_post_send: a work request becomes an entry of the send ring. Nothing here allocates, and
 * the only system call is the one that wakes a sleeping daemon. The producer index is published
 * once per call, after all entries that it covers. What becomes of the payload is send_wqe.c.
 */
#include "post_send.h"

#include "ah.h"
#include "qp.h"
#include "send_wqe.h"

#include <errno.h>
#include <string.h>

#define BIT(opcode) (1u << (opcode))

#define WITH_IMMEDIATE (BIT(IBV_WR_SEND_WITH_IMM) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM))

_Static_assert((int)UHCA_ABI_WR_SEND == (int)IBV_WR_SEND &&
		       (int)UHCA_ABI_WR_RDMA_READ == (int)IBV_WR_RDMA_READ &&
		       (int)UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD == (int)IBV_WR_ATOMIC_FETCH_AND_ADD,
	       "opcodes travel untranslated");

static int check(const struct uhcav_qp *qp, const struct ibv_send_wr *wr)
{
	if ((unsigned)wr->opcode >= 32 || !(qp->send_mask & BIT(wr->opcode)))
		return EINVAL;
	if (wr->send_flags & ~UHCAV_SEND_FLAGS)
		return EINVAL;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;
	/* An address handle of another context would be a number that may name one of ours. */
	if (qp->qp.qp_type == IBV_QPT_UD &&
	    (!wr->wr.ud.ah || uhcav_ah_of(wr->wr.ud.ah)->ctx != qp->ctx))
		return EINVAL;
	return 0;
}

/* The part of an entry that depends on QP type and opcode. */
static void put_target(const struct uhcav_qp *qp, const struct ibv_send_wr *wr,
		       struct uhca_abi_send_wqe *wqe)
{
	const uint32_t atomics = BIT(IBV_WR_ATOMIC_CMP_AND_SWP) | BIT(IBV_WR_ATOMIC_FETCH_AND_ADD);

	if (qp->qp.qp_type == IBV_QPT_UD) {
		wqe->ud.ah = uhcav_ah_of(wr->wr.ud.ah)->handle;
		wqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
		wqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
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

/* One request into the slot at the producer index. 0 or an errno value. Under the lock. */
static int put(struct uhcav_qp *qp, const struct ibv_send_wr *wr)
{
	uint32_t index = qp->sq.producer;
	struct uhca_abi_send_wqe *slot = uhcav_send_slot(qp, index);
	struct uhca_abi_send_wqe wqe = {.wr_id = wr->wr_id,
					.opcode = (uint8_t)wr->opcode,
					.flags = uhcav_send_flags(wr->send_flags)};
	int err;

	if (wr->send_flags & IBV_SEND_INLINE)
		err = uhcav_send_put_inline(qp, index, &wqe, wr->sg_list, wr->num_sge);
	else
		err = uhcav_send_put_elements(qp, index, &wqe, wr->sg_list, (size_t)wr->num_sge);
	if (err)
		return err;
	if (WITH_IMMEDIATE & BIT(wr->opcode))
		wqe.imm = wr->imm_data;
	if (qp->qp.qp_type == IBV_QPT_XRC_SEND)
		wqe.xrc_srqn = wr->qp_type.xrc.remote_srqn;
	put_target(qp, wr, &wqe);
	memcpy(slot, &wqe, sizeof(wqe));
	uhcav_send_note(qp, index, &wqe);
	return 0;
}

static int post(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int err = uhcav_send_state(qp);

	for (; wr; wr = wr->next) {
		if (!err)
			err = check(qp, wr);
		if (!err && uhcav_work_queue_full(&qp->sq))
			err = ENOMEM;
		if (!err)
			err = put(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		qp->sq.producer++;
	}
	return err;
}

int uhcav_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	uint32_t before;
	bool posted;
	int err;

	if (uhcav_life(qp->ctx) != UHCAV_ALIVE) {
		*bad_wr = wr;
		return EIO;
	}
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
