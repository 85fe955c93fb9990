/* SPDX-License-Identifier: BSD-2-Clause */
/* A protection domain is a handle; what it protects, the device knows. */
#include "pd.h"

#include "parent_domain.h"
#include "provider/base/base.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_pd *uhcav_pd_new(struct ibv_context *ibctx, uint32_t handle)
{
	struct uhcav_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->pd.context = ibctx;
	pd->pd.handle = handle;
	return &pd->pd;
}

struct ibv_pd *uhcav_alloc_pd(struct ibv_context *ibctx)
{
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_ALLOC_PD, &request, &reply);
	struct ibv_pd *pd = uhcav_pd_new(ibctx, 0);
	int err;

	if (!pd)
		return NULL;
	err = uhcav_context_call(uhcav_context_of(ibctx), &call);
	if (err)
		return uhcav_no_object(pd, err);
	pd->handle = reply.handle;
	return pd;
}

int uhcav_dealloc_pd(struct ibv_pd *ibpd)
{
	struct uhcav_context *ctx = uhcav_context_of(ibpd->context);
	int err;

	if (uhcav_parent_domain_above(ctx, ibpd))
		return uhcav_failed(
			uhcav_refuse(ctx, "dealloc_pd", EBUSY,
				     "the protection domain is in use by a parent domain"));
	err = uhcav_parent_domain_leave(ctx, ibpd);
	if (err == EBUSY)
		return uhcav_failed(uhcav_refuse(ctx, "dealloc_pd", EBUSY,
						 "the parent domain is in use by objects"));
	if (err == ENOENT)
		err = uhcav_context_call_destroy(ctx, UHCA_CMD_DEALLOC_PD, ibpd->handle);
	if (!err)
		uhcav_let_go(ibpd);
	return uhcav_result(err);
}
