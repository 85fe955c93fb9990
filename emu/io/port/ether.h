/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of raw packet queue pairs: one Ethernet segment that all devices of the daemon are
 * on. A frame reaches every device, that of its sender included, and each device's steering rules
 * decide. It leads nowhere else: a daemon without privileges has no way to an interface.
 */
#ifndef IO_ETHER_H
#define IO_ETHER_H

#include "emu/io/device/devices.h"

/*
 * Pulls frames from the device, one of all, and gives each to every one of them, which may then
 * have something to do. Stops when they have cost max: 1 each, and 1 more for each 64 units of work
 * (core_rx_frame). Returns what they cost; max or more means there may be more.
 */
unsigned io_ether_send(const struct io_devices *all, struct io_device *from, uint64_t now,
		       unsigned max);

#endif
