/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events (ibv_get_async_event(3)), of objects of all kinds. libibverbs reads the
 * records that the daemon writes into the context's socket pair; what is left to us is counting
 * them per object, so that a destroy can wait for their acknowledgement (context/async.h).
 */
#ifndef UHCAV_ASYNC_EVENT_H
#define UHCAV_ASYNC_EVENT_H

#include <infiniband/verbs.h>

/* Called by libibverbs for each event that it has read. */
void uhcav_async_event(struct ibv_context *ibctx, struct ibv_async_event *event);

#endif
