/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See shared_memory.h. The daemon makes it as it makes device memory (dm.c). A fork's child has the
 * mapping as well, as with any shared mapping; freeing it there leaves the parent's alone.
 */
#include "shared_memory.h"

#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((uint64_t)UHCA_ABI_DM_OFFSET)

/* Maps what came with the reply; the descriptor is closed in any case. 0 or -errno. */
static int map(struct uhcav_shared *s, int fd, uint64_t region_size, uint64_t length)
{
	void *at;
	int err = uhcav_context_map(fd, region_size, true, UHCA_ABI_REGION_DM, &at);

	if (err)
		return err;
	if (region_size < PAGE || length > region_size - PAGE) {
		munmap(at, region_size);
		return -EPROTO;
	}
	s->map = at;
	s->map_size = region_size;
	s->addr = (uintptr_t)at + PAGE;
	s->length = length;
	return 0;
}

static int create(struct uhcav_context *ctx, struct uhcav_shared *s, uint64_t length)
{
	struct uhca_cmd_alloc_dm request = {.length = length, .flags = UHCA_ABI_DM_SHARED};
	struct uhca_cmd_alloc_dm_reply reply;
	int fd;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_ALLOC_DM,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .recv_fd = &fd,
				  .n_recv_fd = 1};
	int err = uhcav_context_call(ctx, &call);

	if (err)
		return err;
	err = map(s, fd, reply.region_size, length);
	if (err)
		uhcav_context_call_destroy(ctx, UHCA_CMD_FREE_DM, reply.handle);
	s->handle = reply.handle;
	return err;
}

void *uhcav_alloc_shared(struct ibv_context *ibctx, size_t length)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhcav_shared *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (!err && (length == 0 || length > SIZE_MAX / 2))
		err = -EINVAL;
	if (!err)
		err = create(ctx, s, (length + PAGE - 1) & ~(PAGE - 1));
	if (err) {
		free(s);
		errno = -err;
		return NULL;
	}
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
	int err = -EINVAL;

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
	if (!err)
		uhcav_shared_drop(s);
	return -err;
}
