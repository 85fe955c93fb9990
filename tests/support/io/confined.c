/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a child of the test in the daemon's sandbox. */
#include "confined.h"

#include "emu/io/base/log.h"
#include "emu/io/sandbox/calls.h"
#include "emu/io/sandbox/refused.h"

#include <ev.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool confined_possible(void)
{
	const uint32_t action = SECCOMP_RET_TRAP;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static int child(const char *log, int (*body)(struct ev_loop *loop, void *arg), void *arg)
{
	struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	int result;

	if (*log && io_log_open(IO_LOG_WARN, IO_LOG_FILE, log) < 0)
		return 100;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || io_refused_watch(loop) < 0 ||
	    io_calls_keep_few() < 0)
		return 100;
	result = body(loop, arg);
	io_refused_end(loop);
	return result;
}

/* Not by exit(3): what the test has registered for its end is not the child's. */
int confined_run(const char *log, int (*body)(struct ev_loop *loop, void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child(log, body, arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 100;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}
