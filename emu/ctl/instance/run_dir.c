/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories of instances: made, checked, removed. In a folder that everybody may write
 * (/tmp), somebody else may have made ours before: one that is not the user's own is refused.
 */
#include "run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOG_TAIL_BYTES 4096
#define LOG_TAIL_LINES 20
#define WARNINGS       3

#define MEMORY      "/dev/shm"
#define MEMORY_ROOM (16u << 20) /* bytes that are to be free there */

/* The folder that may hold instances of this user, and whether it is only the user's. */
static const char *runtime_root(void)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	return xdg && *xdg && access(xdg, W_OK | X_OK) == 0 ? xdg : NULL;
}

static const char *temp_root(void)
{
	const char *tmp = getenv("TMPDIR");
	return tmp && *tmp ? tmp : "/tmp";
}

/*
 * A described machine is some hundred files, which a disk makes in seconds when it is busy: a
 * private instance lives in memory where there is room, unless somebody says where. NULL: not.
 */
static const char *memory_root(void)
{
	const char *tmp = getenv("TMPDIR");
	struct statfs fs;
	if (tmp && *tmp)
		return NULL;
	if (statfs(MEMORY, &fs) < 0 || fs.f_type != TMPFS_MAGIC ||
	    (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < MEMORY_ROOM)
		return NULL;
	return access(MEMORY, W_OK | X_OK) == 0 ? MEMORY : NULL;
}

static int __attribute__((format(printf, 2, 3)))
set_path(struct run_dir *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(out->path, sizeof(out->path), format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(out->path))
		return 0;
	fprintf(stderr,
		"uhca-run: the name of the instance's directory is longer than %d bytes:\n  "
		"%s...\nSet XDG_RUNTIME_DIR or TMPDIR to a shorter path.\n",
		RUN_DIR_MAX, out->path);
	return -ENAMETOOLONG;
}

const char *run_dir_root(void)
{
	const char *root = runtime_root();
	if (!root)
		root = memory_root();
	return root ? root : temp_root();
}

/* It is the folder that cannot be used, and there may be others. */
static bool is_of_folder(int error)
{
	return error == EROFS || error == EACCES || error == ENOSPC || error == ENOENT ||
	       error == EDQUOT;
}

static int complain(const char *path, const char *what)
{
	int e = errno;
	fprintf(stderr, "uhca-run: %s: %s\n", path, what ? what : strerror(e));
	if (!what && is_of_folder(e))
		fprintf(stderr, "An instance needs a writable directory: set XDG_RUNTIME_DIR or "
				"TMPDIR, to /dev/shm for example.\n");
	return what || !e ? -EACCES : -e;
}

int run_dir_complain(const char *what)
{
	return complain(what, NULL);
}

static int own_directory(const char *path)
{
	struct stat st;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return complain(path, NULL);
	if (lstat(path, &st) < 0)
		return complain(path, NULL);
	if (!S_ISDIR(st.st_mode))
		return complain(path, "is not a directory");
	if (st.st_uid != geteuid())
		return complain(path, "belongs to another user");
	if ((st.st_mode & 077) != 0 && chmod(path, 0700) < 0)
		return complain(path, NULL);
	return 0;
}

int run_dir_shared(const char *name, struct run_dir *out)
{
	struct run_dir parent;
	const char *root = runtime_root();
	int ret = root ? set_path(&parent, "%s/uhca", root)
		       : set_path(&parent, "%s/uhca-%u", temp_root(), (unsigned)geteuid());
	if (ret == 0)
		ret = set_path(out, "%s/%s", parent.path, name);
	if (ret == 0)
		ret = own_directory(parent.path);
	return ret == 0 ? own_directory(out->path) : ret;
}

int run_dir_mark(const char *path)
{
	char life[PATH_MAX], new[PATH_MAX];
	snprintf(life, sizeof(life), "%s/" RUN_DIR_LIFE, path);
	snprintf(new, sizeof(new), "%s/" RUN_DIR_LIFE ".new", path);
	int fd = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	/* By its name nobody sees it unlocked. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && rename(new, life) == 0)
		return fd;
	int e = errno;
	close(fd);
	return -e;
}

/* ---- what commands that were killed have left ---- */

/*
 * "uhca-XXXXXX" and "uhca-sanitize-XXXXXX"; that of shared instances ends with the user's number.
 */
static bool is_name_of_ours(const char *name)
{
	char shared[32];
	snprintf(shared, sizeof(shared), "uhca-%u", (unsigned)geteuid());
	size_t n = strlen(name);
	return strncmp(name, "uhca-", 5) == 0 && strcmp(name, shared) != 0 &&
	       (n == 11 || (strncmp(name, "uhca-sanitize-", 14) == 0 && n == 20));
}

/* The file, locked, or -1: somebody has it, or it is none of ours. */
static int lock_left(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * Made by an uhca-run of this user, whose mark nobody holds any more, and no daemon its pid file:
 * what else is called so is somebody's, and stays.
 */
static void sweep_one(const char *root, const char *name)
{
	struct run_dir dir;
	struct stat st;
	int n = snprintf(dir.path, sizeof(dir.path), "%s/%s", root, name);
	int fd = n < 0 || (size_t)n >= sizeof(dir.path)
			 ? -1
			 : open(dir.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	bool ours = fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
	int life = ours ? lock_left(fd, RUN_DIR_LIFE) : -1;
	bool has_pid = life >= 0 && faccessat(fd, "pid", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	int pid = has_pid ? lock_left(fd, "pid") : -1;
	if (life >= 0 && (!has_pid || pid >= 0))
		run_dir_remove(dir.path);
	if (pid >= 0)
		close(pid);
	if (life >= 0)
		close(life);
	close(fd);
}

static void sweep(const char *root)
{
	DIR *folder = root ? opendir(root) : NULL;
	const struct dirent *entry;
	while (folder && (entry = readdir(folder)))
		if (is_name_of_ours(entry->d_name))
			sweep_one(root, entry->d_name);
	if (folder)
		closedir(folder);
}

int run_dir_private(struct run_dir *out)
{
	sweep(runtime_root());
	sweep(memory_root());
	sweep(temp_root());
	int ret = set_path(out, "%s/uhca-XXXXXX", run_dir_root());
	if (ret == 0 && !mkdtemp(out->path))
		ret = complain(run_dir_root(), NULL);
	if (ret == 0) {
		int life = run_dir_mark(out->path); /* stays open */
		errno = life < 0 ? -life : 0;
		ret = life < 0 ? complain(out->path, NULL) : 0;
	}
	return ret;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path); /* what stays, stays: its parent's removal fails and that is all */
	return 0;
}

void run_dir_remove(const char *path)
{
	(void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Where the last n lines of a text begin. */
static char *last_lines(char *text, size_t length, unsigned n)
{
	char *at = text + length;
	while (at > text) {
		if (at[-1] == '\n' && at != text + length && n-- == 1)
			break;
		at--;
	}
	return at;
}

static FILE *open_log(const struct run_dir *dir)
{
	char path[RUN_DIR_MAX + 8];
	snprintf(path, sizeof(path), "%s/log", dir->path);
	return fopen(path, "re");
}

long run_dir_log_size(const struct run_dir *dir)
{
	FILE *log = open_log(dir);
	if (!log)
		return 0;
	long size = fseek(log, 0, SEEK_END) == 0 ? ftell(log) : 0;
	fclose(log);
	return size;
}

void run_dir_print_log(const struct run_dir *dir, long from)
{
	char text[LOG_TAIL_BYTES + 1];
	long tail = run_dir_log_size(dir) - LOG_TAIL_BYTES;
	FILE *log = open_log(dir);
	if (!log)
		return;
	size_t n = 0;
	if (fseek(log, tail > from ? tail : from, SEEK_SET) == 0)
		n = fread(text, 1, LOG_TAIL_BYTES, log);
	fclose(log);
	text[n] = '\0';
	char *save, *line = strtok_r(last_lines(text, n, LOG_TAIL_LINES), "\n", &save);
	for (; line; line = strtok_r(NULL, "\n", &save))
		fprintf(stderr, "  | %s\n", line);
}

static bool is_warning(const char *line)
{
	return strstr(line, "Z warn: ") || strstr(line, "Z error: ");
}

void run_dir_print_warnings(const struct run_dir *dir, long from)
{
	char *kept[WARNINGS] = {NULL}, *line = NULL;
	FILE *log = open_log(dir);
	size_t room = 0;
	unsigned n = 0;
	if (!log)
		return;
	if (fseek(log, from, SEEK_SET) == 0)
		while (getline(&line, &room, log) > 0)
			if (is_warning(line)) {
				free(kept[n % WARNINGS]);
				kept[n++ % WARNINGS] = strdup(line);
			}
	free(line);
	fclose(log);
	if (n > 0)
		fprintf(stderr, "uhca-run: warnings of the daemon (%u):\n", n);
	for (unsigned i = n > WARNINGS ? n - WARNINGS : 0; i < n; i++) {
		if (kept[i % WARNINGS])
			fprintf(stderr, "  | %s", kept[i % WARNINGS]);
		free(kept[i % WARNINGS]);
	}
}
