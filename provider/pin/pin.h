/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "pin": registered memory becomes the device's. Pages of a region are replaced in place
 * by pages of the arena, a memory file of this process that the daemon has mapped, too, so that the
 * device keeps them as hardware keeps pinned pages, and reaches them without a system call.
 *
 * Who may call: keys, which registers and deregisters; page_watch, which asks what is mapped
 * where. It calls context and base. Where to begin: pinning.h.
 */
#ifndef UHCAV_PIN_H
#define UHCAV_PIN_H

#include "arena.h"
#include "fork_copy.h"
#include "maps.h"
#include "pinning.h"
#include "share_heap.h"

#endif
