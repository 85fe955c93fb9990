/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels are socket pairs with a queue of records inside (emu/abi/event.h). The records
 * name objects by address, so a destroy must take back those the application has not read yet, as
 * the kernel does: one that stayed would make ibv_get_cq_event follow a dangling pointer.
 */
#ifndef UHCAV_EVENT_QUEUE_H
#define UHCAV_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* Largest record of a channel. */
#define UHCAV_EVENT_MAX 16

/*
 * Takes all unread records of size bytes (8 to UHCAV_EVENT_MAX) out of read_fd and puts those
 * whose first eight bytes are not "cookie" back through write_fd, in order. What the daemon sends
 * meanwhile is kept. Returns the number of records that were dropped. Calls for one channel must
 * not overlap.
 */
unsigned uhcav_event_purge(int read_fd, int write_fd, size_t size, uint64_t cookie);

#endif
