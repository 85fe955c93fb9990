/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory: the daemon makes it, we map it. The program copies through this mapping, and
 * short messages are gathered from it like from memory of ours.
 */
#include "dm.h"

#include "import.h"
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
	struct uhcav_dm_map map;
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
		return uhcav_because(EINVAL, "offset %llu or length %zu is not a multiple of %u",
				     (unsigned long long)offset, length, WORD);
	if (offset > dm->length || length > dm->length - offset)
		return uhcav_because(EINVAL, "offset %llu and length %zu exceed the %llu bytes",
				     (unsigned long long)offset, length,
				     (unsigned long long)dm->length);
	return 0;
}

static int memcpy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from, size_t length)
{
	struct dm *dm = dm_of(ibdm);
	int err = check(dm, offset, length);

	if (!err)
		memcpy(dm->map.at + offset, from, length);
	else
		uhcav_refused(uhcav_context_of(ibdm->context), "memcpy_to_dm", err);
	return uhcav_failed(err);
}

static int memcpy_from(void *to, struct ibv_dm *ibdm, uint64_t offset, size_t length)
{
	const struct dm *dm = dm_of(ibdm);
	int err = check(dm, offset, length);

	if (!err)
		memcpy(to, dm->map.at + offset, length);
	else
		uhcav_refused(uhcav_context_of(ibdm->context), "memcpy_from_dm", err);
	return uhcav_failed(err);
}

/* The descriptor is closed in any case. 0 or -errno. */
static int map(int fd, uint64_t region_size, uint64_t length, struct uhcav_dm_map *out)
{
	void *at;
	int err = uhcav_context_map_file(fd, region_size, true, &at);

	if (err)
		return err;
	if (length > region_size) {
		munmap(at, region_size);
		return -EPROTO;
	}
	out->at = at;
	out->size = region_size;
	return 0;
}

int uhcav_dm_make(struct uhcav_context *ctx, struct uhca_cmd_alloc_dm *request,
		  struct uhcav_dm_map *out)
{
	struct uhca_cmd_alloc_dm_reply reply;
	int fd;
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_ALLOC_DM, request, &reply, .recv_fd = &fd, .n_recv_fd = 1);
	int err = uhcav_context_call(ctx, &call);

	if (err)
		return err;
	err = map(fd, reply.region_size, request->length, out);
	if (err)
		uhcav_context_call_destroy(ctx, UHCA_CMD_FREE_DM, reply.handle);
	out->handle = reply.handle;
	return err;
}

/* Of memory that is mapped. NULL without memory. */
static struct ibv_dm *new_dm(struct ibv_context *ibctx, struct uhcav_context *ctx,
			     const struct uhcav_dm_map *mapped, uint64_t length)
{
	struct dm *dm = calloc(1, sizeof(*dm));

	if (!dm) {
		munmap(mapped->at, mapped->size);
		return NULL;
	}
	dm->dm.context = ibctx;
	dm->dm.memcpy_to_dm = memcpy_to;
	dm->dm.memcpy_from_dm = memcpy_from;
	dm->dm.handle = mapped->handle;
	dm->ctx = ctx;
	dm->map = *mapped;
	dm->length = length;
	return &dm->dm;
}

struct ibv_dm *uhcav_alloc_dm(struct ibv_context *ibctx, struct ibv_alloc_dm_attr *attr)
{
	struct uhcav_context *ctx = uhcav_context_here(uhcav_context_of(ibctx));
	struct uhca_cmd_alloc_dm request = {.length = attr->length,
					    .log_align = attr->log_align_req};
	struct uhcav_dm_map mapped;
	struct ibv_dm *dm;
	int err;

	if (!ctx)
		return NULL;
	err = attr->comp_mask ? uhcav_refuse(ctx, "alloc_dm", -EINVAL,
					     "comp_mask 0x%x has unknown bits", attr->comp_mask)
			      : uhcav_dm_make(ctx, &request, &mapped);
	if (err)
		return uhcav_no_object(NULL, err);
	dm = new_dm(ibctx, ctx, &mapped, attr->length);
	if (!dm) {
		uhcav_context_call_destroy(ctx, UHCA_CMD_FREE_DM, mapped.handle);
		errno = ENOMEM;
	}
	return dm;
}

struct ibv_dm *uhcav_import_dm(struct ibv_context *ibctx, uint32_t handle)
{
	struct uhcav_dm_map mapped = {.handle = handle};
	struct uhca_cmd_import_reply reply;
	int fd, err;

	if (uhcav_import_ask(ibctx, UHCA_ABI_IMPORT_DM, handle, &reply, &fd))
		return NULL;
	err = map(fd, reply.region_size, reply.length, &mapped);
	return err ? uhcav_no_object(NULL, err)
		   : new_dm(ibctx, uhcav_context_of(ibctx), &mapped, reply.length);
}

int uhcav_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	struct uhca_cmd_import_reply reply;
	int fd;

	return uhcav_import_ask(dm->context, UHCA_ABI_IMPORT_DM, dm->handle, &reply, &fd) ? -1 : fd;
}

void uhcav_unimport_dm(struct ibv_dm *ibdm)
{
	struct dm *dm = dm_of(ibdm);

	munmap(dm->map.at, dm->map.size);
	uhcav_let_go(dm);
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
	struct dm *dm = dm_of(ibdm);
	struct uhca_cmd_reg_dm_mr request = {.offset = offset,
					     .length = length,
					     .pd = pd->handle,
					     .dm = ibdm->handle,
					     .access = uhcav_mr_abi_access((int)access)};
	struct uhcav_region region = {.length = length, .addr = (uintptr_t)dm->map.at + offset};
	int err = uhcav_mr_check_access((int)access);
	struct uhcav_mr *mr;

	if (err)
		return uhcav_no_object(
			NULL, uhcav_refused(uhcav_context_of(pd->context), "reg_dm_mr", err));
	mr = uhcav_mr_make(pd, UHCA_CMD_REG_DM_MR, &request.h, sizeof(request), UHCAV_MR_ORDINARY,
			   &region);
	if (!mr)
		return NULL;
	mr->v.access = (int)access;
	mr->v.mr.length = length;
	return &mr->v.mr;
}
