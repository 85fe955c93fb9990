/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts asynchronous events of an object, and waits for their acknowledgement. */
#include "async.h"

uint32_t uhcav_async_purge(struct uhcav_context *ctx, uint64_t cookie)
{
	return uhcav_event_queue_purge(&ctx->async, cookie);
}

void uhcav_async_settle(struct uhcav_context *ctx, const struct uhcav_async_unread *u)
{
	uint32_t sent = uhcav_device_count(ctx, u->sent);
	uint32_t dropped = uhcav_async_purge(ctx, u->cookie);

	pthread_mutex_lock(u->mutex);
	while (uhcav_events_held(sent, dropped, __atomic_load_n(u->read, __ATOMIC_ACQUIRE),
				 *u->acknowledged))
		pthread_cond_wait(u->cond, u->mutex);
	pthread_mutex_unlock(u->mutex);
}
