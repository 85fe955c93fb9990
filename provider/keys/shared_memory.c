/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See shared_memory.h. The daemon makes it as it makes device memory (dm.c). A fork's child has the
 * mapping as well, as with any shared mapping; freeing it there leaves the parent's alone.
 */
#include "shared_memory.h"

#include "dm.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE UINT64_C(4096)

static int create(struct uhcav_context *ctx, struct uhcav_shared *s, uint64_t length)
{
	struct uhca_cmd_alloc_dm request = {.length = length, .flags = UHCA_ABI_DM_SHARED};
	struct uhcav_dm_map mapped;
	int err = uhcav_dm_make(ctx, &request, &mapped);

	if (err)
		return err;
	s->map = mapped.at;
	s->map_size = mapped.size;
	s->addr = (uintptr_t)mapped.at;
	s->length = length;
	s->handle = mapped.handle;
	return 0;
}

void *uhcav_alloc_shared(struct ibv_context *ibctx, size_t length)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhcav_shared *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (!err && (length == 0 || length > SIZE_MAX / 2))
		err = uhcav_refuse(ctx, "uhcadv_alloc_shared", -EINVAL,
				   "length %zu is out of range", length);
	if (!err)
		err = create(ctx, s, (length + PAGE - 1) & ~(PAGE - 1));
	if (err)
		return uhcav_no_object(s, err);
	pthread_mutex_lock(&ctx->shared.lock);
	s->next = ctx->shared.first;
	ctx->shared.first = s;
	pthread_mutex_unlock(&ctx->shared.lock);
	return (void *)(uintptr_t)s->addr;
}

int uhcav_free_shared(struct ibv_context *ibctx, void *addr)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhcav_shared **at, *s;
	int err = -EINVAL; /* said below */

	/* The lock is held over the command, so that nobody else frees the same piece. */
	pthread_mutex_lock(&ctx->shared.lock);
	for (at = &ctx->shared.first; *at && (*at)->addr != (uintptr_t)addr;)
		at = &(*at)->next;
	s = *at;
	if (s)
		err = uhcav_context_call_destroy(ctx, UHCA_CMD_FREE_DM, s->handle);
	if (!err)
		*at = s->next;
	pthread_mutex_unlock(&ctx->shared.lock);
	if (!s)
		uhcav_refuse(ctx, "uhcadv_free_shared", err,
			     "%p is not shared memory of this context", addr);
	if (!err)
		uhcav_shared_drop(s);
	return -err;
}
