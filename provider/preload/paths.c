/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's functions that take a path, as far as RDMA programs and libraries use them on
 * the device's files: each maps the path (path_map.c) and calls the real one. Names without a
 * symbol version satisfy references to any version, so one definition serves programs that were
 * built with any glibc. Results, errno and cancellation are the real function's.
 *
 * The headers' macros and attributes (64-bit file offsets, fortification, nonnull) must not get
 * into the way of defining these names; hence the settings before the first include.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include "path_map.h"
#include "real.h"
#include "ucma.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* On the 64-bit machines that RDMA runs on, both are what the kernel fills in. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one struct stat");
_Static_assert(sizeof(off_t) == 8, "64-bit offsets");

/* Entry points of the C library that its headers do not declare, or not to us. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat(int version, const char *path, struct stat *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room);
ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t len, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);

/* Declares "to": the mapped path, which may stand in a buffer of the calling function. */
#define MAP(path)                                                                                  \
	char buffer_[PATH_MAX];                                                                    \
	const char *to = uhca_path_map(uhca_root(), path, buffer_, sizeof(buffer_))

static bool is_top(int dir)
{
	struct stat st, top;

	return syscall(SYS_fstat, dir, &st) == 0 &&
	       syscall(SYS_newfstatat, AT_FDCWD, "/", &top, 0) == 0 && st.st_dev == top.st_dev &&
	       st.st_ino == top.st_ino;
}

/* hwloc names files of sysfs from a descriptor of "/". */
static const char *map_at(int dir, const char *path, char *buf, size_t size)
{
	char whole[PATH_MAX];
	const char *to;
	int saved = errno;

	if (!uhca_root() || !path || dir == AT_FDCWD || strncmp(path, "sys/", 4) != 0 ||
	    (size_t)snprintf(whole, sizeof(whole), "/%s", path) >= sizeof(whole))
		return uhca_path_map(uhca_root(), path, buf, size);
	to = is_top(dir) ? uhca_path_map(uhca_root(), whole, buf, size) : whole;
	errno = saved;
	return to == buf ? to : path;
}

/* The same of a path that begins at a descriptor. */
#define MAP_AT(dir, path)                                                                          \
	char buffer_[PATH_MAX];                                                                    \
	const char *to = map_at(dir, path, buffer_, sizeof(buffer_))

/* Calls the real function, or answers ENOSYS with the value "failed". */
#define CALL(name, failed, ...)                                                                    \
	(UHCA_REAL(name) ? UHCA_REAL(name)(__VA_ARGS__) : (errno = ENOSYS, (failed)))

/* A function that hands the mapped path, and its other arguments, to the real one. */
#define FORWARD(type, name, failed, params, ...)                                                   \
	EXPORT type name params                                                                    \
	{                                                                                          \
		MAP(path);                                                                         \
		return CALL(name, failed, __VA_ARGS__);                                            \
	}
#define FORWARD_AT(type, name, failed, params, ...)                                                \
	EXPORT type name params                                                                    \
	{                                                                                          \
		MAP_AT(dir, path);                                                                 \
		return CALL(name, failed, __VA_ARGS__);                                            \
	}

/* ---- open ---- */

/*
 * libibverbs finds the provider of a device by the modalias of its function as well as by its name.
 * That of a described device is an adapter's, whose own provider, which programs like perftest
 * bring with them, would take the device first. Others read it.
 */
static bool is_hidden(const char *to, void *caller)
{
	static const char file[] = "/device/modalias";
	size_t len = strlen(to);

	return len > sizeof(file) && !strcmp(to + len - (sizeof(file) - 1), file) &&
	       uhca_is_library(caller, "libibverbs.so");
}

static int hidden(void)
{
	errno = ENOENT;
	return -1;
}

/* The rdma_cm device is not a file. */
#define OPEN(name, ...)                                                                            \
	(to == path                                   ? CALL(name, -1, __VA_ARGS__)                \
	 : uhca_ucma_is_path(to)                      ? uhca_ucma_open(flags)                      \
	 : is_hidden(to, __builtin_return_address(0)) ? hidden()                                   \
						      : CALL(name, -1, __VA_ARGS__))

/* The mode is there only when the flags say so. */
#define MODE(flags, mode)                                                                          \
	do {                                                                                       \
		if (((flags)&O_CREAT) || ((flags)&O_TMPFILE) == O_TMPFILE) {                       \
			va_list ap_;                                                               \
			va_start(ap_, flags);                                                      \
			(mode) = va_arg(ap_, mode_t);                                              \
			va_end(ap_);                                                               \
		}                                                                                  \
	} while (0)

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	MAP(path);

	MODE(flags, mode);
	return OPEN(open, to, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	MAP(path);

	MODE(flags, mode);
	return OPEN(open64, to, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	MAP_AT(dir, path);

	MODE(flags, mode);
	return OPEN(openat, dir, to, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	MAP_AT(dir, path);

	MODE(flags, mode);
	return OPEN(openat64, dir, to, flags, mode);
}

EXPORT int __open_2(const char *path, int flags)
{
	MAP(path);

	return OPEN(__open_2, to, flags);
}

EXPORT int __open64_2(const char *path, int flags)
{
	MAP(path);

	return OPEN(__open64_2, to, flags);
}

EXPORT int __openat_2(int dir, const char *path, int flags)
{
	MAP_AT(dir, path);

	return OPEN(__openat_2, dir, to, flags);
}

EXPORT int __openat64_2(int dir, const char *path, int flags)
{
	MAP_AT(dir, path);

	return OPEN(__openat64_2, dir, to, flags);
}

FORWARD(FILE *, fopen, NULL, (const char *restrict path, const char *restrict mode), to, mode)
FORWARD(FILE *, fopen64, NULL, (const char *restrict path, const char *restrict mode), to, mode)

/* ---- directories ---- */

FORWARD(DIR *, opendir, NULL, (const char *path), to)
FORWARD(int, scandir, -1,
	(const char *restrict path, struct dirent ***restrict list,
	 int (*filter)(const struct dirent *),
	 int (*order)(const struct dirent **, const struct dirent **)),
	to, list, filter, order)
FORWARD(int, scandir64, -1,
	(const char *restrict path, struct dirent64 ***restrict list,
	 int (*filter)(const struct dirent64 *),
	 int (*order)(const struct dirent64 **, const struct dirent64 **)),
	to, list, filter, order)

/* ---- stat: glibc before 2.33 has only the __xstat family, later ones hide it ---- */

static int stat_at(int dir, const char *path, void *st, int flags)
{
	MAP_AT(dir, path);

	if (UHCA_REAL(fstatat))
		return UHCA_REAL(fstatat)(dir, to, st, flags);
	return (int)syscall(SYS_newfstatat, dir, to, st, flags);
}

#define STAT(name, dir, flags, ...)                                                                \
	EXPORT int name(__VA_ARGS__)                                                               \
	{                                                                                          \
		return stat_at(dir, path, st, flags);                                              \
	}
#define VERSION int version __attribute__((unused))

STAT(stat, AT_FDCWD, 0, const char *restrict path, struct stat *restrict st)
STAT(stat64, AT_FDCWD, 0, const char *restrict path, struct stat64 *restrict st)
STAT(lstat, AT_FDCWD, AT_SYMLINK_NOFOLLOW, const char *restrict path, struct stat *restrict st)
STAT(lstat64, AT_FDCWD, AT_SYMLINK_NOFOLLOW, const char *restrict path, struct stat64 *restrict st)
STAT(fstatat, dir, flags, int dir, const char *restrict path, struct stat *restrict st, int flags)
STAT(fstatat64, dir, flags, int dir, const char *restrict path, struct stat64 *restrict st,
     int flags)

/* The version says which struct stat the caller means; 64-bit machines have had only one. */

STAT(__xstat, AT_FDCWD, 0, VERSION, const char *path, struct stat *st)
STAT(__xstat64, AT_FDCWD, 0, VERSION, const char *path, struct stat64 *st)
STAT(__lxstat, AT_FDCWD, AT_SYMLINK_NOFOLLOW, VERSION, const char *path, struct stat *st)
STAT(__lxstat64, AT_FDCWD, AT_SYMLINK_NOFOLLOW, VERSION, const char *path, struct stat64 *st)
STAT(__fxstatat, dir, flags, VERSION, int dir, const char *path, struct stat *st, int flags)
STAT(__fxstatat64, dir, flags, VERSION, int dir, const char *path, struct stat64 *st, int flags)
FORWARD_AT(int, statx, -1,
	   (int dir, const char *restrict path, int flags, unsigned mask,
	    struct statx *restrict st),
	   dir, to, flags, mask, st)

/* ---- access ---- */

FORWARD(int, access, -1, (const char *path, int mode), to, mode)
FORWARD_AT(int, faccessat, -1, (int dir, const char *path, int mode, int flags), dir, to, mode,
	   flags)
FORWARD(int, euidaccess, -1, (const char *path, int mode), to, mode)
FORWARD(int, eaccess, -1, (const char *path, int mode), to, mode)

/* ---- links ---- */

FORWARD(ssize_t, readlink, -1, (const char *restrict path, char *restrict buf, size_t len), to, buf,
	len)
FORWARD_AT(ssize_t, readlinkat, -1,
	   (int dir, const char *restrict path, char *restrict buf, size_t len), dir, to, buf, len)
FORWARD(ssize_t, __readlink_chk, -1, (const char *path, char *buf, size_t len, size_t room), to,
	buf, len, room)
FORWARD_AT(ssize_t, __readlinkat_chk, -1,
	   (int dir, const char *path, char *buf, size_t len, size_t room), dir, to, buf, len, room)

/* The daemon's directory; one that shows a part of its devices leads to it by the link "base". */
static bool instance(char root[PATH_MAX])
{
	char base[PATH_MAX];

	snprintf(base, sizeof(base), "%s/base", uhca_root());
	return CALL(realpath, NULL, base, root) || CALL(realpath, NULL, uhca_root(), root);
}

/*
 * The name that a file or directory has on a machine with the device: without the daemon's
 * directory in front, where the directories above the device lie, too. Changes "found" in place.
 */
static char *shown(const char *path, const char *to, char *found)
{
	char root[PATH_MAX];
	int error = errno;
	size_t len;

	if (to == path || !found || !instance(root))
		return found;
	errno = error;
	len = strlen(root);
	if (strncmp(found, root, len) != 0)
		return found;
	if (found[len] == '/')
		memmove(found, found + len, strlen(found + len) + 1);
	else if (!found[len])
		memcpy(found, "/", sizeof("/"));
	return found;
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	MAP(path);

	return shown(path, to, CALL(realpath, NULL, to, resolved));
}

EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
	MAP(path);

	return shown(path, to, CALL(__realpath_chk, NULL, to, resolved, room));
}

EXPORT char *canonicalize_file_name(const char *path)
{
	MAP(path);

	return shown(path, to, CALL(canonicalize_file_name, NULL, to));
}

/* ---- what shells and tools for files ask beside that: cd, ls -l, df ---- */

FORWARD(int, chdir, -1, (const char *path), to)
FORWARD(ssize_t, getxattr, -1, (const char *path, const char *name, void *value, size_t size), to,
	name, value, size)
FORWARD(ssize_t, lgetxattr, -1, (const char *path, const char *name, void *value, size_t size), to,
	name, value, size)
FORWARD(ssize_t, listxattr, -1, (const char *path, char *list, size_t size), to, list, size)
FORWARD(ssize_t, llistxattr, -1, (const char *path, char *list, size_t size), to, list, size)
FORWARD(int, statfs, -1, (const char *path, struct statfs *st), to, st)
FORWARD(int, statfs64, -1, (const char *path, struct statfs64 *st), to, st)
FORWARD(int, statvfs, -1, (const char *restrict path, struct statvfs *restrict st), to, st)
FORWARD(int, statvfs64, -1, (const char *restrict path, struct statvfs64 *restrict st), to, st)
FORWARD(int, inotify_add_watch, -1, (int fd, const char *path, uint32_t mask), fd, to, mask)

/* ---- patterns: the C library's own looks into folders do not come by here ---- */

static void *open_folder(const char *path)
{
	return opendir(path);
}

static void close_folder(void *folder)
{
	closedir(folder);
}

static struct dirent *read_folder(void *folder)
{
	return readdir(folder);
}

static struct dirent64 *read_folder64(void *folder)
{
	return readdir64(folder);
}

/* Who brings functions of his own is left alone. */
#define GLOB(name, suffix)                                                                         \
	do {                                                                                       \
		int result_;                                                                       \
		if (!UHCA_REAL(name) || !uhca_root() || (flags & GLOB_ALTDIRFUNC))                 \
			return CALL(name, GLOB_ABORTED, pattern, flags, failed, found);            \
		found->gl_opendir = open_folder;                                                   \
		found->gl_closedir = close_folder;                                                 \
		found->gl_readdir = read_folder##suffix;                                           \
		found->gl_lstat = lstat##suffix;                                                   \
		found->gl_stat = stat##suffix;                                                     \
		result_ = UHCA_REAL(name)(pattern, flags | GLOB_ALTDIRFUNC, failed, found);        \
		found->gl_flags &= ~GLOB_ALTDIRFUNC;                                               \
		return result_;                                                                    \
	} while (0)

EXPORT int glob(const char *restrict pattern, int flags, int (*failed)(const char *, int),
		glob_t *restrict found)
{
	GLOB(glob, );
}

EXPORT int glob64(const char *restrict pattern, int flags, int (*failed)(const char *, int),
		  glob64_t *restrict found)
{
	GLOB(glob64, 64);
}
