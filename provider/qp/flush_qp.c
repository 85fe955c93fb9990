/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a QP's outstanding work becomes when the daemon has died: one completion with
 * WR_FLUSH_ERR per work request, in the order of posting.
 *
 * Sends: the device gives a slot back just before it completes the request, so what stands between
 * its consumer index and our producer is outstanding; and the request before, when the daemon died
 * in between, which shows by its completion not being the last that was polled.
 * Receives: the device frees a slot when it has copied the request, possibly long before the
 * message is complete, so completed receives are counted as they are polled. Receives of an SRQ
 * belong to no QP and stay with the SRQ, as they do on hardware.
 */
#include "queue_pair.h"

#include "emu/abi/cqe.h"
#include "emu/abi/wqe.h"

#include <string.h>

/* Was the last request whose slot the device gave back to complete, and has not? */
static bool one_missing(const struct uhcav_qp *qp, uint32_t consumer)
{
	if (consumer == qp->sq.polled)
		return false;
	return qp->send_failed || uhcav_work_queue_posted(&qp->sq, consumer - 1)->signaled;
}

/* Looks at the shared page once, when the flush begins. Under the send queue's lock. */
static void begin(struct uhcav_qp *qp)
{
	uint32_t consumer = uhca_ring_observe(&qp->sq.ring->consumer);

	qp->send_flushing = true;
	qp->send_flushed = qp->sq.producer;
	/* Not more than there are slots, whatever the dead daemon left in the page. */
	if (qp->sq.producer - consumer <= qp->sq.mask + 1)
		qp->send_flushed = consumer - one_missing(qp, consumer);
}

uint32_t uhcav_qp_send_outstanding(struct uhcav_qp *qp)
{
	uint32_t n;

	if (!qp->sq.entries)
		return 0;
	uhcav_lock(&qp->sq.lock);
	if (!qp->send_flushing)
		begin(qp);
	n = qp->sq.producer - qp->send_flushed;
	uhcav_unlock(&qp->sq.lock);
	return n;
}

uint32_t uhcav_qp_recv_outstanding(struct uhcav_qp *qp)
{
	uint32_t n;

	if (!qp->rq.entries)
		return 0;
	uhcav_lock(&qp->rq.lock);
	n = qp->rq.producer - qp->rq.polled;
	uhcav_unlock(&qp->rq.lock);
	return n <= 2 * (qp->rq.mask + 1) ? n : 0;
}

static void flushed(const struct uhcav_qp *qp, uint64_t wr_id, enum ibv_wc_opcode opcode,
		    struct ibv_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->status = IBV_WC_WR_FLUSH_ERR;
	wc->vendor_err = UHCA_ABI_FOUND_DEVICE_GONE;
	wc->opcode = opcode;
	wc->qp_num = qp->qp.qp_num;
}

/* Of the requests whose completions are not named SEND. */
static const uint8_t completion[UHCA_ABI_WR_COUNT] = {
	[UHCA_ABI_WR_RDMA_WRITE] = UHCA_ABI_WC_RDMA_WRITE,
	[UHCA_ABI_WR_RDMA_WRITE_WITH_IMM] = UHCA_ABI_WC_RDMA_WRITE,
	[UHCA_ABI_WR_RDMA_READ] = UHCA_ABI_WC_RDMA_READ,
	[UHCA_ABI_WR_ATOMIC_CMP_AND_SWP] = UHCA_ABI_WC_COMP_SWAP,
	[UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD] = UHCA_ABI_WC_FETCH_ADD,
	[UHCA_ABI_WR_BIND_MW] = UHCA_ABI_WC_BIND_MW,
	[UHCA_ABI_WR_LOCAL_INV] = UHCA_ABI_WC_LOCAL_INV,
	[UHCA_ABI_WR_FLUSH] = UHCA_ABI_WC_FLUSH,
	[UHCA_ABI_WR_ATOMIC_WRITE] = UHCA_ABI_WC_ATOMIC_WRITE,
	[UHCA_ABI_WR_REG_MR] = UHCA_ABI_WC_REG_MR,
	[UHCA_ABI_WR_REG_INTERLEAVED] = UHCA_ABI_WC_REG_INTERLEAVED,
	[UHCA_ABI_WR_REG_SG] = UHCA_ABI_WC_REG_SG,
	[UHCA_ABI_WR_READ_WITH_INV] = UHCA_ABI_WC_READ_WITH_INV,
	[UHCA_ABI_WR_MASKED_CMP_SWP] = UHCA_ABI_WC_MASKED_CMP_SWP,
	[UHCA_ABI_WR_MASKED_FETCH_ADD] = UHCA_ABI_WC_MASKED_FETCH_ADD,
};

static enum ibv_wc_opcode send_opcode(uint8_t wr_opcode)
{
	return (enum ibv_wc_opcode)(wr_opcode < UHCA_ABI_WR_COUNT ? completion[wr_opcode] : 0);
}

int uhcav_qp_flush_send(struct uhcav_qp *qp, int n, struct ibv_wc *wc)
{
	uint32_t left = uhcav_qp_send_outstanding(qp);
	int got;

	for (got = 0; got < n && left; got++, left--) {
		const struct uhcav_posted *p = uhcav_work_queue_posted(&qp->sq, qp->send_flushed++);
		flushed(qp, p->wr_id, send_opcode(p->opcode), &wc[got]);
	}
	return got;
}

int uhcav_qp_flush_recv(struct uhcav_qp *qp, int n, struct ibv_wc *wc)
{
	uint32_t left = uhcav_qp_recv_outstanding(qp);
	int got;

	for (got = 0; got < n && left; got++, left--)
		flushed(qp, uhcav_work_queue_posted(&qp->rq, qp->rq.polled++)->wr_id, IBV_WC_RECV,
			&wc[got]);
	return got;
}

void uhcav_qp_forget_sends(struct uhcav_qp *qp)
{
	uhcav_lock(&qp->sq.lock);
	uhcav_work_queue_polled(&qp->sq, qp->sq.producer);
	qp->send_failed = false;
	uhcav_unlock(&qp->sq.lock);
}

void uhcav_qp_forget_recvs(struct uhcav_qp *qp)
{
	uhcav_lock(&qp->rq.lock);
	uhcav_work_queue_polled(&qp->rq, qp->rq.producer);
	uhcav_unlock(&qp->rq.lock);
}
