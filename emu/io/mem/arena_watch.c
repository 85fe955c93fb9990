/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See arena_watch.h. The signal comes from a copy of the loop's thread, so the handler finds all
 * lists whole. A call of the system that meets such a page gets EFAULT and no signal comes: there
 * the pages are touched from here (io_arena_watch_mend).
 */
#include "arena_watch.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define PAGE    4096u
#define STEP    (2u << 20)
#define CGROUPS 4096 /* bytes of their names */

static int uffd = -1;
static volatile sig_atomic_t lost;

/* Another cause, or somebody sent it: as if nobody listened. It comes when this has returned. */
static void leave_to_system(void)
{
	signal(SIGBUS, SIG_DFL);
	raise(SIGBUS);
}

static void on_missing(int signum, siginfo_t *info, void *context)
{
	uint8_t *at = (uint8_t *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1)), *end;
	struct io_arena *a = info->si_code == BUS_ADRERR ? io_arena_of(at, &end) : NULL;
	int saved = errno;

	(void)signum;
	(void)context;
	if (a && end - at > STEP)
		end = at + STEP;
	if (!a || mmap(at, (size_t)(end - at), PROT_READ | PROT_WRITE,
		       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		leave_to_system();
	else if (!a->lost)
		lost++;
	if (a)
		a->lost = true;
	errno = saved;
}

static void log_refused(const char *call)
{
	io_log(IO_LOG_INFO, "%s: %s; programs in another cgroup cannot use pinned memory", call,
	       strerror(errno));
	if (uffd >= 0)
		close(uffd);
	uffd = -1;
}

bool io_arena_watch_open(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS};
	struct sigaction act = {.sa_sigaction = on_missing, .sa_flags = SA_SIGINFO};

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) < 0)
		log_refused("userfaultfd");
	else if (sigaction(SIGBUS, &act, NULL) < 0)
		log_refused("sigaction");
	return uffd >= 0;
}

void io_arena_watch_close(void)
{
	if (uffd < 0)
		return;
	close(uffd);
	uffd = -1;
	signal(SIGBUS, SIG_DFL);
}

/* ---- cgroups ---- */

/* The process's lines of proc_pid_cgroup(5); their length, 0 when they cannot be read. */
static size_t read_cgroups(const char *process, char *text, size_t cap)
{
	char path[40];
	size_t got = 0;
	ssize_t n = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/cgroup", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n > 0 && got < cap) {
		n = read(fd, text + got, cap - got);
		got += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n == 0 ? got : 0;
}

bool io_arena_watch_allows(pid_t pid)
{
	char ours[CGROUPS], its[CGROUPS], process[16];
	size_t n;

	if (uffd >= 0)
		return true;
	snprintf(process, sizeof(process), "%d", (int)pid);
	n = read_cgroups("self", ours, sizeof(ours));
	return n > 0 && read_cgroups(process, its, sizeof(its)) == n && !memcmp(ours, its, n);
}

/* ---- watching ---- */

int io_arena_watch_add(void *base, uint64_t size)
{
	struct uffdio_register r = {
		.range = {(uintptr_t)base, (size + PAGE - 1) & ~(uint64_t)(PAGE - 1)},
		.mode = UFFDIO_REGISTER_MODE_MISSING};

	return uffd >= 0 && ioctl(uffd, UFFDIO_REGISTER, &r) < 0 ? -errno : 0;
}

static void touch(const volatile uint8_t *from, size_t length)
{
	for (size_t at = 0; at < length; at += PAGE - ((uintptr_t)from + at) % PAGE)
		(void)from[at];
}

bool io_arena_watch_mend(const struct iovec *local, unsigned n)
{
	int before = lost;
	bool any = false;
	uint8_t *end;

	for (unsigned i = 0; uffd >= 0 && i < n; i++) {
		const struct io_arena *a = io_arena_of(local[i].iov_base, &end);

		if (!a)
			continue;
		any |= a->lost;
		touch(local[i].iov_base, local[i].iov_len);
	}
	return any || lost != before;
}

unsigned io_arena_watch_lost(void)
{
	return (unsigned)lost;
}
