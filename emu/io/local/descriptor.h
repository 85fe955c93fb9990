/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a descriptor is that a client handed over, found out without a call into the file system
 * behind it, which may not answer (design D16): fstat(2) and fstatfs(2) of a FUSE file wait for its
 * server.
 */
#ifndef IO_DESCRIPTOR_H
#define IO_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The file's device and inode number, as the kernel has them; nobody else has them as long as
 * somebody has the file open. 0; -EBADF: it is not open, or by O_PATH, for which nobody needs a
 * right to the file.
 */
int io_descriptor_file(int fd, uint64_t id[2]);

/*
 * The kernel's number of a socket (SO_COOKIE), which no other socket gets as long as the machine
 * runs; 0: it is none. A socket's inode number can be shown by any file, this cannot.
 */
uint64_t io_descriptor_socket(int fd);

/*
 * One end of a pair of SEQPACKET sockets: its peer has no name. What is sent there has our user and
 * process id beside it for who asks (SO_PASSCRED): to a socket that a client has connected to
 * somebody else's service, we would say what the client wants to have said by us.
 */
bool io_descriptor_is_pair(int fd);

/*
 * /proc/PID/mem of a process that has memory, open for reading and writing? What only looks like
 * it is not touched but for a read behind its end.
 */
bool io_descriptor_is_memory(int fd);

#endif
