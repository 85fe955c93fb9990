/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of port: what a device is plugged into inside the daemon, the fabric of addresses
 * and the Ethernet segment, and what went over all its boxes. capture and all above call; it calls
 * net and device. Begin at loopback.h.
 */
#ifndef IO_PORT_MODULE_H
#define IO_PORT_MODULE_H

#include "counter_files.h"
#include "counts.h"
#include "ether.h"
#include "loopback.h"

#endif
