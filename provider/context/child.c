/* SPDX-License-Identifier: BSD-2-Clause */
/* The library never sees this context, so a blank public part stands in for the library's. */
#include "child.h"

#include "open.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Not held across a fork: a child of a child that finds it locked has forked in the wrong place. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int open_child(struct uhcav_context *ctx)
{
	struct ibv_context *blank = calloc(1, sizeof(*blank));
	int err;

	if (!blank)
		return -ENOMEM;
	blank->cmd_fd = -1;
	blank->async_fd = -1;
	err = uhcav_context_import(blank, &ctx->file, &ctx->child);
	if (err)
		free(blank);
	return err;
}

struct uhcav_context *uhcav_context_here(struct uhcav_context *ctx)
{
	while (uhcav_life(ctx) == UHCAV_FORKED) {
		int err = 0;
		pthread_mutex_lock(&lock);
		if (!ctx->child)
			err = open_child(ctx);
		pthread_mutex_unlock(&lock);
		if (err)
			return uhcav_no_object(NULL, err);
		ctx = ctx->child;
	}
	return ctx;
}

void uhcav_child_close(struct uhcav_context *ctx)
{
	struct ibv_context *blank;

	if (!ctx->child)
		return;
	blank = ctx->child->ibctx;
	uhcav_child_close(ctx->child);
	uhcav_context_destroy(ctx->child);
	close(blank->async_fd);
	free(blank);
	ctx->child = NULL;
}
