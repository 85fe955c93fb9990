/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a described device; and what sysfs_tree.c shares with it. */
#ifndef IO_SYSFS_MACHINE_DEVICE_H
#define IO_SYSFS_MACHINE_DEVICE_H

#include "emu/io/sysfs/sysfs.h"
#include "sysfs_tree.h"

/* Makes all files of the device, whose uverbs has that number; errors stay in the tree. */
void io_sysfs_machine_device_add(struct sysfs_tree *t, const struct io_identity *id,
				 unsigned number);

/* The entry of the device in the class of uverbs, and its node. */
void io_sysfs_uverbs_add(struct sysfs_tree *t, const struct io_identity *id, unsigned number);

/* What stands in the folder of any device, which is the base. */
void io_sysfs_device_add(struct sysfs_tree *t, const struct io_identity *id);

/* A port (from 0) of any device. */
void io_sysfs_port_add(struct sysfs_tree *t, const struct io_identity *id, unsigned port);

#endif
