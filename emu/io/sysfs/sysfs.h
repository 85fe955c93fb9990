/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of sysfs: files and links of one line, and what a described machine has in sysfs
 * beside its RDMA devices: PCI, network interfaces, NUMA nodes. Called by device; calls base.
 * Begin at sysfs_file.h.
 */
#ifndef IO_SYSFS_MODULE_H
#define IO_SYSFS_MODULE_H

#include "cpus.h"
#include "sysfs_file.h"
#include "sysfs_machine.h"

#endif
