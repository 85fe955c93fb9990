/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps all that a command starts, and ends it; see run_reaper.h. */
#include "run_reaper.h"

#include "run_hang.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 300 /* between SIGTERM and SIGKILL */

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Collects who has ended. True: the command is among them. */
static bool collect(pid_t command, int *status)
{
	bool ended = false;
	int any;
	pid_t pid;

	while ((pid = waitpid(-1, &any, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		*status = any;
		ended = true;
	}
	return ended;
}

/* A process that is ended may have started another in between. */
static void end_all(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (pid > 0)
			continue;
		run_hang_kill_children(SIGKILL);
		while (waitpid(-1, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

/* They may want to say something. */
static void wait_a_little(const sigset_t *set, pid_t command, int *status)
{
	struct timespec left = {.tv_nsec = GRACE_MS * 1000000L};

	run_hang_kill_children(SIGTERM);
	run_hang_kill_children(SIGCONT);
	while (sigtimedwait(set, NULL, &left) == SIGCHLD)
		if (collect(command, status))
			return;
}

static void __attribute__((noreturn)) stay(pid_t command)
{
	int status = SIGTERM; /* as wait(2) has it */
	siginfo_t info;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (;;) {
		int number = sigwaitinfo(&set, &info);

		if (number == SIGTERM) {
			wait_a_little(&set, command, &status);
			break;
		}
		if (number == SIGCHLD && collect(command, &status))
			break;
		/* what the terminal sends, it has sent to the command as well */
		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(command, number);
	}
	end_all();
	_exit(exit_status(status));
}

void run_reaper_begin(void)
{
	const pid_t reaper = getpid();
	pid_t command;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	command = fork();
	if (command > 0)
		stay(command);
	if (command < 0) {
		fprintf(stderr, "uhca-run: fork: %s\n", strerror(errno));
		_exit(125);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != reaper)
		_exit(125);
}
