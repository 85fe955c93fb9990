/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions behind ours: what the next library in the search order (the C library, or another
 * preload library or sanitizer) calls by the same name. They are looked up by the constructor, or
 * by the first call if that comes earlier; a lookup neither allocates nor opens anything.
 */
#ifndef UHCA_PRELOAD_REAL_H
#define UHCA_PRELOAD_REAL_H

#include <stdbool.h>
#include <sys/stat.h>

/* Which instance directory this process uses ($UHCA_DIR); NULL: none, and nothing is redirected. */
const char *uhca_root(void);

/*
 * The real function "name" of the type of our own; NULL when the C library has none (its answer
 * is then ENOSYS). Keeps errno.
 */
#define UHCA_REAL(name) ((__typeof__(&name))uhca_real(UHCA_FN_##name))

/* Every function that paths.c, hooks.c, netlink.c and their like stand in front of. */
#define UHCA_FUNCTIONS(X)                                                                          \
	X(__open64_2)                                                                              \
	X(__open_2)                                                                                \
	X(__openat64_2)                                                                            \
	X(__openat_2)                                                                              \
	X(__readlink_chk)                                                                          \
	X(__readlinkat_chk)                                                                        \
	X(__realpath_chk)                                                                          \
	X(access)                                                                                  \
	X(canonicalize_file_name)                                                                  \
	X(chdir)                                                                                   \
	X(eaccess)                                                                                 \
	X(euidaccess)                                                                              \
	X(faccessat)                                                                               \
	X(fopen)                                                                                   \
	X(fopen64)                                                                                 \
	X(freeifaddrs)                                                                             \
	X(fstatat)                                                                                 \
	X(getifaddrs)                                                                              \
	X(getxattr)                                                                                \
	X(glob)                                                                                    \
	X(glob64)                                                                                  \
	X(inotify_add_watch)                                                                       \
	X(ioctl)                                                                                   \
	X(lgetxattr)                                                                               \
	X(listxattr)                                                                               \
	X(llistxattr)                                                                              \
	X(open)                                                                                    \
	X(open64)                                                                                  \
	X(openat)                                                                                  \
	X(openat64)                                                                                \
	X(opendir)                                                                                 \
	X(readlink)                                                                                \
	X(readlinkat)                                                                              \
	X(realpath)                                                                                \
	X(scandir)                                                                                 \
	X(scandir64)                                                                               \
	X(sendto)                                                                                  \
	X(socket)                                                                                  \
	X(statfs)                                                                                  \
	X(statfs64)                                                                                \
	X(statvfs)                                                                                 \
	X(statvfs64)                                                                               \
	X(statx)                                                                                   \
	X(write)

/* Those that need no function behind them: they are system calls. */
#define UHCA_STAT_FUNCTIONS(X)                                                                     \
	X(__fxstat)                                                                                \
	X(__fxstat64)                                                                              \
	X(__fxstatat)                                                                              \
	X(__fxstatat64)                                                                            \
	X(__lxstat)                                                                                \
	X(__lxstat64)                                                                              \
	X(__xstat)                                                                                 \
	X(__xstat64)                                                                               \
	X(fstat)                                                                                   \
	X(fstat64)                                                                                 \
	X(fstatat64)                                                                               \
	X(lstat)                                                                                   \
	X(lstat64)                                                                                 \
	X(stat)                                                                                    \
	X(stat64)

enum uhca_function {
#define X(name) UHCA_FN_##name,
	UHCA_FUNCTIONS(X)
#undef X
		UHCA_FN_COUNT
};

void *uhca_real(enum uhca_function f);

/* Is this code of the shared library whose file's name begins so ("libmnl.so")? */
bool uhca_is_library(void *code, const char *name);

/* fstat(2) itself: which function glibc has for the system call depends on its release. */
int uhca_real_fstat(int fd, struct stat *st);

#endif
