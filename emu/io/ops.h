/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct core_ops as the daemon fills it: client memory, shared rings, event channels, random
 * bytes. "user" is the struct io_device, "client" the struct io_client.
 */
#ifndef IO_OPS_H
#define IO_OPS_H

#include "emu/core/core.h"

/* Which trace points are on is the device's affair: io_device_hook. */
const struct core_ops *io_core_ops(void);

#endif
