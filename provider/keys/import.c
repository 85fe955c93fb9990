/* SPDX-License-Identifier: BSD-2-Clause */
/* The device knows whether the handle is one we may name; see cmd_import.h. */
#include "import.h"

#include "mr.h"
#include "pd.h"

#include <errno.h>
#include <stdlib.h>

int uhcav_import_ask(struct ibv_context *ibctx, uint32_t type, uint32_t handle,
		     struct uhca_cmd_import_reply *reply, int *fd)
{
	struct uhca_cmd_import request = {.type = type, .handle = handle};
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_IMPORT, &request, reply, .recv_fd = fd,
					    .n_recv_fd = fd ? 1 : 0);
	int err = uhcav_context_call(uhcav_context_of(ibctx), &call);

	if (err)
		errno = -err;
	return err;
}

struct ibv_pd *uhcav_import_pd(struct ibv_context *ibctx, uint32_t handle)
{
	struct uhca_cmd_import_reply reply;

	return uhcav_import_ask(ibctx, UHCA_ABI_IMPORT_PD, handle, &reply, NULL)
		       ? NULL
		       : uhcav_pd_new(ibctx, handle);
}

void uhcav_unimport_pd(struct ibv_pd *pd)
{
	free(pd);
}

struct ibv_mr *uhcav_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct uhca_cmd_import_reply reply;
	struct uhcav_mr *mr;

	if (uhcav_import_ask(pd->context, UHCA_ABI_IMPORT_MR, handle, &reply, NULL))
		return NULL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->v.mr_type = UHCAV_MR_IMPORTED;
	mr->v.mr.context = pd->context;
	mr->v.mr.pd = pd;
	mr->v.mr.handle = handle;
	mr->v.mr.length = reply.length;
	mr->v.mr.lkey = reply.lkey;
	mr->v.mr.rkey = reply.rkey;
	return &mr->v.mr;
}

void uhcav_unimport_mr(struct ibv_mr *mr)
{
	free(mr);
}
