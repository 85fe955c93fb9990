/* SPDX-License-Identifier: BSD-2-Clause */
/* What takes the number of an open whose daemon is gone: silent, known as such, flags kept. */
#include "provider/preload/ucma_gone.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int dead_end(int flags)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | flags, 0, pair), 0);
	close(pair[1]);
	return pair[0];
}

static int readiness(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) ? p.revents : 0;
}

static void test_silent(void **state)
{
	char byte;
	int fd = dead_end(0), other = dead_end(0);

	(void)state;
	assert_false(uhca_ucma_gone_is(fd));
	assert_true(readiness(fd) & POLLHUP);
	assert_true(uhca_ucma_gone_put(fd));
	assert_true(uhca_ucma_gone_put(other));
	assert_true(uhca_ucma_gone_is(fd) && uhca_ucma_gone_is(other));
	assert_int_equal(readiness(fd), 0);
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(uhca_ucma_gone_put(fd)); /* again: as it was */
	assert_int_equal(readiness(fd), 0);
	close(fd);
	close(other);
}

static void test_flags(void **state)
{
	static const int flags[] = {0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		int fd = dead_end(flags[i]);

		assert_true(uhca_ucma_gone_put(fd));
		assert_int_equal(!(fcntl(fd, F_GETFL) & O_NONBLOCK), !(flags[i] & SOCK_NONBLOCK));
		assert_int_equal(!(fcntl(fd, F_GETFD) & FD_CLOEXEC), !(flags[i] & SOCK_CLOEXEC));
		close(fd);
	}
}

static void test_forked(void **state)
{
	int fd = dead_end(0), status;
	pid_t child;

	(void)state;
	assert_true(uhca_ucma_gone_put(fd));
	child = fork();
	if (child == 0)
		_exit(uhca_ucma_gone_is(fd) && readiness(fd) == 0 ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(fd);
}

/* What is none, and what is no socket: errno is left alone. */
static void test_others(void **state)
{
	int fd = dead_end(0);

	(void)state;
	errno = 77;
	assert_false(uhca_ucma_gone_is(-1));
	assert_false(uhca_ucma_gone_is(STDIN_FILENO));
	assert_int_equal(errno, 77);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_forked),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
