/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The marker page: how process_vm_readv(2) and process_vm_writev(2), which name a process, reach
 * one address space only. A process keeps its id and replaces its memory by an exec, whatever
 * descriptors it keeps, and an id is used again. No look beforehand helps: the exec may come
 * between the look and the call.
 *
 * So the daemon draws an address for each client, and the client maps a private page there
 * (UHCA_CMD_HELLO). Each call names a byte of that page as its first piece. The kernel looks up the
 * address space once per call, takes the pieces in order and stops at the first that is not mapped:
 * in every other address space it moves nothing.
 */
#ifndef IO_MARKER_H
#define IO_MARKER_H

#include <stdint.h>
#include <sys/uio.h>

#define IO_MARKER_BYTES 1u /* what a call moves to or from the page, in front of all else */

/* An address for a page, which nobody can foretell, or 0 where this machine has no place for it. */
uint64_t io_marker_draw(void);

/* The piece of the client's memory that goes first. */
static inline struct iovec io_marker_piece(uint64_t marker)
{
	return (struct iovec){(void *)(uintptr_t)marker, IO_MARKER_BYTES};
}

#endif
