/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that share what is shared between processes (ibv_import_device(3)): protection domains,
 * memory regions and device memory of one member are visible to all, by handle. Queues stay
 * private: their rings are mapped by one process. A region's memory is that of the client that
 * registered it. What is shared lives as long as a member does.
 */
#ifndef CORE_GROUP_H
#define CORE_GROUP_H

#include "emu/core/base/base.h"

/*
 * The client leaves, because it ends, in parts (core_client_leave): what it shared goes to another
 * member if there is one, its memory without what stood there; what is left is for the caller to
 * destroy. True when it has left.
 */
bool group_leave(struct client *c, uint32_t *steps);

#endif
