/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that daemon and client share: memfds of fixed size. The size is sealed, so that a client
 * cannot shrink a file under the daemon's mapping (SIGBUS); the seals are sealed too. The status
 * page is in addition sealed against new writable mappings and writes, so that clients can only
 * read it (memfd_create(2), fcntl(2) F_ADD_SEALS).
 */
#ifndef IO_SHM_H
#define IO_SHM_H

#include <stdbool.h>
#include <stddef.h>

struct io_shm {
	int fd; /* to hand over; -1 once dropped */
	void *base;
	size_t size; /* rounded up to pages */
};

/*
 * Makes and maps zeroed memory of at least size bytes. read_only: whoever gets the descriptor
 * can only read. 0 or -errno (EINVAL for a size of 0 or one that overflows, ENOMEM, EMFILE).
 */
int io_shm_create(struct io_shm *shm, const char *name, size_t size, bool read_only);

/* Closes the descriptor and keeps the mapping; thousands of queues would use up the limit. */
void io_shm_drop_fd(struct io_shm *shm);

/* Unmaps and closes. Idempotent; a zeroed struct with fd -1 is fine. */
void io_shm_destroy(struct io_shm *shm);

#endif
