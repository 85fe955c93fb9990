/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The swap itself: the pages of a range of private memory become pages of the arena with the same
 * content, at the same addresses.
 */
#ifndef UHCAV_REPLACE_H
#define UHCAV_REPLACE_H

#include <stdbool.h>
#include <stdint.h>

/* What other threads of the process might do meanwhile. */
enum uhcav_stop {
	UHCAV_STOP_NONE,    /* nothing: there are none */
	UHCAV_STOP_ALL,     /* they wait where they touch the range (userfaultfd) */
	UHCAV_STOP_USER,    /* the same, but a system call that uses the range fails with EFAULT */
	UHCAV_STOP_UNKNOWN, /* there are threads, and they cannot be made to wait */
};

/* userfaultfd(2) with these features, also for faults of system calls; -1: it is not granted. */
int uhcav_uffd_open(uint64_t features);

/* How threads can be stopped here: the strongest way that the system grants, but NONE. */
enum uhcav_stop uhcav_stop_for_threads(void);

/*
 * May this process make files so long? Else the system sends SIGXFSZ when it writes there, or makes
 * one longer (setrlimit(2), RLIMIT_FSIZE), memory files too.
 */
bool uhcav_may_write(uint64_t end);

/*
 * Replaces [from, to), whole pages of private anonymous memory that can be read and written, by
 * [offset, ...) of file fd, whatever it has there. 1: there were pages that had never been
 * touched, and the file has none for them; 0: there are all; -errno: the range is as it was.
 */
int uhcav_replace(uintptr_t from, uintptr_t to, int fd, uint64_t offset, enum uhcav_stop stop);

/*
 * The other way: private pages with the content of [from, to), which is a mapping of the arena with
 * these rights (PROT_*). The device keeps the arena's. 0 or -errno. Async-signal-safe.
 */
int uhcav_make_private(uintptr_t from, uintptr_t to, int prot);

#endif
