/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeper of a private instance. It is a process group of its own, so that what is sent to the one
 * of uhca-run (the terminal's Ctrl-C, a time-out) does not reach it, and waits for the end of a
 * pipe whose other end only uhca-run has: the kernel closes that in every case. When the keeper
 * itself is killed the daemon follows (PR_SET_PDEATHSIG).
 */
#include "run_keeper.h"

#include "run_daemon.h"
#include "run_env.h"
#include "run_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where what is left of the instance goes; "": nowhere. */
static char keep_folder[PATH_MAX];

/*
 * Waits for the end of uhca-run: nobody writes into the pipe, so it becomes readable when it is
 * closed. False when the daemon has ended before.
 */
static bool outlives(pid_t daemon, int life_fd)
{
	struct pollfd p[2] = {{.fd = life_fd, .events = POLLIN},
			      {.fd = pidfd_open(daemon, 0), .events = POLLIN}};
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[1].fd >= 0) /* kernels before 5.3 have no such thing, and we learn it in the end */
		close(p[1].fd);
	return p[0].revents != 0;
}

static void wait_for_end(int life_fd)
{
	char byte;
	while (read(life_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void tell_of_crash(const struct run_dir *dir, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "uhca-run: the daemon was ended by signal %d (%s)\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "uhca-run: the daemon ended with status %d\n", WEXITSTATUS(status));
	run_dir_print_log(dir, 0);
}

/* While the daemon lives, and after it for as long as the command does without. */
static void keep_daemon(const struct run_dir *dir, pid_t daemon, int life_fd)
{
	bool at_end = outlives(daemon, life_fd);
	if (at_end && keep_folder[0])
		run_keep_state(dir, keep_folder);
	int status = run_daemon_stop(daemon);
	/* at our SIGTERM it ends with 0 */
	if (!at_end || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		tell_of_crash(dir, status);
	if (!at_end)
		wait_for_end(life_fd);
}

static void __attribute__((noreturn))
keep(const struct run_dir *dir, const struct run_options *options, int life_fd, int ready_fd)
{
	struct run_daemon daemon = {
		.dir = dir, .options = options, .alive_fd = -1, .die_with_parent = true};
	setpgid(0, 0);
	for (int s = 1; s < NSIG; s++)
		signal(s, s == SIGCHLD ? SIG_DFL : SIG_IGN);
	int ret = run_daemon_start(&daemon);
	if (ret == 0) {
		/* uhca-run may be gone already: then there is nothing to wait for */
		ssize_t n = write(ready_fd, "", 1);
		(void)n;
		keep_daemon(dir, daemon.pid, life_fd);
	}
	if (keep_folder[0])
		run_keep_log(dir, keep_folder);
	run_dir_remove(dir);
	_exit(ret == 0 ? 0 : RUN_EXIT_FAILED);
}

static int wait_keeper(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return -ECHILD;
}

int run_keeper_start(const struct run_dir *dir, const struct run_options *options,
		     struct run_keeper *out)
{
	const char *keep_named = options->keep ? options->keep : run_env_keep();
	int life[2], ready[2], ret = 0;
	char byte;
	if (keep_named)
		ret = run_keep_open(keep_named, keep_folder);
	if (ret < 0) {
		run_dir_remove(dir);
		return ret;
	}
	if (pipe2(life, O_CLOEXEC) < 0)
		goto fail;
	if (pipe2(ready, O_CLOEXEC) < 0)
		goto fail_life;
	out->pid = fork();
	if (out->pid < 0)
		goto fail_ready;
	if (out->pid == 0) {
		close(life[1]);
		close(ready[0]);
		keep(dir, options, life[0], ready[1]);
	}
	close(life[0]);
	close(ready[1]);
	out->life_fd = life[1];
	ssize_t n;
	while ((n = read(ready[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ready[0]);
	if (n != 1) {
		close(out->life_fd);
		ret = wait_keeper(out->pid);
	}
	return ret;

fail_ready:
	ret = errno;
	close(ready[0]);
	close(ready[1]);
fail_life:
	ret = ret ? ret : errno;
	close(life[0]);
	close(life[1]);
fail:
	ret = ret ? ret : errno;
	fprintf(stderr, "uhca-run: %s\n", strerror(ret));
	run_dir_remove(dir);
	return -ret;
}

void run_keeper_finish(struct run_keeper *keeper)
{
	close(keeper->life_fd);
	wait_keeper(keeper->pid);
}
