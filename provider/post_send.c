/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_post_send: a work request becomes an entry of the send ring. Nothing here allocates, and
 * the only system call is the one that wakes a sleeping daemon. The producer index is published
 * once per call, after all entries that it covers.
 *
 * Small payloads are copied into the slot's data area at once (DESIGN, rules of the data path):
 * because the application asked for it (inline), or because that spares the daemon a trip into
 * our address space (gathered). Gathering must not be observable: it is left when the request is
 * fenced (its payload may be a READ's result that is not there yet) and when an element is not
 * inside a region that is registered, which is for the device to find out.
 */
#include "post_send.h"

#include "ah.h"
#include "qp.h"
#include "wqe.h"

#include <errno.h>
#include <string.h>

#define FLAGS_KNOWN                                                                                \
	((unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE))

#define BIT(opcode) (1u << (opcode))

/* Work requests whose elements name what is sent. */
#define WITH_PAYLOAD                                                                               \
	(BIT(IBV_WR_SEND) | BIT(IBV_WR_SEND_WITH_IMM) | BIT(IBV_WR_RDMA_WRITE) |                   \
	 BIT(IBV_WR_RDMA_WRITE_WITH_IMM))

#define WITH_IMMEDIATE (BIT(IBV_WR_SEND_WITH_IMM) | BIT(IBV_WR_RDMA_WRITE_WITH_IMM))

/* States in which a send queue takes requests (IBTA vol. 1, 10.3.1; post before RTS is refused) */
#define STATES_POSTABLE (BIT(IBV_QPS_RTS) | BIT(IBV_QPS_SQD) | BIT(IBV_QPS_SQE) | BIT(IBV_QPS_ERR))

_Static_assert((int)UHCA_ABI_WR_SEND == (int)IBV_WR_SEND &&
		       (int)UHCA_ABI_WR_RDMA_READ == (int)IBV_WR_RDMA_READ &&
		       (int)UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD == (int)IBV_WR_ATOMIC_FETCH_AND_ADD,
	       "opcodes travel untranslated");
_Static_assert(sizeof(struct ibv_sge) == sizeof(struct uhca_abi_sge), "so do elements");

static int check(const struct uhcav_qp *qp, const struct ibv_send_wr *wr)
{
	if ((unsigned)wr->opcode >= 32 || !(qp->send_mask & BIT(wr->opcode)))
		return EINVAL;
	if (wr->send_flags & ~FLAGS_KNOWN)
		return EINVAL;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return EINVAL;
	/* An address handle of another context would be a number that may name one of ours. */
	if (qp->qp.qp_type == IBV_QPT_UD &&
	    (!wr->wr.ud.ah || uhcav_ah_of(wr->wr.ud.ah)->ctx != qp->ctx))
		return EINVAL;
	return 0;
}

static uint64_t total_length(const struct ibv_send_wr *wr)
{
	uint64_t total = 0;

	for (int i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	return total;
}

/* ibv_post_send(3): inline data is copied before the call returns and needs no registration. */
static int put_inline(struct uhcav_qp *qp, const struct ibv_send_wr *wr,
		      struct uhca_abi_send_wqe *wqe, uint8_t *data)
{
	uint64_t total = total_length(wr);

	if (!(WITH_PAYLOAD & BIT(wr->opcode)) || total > qp->max_inline_data)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];
		if (sge->length)
			memcpy(data, (const void *)(uintptr_t)sge->addr, sge->length);
		data += sge->length;
	}
	wqe->flags |= UHCA_ABI_SEND_INLINE;
	wqe->num_sge = 0;
	wqe->inline_length = (uint32_t)total;
	return 0;
}

static void gather(struct uhcav_qp *qp, const struct ibv_send_wr *wr, struct uhca_abi_send_wqe *wqe,
		   uint8_t *data)
{
	uint64_t total = total_length(wr);

	if (!total || total > qp->gather_limit)
		return;
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];
		const void *from =
			uhcav_mr_table_find(&qp->ctx->regions, sge->lkey, sge->addr, sge->length);
		if (!from)
			return;
		memcpy(data, from, sge->length);
		data += sge->length;
	}
	wqe->flags |= UHCA_ABI_SEND_GATHERED;
	wqe->inline_length = (uint32_t)total;
}

static uint16_t abi_flags(unsigned flags)
{
	uint16_t f = 0;

	if (flags & IBV_SEND_SIGNALED)
		f |= UHCA_ABI_SEND_SIGNALED;
	if (flags & IBV_SEND_SOLICITED)
		f |= UHCA_ABI_SEND_SOLICITED;
	if (flags & IBV_SEND_FENCE)
		f |= UHCA_ABI_SEND_FENCE;
	return f;
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
	uint8_t *slot = uhcav_work_queue_slot(&qp->sq, index);
	uint8_t *data = qp->send_data + (size_t)(index & qp->sq.mask) * qp->data_stride;
	struct uhca_abi_send_wqe wqe = {.wr_id = wr->wr_id,
					.opcode = (uint8_t)wr->opcode,
					.num_sge = (uint8_t)wr->num_sge,
					.flags = abi_flags(wr->send_flags)};

	if (wr->send_flags & IBV_SEND_INLINE) {
		int err = put_inline(qp, wr, &wqe, data);
		if (err)
			return err;
	} else {
		if ((WITH_PAYLOAD & BIT(wr->opcode)) && !(wr->send_flags & IBV_SEND_FENCE))
			gather(qp, wr, &wqe, data);
		if (wr->num_sge)
			memcpy(slot + sizeof(wqe), wr->sg_list,
			       (size_t)wr->num_sge * sizeof(wr->sg_list[0]));
	}
	if (WITH_IMMEDIATE & BIT(wr->opcode))
		wqe.imm = wr->imm_data;
	put_target(qp, wr, &wqe);
	memcpy(slot, &wqe, sizeof(wqe));
	*uhcav_work_queue_posted(&qp->sq, index) = (struct uhcav_posted){
		.wr_id = wr->wr_id,
		.opcode = wqe.opcode,
		.signaled = qp->sq_sig_all || (wr->send_flags & IBV_SEND_SIGNALED),
	};
	return 0;
}

static int post(struct uhcav_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);
	int err = STATES_POSTABLE & BIT(state) ? 0 : EINVAL;

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
