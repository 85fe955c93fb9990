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

EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
	MAP(path);

	return CALL(fopen, NULL, to, mode);
}

EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	MAP(path);

	return CALL(fopen64, NULL, to, mode);
}

/* ---- directories ---- */

EXPORT DIR *opendir(const char *path)
{
	MAP(path);

	return CALL(opendir, NULL, to);
}

EXPORT int scandir(const char *restrict path, struct dirent ***restrict list,
		   int (*filter)(const struct dirent *),
		   int (*order)(const struct dirent **, const struct dirent **))
{
	MAP(path);

	return CALL(scandir, -1, to, list, filter, order);
}

EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict list,
		     int (*filter)(const struct dirent64 *),
		     int (*order)(const struct dirent64 **, const struct dirent64 **))
{
	MAP(path);

	return CALL(scandir64, -1, to, list, filter, order);
}

/* ---- stat: glibc before 2.33 has only the __xstat family, later ones hide it ---- */

static int stat_at(int dir, const char *path, void *st, int flags)
{
	MAP_AT(dir, path);

	if (UHCA_REAL(fstatat))
		return UHCA_REAL(fstatat)(dir, to, st, flags);
	return (int)syscall(SYS_newfstatat, dir, to, st, flags);
}

EXPORT int stat(const char *restrict path, struct stat *restrict st)
{
	return stat_at(AT_FDCWD, path, st, 0);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict st)
{
	return stat_at(AT_FDCWD, path, st, 0);
}

EXPORT int lstat(const char *restrict path, struct stat *restrict st)
{
	return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int lstat64(const char *restrict path, struct stat64 *restrict st)
{
	return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstatat(int dir, const char *restrict path, struct stat *restrict st, int flags)
{
	return stat_at(dir, path, st, flags);
}

EXPORT int fstatat64(int dir, const char *restrict path, struct stat64 *restrict st, int flags)
{
	return stat_at(dir, path, st, flags);
}

/* The version says which struct stat the caller means; 64-bit machines have had only one. */

EXPORT int __xstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat_at(AT_FDCWD, path, st, 0);
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *st)
{
	(void)version;
	return stat_at(AT_FDCWD, path, st, 0);
}

EXPORT int __lxstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *st)
{
	(void)version;
	return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags)
{
	(void)version;
	return stat_at(dir, path, st, flags);
}

EXPORT int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags)
{
	(void)version;
	return stat_at(dir, path, st, flags);
}

EXPORT int statx(int dir, const char *restrict path, int flags, unsigned mask,
		 struct statx *restrict st)
{
	MAP_AT(dir, path);

	return CALL(statx, -1, dir, to, flags, mask, st);
}

/* ---- access ---- */

EXPORT int access(const char *path, int mode)
{
	MAP(path);

	return CALL(access, -1, to, mode);
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	MAP_AT(dir, path);

	return CALL(faccessat, -1, dir, to, mode, flags);
}

EXPORT int euidaccess(const char *path, int mode)
{
	MAP(path);

	return CALL(euidaccess, -1, to, mode);
}

EXPORT int eaccess(const char *path, int mode)
{
	MAP(path);

	return CALL(eaccess, -1, to, mode);
}

/* ---- links ---- */

EXPORT ssize_t readlink(const char *restrict path, char *restrict buf, size_t len)
{
	MAP(path);

	return CALL(readlink, -1, to, buf, len);
}

EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict buf, size_t len)
{
	MAP_AT(dir, path);

	return CALL(readlinkat, -1, dir, to, buf, len);
}

EXPORT ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room)
{
	MAP(path);

	return CALL(__readlink_chk, -1, to, buf, len, room);
}

EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *buf, size_t len, size_t room)
{
	MAP_AT(dir, path);

	return CALL(__readlinkat_chk, -1, dir, to, buf, len, room);
}

/* The daemon's directory; one that shows a part of its devices leads to it by the link "base". */
static bool instance(char root[PATH_MAX])
{
	char base[PATH_MAX];

	snprintf(base, sizeof(base), "%s/base", uhca_root());
	return CALL(realpath, NULL, base, root) || CALL(realpath, NULL, uhca_root(), root);
}

/*
 * The name that a device's file has for the program, not that in the daemon's directory, where the
 * former leads to the same file. Changes "found" in place.
 */
static char *shown(const char *path, const char *to, char *found)
{
	char root[PATH_MAX], again[PATH_MAX];
	int error = errno;
	size_t len;

	if (to == path || !found || !instance(root))
		return found;
	errno = error;
	len = strlen(root);
	if (strncmp(found, root, len) == 0 && found[len] == '/' &&
	    uhca_path_map(root, found + len, again, sizeof(again)) == again)
		memmove(found, found + len, strlen(found + len) + 1);
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

EXPORT int chdir(const char *path)
{
	MAP(path);

	return CALL(chdir, -1, to);
}

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	MAP(path);

	return CALL(getxattr, -1, to, name, value, size);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	MAP(path);

	return CALL(lgetxattr, -1, to, name, value, size);
}

EXPORT ssize_t listxattr(const char *path, char *list, size_t size)
{
	MAP(path);

	return CALL(listxattr, -1, to, list, size);
}

EXPORT ssize_t llistxattr(const char *path, char *list, size_t size)
{
	MAP(path);

	return CALL(llistxattr, -1, to, list, size);
}

EXPORT int statfs(const char *path, struct statfs *st)
{
	MAP(path);

	return CALL(statfs, -1, to, st);
}

EXPORT int statfs64(const char *path, struct statfs64 *st)
{
	MAP(path);

	return CALL(statfs64, -1, to, st);
}

EXPORT int statvfs(const char *restrict path, struct statvfs *restrict st)
{
	MAP(path);

	return CALL(statvfs, -1, to, st);
}

EXPORT int statvfs64(const char *restrict path, struct statvfs64 *restrict st)
{
	MAP(path);

	return CALL(statvfs64, -1, to, st);
}

EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	MAP(path);

	return CALL(inotify_add_watch, -1, fd, to, mask);
}

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
