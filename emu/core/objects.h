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
 * The client's objects end, in an order in which users go before what they use: those that are
 * its own, or (shared) those that it could share with a group.
 */
void objects_destroy(const struct client *c, bool shared);

#endif
