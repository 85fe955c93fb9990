/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The right to raw packets: who has a raw socket of this network namespace has shown it. Sockets
 * that everybody may open, and those of a namespace of one's own, show nothing.
 */
#include "emu/io/local/privilege.h"
#include "tests/support/wire/cmocka_all.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool shows_right(int domain, int type, int protocol)
{
	int fd = socket(domain, type | SOCK_CLOEXEC, protocol);
	bool shows = io_privilege_net_raw(fd);

	if (fd >= 0)
		close(fd);
	return shows;
}

/* What a user without rights can open, root too. */
static void test_others(void **state)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), path = open("/", O_PATH | O_CLOEXEC);

	(void)state;
	assert_false(shows_right(AF_INET, SOCK_DGRAM, 0));
	assert_false(shows_right(AF_INET6, SOCK_STREAM, 0));
	assert_false(shows_right(AF_UNIX, SOCK_SEQPACKET, 0));
	assert_false(shows_right(AF_UNIX, SOCK_RAW, 0));
	assert_false(shows_right(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	assert_false(io_privilege_net_raw(null));
	assert_false(io_privilege_net_raw(path));
	assert_false(io_privilege_net_raw(-1));
	close(null);
	close(path);
}

static bool may_raw(void)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_raw(void **state)
{
	(void)state;
	assert_int_equal(shows_right(AF_INET, SOCK_RAW, IPPROTO_RAW), may_raw());
	assert_int_equal(shows_right(AF_PACKET, SOCK_DGRAM, 0), may_raw());
}

/* A child: the socket is of a network namespace, and a user namespace, of its own. 0 or what. */
static int show_of_another_namespace(void)
{
	int fd, outside = socket(AF_UNIX, SOCK_DGRAM, 0);
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	if (getsockopt(outside, SOL_SOCKET, 71, &cookie, &len) < 0)
		return 77; /* this kernel does not number them */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return 77;
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || !io_privilege_net_raw(fd))
		return 1; /* there it is the right one */
	return dup2(fd, 50) == 50 ? 0 : 2;
}

/* The same socket, looked at from here. */
static int send_it(int sock)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.space = {0}};
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	int status = show_of_another_namespace(), fd = 50;

	if (status != 0)
		return status;
	control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	*(int *)(void *)CMSG_DATA(&control.header) = fd;
	return sendmsg(sock, &msg, 0) == 1 ? 0 : 3;
}

static int receive_it(int sock)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	assert_int_equal(recvmsg(sock, &msg, 0), 1);
	assert_true(msg.msg_controllen > 0);
	return *(int *)(void *)CMSG_DATA(&control.header);
}

static void test_another_namespace(void **state)
{
	int pair[2], status, fd;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	pid = fork();
	if (pid == 0)
		_exit(send_it(pair[1]));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	fd = receive_it(pair[0]);
	assert_false(io_privilege_net_raw(fd));
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_another_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
