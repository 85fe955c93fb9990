/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that listens starts no program, looks into no other process and makes no socket but
 * those to the daemon: whoever takes it over by a fault of ours cannot either. It keeps what it
 * needs for reading and answering. Where the kernel has no seccomp(2), the server works as well.
 */
#include "server.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/socket.h>

static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(bpf),
	SCMP_SYS(keyctl),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
};

void confine(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		return;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
			 SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	seccomp_load(filter);
	seccomp_release(filter);
}
