/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a client in parts, so that one which had much holds nobody up (design D16). Part of
 * core.h.
 */
#ifndef CORE_LEAVE_H
#define CORE_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct client;

#define CORE_STEPS_PER_OBJECT 64

/*
 * What core_client_destroy does, for a client of whom nothing is asked any more: called again until
 * it returns true, which is when all is freed, c too. A step is a look at a place where something
 * of the client may be, of which a device has as many as it ever had objects; an object that ends
 * counts for CORE_STEPS_PER_OBJECT. What others do meanwhile is done as ever. Of the clients of a
 * device one ends at a time: who is begun while another is not done has that one end
 * at once, and freed.
 */
bool core_client_leave(struct client *c, uint32_t steps);

/* Bytes of this process that its regions and keys take (core_limits.client_memory). */
uint64_t core_client_memory(const struct client *c);

#endif
