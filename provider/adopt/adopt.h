/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wing "adopt": registered memory becomes the device's. Pages of a region are replaced in place by
 * pages of the arena, a memory file of this process that the daemon has mapped, too, so that the
 * device keeps them as hardware keeps pinned pages, and reaches them without a system call.
 *
 * Who may call: keys, which registers and deregisters; guard, which asks what is mapped where. It
 * calls context and base. Where to begin: adoption.h.
 */
#ifndef UHCAV_ADOPT_H
#define UHCAV_ADOPT_H

#include "adoption.h"
#include "arena.h"
#include "maps.h"
#include "share_heap.h"

#endif
