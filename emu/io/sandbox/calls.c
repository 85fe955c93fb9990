/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See calls.h. What the daemon calls when it serves, what libc, libev and libjansson call for it,
 * and what a later libc may want of its own process (which changes nothing outside of it).
 *
 * What is refused fails, and nobody is killed: a daemon that dies of a call that only a newer libc
 * makes would take every client's connections with it, for nothing. A call that is not in the list
 * answers ENOSYS, as an old kernel does: libc then goes the way it goes there (EPERM it would take
 * for an answer). A call that is in it, with other arguments, answers EPERM. Both raise SIGSYS,
 * which answers and is told in the log (refused.h). That signal kills who blocks it, as libc does
 * while it makes a thread: so clone3(2), which it always tries there, and calls that are newer than
 * NEWEST, whose absence libc must bear, answer ENOSYS without it.
 *
 * A filter sees numbers, not names of files or addresses: which file is opened for reading, what
 * process_vm_writev(2) writes to, and whom a datagram goes to, are for the kernel to judge by user
 * and capabilities. A process that is to be another program, another user or more threads than
 * these, to hear on TCP, to trace, or to have memory that is code, it can tell.
 */
#include "calls.h"

#include "refused.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEWEST    450 /* the last of Linux 6.1; from 424 on all architectures have the same */
#define FUTURE    639
#define SOCK_KIND 0xf /* of socket(2)'s type; the rest are flags */
#define THREAD    (CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* Calls that libseccomp or the kernel's headers, when we are built, do not know yet. */
#ifndef __SNR_epoll_pwait2
#define __SNR_epoll_pwait2 441
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif
#ifndef __SNR_futex_waitv
#define __SNR_futex_waitv 449
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

#define N(list) (sizeof(list) / sizeof((list)[0]))

static const int free_calls[] = {
	/* descriptors */
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(preadv2),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(pwritev),
	SCMP_SYS(pwritev2),
	SCMP_SYS(lseek),
	SCMP_SYS(_llseek),
	SCMP_SYS(close),
	SCMP_SYS(close_range),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(pipe2),
	SCMP_SYS(eventfd2),
	SCMP_SYS(memfd_create),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(timerfd_gettime),
	SCMP_SYS(ftruncate),
	SCMP_SYS(flock),
	/* waiting */
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(select),
	SCMP_SYS(pselect6),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2),
	SCMP_SYS(sched_yield),
	SCMP_SYS(nanosleep),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(restart_syscall),
	/* sockets that are there, or that the condition of socket(2) lets be */
	SCMP_SYS(accept4),
	SCMP_SYS(bind),
	SCMP_SYS(connect),
	SCMP_SYS(shutdown),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendmmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvmmsg),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	/* what files are, and the end of the runtime directory's; a port's state is renamed */
	SCMP_SYS(fstat),
	SCMP_SYS(stat),
	SCMP_SYS(lstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(fstatfs),
	SCMP_SYS(statfs),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),
	SCMP_SYS(getcwd),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(rmdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	/* memory, its own and that of clients */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(msync),
	SCMP_SYS(mincore),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	/* threads, signals, the end */
	SCMP_SYS(futex),
	SCMP_SYS(futex_waitv),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(get_robust_list),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(rseq),
	SCMP_SYS(membarrier),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(rt_sigsuspend),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	/* what it is, and what time */
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(getppid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(getresuid),
	SCMP_SYS(getresgid),
	SCMP_SYS(getgroups),
	SCMP_SYS(getrlimit),
	SCMP_SYS(getrusage),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_getparam),
	SCMP_SYS(sched_getscheduler),
	SCMP_SYS(getcpu),
	SCMP_SYS(uname),
	SCMP_SYS(sysinfo),
	SCMP_SYS(times),
	SCMP_SYS(time),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres),
	SCMP_SYS(getrandom),
};

struct condition {
	int call;
	struct scmp_arg_cmp arg[3];
	unsigned n; /* of arg */
};

/* Fields of an argument that have that value. */
#define BITS(at, mask, value)                                                                      \
	{                                                                                          \
		(at), SCMP_CMP_MASKED_EQ, (mask), (value)                                          \
	}
#define IS(at, value)                                                                              \
	{                                                                                          \
		(at), SCMP_CMP_EQ, (value), 0                                                      \
	}

/* Some flags of open(2) mean that a file is made or changed. */
#define MAKES  (O_ACCMODE | O_CREAT | O_TRUNC)
#define SAFELY (O_ACCMODE | O_NOFOLLOW)
#define WRITES (O_WRONLY | O_NOFOLLOW)
#define A_SOCKET(domain)                                                                           \
	{                                                                                          \
		SCMP_SYS(socket), {IS(0, domain), BITS(1, SOCK_KIND, SOCK_DGRAM), IS(2, 0)}, 3     \
	}

static const struct condition conditions[] = {
	/* Reports, captures and counters are written to what is no symbolic link (output.h). */
	{SCMP_SYS(open), {BITS(1, MAKES, O_RDONLY)}, 1},
	{SCMP_SYS(open), {BITS(1, SAFELY, WRITES)}, 1},
	{SCMP_SYS(openat), {BITS(2, MAKES, O_RDONLY)}, 1},
	{SCMP_SYS(openat), {BITS(2, SAFELY, WRITES)}, 1},
	/* RoCE; syslog(3), if_nametoindex(3); getifaddrs(3) */
	A_SOCKET(AF_INET),
	A_SOCKET(AF_INET6),
	A_SOCKET(AF_UNIX),
	{SCMP_SYS(socket), {IS(0, AF_NETLINK), IS(2, 0)}, 2},
	{SCMP_SYS(ioctl), {IS(1, FIGETBSZ)}, 1},
	{SCMP_SYS(ioctl), {IS(1, FIONREAD)}, 1},
	{SCMP_SYS(ioctl), {IS(1, UFFDIO_REGISTER)}, 1}, /* emu/io/mem/arena_watch.c */
	{SCMP_SYS(ioctl), {IS(1, SIOCOUTQ)}, 1},        /* io_message_all_read() */
	{SCMP_SYS(ioctl), {IS(1, SIOCGIFMTU)}, 1},
	{SCMP_SYS(ioctl), {IS(1, SIOCGIFINDEX)}, 1},
	{SCMP_SYS(ioctl), {IS(1, SIOCGIFNAME)}, 1},
	{SCMP_SYS(ioctl), {IS(1, TCGETS)}, 1}, /* isatty(3), for stdio */
	{SCMP_SYS(fcntl), {IS(1, F_DUPFD_CLOEXEC)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_GETFD)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_SETFD)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_GETFL)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_SETFL)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_ADD_SEALS)}, 1},
	{SCMP_SYS(fcntl), {IS(1, F_GET_SEALS)}, 1},
	{SCMP_SYS(mmap), {BITS(2, PROT_EXEC, 0)}, 1},
	{SCMP_SYS(mprotect), {BITS(2, PROT_EXEC, 0)}, 1},
	{SCMP_SYS(clone), {BITS(0, THREAD, THREAD)}, 1},
	{SCMP_SYS(prctl), {IS(0, PR_SET_NAME)}, 1},
	{SCMP_SYS(prctl), {IS(0, PR_SET_VMA)}, 1}, /* names of mappings */
	{SCMP_SYS(prlimit64), {IS(2, 0)}, 1},      /* looks only */
};

/* These name a process, which is to be this one. */
static const int to_itself[] = {SCMP_SYS(kill), SCMP_SYS(tgkill)};

static bool is_one_of(const int *list, size_t n, int call)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == call)
			return true;
	return false;
}

bool io_calls_has(int call)
{
	for (size_t i = 0; i < N(conditions); i++)
		if (conditions[i].call == call)
			return true;
	return is_one_of(free_calls, N(free_calls), call) ||
	       is_one_of(to_itself, N(to_itself), call);
}

static int allow(scmp_filter_ctx f)
{
	const struct scmp_arg_cmp me = IS(0, (scmp_datum_t)getpid());
	int error = 0;

	for (size_t i = 0; i < N(free_calls) && error == 0; i++)
		error = seccomp_rule_add(f, SCMP_ACT_ALLOW, free_calls[i], 0);
	for (size_t i = 0; i < N(conditions) && error == 0; i++)
		error = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, conditions[i].call,
					       conditions[i].n, conditions[i].arg);
	for (size_t i = 0; i < N(to_itself) && error == 0; i++)
		error = seccomp_rule_add_array(f, SCMP_ACT_ALLOW, to_itself[i], 1, &me);
	return error;
}

/* What cannot be told. */
static int refuse_quietly(scmp_filter_ctx f)
{
	int error = 0;

	if (!io_refused_can_report())
		return 0;
	error = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	for (int call = NEWEST + 1; call <= FUTURE && error == 0; call++)
		if (!is_one_of(free_calls, N(free_calls), call))
			error = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), call, 0);
	return error;
}

/* SSB is what other programs' code in a process could use; there is none in this one. */
static int set_attributes(scmp_filter_ctx f)
{
	int error = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);

	if (error == 0)
		error = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (error == 0)
		error = seccomp_attr_set(f, SCMP_FLTATR_API_SYSRAWRC, 1);
	if (seccomp_api_get() >= 4 && error == 0)
		error = seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1);
	return error;
}

int io_calls_keep_few(void)
{
	uint32_t other = io_refused_can_report() ? SCMP_ACT_TRAP : SCMP_ACT_ERRNO(ENOSYS);
	scmp_filter_ctx f = seccomp_init(other);
	int error;

	if (!f)
		return -ENOMEM;
	error = set_attributes(f);
	if (error == 0)
		error = allow(f);
	if (error == 0)
		error = refuse_quietly(f);
	if (error == 0)
		error = seccomp_load(f);
	seccomp_release(f);
	return error;
}

char *io_calls_name(int call)
{
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);
}
