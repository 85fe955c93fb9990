/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a user names: made, emptied, appended to; and names that lead elsewhere. */
#include "emu/output/output.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char path[96], other[96];
static unsigned fds;

static int setup(void **state)
{
	(void)state;
	fds = io_test_open_fds();
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/x", dir);
	snprintf(other, sizeof(other), "%s/precious", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	assert_int_equal(io_test_open_fds(), fds);
	return rmdir(dir);
}

/* Opens it, writes the text, and closes it. */
static void put_file(const char *name, unsigned how, const char *text)
{
	int fd = output_open(name, how);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_holds(const char *name, const char *text)
{
	char got[64] = "";
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	close(fd);
}

static void test_made_and_emptied(void **state)
{
	mode_t mask = umask(022);
	struct stat st;

	(void)state;
	put_file(path, 0, "a long text");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	put_file(path, 0, "short");
	assert_holds(path, "short");
	put_file(path, OUTPUT_APPEND, "er");
	assert_holds(path, "shorter");
	unlink(path);
	put_file(path, OUTPUT_PRIVATE, "");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	umask(mask);
}

/*
 * Whatever is asked for: a link is not followed, and what it leads to is neither made nor changed.
 */
static void test_symbolic_link(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(symlink(other, path), 0);
	for (unsigned how = 0; how < 8; how++)
		assert_int_equal(output_open(path, how), -ELOOP);
	assert_int_equal(stat(other, &st), -1);
	put_file(other, 0, "precious");
	for (unsigned how = 0; how < 8; how++)
		assert_int_equal(output_open(path, how), -ELOOP);
	assert_holds(other, "precious");
	assert_non_null(strstr(output_error(-ELOOP), "symbolic link"));
}

static void test_second_name(void **state)
{
	(void)state;
	put_file(other, 0, "precious");
	assert_int_equal(link(other, path), 0);
	for (unsigned how = 0; how < 8; how++)
		assert_int_equal(output_open(path, how), -EPERM);
	assert_holds(other, "precious");
	assert_non_null(strstr(output_error(-EPERM), "another user"));
}

/* Root may write to all files, and leaves those of others as they are all the same. */
static void test_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0) { /* nobody else can give a file away, or write to one of root */
		assert_int_equal(output_open("/etc/passwd", OUTPUT_APPEND), -EACCES);
		return;
	}
	put_file(path, 0, "precious");
	assert_int_equal(chown(path, 65534, 65534), 0);
	for (unsigned how = 0; how < 8; how++)
		assert_int_equal(output_open(path, how), -EPERM);
	assert_holds(path, "precious");
}

static void test_descriptors(void **state)
{
	char name[32], got[8] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	put_file(name, 0, "one");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[1]);
	put_file(name, OUTPUT_APPEND, "two");
	assert_int_equal(read(ends[0], got, sizeof(got)), 6);
	assert_string_equal(got, "onetwo");
	assert_true(output_open(name, OUTPUT_REGULAR) < 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(output_open(name, 0), -EBADF);
	put_file("/dev/stdout", 0, "");
	put_file("/dev/stderr", 0, "");
}

static void test_no_files(void **state)
{
	int end;

	(void)state;
	put_file("/dev/null", 0, "x");
	assert_int_equal(output_open("/dev/null", OUTPUT_REGULAR), -EINVAL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(output_open(path, OUTPUT_REGULAR), -ENXIO);
	end = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(output_open(path, OUTPUT_REGULAR), -EINVAL);
	put_file(path, 0, "x");
	close(end);
	assert_int_equal(output_open(dir, 0), -EISDIR);
	assert_int_equal(output_open("/no/such/folder/x", 0), -ENOENT);
	assert_string_equal(output_error(-ENOENT), strerror(ENOENT));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_made_and_emptied), TEST(test_symbolic_link), TEST(test_second_name),
		TEST(test_another_user),     TEST(test_descriptors),   TEST(test_no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
