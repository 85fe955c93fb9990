/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device as the file of a machine describes it: names, addresses, GID tables. What is the same
 * for all devices stands in device.c.
 */
#ifndef IO_MACHINE_DEVICE_H
#define IO_MACHINE_DEVICE_H

#include "settings.h"
#include "sysfs_tree.h"

/*
 * Name and addresses of device number "index" of the machine of these settings. 0 or -errno
 * (logged): -EADDRNOTAVAIL, all packets are to leave by UDP, and this machine has not the address.
 */
int io_machine_device_identity(const struct io_settings *settings, unsigned index,
			       struct io_identity *out);

/* What such a device says, and its GIDs, P_Keys and LIDs, into the configuration. */
void io_machine_device_config(const struct io_identity *id, struct core_config *cfg);

/* The address of a port's network interface. */
void io_machine_device_mac(const struct io_identity *id, unsigned port, uint8_t mac[6]);

#endif
