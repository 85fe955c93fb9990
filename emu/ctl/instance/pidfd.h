/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of processes, as system calls: glibc has functions for them from 2.36 on, and the
 * programs are built against older releases, too.
 */
#ifndef CTL_PIDFD_H
#define CTL_PIDFD_H

#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* pidfd_open(2) without flags: a descriptor that the caller closes, or -1 and errno. */
static inline int ctl_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0u);
}

/* pidfd_send_signal(2): 0, or -1 and errno. */
static inline int ctl_pidfd_signal(int pidfd, int number)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0u);
}

#endif
