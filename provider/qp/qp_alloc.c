/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocates and frees the provider's part of a QP. */
#include "qp_alloc.h"

#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>

struct uhcav_qp *uhcav_qp_alloc(struct ibv_context *ibctx, enum ibv_qp_type type, void *qp_context,
				bool single_threaded)
{
	struct uhcav_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->ctx = uhcav_context_of(ibctx);
	qp->state = IBV_QPS_RESET;
	single_threaded |= qp->ctx->single_threaded;
	uhcav_lock_init(&qp->sq.lock, single_threaded);
	uhcav_lock_init(&qp->rq.lock, single_threaded);
	qp->qp.context = ibctx;
	qp->qp.qp_context = qp_context;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = type;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	return qp;
}

int uhcav_qp_take_region(struct uhcav_qp *qp, uint32_t handle, uint64_t region_size, int fd)
{
	void *base;
	int err = uhcav_context_map(fd, region_size, true, UHCA_ABI_REGION_QP, &base);

	if (err) {
		uhcav_context_call_handle(qp->ctx, UHCA_CMD_DESTROY_QP, handle);
		return err;
	}
	qp->page = base;
	qp->region_size = region_size;
	qp->qp.handle = handle;
	return 0;
}

struct ibv_qp *uhcav_qp_finish(struct uhcav_qp *qp, int err)
{
	return err ? uhcav_no_object(qp, err) : &qp->qp;
}
