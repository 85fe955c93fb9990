/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asynchronous events: one record to the client that owns the object. How many there were stands
 * in the object's region, so that a destroy can wait for those the client has read and not yet
 * acknowledged (ibv_destroy_qp(3)).
 */
#include "async_event.h"
#include "emu/abi/event.h"
#include "emu/abi/ring.h"

void event_count(uint32_t *own, uint32_t *shared, int32_t by)
{
	*own += (uint32_t)by;
	uhca_ring_publish(shared, *own);
}

void event_raise(struct client *c, uint64_t cookie, uint32_t type, uint32_t *own, uint32_t *shared)
{
	struct uhca_abi_async_event event = {.element = cookie, .type = type};
	if (c->dev->ops->async_event(c->cookie, &event))
		event_count(own, shared, 1);
}

void event_take_back(struct client *c, uint64_t cookie, uint32_t *own, uint32_t *shared)
{
	event_count(own, shared, -(int32_t)c->dev->ops->async_purge(c->cookie, cookie));
}
