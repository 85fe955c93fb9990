/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: levels, the file's lines, what clients put into them, and the limit that keeps a
 * flood away.
 */
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64];
static char path[128];
static char text[65536];
static unsigned fds;

static int setup(void **state)
{
	(void)state;
	fds = io_test_open_fds();
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_log_close();
	io_log_echo_errors(true);
	io_test_remove_dir(dir);
	assert_int_equal(io_test_open_fds(), fds);
	return 0;
}

static const char *contents(void)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static unsigned count_lines(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void test_levels(void **state)
{
	(void)state;
	io_log_echo_errors(false);
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	assert_true(io_log_enabled(IO_LOG_WARN));
	assert_false(io_log_enabled(IO_LOG_DEBUG));
	io_log(IO_LOG_ERROR, "first %d", 1);
	io_log(IO_LOG_DEBUG, "not kept");
	io_log(IO_LOG_INFO, "second");
	assert_non_null(strstr(contents(), " error: first 1\n"));
	assert_non_null(strstr(text, " info: second\n"));
	assert_int_equal(count_lines(text), 2);
}

/* In UTC, to the microsecond. */
static void test_time(void **state)
{
	uint64_t before = io_clock_wall() / 1000, at;
	struct tm tm = {0};
	unsigned fraction;
	char *rest;

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	io_log(IO_LOG_INFO, "now");
	rest = strptime(contents(), "%Y-%m-%dT%H:%M:%S", &tm);
	assert_non_null(rest);
	assert_int_equal(sscanf(rest, ".%6uZ info: now\n", &fraction), 1);
	at = (uint64_t)timegm(&tm) * 1000000 + fraction;
	assert_in_range(at, before, io_clock_wall() / 1000);
}

static void test_file_is_private_and_appended_to(void **state)
{
	struct stat st;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
		io_log(IO_LOG_INFO, "line %u", i);
		io_log_close();
	}
	assert_int_equal(count_lines(contents()), 2);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_no_forged_lines(void **state)
{
	static char longest[5000];

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	io_log(IO_LOG_INFO, "program %s", "evil\nerror: forged\x1b[31m\x7f \xc3\xa4~");
	memset(longest, 'a', sizeof(longest) - 1);
	io_log(IO_LOG_INFO, "%s", longest);
	assert_int_equal(count_lines(contents()), 2);
	assert_non_null(strstr(text, "evil?error: forged?[31m? \xc3\xa4~\n"));
	longest[1023] = '\0'; /* what is longer is cut */
	assert_non_null(strstr(text, longest));
	longest[1023] = 'a';
	longest[1024] = '\0';
	assert_null(strstr(text, longest));
}

/* Another log takes the place of the first. */
static void test_opened_again(void **state)
{
	char other[160];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, other), 0);
	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, path), 0);
	assert_int_equal(io_test_open_fds(), fds + 1);
	io_log(IO_LOG_DEBUG, "here");
	assert_int_equal(count_lines(contents()), 1);
	io_log_close();
	assert_false(io_log_enabled(IO_LOG_INFO));
	assert_true(io_log_enabled(IO_LOG_WARN));
}

static void test_errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	errno = EXDEV;
	io_log(IO_LOG_INFO, "anything");
	assert_int_equal(errno, EXDEV);
}

static void test_bad_file_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, path), 0);
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, "/nonexistent/log"), -ENOENT);
	io_log(IO_LOG_DEBUG, "still here");
	assert_non_null(strstr(contents(), "still here"));
}

/* Runs with standard error in the file; returns what stands in it. */
static const char *with_stderr(void (*run)(void))
{
	int saved = dup(STDERR_FILENO);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(saved >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	close(fd);
	run();
	dup2(saved, STDERR_FILENO);
	close(saved);
	return contents();
}

static void to_stderr(void)
{
	io_log_open(IO_LOG_INFO, IO_LOG_STDERR, NULL);
	io_log(IO_LOG_INFO, "to people");
	io_log_close();
	io_log(IO_LOG_INFO, "before a log is open: too unimportant");
	io_log(IO_LOG_WARN, "before a log is open");
}

static void test_standard_error(void **state)
{
	(void)state;
	assert_string_equal(with_stderr(to_stderr),
			    "uhcad: to people\nuhcad: before a log is open\n");
}

/* The log's file is standard error, as uhca-run has it: an error stands there once. */
static void same_file(void)
{
	io_log_open(IO_LOG_INFO, IO_LOG_FILE, path);
	io_log(IO_LOG_ERROR, "once");
}

static void test_errors_are_not_doubled(void **state)
{
	(void)state;
	assert_int_equal(count_lines(with_stderr(same_file)), 1);
}

static void other_file(void)
{
	char other[160];

	snprintf(other, sizeof(other), "%s/other", dir);
	io_log_open(IO_LOG_INFO, IO_LOG_FILE, other);
	io_log(IO_LOG_INFO, "not for standard error");
	io_log(IO_LOG_ERROR, "cannot start");
	io_log_echo_errors(false);
	io_log(IO_LOG_ERROR, "later");
}

static void test_errors_at_start_are_echoed(void **state)
{
	(void)state;
	assert_string_equal(with_stderr(other_file), "uhcad: cannot start\n");
}

static void test_limit(void **state)
{
	struct io_log_limit limit = {0};
	uint64_t now = 5 * IO_SEC;
	uint32_t held = 99;

	(void)state;
	assert_true(io_log_limit(&limit, 2, now, &held));
	assert_int_equal(held, 0);
	assert_true(io_log_limit(&limit, 2, now + 1, &held));
	for (unsigned i = 0; i < 10; i++)
		assert_false(io_log_limit(&limit, 2, now + 2 + i, &held));
	assert_true(io_log_limit(&limit, 2, now + IO_SEC, &held));
	assert_int_equal(held, 10);
	assert_true(io_log_limit(&limit, 2, now + IO_SEC + 1, &held));
	assert_int_equal(held, 0);
}

/* ---- floods ---- */

static void flood(unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		io_log(IO_LOG_WARN, "refused process %u", i);
}

/* What anybody can provoke again and again is there so often only, and how much is missing. */
static void test_flood(void **state)
{
	(void)state;
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	flood(100000);
	io_log(IO_LOG_INFO, "something else");
	assert_in_range(count_lines(contents()), IO_LOG_BURST + 2, 10 * IO_LOG_BURST);
	assert_non_null(strstr(text, " similar lines were left out\n"));
	assert_non_null(strstr(text, "something else\n"));
}

/* The same by a thread, which tells of them though no other line comes. */
static void test_flood_beside_a_thread(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, path), 0);
	assert_int_equal(io_log_begin(), 0);
	flood(100000);
	while (!strstr(contents(), " similar lines were left out\n"))
		assert_true(io_clock_now() < end && io_log_flush(1000));
	io_log_end(1000);
	/* the limit is that of the test before, which may be used up */
	assert_in_range(count_lines(contents()), 1, 10 * IO_LOG_BURST);
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? st.st_size : -1;
}

/* A full file is FILE.1 then, in place of the one before. */
static void test_file_is_bounded(void **state)
{
	char old[160];

	(void)state;
	snprintf(old, sizeof(old), "%s.1", path);
	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_FILE, path), 0);
	memset(text, 'a', 1000);
	text[1000] = '\0';
	for (size_t n = 0; n < 5 * (size_t)IO_LOG_FILE_MAX / 2; n += 1000)
		io_log(IO_LOG_DEBUG, "%s", text);
	assert_in_range(size_of(path), 1, IO_LOG_FILE_MAX);
	assert_in_range(size_of(old), IO_LOG_FILE_MAX - 2000, IO_LOG_FILE_MAX);
	assert_int_equal(io_test_open_fds(), fds + 1);
}

/* Nothing has its name to be renamed to: the descriptor's file is somebody else's to bound. */
static void test_descriptor_is_not_bounded(void **state)
{
	char name[32];
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	(void)state;
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	assert_int_equal(ftruncate(fd, IO_LOG_FILE_MAX), 0);
	assert_int_equal(io_log_open(IO_LOG_INFO, IO_LOG_FILE, name), 0);
	io_log(IO_LOG_INFO, "one more");
	assert_true(size_of(path) > IO_LOG_FILE_MAX);
	close(fd);
}

/* ---- who does not read ---- */

/* Standard error is a pipe that is full: the lines wait, and those for which there is no room. */
static void test_nobody_reads(void **state)
{
	static char got[512 * 1024];
	int saved = dup(STDERR_FILENO), ends[2];
	size_t total = 0;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	assert_int_equal(io_log_open(IO_LOG_DEBUG, IO_LOG_STDERR, NULL), 0);
	assert_int_equal(io_log_begin(), 0);
	memset(text, 'a', 1000);
	text[1000] = '\0';
	for (unsigned i = 0; i < 1000; i++)
		io_log(IO_LOG_DEBUG, "%s", text);
	assert_false(io_log_flush(1));
	/* A read may end within the words. */
	while (!strstr(got, " log lines were dropped")) {
		struct pollfd p = {.fd = ends[0], .events = POLLIN};
		ssize_t n;

		assert_int_equal(poll(&p, 1, IO_TEST_SECONDS * 1000), 1);
		n = read(ends[0], got + total, sizeof(got) - 1 - total);
		assert_true(n > 0);
		total += (size_t)n;
	}
	assert_true(io_log_flush(IO_TEST_SECONDS * 1000));
	io_log_end(1000);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[0]);
	assert_in_range(total, 100000, 400000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_levels),
		TEST(test_opened_again),
		TEST(test_time),
		TEST(test_file_is_private_and_appended_to),
		TEST(test_no_forged_lines),
		TEST(test_errno_is_kept),
		TEST(test_bad_file_changes_nothing),
		TEST(test_standard_error),
		TEST(test_errors_are_not_doubled),
		TEST(test_errors_at_start_are_echoed),
		TEST(test_limit),
		TEST(test_flood),
		TEST(test_flood_beside_a_thread),
		TEST(test_file_is_bounded),
		TEST(test_descriptor_is_not_bounded),
		TEST(test_nobody_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
