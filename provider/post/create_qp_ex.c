/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_create_qp_ex: creates a QP and sets its posting functions. */
#include "create_qp_ex.h"

#include "provider/context/context.h"
#include "provider/qp/qp.h"
#include "qp_ex.h"

#include <errno.h>
#include <stdlib.h>

/*
 * May the QP have these ibv_wr_* calls? What the device lacks is refused now; with ibv_post_send,
 * which nobody announces, the device refuses it later. 0 or -errno.
 */
static int check_ops(struct uhcav_qp *qp, uint64_t ops)
{
	uint32_t features;
	int err = uhcav_device_features(qp->ctx, &features);

	if (err)
		return err;
	qp->send_mask &= uhcav_qp_ex_opcodes(features);
	return uhcav_qp_ex_check(qp, ops);
}

static int create(struct ibv_qp_init_attr *attr, struct ibv_pd *pd,
		  const struct uhcav_qp_extra *extra, struct uhcav_qp **out)
{
	struct uhcav_qp *qp = NULL;
	int err = uhcav_qp_new(pd, attr, &qp);

	if (err)
		return err;
	qp->create_flags = extra->create_flags;
	err = extra->with_table ? check_ops(qp, extra->ops) : 0;
	if (!err)
		err = uhcav_qp_open(qp, attr, extra->max_list_bytes);
	if (err) {
		free(qp);
		return err;
	}
	if (extra->with_table)
		uhcav_qp_ex_enable(qp, extra->ops);
	*out = qp;
	return 0;
}

int uhcav_qp_create_extra(struct ibv_qp_init_attr_ex *attr, struct uhcav_qp_extra *extra,
			  struct uhcav_qp **out)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	uint32_t flags = attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;

	/* For which QPs the flag is good is the device's to say. */
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		return -EINVAL; /* as the library itself has it: there is no context to tell by */
	if (attr->comp_mask & ~known)
		return uhcav_refuse(uhcav_context_of(attr->pd->context), "create_qp_ex",
				    -EOPNOTSUPP, "comp_mask 0x%x has bits beyond 0x%x",
				    attr->comp_mask, known);
	if (flags & ~(uint32_t)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		return uhcav_refuse(uhcav_context_of(attr->pd->context), "create_qp_ex",
				    -EOPNOTSUPP,
				    "create_flags 0x%x has bits beyond BLOCK_SELF_MCAST_LB", flags);
	extra->create_flags |= flags;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		extra->with_table = true;
		extra->ops = attr->send_ops_flags;
	}
	/* The extended struct begins with the fields of the plain one, by design of verbs. */
	return create((struct ibv_qp_init_attr *)attr, attr->pd, extra, out);
}

struct ibv_qp *uhcav_create_qp_ex(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr)
{
	struct uhcav_qp_extra extra = {.with_table = false};
	struct uhcav_qp *qp;
	int err;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return uhcav_create_shared_qp(ibctx, attr);
	if (uhcav_rss_wanted(attr))
		return uhcav_create_rss_qp(ibctx, attr);
	err = uhcav_qp_create_extra(attr, &extra, &qp);
	return err ? uhcav_no_object(NULL, err) : &qp->qp;
}
