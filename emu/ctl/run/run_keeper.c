/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeper of a private instance. It is a process group of its own, so that what is sent to the one
 * of uhca-run (the terminal's Ctrl-C, a time-out) does not reach it, and waits for the end of a
 * pipe whose other end only uhca-run has: the kernel closes that in every case. When the keeper
 * itself is killed the daemon follows (PR_SET_PDEATHSIG).
 */
#include "run_keeper.h"

#include "emu/ctl/instance/instance.h"
#include "run_daemon.h"
#include "run_env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DAEMON_END_MS 3000
#define LOOK_MS       20

/* Below which what is left of the instance goes, and where; "": nowhere. */
static char keep_folder[PATH_MAX], kept[PATH_MAX];
static bool keep_raw;

/*
 * Waits for the end of uhca-run: only in the end it writes into the pipe, which becomes readable by
 * that, and when it is closed. False when the daemon has ended before.
 */
static bool outlives(pid_t daemon, int life_fd)
{
	struct pollfd p[2] = {{.fd = life_fd, .events = POLLIN},
			      {.fd = ctl_pidfd_open(daemon), .events = POLLIN}};
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[1].fd >= 0) /* kernels before 5.3 have no such thing, and we learn it in the end */
		close(p[1].fd);
	return p[0].revents != 0;
}

/* A byte before the end says that the daemon's warnings are wanted. */
static bool wait_for_end(int life_fd)
{
	bool warns = false;
	char byte;
	ssize_t n;
	while ((n = read(life_fd, &byte, 1)) > 0 || (n < 0 && errno == EINTR))
		warns |= n > 0;
	return warns;
}

static void print_crash(const struct run_dir *dir, int status)
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
	bool at_end = outlives(daemon, life_fd), warns = at_end && wait_for_end(life_fd);
	if (at_end && kept[0])
		run_keep_state(dir, kept, keep_raw);
	int status = run_daemon_stop(daemon);
	/* at our SIGTERM it ends with 0 */
	if (!at_end || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		print_crash(dir, status);
	if (!at_end)
		warns = wait_for_end(life_fd);
	if (warns) /* now that it has ended they are all written */
		run_dir_print_warnings(dir, 0);
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
	if (keep_folder[0] &&
	    !run_keep_make(keep_folder, options->test ? options->test : options->command[0], kept))
		kept[0] = '\0';
	if (ret == 0) {
		/* uhca-run may be gone already: then there is nothing to wait for */
		ssize_t n = write(ready_fd, "", 1);
		(void)n;
		keep_daemon(dir, daemon.pid, life_fd);
	}
	if (kept[0])
		run_keep_log(dir, kept);
	run_dir_remove(dir->path);
	_exit(ret == 0 ? 0 : RUN_EXIT_FAILED);
}

/* True when it has ended by itself; who waits for the command may have reaped one that did not. */
static bool wait_keeper(pid_t pid)
{
	int status;
	pid_t ended;
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == pid && WIFEXITED(status);
}

int run_keeper_start(const struct run_dir *dir, const struct run_options *options,
		     struct run_keeper *out)
{
	const char *keep_named = options->keep ? options->keep : run_env_keep();
	int life[2], ready[2], ret = 0;
	char byte;
	keep_raw = !options->keep && run_env_keep_raw();
	if (keep_named)
		ret = run_keep_open(keep_named, keep_folder);
	if (ret < 0) {
		run_dir_remove(dir->path);
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
		wait_keeper(out->pid);
		ret = -ECHILD;
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
	run_dir_remove(dir->path);
	return -ret;
}

/*
 * Nobody is left who removes it: the daemon, which follows its keeper, takes away its own files,
 * and not the log. It may be at it still.
 */
static void remove_for_keeper(const struct run_dir *dir)
{
	for (unsigned ms = 0; ms < DAEMON_END_MS; ms += LOOK_MS) {
		run_dir_remove(dir->path);
		if (access(dir->path, F_OK) < 0)
			return;
		poll(NULL, 0, LOOK_MS);
	}
}

void run_keeper_finish(struct run_keeper *keeper, const struct run_dir *dir, bool warns)
{
	signal(SIGPIPE, SIG_IGN); /* a keeper that was killed tells nothing */
	ssize_t n = warns ? write(keeper->life_fd, "", 1) : 0;
	(void)n;
	close(keeper->life_fd);
	if (wait_keeper(keeper->pid))
		return;
	fprintf(stderr, "uhca-run: the process that watches the daemon was killed\n");
	remove_for_keeper(dir);
}
