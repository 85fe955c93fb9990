/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching to a shared instance. Two files in its directory make that safe:
 *   lock   flock'ed while one uhca-run looks and starts, so that simultaneous ones agree
 *   alive  flock'ed by the daemon through a descriptor it inherits, hence exactly as long as it
 *          lives: a daemon that is about to end has stopped to listen, and the next one must not
 *          begin before it has cleaned up
 * What the daemon was started with is kept in "options", to refuse another wish.
 */
#include "run_shared.h"

#include "run_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TIMEOUT_MS      60000
#define LOCK_POLL_MS         5
#define IDLE_TIMEOUT_DEFAULT "5"
#define STARTS_MAX           5
#define OPTIONS_MAX          4096

static int fail(const char *path, int error)
{
	fprintf(stderr, "uhca-run: %s: %s\n", path, strerror(-error));
	return error;
}

static int open_in(const struct run_dir *dir, const char *name)
{
	char path[RUN_DIR_MAX + 16];
	snprintf(path, sizeof(path), "%s/%s", dir->path, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? run_dir_complain(path) : fd;
}

/* Waits for the lock as long as it takes another to start or end a daemon. */
static int take_lock(int fd, const struct run_dir *dir)
{
	struct timespec pause = {.tv_nsec = LOCK_POLL_MS * 1000000L};
	for (int waited = 0; waited < LOCK_TIMEOUT_MS; waited += LOCK_POLL_MS) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fail(dir->path, -errno);
		nanosleep(&pause, NULL);
	}
	return fail(dir->path, -ETIMEDOUT);
}

static void join_options(const struct run_options *options, char out[OPTIONS_MAX])
{
	size_t n = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < options->n_daemon_args && n < OPTIONS_MAX; i++)
		n += (size_t)snprintf(out + n, OPTIONS_MAX - n, "%s%s", i ? " " : "",
				      options->daemon_args[i]);
}

static int record_options(const struct run_dir *dir, const struct run_options *options)
{
	char text[OPTIONS_MAX];
	int fd = open_in(dir, "options"), ret = 0;
	if (fd < 0)
		return fd;
	join_options(options, text);
	if (ftruncate(fd, 0) < 0 || write(fd, text, strlen(text)) < 0)
		ret = fail(dir->path, -errno);
	close(fd);
	return ret;
}

/* Whoever asks for nothing in particular takes what is there. */
static int check_options(const struct run_dir *dir, const struct run_options *options)
{
	char wanted[OPTIONS_MAX], text[OPTIONS_MAX];
	if (options->n_daemon_args == 0)
		return 0;
	int fd = open_in(dir, "options");
	if (fd < 0)
		return fd;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	join_options(options, wanted);
	if (strcmp(wanted, text) == 0)
		return 0;
	fprintf(stderr,
		"uhca-run: the instance in %s already runs with %s%s, not with %s.\nUse another "
		"instance (--instance NAME), or --private.\n",
		dir->path, *text ? "" : "no options", text, wanted);
	return -EBUSY;
}

/* Nobody listens: start a daemon, once the one before has gone for good. */
static int start(const struct run_dir *dir, const struct run_options *options)
{
	struct run_daemon daemon = {.dir = dir,
				    .options = options,
				    .idle_timeout = options->idle_timeout ? options->idle_timeout
									  : IDLE_TIMEOUT_DEFAULT};
	daemon.alive_fd = open_in(dir, "alive");
	if (daemon.alive_fd < 0)
		return daemon.alive_fd;
	int ret = take_lock(daemon.alive_fd, dir);
	if (ret == 0)
		ret = record_options(dir, options);
	if (ret == 0)
		ret = run_daemon_start(&daemon);
	close(daemon.alive_fd);
	return ret;
}

static bool nobody_listens(int fd)
{
	return fd == -ENOENT || fd == -ECONNREFUSED;
}

/*
 * A daemon that waits for clients for a second only may have left again where the machine stood
 * still for longer, before we came: another one, then.
 */
static int attach_locked(const struct run_dir *dir, const struct run_options *options)
{
	int fd = run_daemon_connect(dir->path);
	int ret = fd < 0 ? 0 : check_options(dir, options);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	for (unsigned starts = 0; nobody_listens(fd) && starts < STARTS_MAX; starts++) {
		ret = start(dir, options);
		if (ret < 0)
			return ret;
		fd = run_daemon_connect(dir->path);
	}
	return fd < 0 ? fail(dir->path, fd) : fd;
}

int run_shared_attach(const struct run_dir *dir, const struct run_options *options)
{
	int lock = open_in(dir, "lock");
	if (lock < 0)
		return lock;
	int ret = take_lock(lock, dir);
	if (ret == 0)
		ret = attach_locked(dir, options);
	close(lock);
	return ret;
}
