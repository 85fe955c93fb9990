/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates, locks and removes the runtime directory of a daemon. */
#include "instance.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Everything the daemon makes, the log and the pid file aside. */
static const char *const ours[] = {"sock", "ctl", "cm", "addresses", "lines", "sys", "dev"};

int io_instance_path(const char *name, char *out, size_t cap)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	const char *tmp = getenv("TMPDIR");
	int n;

	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EINVAL;
	if (run && *run && access(run, W_OK | X_OK) == 0)
		n = snprintf(out, cap, "%s/uhca/%s", run, name);
	else
		n = snprintf(out, cap, "%s/uhca-%u/%s", tmp && *tmp ? tmp : "/tmp",
			     (unsigned)geteuid(), name);
	return (size_t)n < cap ? 0 : -ENAMETOOLONG;
}

const char *io_instance_file(const struct io_instance *in, const char *name, char *out)
{
	int n = snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 260, in->dir, name);

	(void)n;
	return out;
}

static int make_parents(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/*
 * Ours, a directory and no link, and nobody else may write into it. In a shared /tmp another
 * user may have made it before us.
 */
static int check_owner(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -EPERM;
}

/*
 * Who can rename what leads to our directory can put another in its place, with sockets of his own.
 * root may do that, and where root is somebody else, as in a user namespace, so may the owner of /.
 */
static bool lets_others_rename(const struct stat *st, const struct stat *top)
{
	return (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != top->st_uid) ||
	       ((st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX));
}

/* The path is real: absolute and without links. It is cut to the parent that is refused (EPERM). */
static int check_parents(char path[PATH_MAX])
{
	struct stat st, top;

	if (stat("/", &top) < 0)
		return -errno;
	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		slash[slash == path] = '\0';
		if (lstat(path, &st) < 0)
			return -errno;
		if (lets_others_rename(&st, &top))
			return -EPERM;
		if (slash == path)
			break;
	}
	return 0;
}

static int check_way(const struct io_instance *in)
{
	char path[PATH_MAX];
	int error;

	memcpy(path, in->dir, sizeof(path));
	error = check_parents(path);
	if (error == -EPERM)
		io_log(IO_LOG_ERROR,
		       "other users can replace the directory %s: %s belongs to another user, or "
		       "is writable for all without the sticky bit (see --trust-parents)",
		       in->dir, path);
	else if (error < 0)
		io_log(IO_LOG_ERROR, "%s: %s", path, strerror(-error));
	return error;
}

static int make_dir(struct io_instance *in, const char *dir)
{
	int error = make_parents(dir);

	if (error == 0)
		error = check_owner(dir);
	if (error == 0 && !realpath(dir, in->dir))
		error = -errno;
	if (error == -EPERM)
		io_log(IO_LOG_ERROR, "%s must be a directory of this user with mode 0700", dir);
	else if (error < 0)
		io_log(IO_LOG_ERROR, "cannot create the directory %s: %s", dir, strerror(-error));
	return error;
}

static int prepare_dir(struct io_instance *in, const char *dir, bool trust_parents)
{
	struct sockaddr_un un;
	int error = make_dir(in, dir);

	if (error < 0)
		return error;
	if (strlen(in->dir) + sizeof("/sock") > sizeof(un.sun_path)) {
		io_log(IO_LOG_ERROR, "%s is too long: a socket's name has at most %zu bytes",
		       in->dir, sizeof(un.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	error = trust_parents ? 0 : check_way(in);
	return error < 0 ? error : check_owner(in->dir); /* nobody can change it now */
}

/* A daemon that ends removes the file; whoever waited for the lock then holds a dead one. */
static bool is_current(int fd, const char *path)
{
	struct stat a;
	struct stat b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static void say_who(int fd, const char *dir)
{
	char pid[16] = "?";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	if (n > 0)
		pid[strcspn(pid, "\n")] = '\0';
	io_log(IO_LOG_ERROR, "another daemon (process %s) already runs in %s; choose another --dir",
	       pid, dir);
}

/* The locked pid file, or -errno. */
static int take_lock(const struct io_instance *in)
{
	char path[PATH_MAX];

	io_instance_file(in, "pid", path);
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		int error = 0;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			error = errno;
		else if (is_current(fd, path))
			return fd;
		if (error == EWOULDBLOCK)
			say_who(fd, in->dir);
		close(fd);
		if (error != 0)
			return error == EWOULDBLOCK ? -EBUSY : -error;
	}
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void remove_ours(const struct io_instance *in)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		io_instance_file(in, ours[i], path);
		nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	}
}

static int write_pid(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (ftruncate(fd, 0) < 0)
		return -errno;
	return pwrite(fd, text, (size_t)n, 0) == n ? 0 : -EIO;
}

int io_instance_open(struct io_instance *in, const char *dir, bool trust_parents)
{
	int error;

	*in = (struct io_instance){.lock = -1};
	error = prepare_dir(in, dir, trust_parents);
	if (error < 0)
		return error;
	in->lock = take_lock(in);
	if (in->lock < 0)
		return in->lock;
	error = write_pid(in->lock);
	if (error < 0) {
		io_log(IO_LOG_ERROR, "cannot write %s/pid: %s", in->dir, strerror(-error));
		close(in->lock);
		in->lock = -1;
		return error;
	}
	remove_ours(in);
	return 0;
}

void io_instance_close(struct io_instance *in)
{
	char path[PATH_MAX];

	if (in->lock < 0)
		return;
	remove_ours(in);
	unlink(io_instance_file(in, "pid", path));
	close(in->lock);
	in->lock = -1;
}
