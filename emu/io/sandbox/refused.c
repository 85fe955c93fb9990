/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See refused.h; seccomp(2), SECCOMP_RET_TRAP. The handler runs in the midst of anything, in any
 * thread: it may count, ring an eventfd, and nothing else.
 */
#include "refused.h"

#include "calls.h"
#include "emu/io/base/base.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* asm-generic/siginfo.h; glibc 2.36 lacks it */
#endif
#define CALLS 1024 /* above them are no numbers */

static struct {
	atomic_uint count[CALLS];
	bool logged[CALLS];
	atomic_int bell; /* eventfd; -1: nobody hears */
	ev_io watcher;
} all = {.bell = -1};

#if defined(__x86_64__)
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

bool io_refused_can_report(void)
{
#ifdef RESULT
	return true;
#else
	return false;
#endif
}

static int answer_of(int call)
{
	return io_calls_has(call) ? EPERM : ENOSYS;
}

#ifdef RESULT
static void ring(void)
{
	const uint64_t one = 1;
	int bell = atomic_load(&all.bell);
	ssize_t n = bell < 0 ? 0 : write(bell, &one, sizeof(one));

	(void)n;
}

static void on_refused(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	int call = info->si_syscall;

	(void)number;
	if (info->si_code != SYS_SECCOMP)
		return;
	RESULT((ucontext_t *)context) = -answer_of(call);
	if (call >= 0 && call < CALLS && atomic_fetch_add(&all.count[call], 1) == 0)
		ring();
	errno = saved;
}

static int answer(void)
{
	struct sigaction act = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_RESTART};

	return sigaction(SIGSYS, &act, NULL) < 0 ? -errno : 0;
}
#else
static int answer(void)
{
	return 0;
}
#endif

static void log_call(int call)
{
	char *name = io_calls_name(call);

	all.logged[call] = true;
	io_log(IO_LOG_WARN, "sandbox: %s (system call %d) is refused%s: %s; see --no-sandbox",
	       name ? name : "?", call, io_calls_has(call) ? " with these arguments" : "",
	       strerror(answer_of(call)));
	free(name);
}

static void log_all(void)
{
	for (int i = 0; i < CALLS; i++)
		if (atomic_load(&all.count[i]) > 0 && !all.logged[i])
			log_call(i);
}

static void on_bell(struct ev_loop *loop, ev_io *w, int revents)
{
	uint64_t n;

	(void)loop;
	(void)revents;
	if (read(w->fd, &n, sizeof(n)) == sizeof(n))
		log_all();
}

int io_refused_watch(struct ev_loop *loop)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = fd < 0 ? -errno : answer();

	if (error < 0) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	atomic_store(&all.bell, fd);
	ev_io_init(&all.watcher, on_bell, fd, EV_READ);
	ev_io_start(loop, &all.watcher);
	return 0;
}

void io_refused_end(struct ev_loop *loop)
{
	int fd = atomic_exchange(&all.bell, -1);

	if (fd < 0)
		return;
	log_all();
	ev_io_stop(loop, &all.watcher);
	close(fd);
}
