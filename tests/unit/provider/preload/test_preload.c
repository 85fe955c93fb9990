/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preload library in a process: every function that takes a path finds the device's files,
 * and nothing else is disturbed.
 */
#include "tests/support/provider/fake_tree.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define FILE_  "/sys/class/infiniband/uhca0/node_type"
#define TEXT   "1: CA\n"
#define DIR_   "/sys/class/infiniband_verbs"
#define DEVICE "/dev/infiniband/uverbs200"
#define ABSENT "/dev/infiniband/umad0"

/* What programs that were built with old glibc or with fortification call. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);

static void check_fd(int fd)
{
	char buf[32] = {0};

	assert_true(fd >= 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), strlen(TEXT));
	assert_string_equal(buf, TEXT);
	close(fd);
}

static void test_open(void **state)
{
	(void)state;
	check_fd(open(FILE_, O_RDONLY));
	check_fd(open64(FILE_, O_RDONLY));
	check_fd(openat(AT_FDCWD, FILE_, O_RDONLY));
	check_fd(openat64(-1, FILE_, O_RDONLY));
	check_fd(__open_2(FILE_, O_RDONLY));
	check_fd(__open64_2(FILE_, O_RDONLY));
	check_fd(__openat_2(AT_FDCWD, FILE_, O_RDONLY));
	check_fd(__openat64_2(AT_FDCWD, FILE_, O_RDONLY));
	errno = 0;
	assert_int_equal(open(ABSENT, O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
}

static void check_stream(FILE *f)
{
	assert_non_null(f);
	check_fd(dup(fileno(f)));
	fclose(f);
}

static void test_fopen(void **state)
{
	(void)state;
	check_stream(fopen(FILE_, "r"));
	check_stream(fopen64(FILE_, "r"));
}

/* A mode is passed on; a new file elsewhere is the program's own affair. */
static void test_create(void **state)
{
	char path[256];
	struct stat st;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/new", getenv("UHCA_DIR"));
	umask(0);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0641);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0641);
	close(fd);
	unlink(path);
}

static void test_stat(void **state)
{
	struct stat st;
	struct stat64 st64;
	struct statx stx;

	(void)state;
	assert_int_equal(stat(DEVICE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(1, 3));
	assert_int_equal(stat64(DEVICE, &st64), 0);
	assert_int_equal(st64.st_rdev, makedev(1, 3));
	assert_int_equal(lstat(DEVICE, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat64(DEVICE, &st64), 0);
	assert_int_equal(fstatat(AT_FDCWD, DEVICE, &st, 0), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(fstatat64(AT_FDCWD, DEVICE, &st64, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st64.st_mode));
	assert_int_equal(__xstat(1, DEVICE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(__lxstat(1, DEVICE, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(__fxstatat(1, AT_FDCWD, DEVICE, &st, 0), 0);
	assert_int_equal(statx(AT_FDCWD, DEVICE, 0, STATX_BASIC_STATS, &stx), 0);
	assert_true(S_ISCHR(stx.stx_mode));
	errno = 0;
	assert_int_equal(stat(ABSENT, &st), -1);
	assert_int_equal(errno, ENOENT);
	/* By descriptor, with an empty path. */
	assert_int_equal(fstatat(0, "", &st, AT_EMPTY_PATH), 0);
}

static void test_access(void **state)
{
	(void)state;
	assert_int_equal(access(DEVICE, F_OK), 0);
	assert_int_equal(faccessat(AT_FDCWD, DEVICE, R_OK, 0), 0);
	assert_int_equal(euidaccess(DEVICE, R_OK), 0);
	assert_int_equal(eaccess(DEVICE, R_OK), 0);
	assert_int_equal(access(ABSENT, F_OK), -1);
}

static void test_links(void **state)
{
	char buf[PATH_MAX], *made;
	ssize_t n;

	(void)state;
	n = readlink(DEVICE, buf, sizeof(buf));
	assert_int_equal(n, strlen("/dev/null"));
	assert_memory_equal(buf, "/dev/null", (size_t)n);
	assert_int_equal(readlinkat(AT_FDCWD, DEVICE, buf, sizeof(buf)), n);
	assert_int_equal(__readlink_chk(DEVICE, buf, sizeof(buf), sizeof(buf)), n);
	assert_string_equal(realpath(DEVICE, buf), "/dev/null");
	assert_string_equal(__realpath_chk(DEVICE, buf, sizeof(buf)), "/dev/null");
	made = realpath(DEVICE, NULL);
	assert_string_equal(made, "/dev/null");
	free(made);
	made = canonicalize_file_name(DEVICE);
	assert_string_equal(made, "/dev/null");
	free(made);
}

/* A device's file keeps its name, and so do the directories above it. */
static void test_real_names(void **state)
{
	char buf[PATH_MAX];
	char *made;

	(void)state;
	assert_string_equal(realpath(FILE_, buf), FILE_);
	assert_string_equal(realpath("/sys/class/infiniband/uhca0/../uhca0/node_type", buf), FILE_);
	assert_string_equal(__realpath_chk(FILE_, buf, sizeof(buf)), FILE_);
	made = canonicalize_file_name(FILE_);
	assert_string_equal(made, FILE_);
	free(made);
	assert_string_equal(realpath("/sys/class/infiniband/..", buf), "/sys/class");
	assert_string_equal(realpath("/sys/class/infiniband/uhca0/../..", buf), "/sys/class");
	assert_string_equal(realpath("/sys/class/infiniband/../../..", buf), "/");
	assert_null(realpath("/sys/class/infiniband/absent", buf));
	assert_int_equal(errno, ENOENT);
}

static void test_directories(void **state)
{
	struct dirent **list, *e;
	bool found = false;
	DIR *d = opendir(DIR_);
	int n;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d)))
		found |= !strcmp(e->d_name, "uverbs200");
	closedir(d);
	assert_true(found);
	n = scandir(DIR_, &list, NULL, alphasort);
	assert_int_equal(n, 4); /* . .. abi_version uverbs200 */
	assert_string_equal(list[3]->d_name, "uverbs200");
	while (n--)
		free(list[n]);
	free(list);
}

/* Folder and files are there, though they may have no attribute of that name. */
static void test_attributes(void **state)
{
	char buf[256];

	(void)state;
	errno = 0;
	assert_int_equal(getxattr(FILE_, "user.none", buf, sizeof(buf)), -1);
	assert_int_not_equal(errno, ENOENT);
	errno = 0;
	assert_int_equal(lgetxattr(DEVICE, "user.none", buf, sizeof(buf)), -1);
	assert_int_not_equal(errno, ENOENT);
	assert_true(listxattr(DIR_, buf, sizeof(buf)) >= 0);
	assert_true(llistxattr(DIR_, buf, sizeof(buf)) >= 0);
}

static void test_file_systems(void **state)
{
	struct statfs fs;
	struct statfs64 fs64;
	struct statvfs vfs;
	struct statvfs64 vfs64;

	(void)state;
	assert_int_equal(statfs(FILE_, &fs), 0);
	assert_int_equal(statfs64(FILE_, &fs64), 0);
	assert_int_equal(statvfs(FILE_, &vfs), 0);
	assert_int_equal(statvfs64(FILE_, &vfs64), 0);
}

static void test_watch(void **state)
{
	int fd = inotify_init1(IN_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, "/dev/infiniband", IN_CREATE) > 0);
	assert_int_equal(inotify_add_watch(fd, ABSENT, IN_CREATE), -1);
	close(fd);
}

static void test_change_directory(void **state)
{
	char before[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir("/sys/class/infiniband"), 0);
	check_fd(open("uhca0/node_type", O_RDONLY));
	assert_int_equal(chdir(before), 0);
	assert_int_equal(chdir(ABSENT), -1);
}

/* A folder that only one of ours has, and the program's own functions. */
static void *no_folder(const char *path)
{
	(void)path;
	errno = ENOENT;
	return NULL;
}

static void test_glob(void **state)
{
	glob_t g = {0};
	glob64_t g64;

	(void)state;
	assert_int_equal(glob("/sys/class/infiniband/*/ports/[0-9]/state", 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 1);
	assert_string_equal(g.gl_pathv[0], "/sys/class/infiniband/uhca0/ports/1/state");
	assert_false(g.gl_flags & GLOB_ALTDIRFUNC);
	assert_int_equal(glob("/dev/infiniband/uv*", GLOB_APPEND, NULL, &g), 0);
	assert_string_equal(g.gl_pathv[1], DEVICE);
	globfree(&g);
	assert_int_equal(glob64("/sys/class/infiniband/*", GLOB_MARK, NULL, &g64), 0);
	assert_string_equal(g64.gl_pathv[0], "/sys/class/infiniband/uhca0/");
	globfree64(&g64);
	g = (glob_t){.gl_opendir = no_folder, .gl_lstat = lstat, .gl_stat = stat};
	assert_int_equal(glob("/sys/class/infiniband/*", GLOB_ALTDIRFUNC, NULL, &g), GLOB_NOMATCH);
}

static void test_netlink(void **state)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	errno = 0;
	assert_int_equal(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	assert_true(fd >= 0);
	close(fd);
}

static unsigned count_named(const struct ifaddrs *list, const char *name)
{
	unsigned n = 0;

	for (; list; list = list->ifa_next)
		n += !strcmp(list->ifa_name, name);
	return n;
}

/*
 * libfabric is shown an interface for each address that a device has on "lo", in front of all
 * others; it does not run, for the providers that make TCP connections. Others are shown none.
 */
static void test_interfaces(void **state)
{
	int (*asks)(struct ifaddrs **);
	const struct sockaddr_in *a;
	struct ifaddrs *list;
	char path[1024];
	void *library;

	(void)state;
	assert_int_equal(getifaddrs(&list), 0);
	assert_int_equal(count_named(list, "uhca0"), 0);
	freeifaddrs(list);
	snprintf(path, sizeof(path), "%s/tests/support/provider/.libs/libasks-fi.so",
		 getenv("UHCA_BUILDDIR"));
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	*(void **)&asks = dlsym(library, "asks_getifaddrs");
	assert_non_null(asks);
	errno = 4711;
	assert_int_equal(asks(&list), 0);
	assert_int_equal(errno, 4711);
	assert_int_equal(count_named(list, "uhca0"), 2);
	assert_string_equal(list->ifa_name, "uhca0");
	assert_int_equal(list->ifa_flags, IFF_UP);
	a = (const void *)list->ifa_addr;
	assert_int_equal(a->sin_family, AF_INET);
	assert_int_equal(a->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(list->ifa_next->ifa_addr->sa_family, AF_INET6);
	freeifaddrs(list);
	dlclose(library);
}

/* Success leaves errno alone. */
static void test_errno(void **state)
{
	struct stat st;

	(void)state;
	errno = 4711;
	assert_int_equal(stat(DEVICE, &st), 0);
	check_fd(open(FILE_, O_RDONLY));
	assert_int_equal(errno, 4711);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_fopen),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_real_names),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_file_systems),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_change_directory),
		cmocka_unit_test(test_glob),
	};

	(void)argc;
	with_preload(argv, 1);
	fake_tree_make(getenv("UHCA_DIR"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
