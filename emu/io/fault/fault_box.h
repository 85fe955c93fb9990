/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The box of a device's stack that shows packets to the fault rules, right below the device, so
 * that a capture below it sees what really travels. While no rule looks at packets and nothing is
 * frozen it costs one test.
 */
#ifndef IO_FAULT_BOX_H
#define IO_FAULT_BOX_H

#include "emu/fault/net/net.h"
#include "emu/io/device/devices.h"

#include <stdbool.h>
#include <stdint.h>

struct io_device;

struct io_fault_box {
	struct netif netif;
	bool active; /* bursts must be shown to the net */
	bool making; /* what is passed next no device sent */
	struct fault_net *net;
	struct io_faults *faults;
	struct io_device *dev;
};

/* 0 or -ENOMEM. The daemon's plan must be there. */
int io_fault_box_init(struct io_fault_box *b, struct io_faults *f, struct io_device *dev);
void io_fault_box_destroy(struct io_fault_box *b);

/* To be called when rules or step mode have changed. */
void io_fault_box_update(struct io_fault_box *b);

/* Packets that are due leave; when the next ones are (UINT64_MAX: none wait). */
void io_fault_box_tick(struct io_fault_box *b, uint64_t now);
uint64_t io_fault_box_deadline(const struct io_fault_box *b);

#endif
