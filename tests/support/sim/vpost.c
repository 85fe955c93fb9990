/* SPDX-License-Identifier: BSD-2-Clause */
/* See vclient.h: laying work requests into rings, byte for byte as emu/abi/wqe.h says. */
#include "vclient.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

uint32_t vqp_send_used(const struct vqp *qp)
{
	return qp->send.producer - uhca_ring_observe(&qp->send.ring->consumer);
}

static bool ring_full(const struct vring *r)
{
	return r->producer - uhca_ring_observe(&r->ring->consumer) >= r->max_wr;
}

static uint8_t *ring_slot(const struct vring *r)
{
	return r->base + r->at.offset + (size_t)(r->producer & (r->at.entries - 1)) * r->at.stride;
}

static uint8_t *data_area(const struct vring *r)
{
	return r->base + r->at.data_offset +
	       (size_t)(r->producer & (r->at.entries - 1)) * r->at.data_stride;
}

/* Copies the payload into the slot's data area; returns its length, or -EINVAL when too long. */
static int64_t gather(struct vqp *qp, const struct vsend *wr)
{
	struct vring *r = &qp->send;
	uint8_t *data = data_area(r);
	uint32_t n = 0;

	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const uint8_t *from = memory_at(&qp->c->mem, wr->sge[i].addr, wr->sge[i].length);

		if (wr->sge[i].length > r->at.data_stride - n || !from)
			return -EINVAL;
		memcpy(data + n, from, wr->sge[i].length);
		n += wr->sge[i].length;
	}
	return n;
}

static bool is_masked(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_MASKED_CMP_SWP || opcode == UHCA_ABI_WR_MASKED_FETCH_ADD;
}

static void fill_target(struct uhca_abi_send_wqe *e, const struct vqp *qp, const struct vsend *wr)
{
	if (qp->type == IBV_QPT_UD) {
		e->ud.ah = wr->ah;
		e->ud.remote_qpn = wr->remote_qpn;
		e->ud.remote_qkey = wr->remote_qkey;
	} else if (wr->opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD) {
		e->atomic.remote_addr = wr->remote_addr;
		e->atomic.rkey = wr->rkey;
		e->atomic.compare_add = wr->compare_add;
		e->atomic.swap = wr->swap;
	} else if (wr->opcode == UHCA_ABI_WR_BIND_MW) {
		e->bind.addr = wr->bind.addr;
		e->bind.length = wr->bind.length;
		e->bind.mr_lkey = wr->bind.mr_lkey;
		e->bind.mw_rkey = wr->bind.mw_rkey;
		e->bind.new_rkey = wr->bind.new_rkey;
		e->bind.access = wr->bind.access;
	} else if (wr->opcode >= UHCA_ABI_WR_REG_MR && wr->opcode <= UHCA_ABI_WR_REG_SG) {
		e->reg = wr->reg;
	} else if (wr->opcode == UHCA_ABI_WR_FLUSH) {
		e->flush.remote_addr = wr->remote_addr;
		e->flush.rkey = wr->rkey;
		e->flush.length = wr->flush_length;
		e->flush.type = wr->flush_type;
		e->flush.level = wr->flush_level;
	} else if (is_masked(wr->opcode)) {
		e->masked.remote_addr = wr->remote_addr;
		e->masked.rkey = wr->rkey;
		e->masked.size = wr->masked.size;
	} else {
		e->rdma.remote_addr = wr->remote_addr;
		e->rdma.rkey = wr->rkey;
	}
}

int vqp_queue_send(struct vqp *qp, const struct vsend *wr)
{
	struct uhca_abi_send_wqe e = {.wr_id = wr->wr_id,
				      .opcode = wr->opcode,
				      .num_sge = (uint8_t)wr->num_sge,
				      .flags = wr->flags,
				      .imm = wr->imm,
				      .xrc_srqn = wr->xrc_srqn};
	uint8_t *slot = ring_slot(&qp->send);

	if (ring_full(&qp->send))
		return -ENOMEM;
	if (wr->mode != VPOST_INLINE && wr->num_sge > qp->send.max_sge)
		return -EINVAL;
	if (wr->mode != VPOST_PLAIN) {
		int64_t n = gather(qp, wr);

		if (n < 0)
			return (int)n;
		e.inline_length = (uint32_t)n;
		e.flags |= wr->mode == VPOST_INLINE ? UHCA_ABI_SEND_INLINE : UHCA_ABI_SEND_GATHERED;
	}
	if (wr->mode == VPOST_INLINE)
		e.num_sge = 0;
	if (wr->list_bytes > qp->send.at.data_stride)
		return -E2BIG;
	if (wr->list_bytes) {
		memcpy(data_area(&qp->send), wr->list, wr->list_bytes);
		e.inline_length = wr->list_bytes;
	}
	if (is_masked(wr->opcode) && wr->mode == VPOST_PLAIN) {
		if (wr->masked.bytes > qp->send.at.data_stride)
			return -EINVAL;
		if (wr->masked.bytes)
			memcpy(data_area(&qp->send), wr->masked.operands, wr->masked.bytes);
		e.inline_length = wr->masked.bytes;
	}
	fill_target(&e, qp, wr);
	memcpy(slot, &e, sizeof e);
	if (e.num_sge)
		memcpy(slot + sizeof e, wr->sge, e.num_sge * sizeof *wr->sge);
	uhca_ring_publish(&qp->send.ring->producer, ++qp->send.producer);
	return 0;
}

void vqp_doorbell(struct vqp *qp)
{
	core_doorbell(qp->c->core, qp->doorbell, *qp->c->host->now);
	qp->c->host->dirty = true;
}

int vqp_post_send(struct vqp *qp, const struct vsend *wr)
{
	int rc = vqp_queue_send(qp, wr);

	if (rc == 0)
		vqp_doorbell(qp);
	return rc;
}

static int post_recv(struct vring *r, const struct vrecv *wr)
{
	struct uhca_abi_recv_wqe e = {.wr_id = wr->wr_id, .num_sge = wr->num_sge};
	uint8_t *slot;

	if (!r->at.entries || wr->num_sge > r->max_sge)
		return -EINVAL;
	if (ring_full(r))
		return -ENOMEM;
	slot = ring_slot(r);
	memcpy(slot, &e, sizeof e);
	if (wr->num_sge)
		memcpy(slot + sizeof e, wr->sge, wr->num_sge * sizeof *wr->sge);
	uhca_ring_publish(&r->ring->producer, ++r->producer);
	return 0;
}

int vqp_post_recv(struct vqp *qp, const struct vrecv *wr)
{
	int rc = post_recv(&qp->recv, wr);

	if (rc == 0 && uhca_ring_observe(&qp->page->recv_doorbell))
		vqp_doorbell(qp);
	return rc;
}

uint32_t vsrq_recv_used(const struct vsrq *srq)
{
	return srq->recv.producer - uhca_ring_observe(&srq->recv.ring->consumer);
}

int vsrq_post_recv(struct vsrq *srq, const struct vrecv *wr)
{
	return post_recv(&srq->recv, wr);
}
