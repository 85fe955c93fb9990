/* SPDX-License-Identifier: BSD-2-Clause */
/* See rss.h. */
#include "rss.h"

#include "queue_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOTH (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)

bool uhcav_rss_wanted(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & BOTH;
}

static int check(const struct ibv_context *ibctx, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = BOTH | IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;

	if ((attr->comp_mask & ~known) ||
	    ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags))
		return -EOPNOTSUPP;
	if ((attr->comp_mask & BOTH) != BOTH || !(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    !attr->pd || attr->pd->context != ibctx || !attr->rwq_ind_tbl ||
	    attr->rwq_ind_tbl->context != ibctx || !hash->rx_hash_key ||
	    hash->rx_hash_key_len != sizeof(((struct uhca_cmd_create_qp *)NULL)->rx_hash_key))
		return -EINVAL;
	return 0;
}

static int create_command(struct uhcav_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	struct uhca_cmd_create_qp request = {.cookie = (uintptr_t)&qp->qp,
					     .pd = attr->pd->handle,
					     .qp_type = attr->qp_type,
					     .rwq_ind_table =
						     (uint32_t)attr->rwq_ind_tbl->ind_tbl_handle,
					     .rx_hash_fields = hash->rx_hash_fields_mask,
					     .rx_hash_function = hash->rx_hash_function,
					     .rx_hash_key_len = hash->rx_hash_key_len};
	struct uhca_cmd_create_qp_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_CREATE_QP,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	void *base;
	int err;

	memcpy(request.rx_hash_key, hash->rx_hash_key, hash->rx_hash_key_len);
	err = uhcav_context_call(qp->ctx, &call);
	if (err)
		return err;
	err = uhcav_context_map(fd, reply.region_size, true, UHCA_ABI_REGION_QP, &base);
	if (err) {
		uhcav_context_call_handle(qp->ctx, UHCA_CMD_DESTROY_QP, reply.handle);
		return err;
	}
	qp->page = base;
	qp->region_size = reply.region_size;
	qp->qp.handle = reply.handle;
	qp->qp.qp_num = reply.qpn;
	return 0;
}

/* It stays in RESET, so that posting to it is refused like any post too early. */
static struct uhcav_qp *alloc_rss(struct ibv_context *ibctx, const struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	qp->ctx = uhcav_context_of(ibctx);
	qp->state = IBV_QPS_RESET;
	uhcav_lock_init(&qp->sq.lock, qp->ctx->single_threaded);
	uhcav_lock_init(&qp->rq.lock, qp->ctx->single_threaded);
	qp->qp.context = ibctx;
	qp->qp.qp_context = attr->qp_context;
	qp->qp.pd = attr->pd;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = attr->qp_type;
	return qp;
}

struct ibv_qp *uhcav_create_rss_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp *qp = NULL;
	int err = check(ibctx, attr);

	if (!err) {
		qp = alloc_rss(ibctx, attr);
		err = qp ? create_command(qp, attr) : -ENOMEM;
	}
	if (err) {
		free(qp);
		errno = -err;
		return NULL;
	}
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	memset(&attr->cap, 0, sizeof(attr->cap));
	return &qp->qp;
}
