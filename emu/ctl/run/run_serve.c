/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_serve.h. The server ends when the other end of its life pipe, which only uhca-run has, is
 * closed and no page looks: the kernel closes that in every case.
 */
#include "run_serve.h"

#include "emu/ctl/instance/instance.h"
#include "emu/ctl/line/line.h"
#include "run_env.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_MAX 1024
#define LOOK_NS     100000000

static pid_t server = -1;
static int life_fd = -1;

/* The command as a shell takes it; empty: it is too long, or has several lines. */
static void join(char *const *command, char out[COMMAND_MAX])
{
	out[0] = '\0';
	for (; command && *command; command++) {
		if (strchr(*command, '\n') || !ctl_add_shell_word(out, COMMAND_MAX, *command)) {
			out[0] = '\0';
			return;
		}
	}
}

static void __attribute__((noreturn))
become_server(const struct run_options *o, const char *dir, int life, int ready)
{
	char command[COMMAND_MAX], words[5][COMMAND_MAX + PATH_MAX];
	char *args[8] = {(char *)(uintptr_t)run_env_server(),
			 words[0],
			 words[1],
			 words[2],
			 words[3],
			 (char[]){"quiet"}};

	join(o->command, command);
	snprintf(words[0], sizeof(words[0]), "dir=%s", dir);
	snprintf(words[1], sizeof(words[1]), "port=%s", o->serve);
	snprintf(words[2], sizeof(words[2]), "life=%d", life);
	snprintf(words[3], sizeof(words[3]), "ready=%d", ready);
	snprintf(words[4], sizeof(words[4]), "command=%s", command);
	if (command[0])
		args[6] = words[4];
	fcntl(life, F_SETFD, 0);
	fcntl(ready, F_SETFD, 0);
	setpgid(0, 0); /* the terminal's Ctrl-C is for the command */
	run_env_leave();
	execv(args[0], args);
	if (errno == ENOENT)
		fprintf(stderr,
			"uhca-run: --serve: this installation has no server of the page: %s\n",
			args[0]);
	else
		fprintf(stderr, "uhca-run: --serve: %s: %s\n", args[0], strerror(errno));
	_exit(RUN_EXIT_FAILED);
}

/* Waits for its word. False: it has ended, and said why. */
static bool is_ready(int fd)
{
	char byte;
	ssize_t n;

	while ((n = read(fd, &byte, 1)) < 0 && errno == EINTR)
		;
	return n == 1;
}

int run_serve_start(const struct run_options *options, const char *dir)
{
	int life[2], ready[2];
	bool began;

	if (!options->serve)
		return 0;
	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(ready, O_CLOEXEC) < 0 || (server = fork()) < 0) {
		perror("uhca-run: the server of the page");
		return -ECHILD;
	}
	if (server == 0) {
		close(life[1]);
		close(ready[0]);
		become_server(options, dir, life[0], ready[1]);
	}
	close(life[0]);
	close(ready[1]);
	life_fd = life[1];
	began = is_ready(ready[0]);
	close(ready[0]);
	return began ? 0 : -ECHILD;
}

/* A signal that somebody sends to uhca-run meanwhile ends the server. */
static bool end_requested(void)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return sigtimedwait(&set, NULL, &pause) > 0;
}

void run_serve_finish(void)
{
	bool warned = false;

	if (server < 0)
		return;
	close(life_fd);
	while (waitpid(server, NULL, WNOHANG) == 0) {
		if (end_requested())
			kill(server, SIGTERM);
		else if (!warned)
			warned =
				fprintf(stderr, "uhca-run: a browser still shows the device; close "
						"its page, or press Ctrl-C\n") > 0;
	}
	server = -1;
}
