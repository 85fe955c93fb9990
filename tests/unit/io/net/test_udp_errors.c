/* SPDX-License-Identifier: BSD-2-Clause */
/* What the network answers is told, and stands in the way of nothing that is sent or received. */
#include "emu/io/base/base.h"
#include "emu/io/net/udp_errors.h"
#include "emu/io/net/udp_socket.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct told {
	unsigned n;
	uint8_t gid[16];
	uint16_t port;
};

static void on_unreachable(void *arg, const uint8_t gid[16], uint16_t port)
{
	struct told *t = arg;

	t->n++;
	memcpy(t->gid, gid, sizeof(t->gid));
	t->port = port;
}

static struct sockaddr_in place(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A port that nobody has: one of ours a moment ago. */
static uint16_t closed_port(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = place(0);
	socklen_t len = sizeof(a);

	assert_int_equal(bind(fd, (void *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (void *)&a, &len), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static void test_closed(void **state)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct told told = {.n = 0};
	const struct io_udp_errors errors = {on_unreachable, &told};
	struct sockaddr_in to = place(closed_port());
	static const uint8_t loopback[] = {127, 0, 0, 1};

	(void)state;
	io_udp_errors_want(fd, 1);
	assert_int_equal(io_udp_errors_take(fd, &errors), 0);
	assert_false(io_udp_errors_were(fd, &errors, EHOSTUNREACH));
	assert_int_equal(sendto(fd, "x", 1, 0, (void *)&to, sizeof(to)), 1);
	/* The answer came while the call was under way: the next call fails for it, once. */
	assert_int_equal(sendto(fd, "x", 1, 0, (void *)&to, sizeof(to)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_true(io_udp_errors_were(fd, &errors, ECONNREFUSED));
	assert_int_equal(told.n, 1);
	assert_memory_equal(told.gid + 12, loopback, 4);
	assert_int_equal(told.port, ntohs(to.sin_port));
	assert_int_equal(sendto(fd, "x", 1, 0, (void *)&to, sizeof(to)), 1);
	assert_true(io_udp_errors_were(fd, NULL, ECONNREFUSED));
	errno = 0;
	assert_false(io_udp_errors_were(fd, &errors, EAGAIN));
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
