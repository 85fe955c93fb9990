/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a descriptor is that a client handed over, found out without a call into the file system
 * behind it, which may not answer (DESIGN D16): fstat(2) and fstatfs(2) of a FUSE file wait for its
 * server.
 */
#ifndef IO_DESCRIPTOR_H
#define IO_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

/* The file's device and inode number, as the kernel has them. 0 or -EBADF. */
int io_descriptor_file(int fd, uint64_t id[2]);

/* The inode number of a socket; 0: it is none. */
uint64_t io_descriptor_socket(int fd);

/* A regular file of procfs, open for reading and writing? */
bool io_descriptor_is_proc(int fd);

#endif
