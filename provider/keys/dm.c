/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory: the daemon makes it, we map it. The program copies through this mapping, and
 * short messages are gathered from it like from memory of ours.
 */
#include "dm.h"

#include "mr.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct dm {
	struct ibv_dm dm;
	uint8_t slack[UHCAV_OBJECT_ROOM / 4];
	struct uhcav_context *ctx; /* by which it was made or imported */
	uint8_t *map;              /* with the header's page */
	size_t map_size;
	uint64_t length;
};

static struct dm *dm_of(struct ibv_dm *dm)
{
	return (struct dm *)dm;
}

/* Device memory is copied by whole words: offset and length are multiples of 4. */
#define WORD 4u

static int check(const struct dm *dm, uint64_t offset, size_t length)
{
	if (offset % WORD || length % WORD)
		return EINVAL;
	return offset > dm->length || length > dm->length - offset ? EINVAL : 0;
}

static int memcpy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from, size_t length)
{
	struct dm *dm = dm_of(ibdm);
	int err = check(dm, offset, length);

	if (!err)
		memcpy(dm->map + UHCA_ABI_DM_OFFSET + offset, from, length);
	return uhcav_failed(err);
}

static int memcpy_from(void *to, struct ibv_dm *ibdm, uint64_t offset, size_t length)
{
	const struct dm *dm = dm_of(ibdm);
	int err = check(dm, offset, length);

	if (!err)
		memcpy(to, dm->map + UHCA_ABI_DM_OFFSET + offset, length);
	return uhcav_failed(err);
}

/* Maps what came with a reply. The descriptor is closed in any case. NULL with errno. */
static struct dm *new_dm(struct ibv_context *ibctx, int fd, uint64_t region_size, uint64_t length)
{
	struct dm *dm = calloc(1, sizeof(*dm));
	void *map = NULL;
	int err = uhcav_context_map(fd, region_size, true, UHCA_ABI_REGION_DM, &map);

	if (!err && (region_size < UHCA_ABI_DM_OFFSET || length > region_size - UHCA_ABI_DM_OFFSET))
		err = -EPROTO;
	if (!dm)
		err = -ENOMEM;
	if (err) {
		if (map)
			munmap(map, region_size);
		free(dm);
		errno = -err;
		return NULL;
	}
	dm->dm.context = ibctx;
	dm->dm.memcpy_to_dm = memcpy_to;
	dm->dm.memcpy_from_dm = memcpy_from;
	dm->map = map;
	dm->map_size = region_size;
	dm->length = length;
	return dm;
}

struct ibv_dm *uhcav_alloc_dm(struct ibv_context *ibctx, struct ibv_alloc_dm_attr *attr)
{
	struct uhcav_context *ctx = uhcav_context_here(uhcav_context_of(ibctx));
	struct uhca_cmd_alloc_dm request = {.length = attr->length,
					    .log_align = attr->log_align_req};
	struct uhca_cmd_alloc_dm_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_ALLOC_DM,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	struct dm *dm;
	int err;

	if (!ctx)
		return NULL;
	err = attr->comp_mask ? -EINVAL : uhcav_context_call(ctx, &call);
	if (err) {
		errno = -err;
		return NULL;
	}
	dm = new_dm(ibctx, fd, reply.region_size, attr->length);
	if (!dm) {
		err = errno;
		uhcav_context_call_destroy(ctx, UHCA_CMD_FREE_DM, reply.handle);
		errno = err;
		return NULL;
	}
	dm->ctx = ctx;
	dm->dm.handle = reply.handle;
	return &dm->dm;
}

void uhcav_unimport_dm(struct ibv_dm *ibdm)
{
	struct dm *dm = dm_of(ibdm);

	munmap(dm->map, dm->map_size);
	free(dm);
}

int uhcav_free_dm(struct ibv_dm *dm)
{
	int err = uhcav_context_call_destroy(dm_of(dm)->ctx, UHCA_CMD_FREE_DM, dm->handle);

	if (err)
		return uhcav_result(err);
	uhcav_unimport_dm(dm);
	return 0;
}

struct ibv_mr *uhcav_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm, uint64_t offset,
			       size_t length, unsigned access)
{
	struct uhcav_context *ctx = uhcav_context_of(pd->context);
	struct dm *dm = dm_of(ibdm);
	struct uhca_cmd_reg_dm_mr request = {.offset = offset,
					     .length = length,
					     .pd = pd->handle,
					     .dm = ibdm->handle,
					     .access = uhcav_mr_abi_access((int)access)};
	struct uhca_cmd_reg_mr_reply reply;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_REG_DM_MR,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply)};
	struct uhcav_region region = {.length = length,
				      .addr = (uintptr_t)dm->map + UHCA_ABI_DM_OFFSET + offset};
	int err = uhcav_mr_check_access((int)access);
	struct uhcav_mr *mr;

	if (!err)
		err = uhcav_mr_table_reserve(&ctx->regions);
	if (!err)
		err = uhcav_context_call(ctx, &call);
	if (err) {
		errno = -err;
		return NULL;
	}
	mr = uhcav_mr_new(pd, UHCAV_MR_ORDINARY, &reply, &region);
	if (!mr)
		return NULL;
	mr->v.access = (int)access;
	mr->v.mr.length = length;
	return &mr->v.mr;
}

struct ibv_dm *uhcav_import_dm(struct ibv_context *ibctx, uint32_t handle)
{
	struct uhca_cmd_import request = {.type = UHCA_ABI_IMPORT_DM, .handle = handle};
	struct uhca_cmd_import_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_IMPORT,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	int err = uhcav_context_call(uhcav_context_of(ibctx), &call);
	struct dm *dm;

	if (err) {
		errno = -err;
		return NULL;
	}
	dm = new_dm(ibctx, fd, reply.region_size, reply.length);
	if (!dm)
		return NULL;
	dm->ctx = uhcav_context_of(ibctx);
	dm->dm.handle = handle;
	return &dm->dm;
}
