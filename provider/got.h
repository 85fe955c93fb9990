/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Without the preload library (in a container where somebody has put the device files into /dev,
 * DESIGN D2): libibverbs' own ioctl calls are sent to us instead, so that completion channels
 * work.
 */
#ifndef UHCAV_GOT_H
#define UHCAV_GOT_H

#include "preload/hooks.h"

/*
 * Makes libibverbs' ioctl come to us. Returns the number of slots that were patched; 0 means that
 * there is nothing to patch (libibverbs is not a shared object, or not of this architecture).
 * The hooks must stay.
 */
unsigned uhcav_got_patch(const struct uhca_preload_hooks *hooks);

#endif
