/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages with descriptors: they arrive whole, what is cut is reported as such and leaks no
 * descriptor, and neither direction ever waits.
 */
#include "emu/io/local/message.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int pair[2];

static int setup(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int teardown(void **state)
{
	(void)state;
	if (pair[0] >= 0)
		close(pair[0]);
	return close(pair[1]);
}

static void test_round_trip(void **state)
{
	unsigned before = io_test_open_fds();
	struct io_fds fds;
	char buf[16];
	int pipes[2];
	bool whole;
	int fd;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(io_message_send(pair[0], "hello", 5, pipes, 2), 0);
	assert_int_equal(io_message_receive(pair[1], buf, sizeof(buf), &fds, &whole), 5);
	assert_true(whole);
	assert_memory_equal(buf, "hello", 5);
	assert_int_equal(fds.n, 2);
	fd = io_fds_take(&fds, 1);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(pipes[0], buf, 1), 1);
	assert_int_equal(io_fds_take(&fds, 2), -1);
	io_fds_close(&fds);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(io_test_open_fds(), before);
}

static void test_nothing_there(void **state)
{
	struct io_fds fds;
	char buf[16];
	bool whole;

	(void)state;
	assert_int_equal(io_message_receive(pair[1], buf, 16, &fds, &whole), -EAGAIN);
	close(pair[0]);
	pair[0] = -1;
	assert_int_equal(io_message_receive(pair[1], buf, 16, &fds, &whole), 0);
	assert_true(io_message_send(pair[1], "x", 1, NULL, 0) < 0);
}

static void test_cut_message(void **state)
{
	struct io_fds fds;
	char buf[4];
	bool whole;

	(void)state;
	assert_int_equal(io_message_send(pair[0], "too long", 8, NULL, 0), 0);
	assert_int_equal(io_message_receive(pair[1], buf, 4, &fds, &whole), 8);
	assert_false(whole);
}

/* More descriptors than a message may have: none leaks. */
static void test_cut_descriptors(void **state)
{
	unsigned before = io_test_open_fds();
	char space[CMSG_SPACE(16 * sizeof(int))] = {0};
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct io_fds fds;
	char buf[4];
	bool whole;

	(void)state;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(16 * sizeof(int));
	memset(CMSG_DATA(c), 0, 16 * sizeof(int));
	assert_int_equal(sendmsg(pair[0], &msg, 0), 1);
	assert_int_equal(io_message_receive(pair[1], buf, 4, &fds, &whole), 1);
	assert_false(whole);
	assert_int_equal(fds.n, UHCA_ABI_MAX_FDS);
	io_fds_close(&fds);
	assert_int_equal(io_test_open_fds(), before);
}

static void test_reader_does_not_read(void **state)
{
	int error = 0;

	(void)state;
	for (unsigned i = 0; i < 1000000 && error == 0; i++)
		error = io_message_send(pair[0], "x", 1, NULL, 0);
	assert_int_equal(error, -EAGAIN);
}

static void test_all_read(void **state)
{
	char byte;

	(void)state;
	assert_true(io_message_all_read(pair[0]));
	assert_int_equal(io_message_send(pair[0], "a", 1, NULL, 0), 0);
	assert_int_equal(io_message_send(pair[0], "b", 1, NULL, 0), 0);
	assert_int_equal(recv(pair[1], &byte, 1, 0), 1);
	assert_false(io_message_all_read(pair[0]));
	assert_int_equal(recv(pair[1], &byte, 1, MSG_PEEK), 1);
	assert_false(io_message_all_read(pair[0])); /* looked at, and still there */
	assert_int_equal(recv(pair[1], &byte, 1, 0), 1);
	assert_true(io_message_all_read(pair[0]));
	assert_false(io_message_all_read(-1));
}

static void test_too_many_to_send(void **state)
{
	int fd[UHCA_ABI_MAX_FDS + 1] = {0};

	(void)state;
	assert_int_equal(io_message_send(pair[0], "x", 1, fd, UHCA_ABI_MAX_FDS + 1), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),       TEST(test_nothing_there),
		TEST(test_cut_message),      TEST(test_cut_descriptors),
		TEST(test_too_many_to_send), TEST(test_reader_does_not_read),
		TEST(test_all_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
