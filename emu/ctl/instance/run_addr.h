/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses for an instance whose user named none. Device i lives at 127.0.B.(1+i); B is 0 unless
 * another daemon of this host is there already (two cannot share the RoCEv2 port of an address).
 * Programs are told which they are.
 */
#ifndef RUN_ADDR_H
#define RUN_ADDR_H

#include <stdbool.h>

#define RUN_ADDR_BLOCKS 200u

/* Addresses that no other uhca-run of this network takes meanwhile. */
struct run_addr_lease {
	unsigned block;
	int fd; /* whoever has it has the block; -1: it could not be had */
};

/*
 * The first block at or after "from" whose first n addresses have a free RoCEv2 port, and that no
 * other uhca-run is about to give to a daemon. False: there is none. A daemon that uhca-run did not
 * start may still take them.
 */
bool run_addr_lease(unsigned from, unsigned n, struct run_addr_lease *out);

/* Once the daemon has its sockets, or none. */
void run_addr_release(struct run_addr_lease *lease);

/*
 * Puts the first address of each device of the instance in dir into the environment: UHCA_ADDR_0,
 * UHCA_ADDR_1 ... 0 or -ENOMEM.
 */
int run_addr_export(const char *dir);

/* Adds those of one more instance, whose devices have other names. */
int run_addr_export_more(const char *dir);

/* Writes "127.0.<block>.<1+device>" to out (16 bytes). */
void run_addr_name(unsigned block, unsigned device, char out[16]);

#endif
