/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a described machine has in sysfs around its RDMA devices, in the places of Linux: functions
 * and bridges on PCI with their buses, network interfaces, NUMA nodes. In folders that the host has
 * as well (network interfaces, functions and buses of PCI) links lead to what is really there, by
 * names that begin with a slash; the preload library tells by that which are the host's.
 */
#ifndef IO_SYSFS_MACHINE_H
#define IO_SYSFS_MACHINE_H

#include "emu/machine/machine.h"
#include "sysfs_file.h"

/* A network interface of a device. */
struct sysfs_net {
	const char *name;
	unsigned port; /* from 0 */
	bool infiniband, up;
	unsigned mbit, mtu, index;
	uint8_t address[20]; /* 6 bytes of it are Ethernet's */
};

/* "sys/devices/pci0000:15/0000:15:01.0/0000:19:00.0"; of a device on no bus "sys/devices/virtual".
 */
void sysfs_device_path(const struct machine_device *d, char out[SYSFS_PATH]);

/* Bridges, buses, nodes, and links to what the host has. */
void sysfs_machine_make(struct sysfs_tree *t, const struct machine *m);

/* An interface of it, and its name in the class. */
void sysfs_net_make(struct sysfs_tree *t, const struct machine_device *d,
		    const struct sysfs_net *net);

/* Its link goes or comes back: where that is a change, it is counted (carrier_changes). */
void sysfs_net_carrier(struct sysfs_tree *t, const struct machine_device *d, const char *name,
		       bool up);

#endif
