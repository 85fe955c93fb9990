/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that a thread writes: what was put is in it, in order; why it cannot be written is told;
 * on a file system that does not answer nobody waits, and what does not fit is refused.
 */
#include "emu/io/base/base.h"
#include "emu/io/capture/file_writer.h"
#include "tests/support/io/deaf_fs.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_MS (IO_TEST_SECONDS * 1000)

static char dir[64];
static char path[96];
static struct deaf_fs *fs;

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/x", dir);
	return 0;
}

static bool only_this_thread(void)
{
	struct stat tasks;

	return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3; /* ".", ".." and one */
}

/* A thread may end later than the test that has closed its writer. */
static int teardown(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	(void)state;
	if (fs)
		deaf_fs_end(fs, dir);
	fs = NULL;
	while (!only_this_thread() && io_clock_now() < end)
		usleep(1000);
	assert_true(only_this_thread());
	io_test_remove_dir(dir);
	return 0;
}

static void test_order(void **state)
{
	struct io_file_writer *w;
	unsigned n;
	FILE *f;

	(void)state;
	assert_int_equal(io_file_writer_open(path, &w), 0);
	for (unsigned i = 0; i < 10000; i++)
		assert_int_equal(io_file_writer_put(w, &i, sizeof(i)), 0);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), 0);
	assert_int_equal(io_file_writer_waiting(w), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	for (unsigned i = 0; i < 10000; i++) {
		assert_int_equal(fread(&n, sizeof(n), 1, f), 1);
		assert_int_equal(n, i);
	}
	fclose(f);
	io_file_writer_finish(w);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), 0);
	io_file_writer_close(w);
}

/* Closed with something that waits: it is written all the same. */
static void test_close_writes(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	static char some[1 << 20];
	struct io_file_writer *w;
	struct stat st = {0};

	(void)state;
	assert_int_equal(io_file_writer_open(path, &w), 0);
	assert_int_equal(io_file_writer_put(w, some, sizeof(some)), 0);
	io_file_writer_close(w);
	while (st.st_size < (off_t)sizeof(some) && sched_yield() == 0) {
		assert_true(io_clock_now() < end);
		stat(path, &st);
	}
}

static void test_cannot_be_opened(void **state)
{
	struct io_file_writer *w;
	char byte = 0;

	(void)state;
	assert_int_equal(io_file_writer_open("/nonexistent/x", &w), 0);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), -ENOENT);
	assert_int_equal(io_file_writer_error(w), -ENOENT);
	assert_int_equal(io_file_writer_put(w, &byte, 1), -ENOENT);
	io_file_writer_close(w);
	assert_int_equal(io_file_writer_open("/dev/null", &w), 0);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), -EINVAL);
	io_file_writer_close(w);
}

static void test_too_long(void **state)
{
	struct rlimit old, few;
	static char some[8192];
	struct io_file_writer *w;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	few = (struct rlimit){4096, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(io_file_writer_open(path, &w), 0);
	assert_int_equal(io_file_writer_put(w, some, sizeof(some)), 0);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), -EFBIG);
	io_file_writer_finish(w);
	assert_int_equal(io_file_writer_wait(w, LONG_MS), -EFBIG);
	io_file_writer_close(w);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

/* Until it is full, and then for a moment once. */
static unsigned fill(struct io_file_writer *w)
{
	static char some[1 << 18];
	unsigned n = 0;
	int error;

	while ((error = io_file_writer_put(w, some, sizeof(some))) == 0)
		n++;
	assert_int_equal(error, -EAGAIN);
	assert_int_equal(n, IO_FILE_WRITER_ROOM / sizeof(some));
	for (unsigned i = 0; i < 10000; i++) /* each of which would take its moment */
		assert_int_equal(io_file_writer_put(w, some, sizeof(some)), -EAGAIN);
	return n;
}

static void test_does_not_answer(void **state)
{
	struct io_file_writer *w[IO_FILE_WRITERS_MAX], *more;
	const char *why;

	(void)state;
	fs = deaf_fs_mount(dir, &why);
	if (!fs) {
		print_message("%s\n", why);
		skip();
	}
	for (unsigned i = 0; i < IO_FILE_WRITERS_MAX; i++)
		assert_int_equal(io_file_writer_open(path, &w[i]), 0);
	assert_int_equal(io_file_writer_open(path, &more), -EAGAIN);
	assert_int_equal(io_file_writer_wait(w[0], 1), -ETIMEDOUT);
	fill(w[0]);
	assert_int_equal(io_file_writer_error(w[0]), 0);
	io_file_writer_close(w[1]);
	deaf_fs_end(fs, dir);
	fs = NULL;
	assert_true(io_file_writer_wait(w[0], LONG_MS) < 0);
	for (unsigned i = 0; i < IO_FILE_WRITERS_MAX; i++)
		if (i != 1)
			io_file_writer_close(w[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_order),    TEST(test_close_writes),    TEST(test_cannot_be_opened),
		TEST(test_too_long), TEST(test_does_not_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
