/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_resize_cq(3) and ibv_modify_cq(3). The device moves what waits into a new ring; while it
 * does, nobody may take entries out of the old one. The lock is not held meanwhile, because a
 * call that finds the daemon dead raises events of all CQs: a flag keeps pollers away.
 */
#include "cq.h"

#include "provider/base/base.h"

#include <errno.h>

/* One resize at a time; and a thread that does nothing else does not keep pollers out. */
static void begin_resize(struct uhcav_cq *cq)
{
	uhcav_lock(&cq->lock);
	while (cq->resizing || cq->waiters) {
		uhcav_unlock(&cq->lock);
		uhcav_yield_backoff();
		uhcav_lock(&cq->lock);
	}
	cq->resizing = true;
	uhcav_unlock(&cq->lock);
}

static void end_resize(struct uhcav_cq *cq)
{
	uhcav_lock(&cq->lock);
	cq->resizing = false;
	uhcav_unlock(&cq->lock);
}

static int resize_command(struct uhcav_cq *cq, int cqe, struct uhca_cmd_create_cq_reply *reply,
			  int *fd)
{
	struct uhca_cmd_resize_cq request = {.handle = cq->cq.handle, .cqe = (uint32_t)cqe};
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_RESIZE_CQ, &request, reply, .recv_fd = fd, .n_recv_fd = 1);

	return uhcav_context_call(cq->ctx, &call);
}

int uhcav_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	struct uhca_cmd_create_cq_reply reply;
	int fd;
	int err;

	if (cqe < 1)
		return uhcav_failed(
			uhcav_refuse(cq->ctx, "resize_cq", EINVAL, "cqe %d is less than 1", cqe));
	begin_resize(cq);
	err = resize_command(cq, cqe, &reply, &fd);
	if (!err) {
		uhcav_lock(&cq->lock);
		err = uhcav_cq_map(cq, &reply, fd);
		uhcav_unlock(&cq->lock);
		/*
		 * The device completes to a ring that we cannot see: nothing here works any more.
		 */
		if (err)
			uhcav_context_fatal(cq->ctx);
	}
	end_resize(cq);
	return uhcav_result(err);
}

int uhcav_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	struct uhca_cmd_modify_cq request = {.handle = cq->cq.handle,
					     .cq_count = attr->moderate.cq_count,
					     .cq_period = attr->moderate.cq_period};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_MODIFY_CQ, &request);

	if (attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE)
		return uhcav_failed(uhcav_refuse(
			cq->ctx, "modify_cq", EINVAL,
			"attr_mask 0x%x has bits beyond IBV_CQ_ATTR_MODERATE", attr->attr_mask));
	return attr->attr_mask ? uhcav_result(uhcav_context_call(cq->ctx, &call)) : 0;
}
