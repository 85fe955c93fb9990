/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of a socket is known by its inode, whichever kind of socket it is. */
#include "provider/hang/sockets.h"
#include "tests/support/wire/cmocka_all.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* A listener of this family; the port that it got. */
static int listen_at(int family, uint16_t *port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr *at =
		family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
	socklen_t n = family == AF_INET ? sizeof(four) : sizeof(six);
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, at, n))
		return -1;
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, at, &n), 0);
	*port = family == AF_INET ? four.sin_port : six.sin6_port;
	return fd;
}

/* Both know each other: by IPv4, which a listener of IPv6 takes as well. */
static void hold_tcp(int family)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = listen_at(family, &to.sin_port), client, server;

	if (listener < 0)
		skip(); /* no IPv6 here */
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof(to)), 0);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	assert_int_equal(uhcav_hang_socket_peer(client), inode_of(server));
	assert_int_equal(uhcav_hang_socket_peer(server), inode_of(client));
	assert_int_equal(uhcav_hang_socket_peer(listener), 0);
	close(client);
	close(server);
	close(listener);
}

static void test_tcp(void **state)
{
	(void)state;
	hold_tcp(AF_INET);
}

static void test_tcp_of_both(void **state)
{
	(void)state;
	hold_tcp(AF_INET6);
}

static void test_unix(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(uhcav_hang_socket_peer(fd[0]), inode_of(fd[1]));
	assert_int_equal(uhcav_hang_socket_peer(fd[1]), inode_of(fd[0]));
	close(fd[0]);
	close(fd[1]);
}

/* Who reads it may go on by itself. */
static void test_limit(void **state)
{
	const struct timeval limit = {.tv_sec = 1};
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_int_equal(uhcav_hang_socket_peer(fd[0]), 0);
	close(fd[0]);
	close(fd[1]);
}

static void test_no_stream(void **state)
{
	int fd[2], datagrams = socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(uhcav_hang_socket_peer(fd[0]), 0);
	assert_int_equal(uhcav_hang_socket_peer(datagrams), 0);
	assert_int_equal(uhcav_hang_socket_peer(-1), 0);
	close(fd[0]);
	close(fd[1]);
	close(datagrams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),       cmocka_unit_test(test_tcp_of_both),
		cmocka_unit_test(test_unix),      cmocka_unit_test(test_limit),
		cmocka_unit_test(test_no_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
