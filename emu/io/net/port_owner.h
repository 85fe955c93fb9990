/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has a UDP port that a device wants: for people, when a daemon cannot start. Looked up where
 * the kernel lists sockets (/proc/net/udp, /proc/net/udp6) and who holds them (/proc/PID/fd).
 */
#ifndef IO_PORT_OWNER_H
#define IO_PORT_OWNER_H

#include "emu/io/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_PORT_OWNER_TEXT 160

struct io_port_owner {
	bool everywhere; /* it has the port at all addresses */
	/* "rping (process 4711)", "a process of user 1000", "the kernel (soft-RoCE)" */
	char name[IO_PORT_OWNER_TEXT];
};

/* The owner of a socket that keeps others from the port at this address. False: there is none. */
bool io_port_owner_find(const struct io_address *a, uint16_t port, struct io_port_owner *out);

#endif
