/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of mem: memory of clients, borrowed or shared. serve, device and the daemon call;
 * it calls base. Begin at mem.h, then arena.h and arena_watch.h.
 */
#ifndef IO_MEM_MODULE_H
#define IO_MEM_MODULE_H

#include "arena.h"
#include "arena_watch.h"
#include "mapped.h"
#include "mem.h"
#include "shm.h"

#endif
