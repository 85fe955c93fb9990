/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities of the daemon, which root has and others have not.
 */
#ifndef IO_RIGHTS_H
#define IO_RIGHTS_H

/*
 * Lays down all capabilities of this thread but those that serving needs, where it has them:
 *
 *   CAP_SYS_PTRACE     memory of clients that have changed their user, or where Yama asks for it
 *   CAP_DAC_OVERRIDE   captures and reports in folders of other users, as root names them
 *   CAP_NET_ADMIN      receive buffers above net.core.rmem_max for groups that are joined
 *
 * They go out of the effective set only: the kernel lets this process at the memory of another one
 * whose permitted capabilities are no more than its own, and in a container root has nothing else.
 * What takes them up again, capset(2), is not in the filter. no_new_privs is set. 0 or -errno.
 */
int io_rights_lay_down(void);

#endif
