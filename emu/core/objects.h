/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All objects of a client or a device, whatever their type: their end, and a look at them for
 * uhcactl and for tests (core_visit). That reads what the device itself works with; of the shared
 * pages only the clients' ring indices, to tell how much is waiting.
 */
#ifndef CORE_OBJECTS_H
#define CORE_OBJECTS_H

#include "emu/core/base/base.h"

/*
 * The next part of the end of a client's objects, in an order in which users go before what they
 * use: of those that are its own, or (shared) of those that it could share with a group. *steps
 * gets smaller by what was done. True when none is left.
 */
bool objects_destroy(struct client *c, bool shared, uint32_t *steps);

#endif
