/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies whose descriptors the kernel refuses for a while, because others of the daemon's user
 * have too many under way: they come later, with their descriptors, and the client is served again.
 */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct io_test_daemon t;
static struct io_test_client a, b;
static unsigned refusals, refused; /* of messages with descriptors: to come, were */

/* --wrap of the linker */
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (msg->msg_controllen > 0 && refusals > 0) {
		refusals--;
		refused++;
		errno = ETOOMANYREFS;
		return -1;
	}
	return __real_sendmsg(fd, msg, flags);
}

static int setup(void **state)
{
	(void)state;
	refusals = refused = 0;
	io_test_daemon_begin(&t, 1);
	io_test_hello(&a, &t.d, "uhca0");
	io_test_hello(&b, &t.d, "uhca0");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	refusals = 0;
	io_test_disconnect(&a);
	io_test_disconnect(&b);
	io_test_daemon_end(&t);
	return 0;
}

static int create_cq(struct io_test_client *c)
{
	struct uhca_cmd_create_cq in = {.cqe = 16};

	return io_test_call(c, UHCA_CMD_CREATE_CQ, &in, sizeof(in));
}

static void test_later(void **state)
{
	(void)state;
	refusals = 5;
	assert_int_equal(create_cq(&a), 0);
	assert_int_equal(refused, 5);
	assert_int_equal(a.n_fds, 1);
	assert_int_not_equal(lseek(a.fd[0], 0, SEEK_END), 0); /* the ring's memory */
	assert_int_equal(create_cq(&a), 0);                   /* it is heard again */
	assert_int_equal(refused, 5);
}

/* Whoever waits, waits alone; and what it waits for goes with it. */
static void test_alone(void **state)
{
	struct uhca_cmd_create_cq in = {.cqe = 16};

	(void)state;
	refusals = UINT_MAX;
	in.h = (struct uhca_cmd_request){
		.cmd = UHCA_CMD_CREATE_CQ, .size = sizeof(in), .sequence = ++a.sequence};
	assert_int_equal(send(a.sock, &in, sizeof(in), 0), sizeof(in));
	while (refused == 0)
		io_test_loop_pass(t.d.loop);
	assert_int_equal(io_test_handle(&b, UHCA_CMD_ALLOC_PD, 0, NULL), 0);
	assert_true(refusals > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
