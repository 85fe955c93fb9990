/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_create_wq: creates a work queue and sets its posting function. */
#include "create_wq.h"

#include "post_recv.h"
#include "provider/base/base.h"
#include "provider/context/context.h"
#include "provider/queues/queues.h"

#include <errno.h>

static int post_recv(struct ibv_wq *ibwq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct uhca_cmd_fault_check ask = {.verb = UHCA_FAULT_POST_WQ_RECV};
	struct uhcav_wq *wq = uhcav_wq_of(ibwq);
	int err = uhcav_life(wq->ctx) == UHCAV_ALIVE ? 0 : EIO;

	if (!err && __atomic_load_n(&ibwq->state, __ATOMIC_ACQUIRE) == IBV_WQS_RESET)
		err = uhcav_refuse(wq->ctx, "post_wq_recv", EINVAL,
				   "the work queue is in RESET; receives need RDY");
	if (err) {
		*bad_wr = wr;
		return uhcav_failed(err);
	}
	err = uhcav_post_watched(wq->ctx)
		      ? uhcav_work_queue_ask_post(wq->ctx, &ask, &wq->rq, wr, bad_wr)
		      : uhcav_work_queue_post(&wq->rq, wr, bad_wr);
	uhca_ring_fence();
	if (__atomic_load_n(&wq->page->recv_doorbell, __ATOMIC_RELAXED))
		uhcav_wq_flush(wq);
	if (__builtin_expect(err != 0, 0))
		uhcav_post_refused(wq->ctx, &(struct uhcav_post){.verb = "post_wq_recv"}, err);
	return uhcav_failed(err);
}

struct ibv_wq *uhcav_create_wq(struct ibv_context *ibctx, struct ibv_wq_init_attr *attr)
{
	struct ibv_wq *wq = uhcav_wq_new(ibctx, attr);

	if (wq)
		wq->post_recv = post_recv;
	return wq;
}
