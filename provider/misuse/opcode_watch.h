/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads of the opcode of a completion with an error, by the processor's debug registers. */
#ifndef UHCAV_OPCODE_WATCH_H
#define UHCAV_OPCODE_WATCH_H

#include <infiniband/verbs.h>

/*
 * Watches the opcode of this completion, which is spoilt, until end. Where the machine or the
 * kernel does not let us, or the program has a handler of SIGTRAP, nothing is watched.
 */
void uhcav_opcode_watch_begin(const struct ibv_wc *wc);

/* Ends the watch of this thread. */
void uhcav_opcode_watch_end(void);

#endif
