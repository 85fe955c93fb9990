/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that have a socket open, by /proc. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Fills in at most "room" of them, and returns how many there are. Those of other users, whose
 * descriptors cannot be read, are not among them.
 */
unsigned holders_of(uint64_t inode, pid_t *pids, unsigned room);

#endif
