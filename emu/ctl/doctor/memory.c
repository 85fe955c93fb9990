/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See memory.h. The ways to a program's memory are tried as they would be used: by a process that
 * is no ancestor of the other, which lets it in as the provider does.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* headers of a kernel before 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

#define YAMA    "/proc/sys/kernel/yama/ptrace_scope"
#define STATUS  "/proc/self/status"
#define MEMINFO "/proc/meminfo"

/* ---- the ways to client memory ---- */

static int result_of(ssize_t n, ssize_t wanted)
{
	if (n == wanted)
		return 0;
	return n < 0 ? errno : EIO;
}

/* The one who looks: reads "word" of the other process and puts it back. */
static struct memory_ways try_ways(pid_t pid, int mem, volatile uint64_t *word)
{
	struct memory_ways ways;
	uint64_t copy = 0;
	struct iovec local = {&copy, sizeof(copy)};
	struct iovec remote = {(void *)(uintptr_t)word, sizeof(copy)};
	off_t at = (off_t)(uintptr_t)word;
	ssize_t n = sizeof(copy);

	ways.process_vm = result_of(process_vm_readv(pid, &local, 1, &remote, 1, 0), n);
	if (ways.process_vm == 0)
		ways.process_vm = result_of(process_vm_writev(pid, &local, 1, &remote, 1, 0), n);
	ways.descriptor = result_of(pread(mem, &copy, sizeof(copy), at), n);
	if (ways.descriptor == 0)
		ways.descriptor = result_of(pwrite(mem, &copy, sizeof(copy), at), n);
	return ways;
}

/* In the child: waits until it is let in, looks, tells. */
static void look(pid_t pid, int mem, volatile uint64_t *word, const int go[2], const int tell[2])
{
	struct memory_ways ways;
	char c;

	if (read(go[0], &c, 1) != 1)
		_exit(1);
	ways = try_ways(pid, mem, word);
	_exit(write(tell[1], &ways, sizeof(ways)) != sizeof(ways));
}

/* 0, and what the child found; or errno of what kept it from looking. */
static int measure(struct memory_ways *out, int mem, const int go[2], const int tell[2])
{
	static volatile uint64_t word = 1;
	pid_t self = getpid(), child = fork();
	int error = 0;

	if (child < 0)
		return errno;
	if (child == 0)
		look(self, mem, &word, go, tell);
	prctl(PR_SET_PTRACER, (unsigned long)child, 0, 0, 0); /* EINVAL where there is no Yama */
	close(tell[1]);
	if (write(go[1], "", 1) != 1 || read(tell[0], out, sizeof(*out)) != sizeof(*out))
		error = EIO;
	prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	waitpid(child, NULL, 0);
	return error;
}

static const char *remedy_of(const struct memory_ways *ways)
{
	if (ways->yama >= 2)
		return "as root: sysctl kernel.yama.ptrace_scope=1";
	if (ways->seccomp == 2)
		return "in a container: --cap-add SYS_PTRACE, or a seccomp profile that allows "
		       "process_vm_readv and process_vm_writev";
	return NULL;
}

void memory_judge_ways(const struct memory_ways *ways, struct doctor_diagnostic *out)
{
	if (ways->process_vm == 0)
		doctor_diagnostic_set(
			out, DOCTOR_GOOD, NULL, "process_vm_readv(2) can access programs%s",
			ways->descriptor ? ", descriptors of /proc/self/mem cannot" : "");
	else if (ways->descriptor == 0)
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, remedy_of(ways),
			"process_vm_readv(2) is refused (%s); descriptors of /proc/self/mem "
			"work, slower for long messages",
			strerror(ways->process_vm));
	else
		doctor_diagnostic_set(out, DOCTOR_BAD, remedy_of(ways),
				      "the daemon cannot access programs: process_vm_readv(2): %s, "
				      "/proc/self/mem: %s",
				      strerror(ways->process_vm), strerror(ways->descriptor));
}

void memory_check_ways(struct doctor_diagnostic *out)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC), mem_error = mem < 0 ? errno : 0;
	struct memory_ways ways = {0};
	int go[2], tell[2], error;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(tell, O_CLOEXEC) < 0) {
		doctor_diagnostic_set(out, DOCTOR_BAD, NULL, "pipe(2): %s", strerror(errno));
		return; /* the process ends soon, and its descriptors with it */
	}
	error = measure(&ways, mem, go, tell);
	close(go[0]);
	close(go[1]);
	close(tell[0]);
	if (mem >= 0)
		close(mem);
	if (error) {
		doctor_diagnostic_set(out, DOCTOR_BAD, NULL,
				      "access to another process cannot be tested: %s",
				      strerror(error));
		return;
	}
	if (mem_error)
		ways.descriptor = mem_error;
	ways.yama = doctor_read_number(YAMA);
	ways.seccomp = doctor_read_field(STATUS, "Seccomp");
	memory_judge_ways(&ways, out);
}

void memory_judge_yama(long scope, struct doctor_diagnostic *out)
{
	if (scope < 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "the kernel has no Yama");
	else if (scope == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "ptrace_scope is 0: no restriction");
	else if (scope == 1)
		doctor_diagnostic_set(
			out, DOCTOR_GOOD, NULL,
			"ptrace_scope is 1: each program permits the daemon by itself");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "as root: sysctl kernel.yama.ptrace_scope=1",
			"ptrace_scope is %ld: process_vm_readv(2) is allowed for %s", scope,
			scope == 2 ? "processes with CAP_SYS_PTRACE" : "no process");
}

void memory_check_yama(struct doctor_diagnostic *out)
{
	memory_judge_yama(doctor_read_number(YAMA), out);
}

/* ---- memory of the daemon's own ---- */

/* Rings and doorbells are sealed memory files, whose descriptors programs get. */
void memory_check_shared(struct doctor_diagnostic *out)
{
	int fd = memfd_create("uhca-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool done = fd >= 0 && ftruncate(fd, 4096) == 0 &&
		    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;

	if (done)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL,
				      "memory files can be created and sealed");
	else
		doctor_diagnostic_set(out, DOCTOR_BAD,
				      "a seccomp profile that allows memfd_create and fcntl",
				      "cannot create rings: memfd_create(2): %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* ---- what pinned memory asks for ---- */

/* Where calls are filtered, the machine's setting is not what refuses this one. */
static const char *userfaultfd_remedy(int error, bool filtered)
{
	if (error == ENOSYS)
		return NULL;
	return filtered ? "in a container: a seccomp profile that allows userfaultfd"
			: "as root: sysctl vm.unprivileged_userfaultfd=1";
}

void memory_judge_userfaultfd(int error, bool filtered, struct doctor_diagnostic *out)
{
	if (error == 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL,
				      "allowed: --pin can stop threads while it replaces memory");
	else if (error == -1)
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "as root: sysctl vm.unprivileged_userfaultfd=1",
			"allowed for user faults, not kernel faults: --pin safe does not pin "
			"memory of multithreaded programs");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, userfaultfd_remedy(error, filtered),
			"refused (%s): --pin does not pin memory of multithreaded programs; "
			"all else works",
			strerror(error));
}

static int try_userfaultfd(int flags)
{
	struct uffdio_api api = {.api = UFFD_API};
	int error = 0, fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | flags);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

void memory_check_userfaultfd(struct doctor_diagnostic *out)
{
	int error = try_userfaultfd(0);

	if (error && try_userfaultfd(UFFD_USER_MODE_ONLY) == 0)
		error = -1;
	memory_judge_userfaultfd(error, doctor_read_field(STATUS, "Seccomp") == 2, out);
}

/* ---- what programs ask for ---- */

void memory_check_locked(struct doctor_diagnostic *out)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "unlimited");
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "for programs that check it: ulimit -l unlimited",
			"%llu KiB may be locked; uhca locks none, but real adapters refuse to "
			"register more",
			(unsigned long long)limit.rlim_cur / 1024);
}

void memory_check_huge_pages(struct doctor_diagnostic *out)
{
	long n = doctor_read_field(MEMINFO, "HugePages_Free");
	long size = doctor_read_field(MEMINFO, "Hugepagesize");

	if (n > 0)
		doctor_diagnostic_set(out, DOCTOR_GOOD, NULL, "%ld of %ld KiB are free", n, size);
	else
		doctor_diagnostic_set(
			out, DOCTOR_NOTE, "as root: sysctl vm.nr_hugepages=64",
			"none is free: programs that need huge pages fail; uhca needs none");
}
