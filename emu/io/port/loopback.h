/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The box that keeps bursts inside the daemon (design D9): one whose destination is an address
 * of a device of this daemon is handed to that device at once, the same state machines, no
 * socket. Others go on to the wire below, if there is one.
 */
#ifndef IO_LOOPBACK_H
#define IO_LOOPBACK_H

#include "emu/io/device/devices.h"

#include <stdbool.h>
#include <stdint.h>

struct io_fabric_entry {
	uint8_t gid[16];
	struct io_device *dev; /* NULL: free */
};

/* Which device has which address: a hash table with open addressing, at most half full. */
struct io_fabric {
	struct io_fabric_entry *slot;
	unsigned n_slots; /* a power of two, or 0 */
	unsigned count;
};

/* Adds all addresses and GIDs of a device; those that are there stay. 0 or -ENOMEM. */
int io_fabric_add(struct io_fabric *f, struct io_device *dev);

/* The device with the address, or NULL. */
struct io_device *io_fabric_find(const struct io_fabric *f, const uint8_t gid[16]);
void io_fabric_destroy(struct io_fabric *f);

struct io_loopback {
	struct netif netif;
	const struct io_fabric *fabric;
	struct io_device *dev;
	bool always_wire;   /* --wire, or a modelled network: nothing stays inside */
	uint64_t delivered; /* packets */
	uint64_t no_route;  /* packets that had nowhere to go */
};

void io_loopback_init(struct io_loopback *l, const struct io_fabric *fabric, struct io_device *dev,
		      bool always_wire);

#endif
