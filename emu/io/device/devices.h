/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of device: an emulated device as the shell sees it, its settings, its place in
 * sysfs, the boxes between it and the network, and the directory of an instance. All modules above
 * call; it calls mem, local and base. Begin at device.h, then netif.h.
 */
#ifndef IO_DEVICE_MODULE_H
#define IO_DEVICE_MODULE_H

#include "device.h"
#include "failures.h"
#include "instance.h"
#include "netif.h"
#include "settings.h"
#include "sysfs_change.h"
#include "sysfs_tree.h"

#endif
