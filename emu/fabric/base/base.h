/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ground of the network model: the event queue, packets, random numbers, quantities with units,
 * and texts of the form NAME:KEY=VALUE. All other modules of the model stand on it. Begin at
 * events.h.
 */
#ifndef FABRIC_BASE_MODULE_H
#define FABRIC_BASE_MODULE_H

#include "calendar.h"
#include "events.h"
#include "packet.h"
#include "quantity.h"
#include "random.h"
#include "spec.h"

#endif
