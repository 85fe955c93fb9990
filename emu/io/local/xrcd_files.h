/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a client's shared XRC domains, kept open as long as it has a handle of them. Device
 * and inode number name a domain, and a file system gives the number of a file that is deleted and
 * closed to another one: whoever makes files until his has it would share a foreign domain.
 * Owner: the client.
 */
#ifndef IO_XRCD_FILES_H
#define IO_XRCD_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct io_xrcd_file {
	uint32_t handle;
	int fd; /* owned */
};

/* All zero: none. */
struct io_xrcd_files {
	struct io_xrcd_file *at;
	uint32_t n, room;
};

/* Room for one more. 0 or -ENOMEM. */
int io_xrcd_files_prepare(struct io_xrcd_files *f);
/* Takes over fd, for which there is room. */
void io_xrcd_files_add(struct io_xrcd_files *f, uint32_t handle, int fd);
/* The handle is closed; nothing, where there is no file to it. */
void io_xrcd_files_drop(struct io_xrcd_files *f, uint32_t handle);
/* Up to "most" of them; true when none is left. The core has given back the handles before. */
bool io_xrcd_files_close(struct io_xrcd_files *f, uint32_t most);

#endif
