/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates and destroys RSS QPs. */
#include "rss.h"

#include "qp_alloc.h"
#include "raw_right.h"

#include <errno.h>
#include <string.h>

#define BOTH (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)

bool uhcav_rss_wanted(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & BOTH;
}

static int check(struct ibv_context *ibctx, const struct ibv_qp_init_attr_ex *attr)
{
	static const char verb[] = "create_qp_ex";
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	const uint32_t key_len = sizeof(((struct uhca_cmd_create_qp *)NULL)->rx_hash_key);
	const uint32_t known = BOTH | IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;

	if (attr->comp_mask & ~known)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, known);
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags)
		return uhcav_refuse(ctx, verb, -EOPNOTSUPP,
				    "create_flags 0x%x: a QP with rwq_ind_tbl supports none",
				    attr->create_flags);
	if ((attr->comp_mask & BOTH) != BOTH || !(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		return uhcav_refuse(
			ctx, verb, -EINVAL,
			"comp_mask 0x%x: rwq_ind_tbl, rx_hash_conf and pd are required together",
			attr->comp_mask);
	if (!attr->pd || attr->pd->context != ibctx || !attr->rwq_ind_tbl ||
	    attr->rwq_ind_tbl->context != ibctx)
		return uhcav_refuse(ctx, verb, -EINVAL, "pd or rwq_ind_tbl is not of this context");
	if (!hash->rx_hash_key || hash->rx_hash_key_len != key_len)
		return uhcav_refuse(ctx, verb, -EINVAL, "rx_hash_key_len %u is not %u",
				    hash->rx_hash_key_len, key_len);
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
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_CREATE_QP, &request, &reply, .recv_fd = &fd, .n_recv_fd = 1);
	int err;

	memcpy(request.rx_hash_key, hash->rx_hash_key, hash->rx_hash_key_len);
	err = uhcav_raw_right_call(qp->ctx, &call, attr->qp_type);
	if (err)
		return err;
	qp->qp.qp_num = reply.qpn;
	return uhcav_qp_take_region(qp, reply.handle, reply.region_size, fd);
}

/* It stays in RESET, so that posting to it is refused like any post too early. */
static struct uhcav_qp *alloc_rss(struct ibv_context *ibctx, const struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp *qp = uhcav_qp_alloc(ibctx, attr->qp_type, attr->qp_context, false);

	if (qp)
		qp->qp.pd = attr->pd;
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
	if (!err)
		memset(&attr->cap, 0, sizeof(attr->cap));
	return uhcav_qp_finish(qp, err);
}
