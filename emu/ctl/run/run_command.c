/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running the command. Signals that somebody sends to uhca-run go on to the command. Those that
 * the terminal sends to the whole process group (Ctrl-C) have reached the command already.
 */
#include "run_command.h"

#include "emu/ctl/instance/instance.h"
#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOMENT_MS 100

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

/* One per process, as signal masks are: what uhca-run was started with. */
static sigset_t mask_before;

static void signals_of_interest(sigset_t *out)
{
	sigemptyset(out);
	sigaddset(out, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(out, passed_on[i]);
}

void run_command_hold_signals(void)
{
	sigset_t set;
	signal(SIGCHLD, SIG_DFL); /* it may come ignored, and wait would find nobody */
	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
}

static void __attribute__((noreturn))
become_command(const struct run_options *options, pid_t parent)
{
	char **argv = options->command;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(RUN_EXIT_FAILED);
	if (options->temp && setenv("TMPDIR", options->temp, 1) < 0)
		_exit(RUN_EXIT_FAILED);
	if (options->reap)
		run_reaper_begin();
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	execvp(argv[0], argv);
	int e = errno;
	fprintf(stderr, "uhca-run: %s: %s\n", argv[0], strerror(e));
	_exit(e == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_CANNOT_EXECUTE);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* si_code > 0 means the kernel: for these signals, the terminal. */
static bool was_sent_to_us(const siginfo_t *info)
{
	return info->si_code <= 0;
}

/* Somebody gives up on the command: with the sanitizer it is told first what it waits for. */
static bool is_giving_up(const siginfo_t *info)
{
	return info->si_signo == SIGTERM || info->si_signo == SIGINT || info->si_signo == SIGHUP ||
	       info->si_signo == SIGQUIT;
}

static bool interrupted;

bool run_command_was_interrupted(void)
{
	return interrupted;
}

/* The command is not our only child: a shared daemon that we started may end before it. */
static bool collect(pid_t command, int *status)
{
	pid_t pid;
	do
		pid = waitpid(-1, status, WNOHANG);
	while (pid > 0 && pid != command);
	return pid == command;
}

/* Waits for a signal until end; 0: for ever. The signal, 0: it has been interrupted, -1: over. */
static int next_signal(const sigset_t *set, time_t end, siginfo_t *info)
{
	struct timespec left = {.tv_sec = end - (time_t)(ctl_now() / CTL_SECOND)};
	if (end && left.tv_sec <= 0)
		return -1;
	int number = end ? sigtimedwait(set, info, &left) : sigwaitinfo(set, info);
	return number < 0 ? 0 : number; /* a signal that stops us, and SIGCONT; or it is over */
}

static int end_it(pid_t pid, const struct run_options *options, const char *dir)
{
	int status;
	fprintf(stderr, "uhca-run: %s did not end within %u seconds; it waits for:\n",
		options->command[0], options->time_limit);
	run_hang_print(pid, options->reap, dir);
	run_hang_end(pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return RUN_EXIT_TOO_LONG;
}

struct watched {
	const struct run_options *options;
	const char *dir;
	pid_t pid;
	time_t begun;
	bool wait_printed;
};

/*
 * Of one that is gone the collector knows what it waited for. timeout(1) sends its signal to the
 * command as well, which may be gone in a moment.
 */
static void print_wait(const struct watched *w, int number)
{
	interrupted = run_hang_ends_within(w->pid, MOMENT_MS);
	if (interrupted)
		return;
	fprintf(stderr, "uhca-run: signal %d; %s waits for:\n", number, w->options->command[0]);
	run_hang_print(w->pid, w->options->reap, w->dir);
}

/* One that has just begun waits for nothing long. */
#define LONG_S 2

static void hear_signal(struct watched *w, const siginfo_t *info)
{
	if (!was_sent_to_us(info)) {
		interrupted |= is_giving_up(info);
		return;
	}
	if (w->options->sanitize && !w->wait_printed && is_giving_up(info) &&
	    (time_t)(ctl_now() / CTL_SECOND) - w->begun >= LONG_S) {
		w->wait_printed = true;
		print_wait(w, info->si_signo);
	}
	kill(w->pid, info->si_signo);
}

int run_command_run(const struct run_options *options, const char *dir)
{
	const time_t end =
		options->time_limit ? (time_t)(ctl_now() / CTL_SECOND) + options->time_limit : 0;
	struct watched w = {
		.options = options, .dir = dir, .begun = (time_t)(ctl_now() / CTL_SECOND)};
	sigset_t set;
	siginfo_t info;
	int status;
	pid_t parent = getpid(), pid = fork();
	if (pid < 0) {
		fprintf(stderr, "uhca-run: fork: %s\n", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	if (pid == 0)
		become_command(options, parent);
	w.pid = pid;
	signals_of_interest(&set);
	for (;;) {
		int number = next_signal(&set, end, &info);
		if (number < 0)
			return end_it(pid, options, dir);
		if (number == 0)
			continue;
		if (number != SIGCHLD) {
			hear_signal(&w, &info);
		} else if (collect(pid, &status)) {
			return exit_status(status);
		}
	}
}
