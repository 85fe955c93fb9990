/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events of an object that goes (ibv_get_async_event(3)): those that nobody has read
 * are taken back, those that were read must be acknowledged. What counts them is async_event.c.
 */
#ifndef UHCAV_ASYNC_H
#define UHCAV_ASYNC_H

#include "device.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

/* Drops the unread events of the object "cookie", which was destroyed. Returns how many. */
uint32_t uhcav_async_purge(struct uhcav_context *ctx, uint64_t cookie);

/* What tells which events of an object are unread, and which were read and not acknowledged. */
struct uhcav_async_unread {
	uint64_t cookie;
	const uint32_t *sent; /* by the device, in the object's region */
	const uint32_t *read; /* as the provider was told; atomic */
	const uint32_t *acknowledged;
	pthread_mutex_t *mutex; /* the library's, under which it acknowledges */
	pthread_cond_t *cond;
};

/* Of an object of ours that has the library's as a member, and a page shared with the device. */
#define UHCAV_ASYNC_UNREAD(o, verbs)                                                               \
	(&(const struct uhcav_async_unread){.cookie = (uintptr_t) & (o)->verbs,                    \
					    .sent = &(o)->page->async_events,                      \
					    .read = &(o)->async_events_read,                       \
					    .acknowledged = &(o)->verbs.events_completed,          \
					    .mutex = &(o)->verbs.mutex,                            \
					    .cond = &(o)->verbs.cond})

/* Takes back the events nobody has read, and waits for the others to be acknowledged. */
void uhcav_async_settle(struct uhcav_context *ctx, const struct uhcav_async_unread *u);

#endif
