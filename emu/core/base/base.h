/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ground of the core: the structs of the device and of a client, what every object begins
 * with and how its type is described, and what all modules use: tables, lists, timers, events,
 * GIDs, UDP source ports, the codes of where an error was found.
 *
 * Above it stands everything, below it only contract/. Begin with device.h and client.h.
 */
#ifndef CORE_BASE_MODULE_H
#define CORE_BASE_MODULE_H

#include "async_event.h"
#include "chance.h"
#include "client.h"
#include "device.h"
#include "emu/core/contract/qp_type.h"
#include "gid.h"
#include "list.h"
#include "object_type.h"
#include "port.h"
#include "reason.h"
#include "source_port.h"
#include "table.h"
#include "timer.h"
#include "vendor_err.h"

#endif
