/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_post_recv and ibv_post_srq_recv. The device looks for receives when a message needs one, so
 * posting rings no doorbell; except when it says that it waits for them (recv_doorbell), because
 * in the error state a receive is completed as soon as it is posted.
 */
#include "post_recv.h"

#include "emu/abi/wqe.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"
#include "send_wqe.h"

#include <errno.h>
#include <string.h>

/* One request into the slot at the producer index. Under the lock. */
static int recv_wqe_write(struct uhcav_work_queue *wq, const struct ibv_recv_wr *wr)
{
	struct uhca_abi_recv_wqe wqe = {.wr_id = wr->wr_id, .num_sge = (uint32_t)wr->num_sge};
	uint8_t *slot;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > wq->max_sge)
		return uhcav_because(EINVAL, "num_sge %d is not from 0 to the queue's max_sge, %u",
				     wr->num_sge, wq->max_sge);
	if (uhcav_work_queue_full(wq))
		return ENOMEM;
	slot = uhcav_work_queue_slot(wq, wq->producer);
	memcpy(slot, &wqe, sizeof(wqe));
	if (wr->num_sge)
		memcpy(slot + sizeof(wqe), wr->sg_list,
		       (size_t)wr->num_sge * sizeof(wr->sg_list[0]));
	if (wq->posted)
		uhcav_work_queue_posted(wq, wq->producer)->wr_id = wr->wr_id;
	wq->producer++;
	return 0;
}

int uhcav_work_queue_post(struct uhcav_work_queue *wq, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr)
{
	uint32_t before;
	int err = 0;

	uhcav_lock(&wq->lock);
	before = wq->producer;
	for (; wr && !err; wr = err ? wr : wr->next)
		err = recv_wqe_write(wq, wr);
	if (err)
		*bad_wr = wr;
	if (wq->producer != before)
		uhca_ring_publish(&wq->ring->producer, wq->producer);
	uhcav_unlock(&wq->lock);
	return err;
}

int uhcav_work_queue_ask_post(struct uhcav_context *ctx, struct uhca_cmd_fault_check *ask,
			      struct uhcav_work_queue *wq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr)
{
	struct uhcav_post_fault fault;
	int err = 0;

	for (const struct ibv_recv_wr *w = wr; w; w = w->next)
		ask->requests++;
	fault = uhcav_post_fault(ctx, ask);
	if (!fault.err)
		return uhcav_work_queue_post(wq, wr, bad_wr);
	for (; fault.first > 0 && !err; fault.first--) {
		struct ibv_recv_wr one = *wr, *bad;

		one.next = NULL;
		err = uhcav_work_queue_post(wq, &one, &bad);
		if (!err)
			wr = wr->next;
	}
	*bad_wr = wr;
	return err ? err : fault.err;
}

static int ask_qp(struct uhcav_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_POST_RECV, .qpn = qp->qp.qp_num};

	return uhcav_work_queue_ask_post(qp->ctx, &ask, &qp->rq, wr, bad_wr);
}

static int recv_state(const struct uhcav_qp *qp)
{
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);

	if (uhcav_life(qp->ctx) != UHCAV_ALIVE)
		return EIO;
	if (qp->qp.srq)
		return uhcav_because(EINVAL, "the QP has an SRQ: post receives to the SRQ");
	if (!qp->qp.recv_cq)
		return uhcav_because(EINVAL, "the QP has no receive queue");
	if (state == IBV_QPS_RESET)
		return uhcav_because(EINVAL, "the QP is in RESET: receives need at least INIT");
	return 0;
}

int uhcav_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhcav_qp *qp = uhcav_qp_of(ibqp);
	int err = recv_state(qp);

	if (err) {
		*bad_wr = wr;
		uhcav_send_refused(qp, "post_recv", err, wr ? wr->wr_id : 0);
		return uhcav_failed(err);
	}
	err = uhcav_post_watched(qp->ctx) ? ask_qp(qp, wr, bad_wr)
					  : uhcav_work_queue_post(&qp->rq, wr, bad_wr);
	uhca_ring_fence();
	if (__atomic_load_n(&qp->page->recv_doorbell, __ATOMIC_RELAXED))
		uhcav_context_ring(qp->ctx, qp->doorbell);
	if (__builtin_expect(err != 0, 0))
		uhcav_send_refused(qp, "post_recv", err, *bad_wr ? (*bad_wr)->wr_id : 0);
	return uhcav_failed(err);
}

static int ask_srq(struct uhcav_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_POST_SRQ_RECV,
					   .srq = srq->srq.handle};

	return uhcav_work_queue_ask_post(srq->ctx, &ask, &srq->rq, wr, bad_wr);
}

int uhcav_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhcav_srq *srq = uhcav_srq_of(ibsrq);
	int err;

	if (uhcav_life(srq->ctx) != UHCAV_ALIVE) {
		*bad_wr = wr;
		return uhcav_failed(EIO);
	}
	err = uhcav_post_watched(srq->ctx) ? ask_srq(srq, wr, bad_wr)
					   : uhcav_work_queue_post(&srq->rq, wr, bad_wr);
	if (__builtin_expect(err != 0, 0))
		uhcav_post_refused(srq->ctx, &(struct uhcav_post){.verb = "post_srq_recv"}, err);
	return uhcav_failed(err);
}
