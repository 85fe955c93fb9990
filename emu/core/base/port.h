/* SPDX-License-Identifier: BSD-2-Clause */
/* What the port of a device lets through, and how fast it says that it is. */
#ifndef CORE_BASE_PORT_H
#define CORE_BASE_PORT_H

#include "emu/core/contract/burst.h"

struct device;

/*
 * Drops the burst, and says so, where the port takes none, where "own", the address that it leaves
 * from or comes to, is no GID of the table, or where its packets are longer than active_mtu.
 * Nothing of this need be asked while dev->port_checks is false.
 */
bool port_refuses(struct device *dev, const struct core_burst *t, const uint8_t own[16]);

#endif
