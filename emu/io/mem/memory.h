/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The door of mem: memory of clients, borrowed or shared. serve, device and the daemon call; it
 * calls base. Begin at mem.h, then arena.h.
 */
#ifndef IO_MEM_DOOR_H
#define IO_MEM_DOOR_H

#include "arena.h"
#include "mem.h"
#include "shm.h"

#endif
