/* SPDX-License-Identifier: BSD-2-Clause */
/* The table "machine": each port of a device, and where the device stands. */
#ifndef IO_CTL_MACHINE_H
#define IO_CTL_MACHINE_H

#include "ctl_rows.h"
#include "emu/io/device/devices.h"

/* Adds a row for each port. */
void io_ctl_machine_add(struct ctl_rows *t, const struct io_device *dev);

#endif
