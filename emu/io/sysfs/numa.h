/* SPDX-License-Identifier: BSD-2-Clause */
/* The NUMA nodes of a described machine, whatever the host has. */
#ifndef IO_SYSFS_NUMA_H
#define IO_SYSFS_NUMA_H

#include "emu/machine/machine.h"
#include "sysfs_file.h"

/* sys/devices/system/node; nothing where the machine has no nodes. */
void sysfs_numa_make(struct sysfs_tree *t, const struct machine *m);

#endif
