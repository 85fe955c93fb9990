/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instance's directory: made with its parents, never shared by two daemons, never taken from
 * somebody else, cleaned of what a killed daemon has left and nothing more.
 */
#include "emu/io/base/log.h"
#include "emu/io/device/instance.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static int setup(void **state)
{
	(void)state;
	io_test_dir(root);
	/* What is wrong is said on standard error; the tests look at return values. */
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	(void)state;
	io_test_remove_dir(root);
	io_log_close();
	return 0;
}

static const char *in_root(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(in_root(name), &st) == 0;
}

static void make_file(const char *name)
{
	int fd = open(in_root(name), O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_made_and_removed(void **state)
{
	struct io_instance in;
	struct stat st;
	char pid[32] = "";
	char path[PATH_MAX];
	int fd;

	(void)state;
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), false), 0);
	assert_int_equal(stat(in_root("a/b/c"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(in_root("a"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	fd = open(io_instance_file(&in, "pid", path), O_RDONLY);
	assert_true(fd >= 0 && read(fd, pid, sizeof(pid) - 1) > 0);
	close(fd);
	assert_int_equal(atoi(pid), getpid());
	make_file("a/b/c/sock");
	make_file("a/b/c/log");
	make_file("a/b/c/capture.pcapng");
	io_instance_close(&in);
	assert_false(exists("a/b/c/pid"));
	assert_false(exists("a/b/c/sock"));
	assert_true(exists("a/b/c/log"));
	assert_true(exists("a/b/c/capture.pcapng"));
}

/* What a daemon leaves that was killed. */
static void test_stale_files(void **state)
{
	struct io_instance in;

	(void)state;
	mkdir(in_root("i"), 0700);
	mkdir(in_root("i/sys"), 0700);
	mkdir(in_root("i/sys/class"), 0700);
	mkdir(in_root("i/dev"), 0700);
	make_file("i/sys/class/file");
	make_file("i/sock");
	make_file("i/ctl");
	make_file("i/pid");
	make_file("i/mine");
	assert_int_equal(symlink(root, in_root("i/dev/link")), 0);
	assert_int_equal(io_instance_open(&in, in_root("i"), false), 0);
	assert_false(exists("i/sys"));
	assert_false(exists("i/dev"));
	assert_false(exists("i/sock"));
	assert_false(exists("i/ctl"));
	assert_true(exists("i/mine"));
	assert_true(exists("i")); /* the link was removed, not followed */
	io_instance_close(&in);
}

/*
 * The lock is the daemon's own: a link in its place leads nowhere, and programs do not inherit it.
 */
static void test_lock_file(void **state)
{
	struct io_instance in;

	(void)state;
	assert_int_equal(mkdir(in_root("d"), 0700), 0);
	assert_int_equal(symlink("../elsewhere", in_root("d/pid")), 0);
	assert_int_equal(io_instance_open(&in, in_root("d"), false), -ELOOP);
	assert_false(exists("elsewhere"));
	assert_int_equal(unlink(in_root("d/pid")), 0);
	assert_int_equal(io_instance_open(&in, in_root("d"), false), 0);
	assert_int_equal(fcntl(in.lock, F_GETFD), FD_CLOEXEC);
	io_instance_close(&in);
}

static void test_two_daemons(void **state)
{
	struct io_instance first;
	struct io_instance second;

	(void)state;
	assert_int_equal(io_instance_open(&first, in_root("i"), false), 0);
	make_file("i/sock");
	assert_int_equal(io_instance_open(&second, in_root("i"), false), -EBUSY);
	assert_true(exists("i/sock"));
	assert_true(exists("i/pid"));
	io_instance_close(&second);
	assert_true(exists("i/pid"));
	io_instance_close(&first);
	assert_int_equal(io_instance_open(&second, in_root("i"), false), 0);
	io_instance_close(&second);
}

/* A killed daemon holds no lock. */
static void test_after_a_kill(void **state)
{
	struct io_instance in;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		if (io_instance_open(&in, in_root("i"), false) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(io_instance_open(&in, in_root("i"), false), 0);
	io_instance_close(&in);
}

static void test_open_to_others(void **state)
{
	struct io_instance in;

	(void)state;
	assert_int_equal(mkdir(in_root("i"), 0700), 0);
	assert_int_equal(chmod(in_root("i"), 0755), 0);
	assert_int_equal(io_instance_open(&in, in_root("i"), false), -EPERM);
	io_instance_close(&in);
}

/* Whoever may write to a directory may rename what is in it, unless that is sticky as /tmp is. */
static void test_parents_of_others(void **state)
{
	struct io_instance in;

	(void)state;
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), false), 0);
	io_instance_close(&in);
	assert_int_equal(chmod(in_root("a"), 0777), 0);
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), false), -EPERM);
	io_instance_close(&in);
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), true), 0);
	io_instance_close(&in);
	assert_int_equal(symlink("a/b", in_root("link")), 0);
	assert_int_equal(io_instance_open(&in, in_root("link/c"), false), -EPERM);
	io_instance_close(&in);
	assert_false(exists("a/b/c/pid"));
	assert_int_equal(chmod(in_root("a"), 01777), 0);
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), false), 0);
	io_instance_close(&in);
	if (geteuid() != 0)
		return; /* nobody else can give a directory away */
	assert_int_equal(chmod(in_root("a"), 0755), 0);
	assert_int_equal(chown(in_root("a"), 65534, 65534), 0);
	assert_int_equal(io_instance_open(&in, in_root("a/b/c"), false), -EPERM);
	io_instance_close(&in);
}

static void test_not_a_directory(void **state)
{
	struct io_instance in;

	(void)state;
	make_file("file");
	assert_int_equal(io_instance_open(&in, in_root("file"), false), -ENOTDIR);
	assert_int_equal(io_instance_open(&in, in_root("file/below"), false), -ENOTDIR);
	mkdir(in_root("real"), 0700);
	assert_int_equal(symlink("real", in_root("link")), 0);
	assert_int_equal(io_instance_open(&in, in_root("link"), false), -ENOTDIR);
}

static void test_too_long_for_a_socket(void **state)
{
	struct io_instance in;
	char name[128];

	(void)state;
	memset(name, 'x', 100);
	name[100] = '\0';
	assert_int_equal(io_instance_open(&in, in_root(name), false), -ENAMETOOLONG);
}

static void test_paths_of_names(void **state)
{
	char path[PATH_MAX];
	char expected[PATH_MAX];

	(void)state;
	setenv("XDG_RUNTIME_DIR", root, 1);
	assert_int_equal(io_instance_path("x", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "%s/uhca/x", root);
	assert_string_equal(path, expected);
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	setenv("TMPDIR", "/var/tmp", 1);
	assert_int_equal(io_instance_path("x", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "/var/tmp/uhca-%u/x", (unsigned)geteuid());
	assert_string_equal(path, expected);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("TMPDIR");
	assert_int_equal(io_instance_path("x", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "/tmp/uhca-%u/x", (unsigned)geteuid());
	assert_string_equal(path, expected);
	assert_int_equal(io_instance_path("", path, sizeof(path)), -EINVAL);
	assert_int_equal(io_instance_path("..", path, sizeof(path)), -EINVAL);
	assert_int_equal(io_instance_path("a/b", path, sizeof(path)), -EINVAL);
	assert_int_equal(io_instance_path("x", path, 4), -ENAMETOOLONG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_made_and_removed), TEST(test_stale_files),
		TEST(test_two_daemons),      TEST(test_lock_file),
		TEST(test_after_a_kill),     TEST(test_open_to_others),
		TEST(test_not_a_directory),  TEST(test_parents_of_others),
		TEST(test_paths_of_names),   TEST(test_too_long_for_a_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
