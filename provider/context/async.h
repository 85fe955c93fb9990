/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events (ibv_get_async_event(3)). libibverbs reads the records that the daemon
 * writes into the context's socket pair; what is left to us is counting them per object, so that
 * a destroy can wait for their acknowledgement, and taking back those of an object that goes.
 */
#ifndef UHCAV_ASYNC_H
#define UHCAV_ASYNC_H

#include "context.h"

#include <infiniband/verbs.h>
#include <stdint.h>

/* Called by libibverbs for each event that it has read. */
void uhcav_async_event(struct ibv_context *ibctx, struct ibv_async_event *event);

/* Drops the unread events of the object "cookie", which was destroyed. */
uint32_t uhcav_async_purge(struct uhcav_context *ctx, uint64_t cookie);

#endif
