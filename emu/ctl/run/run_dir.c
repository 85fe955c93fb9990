/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories of instances: made, checked, removed. In a folder that everybody may write
 * (/tmp), somebody else may have made ours before: one that is not the user's own is refused.
 */
#include "run_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_TAIL_BYTES 4096
#define LOG_TAIL_LINES 20
#define WARNINGS       3

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
		"uhca-run: the name of the instance's directory is longer than %d bytes:\n"
		"  %s...\nSet XDG_RUNTIME_DIR or TMPDIR to a shorter one.\n",
		RUN_DIR_MAX, out->path);
	return -ENAMETOOLONG;
}

static int complain(const char *path, const char *what)
{
	int e = errno;
	fprintf(stderr, "uhca-run: %s: %s\n", path, what ? what : strerror(e));
	return what || !e ? -EACCES : -e;
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
		return complain(path, "belongs to somebody else");
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

int run_dir_private(struct run_dir *out)
{
	const char *root = runtime_root();
	int ret = set_path(out, "%s/uhca-XXXXXX", root ? root : temp_root());
	if (ret == 0 && !mkdtemp(out->path))
		ret = complain(root ? root : temp_root(), NULL);
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

void run_dir_remove(const struct run_dir *dir)
{
	(void)nftw(dir->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
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
