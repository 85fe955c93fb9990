/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses for an instance whose user named none. Device i lives at 127.0.B.(1+i); B is 0 unless
 * another daemon of this host is there already (two cannot share the RoCEv2 port of an address).
 */
#ifndef RUN_ADDR_H
#define RUN_ADDR_H

#include <stdbool.h>

#define RUN_ADDR_BLOCKS 200u

/*
 * The first block at or after "from" whose first n addresses have a free RoCEv2 port;
 * RUN_ADDR_BLOCKS when there is none. Somebody may take them before the caller does.
 */
unsigned run_addr_free_block(unsigned from, unsigned n);

/* Writes "127.0.<block>.<1+device>" to out (16 bytes). */
void run_addr_name(unsigned block, unsigned device, char out[16]);

#endif
