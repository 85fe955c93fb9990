/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_SUPPORT_QUIET_FORK_H
#define TESTS_SUPPORT_QUIET_FORK_H

#include <sys/types.h>

/*
 * fork() at a moment when every other thread of the process sleeps. The AddressSanitizer of gcc 12
 * does not take its allocator's locks before a fork: the child of a process whose other threads
 * allocate may wait for ever for one of them. Where the threads do not come to rest within ten
 * seconds the test fails.
 */
pid_t quiet_fork(void);

#endif
