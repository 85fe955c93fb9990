/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that names a shared XRC domain stays open as long as somebody has the domain, so that
 * its number is nobody else's; and is named by who has opened it only.
 */
#include "emu/io/local/local.h"
#include "emu/io/local/xrcd_files.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct io_test_daemon t;
static struct io_test_client c[2];

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	for (unsigned i = 0; i < 2; i++)
		io_test_hello(&c[i], &t.d, "uhca0");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		io_test_disconnect(&c[i]);
	io_test_daemon_end(&t);
	return 0;
}

/* A file that has no name any more. */
static int unnamed(void)
{
	char path[] = "/tmp/uhca-xrcd-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* How often is it open in this process, which is also the daemon? */
static unsigned times_open(const struct stat *file)
{
	unsigned n = 0;

	assert_true(io_reaper_wait(IO_TEST_SECONDS * 1000));
	for (int fd = 0; fd < 256; fd++) {
		struct stat st;

		n += fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
	}
	return n;
}

static int open_domain(struct io_test_client *client, int fd, uint32_t flags, uint32_t *handle)
{
	struct uhca_cmd_open_xrcd in = {.oflags = flags};
	struct uhca_cmd_handle_reply reply;
	int status = io_test_call_fds(client, UHCA_CMD_OPEN_XRCD, &in, sizeof(in), &fd, 1);

	memcpy(&reply, &client->reply, sizeof(reply));
	*handle = reply.handle;
	return status;
}

static void test_kept_until_closed(void **state)
{
	int fd = unnamed();
	uint32_t handle[2];
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(open_domain(&c[i], fd, UHCA_ABI_XRCD_CREATE, &handle[i]), 0);
	close(fd);
	assert_int_equal(times_open(&st), 2);
	assert_int_equal(io_test_handle(&c[0], UHCA_CMD_CLOSE_XRCD, handle[0], NULL), 0);
	assert_int_equal(times_open(&st), 1);
	assert_int_equal(io_test_handle(&c[0], UHCA_CMD_CLOSE_XRCD, handle[0], NULL), -ENOENT);
	assert_int_equal(times_open(&st), 1);
	assert_int_equal(io_test_handle(&c[1], UHCA_CMD_CLOSE_XRCD, handle[1], NULL), 0);
	assert_int_equal(times_open(&st), 0);
}

static void test_closed_with_its_client(void **state)
{
	int fd = unnamed();
	uint32_t handle;
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(open_domain(&c[0], fd, UHCA_ABI_XRCD_CREATE, &handle), 0);
	close(fd);
	assert_int_equal(times_open(&st), 9);
	io_test_disconnect(&c[0]);
	assert_int_equal(times_open(&st), 0);
	io_test_hello(&c[0], &t.d, "uhca0");
}

/* What fails keeps nothing. */
static void test_not_kept(void **state)
{
	int fd = unnamed();
	uint32_t handle;
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(open_domain(&c[0], fd, 0, &handle), -EAGAIN);
	assert_int_equal(times_open(&st), 1);
	close(fd);
}

/* Whoever may not open a file does not share its domain: O_PATH asks nobody. */
static void test_only_who_may_open(void **state)
{
	int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	uint32_t handle;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(open_domain(&c[0], fd, UHCA_ABI_XRCD_CREATE, &handle), -EBADF);
	close(fd);
}

static void test_bit_by_bit(void **state)
{
	struct io_xrcd_files f = {NULL, 0, 0};

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(io_xrcd_files_prepare(&f), 0);
		io_xrcd_files_add(&f, i, open("/dev/null", O_RDONLY | O_CLOEXEC));
	}
	io_xrcd_files_drop(&f, 7); /* of a domain without a file */
	assert_false(io_xrcd_files_close(&f, 4));
	assert_int_equal(f.n, 1);
	assert_true(io_xrcd_files_close(&f, 4));
	assert_null(f.at);
	assert_true(io_reaper_wait(IO_TEST_SECONDS * 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept_until_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closed_with_its_client, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_who_may_open, setup, teardown),
		cmocka_unit_test(test_bit_by_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
