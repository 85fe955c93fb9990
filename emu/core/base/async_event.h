/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Affiliated asynchronous events (IBTA vol. 1, 11.6.3): what happened to which object, named by
 * the cookie its owner gave. Each object has its own door to this: qp_event, cq_event and so on.
 * "own" counts the records the client was told of, "shared" is the same in the object's region.
 */
#ifndef CORE_ASYNC_EVENT_H
#define CORE_ASYNC_EVENT_H

#include "client.h"

/* One record of this type (UHCA_ABI_EVENT_*) to the client. */
void event_raise(struct client *c, uint64_t cookie, uint32_t type, uint32_t *own, uint32_t *shared);

/* The client destroys the object: records that wait in the daemon are not sent any more. */
void event_take_back(struct client *c, uint64_t cookie, uint32_t *own, uint32_t *shared);

/* More (or fewer) records went to the client: in our books and in the shared ones. */
void event_count(uint32_t *own, uint32_t *shared, int32_t by);

/* Of the port or the device: to every client. */
void port_raise_event(struct device *dev, uint32_t type);

#endif
