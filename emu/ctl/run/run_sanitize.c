/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_sanitize.h. The collector listens in a folder of its own, which only its user can enter.
 */
#include "run_sanitize.h"

#include "emu/abi/sanitize.h"
#include "emu/ctl/instance/instance.h"
#include "emu/ctl/line/line.h"
#include "run_command.h"
#include "run_env.h"
#include "run_symptoms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LISTENING_FD 3
#define PAIR_FD      4
#define ARGS_MAX     (10 + 2 * RUN_SANITIZE_WORDS_MAX)

static struct sockaddr_un place = {.sun_family = AF_UNIX};
static char folder[sizeof(place.sun_path)];
static pid_t collector = -1;
static int pair_fd = -1;

static int make_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(folder, sizeof(folder), "%s/uhca-sanitize-XXXXXX",
			 tmp && *tmp ? tmp : "/tmp");
	if (n < 0 || (size_t)n + sizeof("/" RUN_DIR_LIFE) > sizeof(folder))
		return -ENAMETOOLONG;
	if (!mkdtemp(folder))
		return -errno;
	int life = run_dir_mark(folder); /* stays open */
	if (life < 0)
		return life;
	strcpy(stpcpy(place.sun_path, folder), "/s");
	return 0;
}

static void remove_folder(void)
{
	char life[sizeof(folder) + sizeof("/" RUN_DIR_LIFE)];
	snprintf(life, sizeof(life), "%s/" RUN_DIR_LIFE, folder);
	unlink(life);
	unlink(place.sun_path);
	rmdir(folder);
}

/* -errno, or a socket that listens in the folder. */
static int listen_there(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&place, sizeof(place)) == 0 && listen(fd, 128) == 0)
		return fd;
	int e = errno;
	close(fd);
	return -e;
}

static void __attribute__((noreturn))
become_collector(const struct run_options *o, int listening, int pair)
{
	char *args[ARGS_MAX];
	unsigned n = 0;
	/* out of the way of each other first */
	int l = fcntl(listening, F_DUPFD, PAIR_FD + 1), p = fcntl(pair, F_DUPFD, PAIR_FD + 1);
	dup2(l, LISTENING_FD);
	dup2(p, PAIR_FD);
	close(l);
	close(p);
	setpgid(0, 0); /* the terminal's Ctrl-C is for the command */
	args[n++] = (char *)(uintptr_t)run_env_sanitizer();
	args[n++] = (char[]){"3"};
	args[n++] = (char[]){"4"};
	args[n++] = (char *)(uintptr_t)o->sanitize;
	if (!o->no_stock) {
		args[n++] = (char *)(uintptr_t) "--stock";
		args[n++] = (char *)(uintptr_t)run_env_stock();
	}
	for (unsigned i = 0; i < o->n_sanitize_words; i++)
		args[n++] = (char *)(uintptr_t)o->sanitize_words[i];
	args[n] = NULL;
	execv(args[0], args);
	fprintf(stderr, "uhca-run: %s: %s\n", args[0], strerror(errno));
	_exit(RUN_EXIT_FAILED);
}

/* Waits for its word. False: it has ended, and said why. */
static bool is_ready(void)
{
	char word[8];
	ssize_t n;
	while ((n = read(pair_fd, word, sizeof(word))) < 0 && errno == EINTR)
		;
	return n > 0;
}

static int start_collector(const struct run_options *o, int listening)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	collector = fork();
	if (collector == 0)
		become_collector(o, listening, pair[1]);
	close(pair[1]);
	pair_fd = pair[0];
	if (collector < 0)
		return -errno;
	return is_ready() ? 0 : -ECHILD;
}

int run_sanitize_help(void)
{
	if (ctl_look_beside() < 0)
		return -ENOENT;
	execl(run_env_sanitizer(), "uhca-sanitizer", "help", (char *)NULL);
	int e = errno;
	fprintf(stderr, "uhca-run: %s: %s\n", run_env_sanitizer(), strerror(e));
	return -e;
}

int run_sanitize_start(const struct run_options *options)
{
	if (!options->sanitize)
		return 0;
	int ret = make_folder();
	int listening = ret < 0 ? ret : listen_there();
	if (listening >= 0) {
		ret = start_collector(options, listening);
		close(listening);
	} else {
		ret = listening;
	}
	if (ret == 0 && (setenv(UHCA_SANITIZE_ENV, options->sanitize, 1) < 0 ||
			 setenv(UHCA_SANITIZE_SOCKET_ENV, place.sun_path, 1) < 0))
		ret = -ENOMEM;
	if (ret < 0 && ret != -ECHILD) { /* of its end the collector has told */
		errno = -ret;
		run_dir_complain("the sanitizer");
	}
	if (ret < 0)
		remove_folder();
	return ret;
}

int run_sanitize_finish(int status)
{
	char word[16] = "";
	size_t n = 0;
	ssize_t got;
	if (pair_fd < 0)
		return status;
	if (run_command_was_interrupted() && write(pair_fd, "i", 1) < 0)
		perror("uhca-run: the sanitizer's collector");
	shutdown(pair_fd, SHUT_WR);
	while (n + 1 < sizeof(word) && ((got = read(pair_fd, word + n, sizeof(word) - 1 - n)) > 0 ||
					(got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	close(pair_fd);
	waitpid(collector, NULL, 0);
	remove_folder();
	if (!n) {
		fprintf(stderr, "uhca-run: the sanitizer's collector has died\n");
		return RUN_EXIT_FAILED;
	}
	int found = atoi(word);
	if (!found && status != RUN_EXIT_FAILED && !getenv(UHCA_SANITIZE_SWEEP_ENV))
		run_symptoms_print(status);
	return found ? found : status;
}
