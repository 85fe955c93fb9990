/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a QP's outstanding work becomes when the daemon has died: one completion with
 * WR_FLUSH_ERR per work request, in the order of posting.
 *
 * Sends: the device retires a slot when it has completed the request, so what stands between its
 * consumer index and our producer is outstanding. Receives: the device frees a slot when it has
 * copied the request, possibly long before the message is complete, so completed receives are
 * counted as they are polled, and their wr_ids are kept on our side. Receives of an SRQ belong to
 * no QP and stay with the SRQ, as they do on hardware.
 */
#include "qp.h"
#include "wqe.h"

#include <string.h>

static uint32_t send_first(struct uhcav_qp *qp)
{
	if (!qp->send_flushing) {
		qp->send_flushing = true;
		qp->send_flushed = uhca_ring_observe(&qp->sq.ring->consumer);
	}
	return qp->send_flushed;
}

uint32_t uhcav_qp_send_outstanding(struct uhcav_qp *qp)
{
	uint32_t n;

	if (!qp->sq.entries)
		return 0;
	uhcav_lock(&qp->sq.lock);
	n = qp->sq.producer - send_first(qp);
	uhcav_unlock(&qp->sq.lock);
	/* Not more than there are slots, whatever the dead daemon left in the shared page. */
	return n <= qp->sq.mask + 1 ? n : 0;
}

uint32_t uhcav_qp_recv_outstanding(struct uhcav_qp *qp)
{
	uint32_t n;

	if (!qp->rq.entries)
		return 0;
	uhcav_lock(&qp->rq.lock);
	n = qp->rq.producer - qp->recv_completed;
	uhcav_unlock(&qp->rq.lock);
	return n <= 2 * (qp->rq.mask + 1) ? n : 0;
}

static void flushed(const struct uhcav_qp *qp, uint64_t wr_id, enum ibv_wc_opcode opcode,
		    struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = IBV_WC_WR_FLUSH_ERR;
	wc->opcode = opcode;
	wc->qp_num = qp->qp.qp_num;
}

static enum ibv_wc_opcode send_opcode(uint8_t wr_opcode)
{
	switch (wr_opcode) {
	case UHCA_ABI_WR_RDMA_WRITE:
	case UHCA_ABI_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case UHCA_ABI_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case UHCA_ABI_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default: /* a byte of shared memory, not an enum */
		return IBV_WC_SEND;
	}
}

int uhcav_qp_flush_send(struct uhcav_qp *qp, int n, struct ibv_wc *wc)
{
	uint32_t left = uhcav_qp_send_outstanding(qp);
	int got;

	for (got = 0; got < n && left; got++, left--) {
		const struct uhca_abi_send_wqe *wqe =
			(const void *)uhcav_work_queue_slot(&qp->sq, qp->send_flushed++);
		flushed(qp, wqe->wr_id, send_opcode(wqe->opcode), &wc[got]);
	}
	return got;
}

int uhcav_qp_flush_recv(struct uhcav_qp *qp, int n, struct ibv_wc *wc)
{
	uint32_t left = uhcav_qp_recv_outstanding(qp);
	uint32_t mask = qp->rq.mask * 2 + 1;
	int got;

	for (got = 0; got < n && left; got++, left--)
		flushed(qp, qp->rq.wr_id[qp->recv_completed++ & mask], IBV_WC_RECV, &wc[got]);
	return got;
}
