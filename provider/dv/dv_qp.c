/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcadv_create_qp: ibv_create_qp_ex with what uhcadv.h adds to it. */
#include "dv.h"
#include "dv_layout.h"
#include "dv_wqe.h"
#include "dv_wr.h"
#include "provider/context/context.h"
#include "provider/post/post.h"

#include <errno.h>

#define CREATE "uhcadv_create_qp"
#define MASKED ((1u << UHCA_ABI_WR_MASKED_CMP_SWP) | (1u << UHCA_ABI_WR_MASKED_FETCH_ADD))

/* Room for what the QP's requests carry in their data. */
static uint32_t list_bytes(uint32_t entries, uint32_t opcodes)
{
	uint32_t bytes = entries * (uint32_t)sizeof(struct uhca_abi_block);

	if ((opcodes & 1u << UHCA_ABI_WR_REG_INTERLEAVED) && bytes < UHCAV_INTERLEAVED_BYTES)
		bytes = UHCAV_INTERLEAVED_BYTES;
	if ((opcodes & MASKED) && bytes < UHCAV_OPERAND_BYTES)
		bytes = UHCAV_OPERAND_BYTES;
	return bytes;
}

/* What dv asks for, as far as the device has it, and opcodes of builders. 0 or -errno. */
static int translate(struct uhcav_context *ctx, enum ibv_qp_type type,
		     const struct uhcadv_qp_init_attr *dv, struct uhcav_qp_extra *extra,
		     uint32_t *opcodes)
{
	struct uhca_cmd_device_attr device;
	int err;

	if (dv->comp_mask)
		return uhcav_refused(ctx, CREATE, -uhcav_dv_no_comp_mask(dv->comp_mask));
	if (dv->create_flags & ~(uint32_t)UHCADV_QP_LOW_LATENCY)
		return uhcav_refuse(ctx, CREATE, -EOPNOTSUPP,
				    "create_flags 0x%x has bits beyond 0x%x", dv->create_flags,
				    UHCADV_QP_LOW_LATENCY);
	err = uhcav_device_ask(ctx, &device);
	if (err)
		return err;
	if (dv->create_flags && !(device.features & UHCA_ABI_HAS_LOW_LATENCY))
		return uhcav_refuse(ctx, CREATE, -EOPNOTSUPP,
				    "the device does not support low latency");
	if (dv->max_list_entries > device.max_list_entries ||
	    dv->max_list_entries > UHCA_ABI_MAX_ENTRIES)
		return uhcav_refuse(ctx, CREATE, -EINVAL,
				    "max_list_entries %u exceeds the device's, %u",
				    dv->max_list_entries, device.max_list_entries);
	err = uhcav_dv_wr_opcodes(dv->send_ops_flags, type, device.features, opcodes);
	if (err)
		return uhcav_refused(ctx, CREATE, err);
	extra->with_table = *opcodes;
	extra->create_flags = dv->create_flags ? UHCA_ABI_QP_LOW_LATENCY : 0;
	extra->max_list_bytes = list_bytes(dv->max_list_entries, *opcodes);
	return 0;
}

static bool asks_nothing(const struct uhcadv_qp_init_attr *dv)
{
	return !dv ||
	       !(dv->comp_mask || dv->send_ops_flags || dv->create_flags || dv->max_list_entries);
}

/* XRC_RECV and RSS have no send queue: nothing of ours is for them. */
static bool has_sends(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->qp_type != IBV_QPT_XRC_RECV &&
	       !(attr->comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH));
}

struct ibv_qp *uhcav_dv_create_qp(struct ibv_context *ibctx, struct ibv_qp_init_attr_ex *attr,
				  const struct uhcadv_qp_init_attr *dv)
{
	struct uhcav_qp_extra extra = {.with_table = false};
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	uint32_t opcodes = 0;
	struct uhcav_qp *qp;
	int err;

	if (asks_nothing(dv))
		return uhcav_create_qp_ex(ibctx, attr);
	if (has_sends(attr))
		err = translate(ctx, attr->qp_type, dv, &extra, &opcodes);
	else
		err = uhcav_refuse(ctx, CREATE, -EOPNOTSUPP,
				   "QPs of type %d, or with RSS, cannot send", (int)attr->qp_type);
	/* The context is that of the PD, as everything that belongs to the QP must be. */
	if (!err && attr->pd && attr->pd->context != ibctx)
		err = uhcav_refuse(ctx, CREATE, -EINVAL, "the PD belongs to another context");
	if (!err)
		err = uhcav_qp_create_extra(attr, &extra, &qp);
	if (err)
		return uhcav_no_object(NULL, err);
	if (opcodes)
		uhcav_dv_wr_enable(qp, opcodes);
	return &qp->qp;
}
