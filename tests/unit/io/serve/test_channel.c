/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels: records arrive whole and in order; a reader that does not read costs a bounded
 * queue and no record; equal records that wait are one; a closed end is noticed.
 */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct fixture {
	struct ev_loop *loop;
	struct io_watches watches;
	struct io_channel ch;
	int reader;
	unsigned gone;
};

static void on_gone(struct io_channel *ch, void *arg)
{
	struct fixture *f = arg;

	assert_ptr_equal(ch, &f->ch);
	f->gone++;
}

static int setup(void **state)
{
	static struct fixture f;
	int pair[2];

	f = (struct fixture){.loop = ev_loop_new(EVBACKEND_EPOLL)};
	assert_int_equal(io_watches_open(&f.watches, f.loop), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	f.reader = pair[0];
	assert_int_equal(io_channel_open(&f.ch, &f.watches, pair[1], 8), 0);
	f.ch.gone = on_gone;
	f.ch.arg = &f;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_channel_close(&f->ch);
	io_channel_close(&f->ch);
	close(f->reader);
	io_watches_close(&f->watches);
	ev_loop_destroy(f->loop);
	return 0;
}

static void send_cookie(struct fixture *f, uint64_t cookie)
{
	io_channel_send(&f->ch, &cookie);
}

/* The next record, or 0 when there is none. */
static uint64_t receive(struct fixture *f)
{
	uint64_t cookie[2];
	ssize_t n = recv(f->reader, cookie, sizeof(cookie), MSG_DONTWAIT);

	if (n < 0)
		return 0;
	assert_int_equal(n, 8);
	return cookie[0];
}

static void test_in_order(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 10; i++)
		send_cookie(f, i);
	for (uint64_t i = 1; i <= 10; i++)
		assert_int_equal(receive(f), i);
	assert_int_equal(receive(f), 0);
}

/* Sends different cookies until so many wait in the daemon. Returns the last cookie. */
static uint64_t fill(struct fixture *f, size_t waiting)
{
	uint64_t cookie = 0;

	while (f->ch.waiting.n < waiting)
		send_cookie(f, ++cookie);
	return cookie;
}

struct drain {
	struct fixture *f;
	uint64_t expected;
	uint64_t last;
};

static bool drained(void *arg)
{
	struct drain *d = arg;
	uint64_t cookie;

	while ((cookie = receive(d->f)) != 0)
		assert_int_equal(cookie, d->expected++);
	return d->expected > d->last;
}

static void test_overflow(void **state)
{
	struct fixture *f = *state;
	struct drain d = {f, 1, fill(f, 500)};

	assert_true(d.last > 500);
	assert_true(io_test_run(f->loop, drained, &d));
	assert_int_equal(f->ch.waiting.n, 0);
	assert_int_equal(receive(f), 0);
	send_cookie(f, 77);
	assert_int_equal(receive(f), 77);
}

static void test_equal_records_wait_once(void **state)
{
	struct fixture *f = *state;
	struct drain d = {f, 1, fill(f, 3)};

	for (unsigned i = 0; i < 1000; i++) {
		assert_false(io_channel_send(&f->ch, &d.last));
		send_cookie(f, d.last - 1);
	}
	assert_int_equal(f->ch.waiting.n, 3);
	assert_true(io_test_run(f->loop, drained, &d));
	assert_int_equal(receive(f), 0);
}

static void test_purge(void **state)
{
	struct fixture *f = *state;
	struct drain d = {f, 1, fill(f, 3)};

	assert_int_equal(io_channel_purge(&f->ch, d.last), 1);
	assert_int_equal(io_channel_purge(&f->ch, d.last - 2), 1);
	assert_int_equal(io_channel_purge(&f->ch, 123456), 0);
	assert_int_equal(f->ch.waiting.n, 1);
	d.last -= 3; /* then the one in the middle, and nothing more */
	assert_true(io_test_run(f->loop, drained, &d));
	io_test_loop_pass(f->loop);
	assert_int_equal(receive(f), d.last + 2);
	assert_int_equal(receive(f), 0);
}

static bool is_gone(void *arg)
{
	return ((struct fixture *)arg)->gone > 0;
}

static void test_reader_closes(void **state)
{
	struct fixture *f = *state;

	fill(f, 10);
	close(f->reader);
	send_cookie(f, 1000000);
	assert_true(io_test_run(f->loop, is_gone, f));
	assert_int_equal(f->ch.fd, -1);
	assert_false(io_channel_send(&f->ch, &(uint64_t){1}));
	assert_int_equal(io_channel_purge(&f->ch, 1), 0);
	assert_int_equal(f->gone, 1);
	f->reader = -1;
}

/*
 * Whoever gave us the descriptor still has the description, which stays in an epoll set that we do
 * not take it out of, and tells of its end for ever: libev would make its set anew.
 */
static void test_leaves_every_set(void **state)
{
	struct fixture *f = *state;
	int fd = f->ch.fd, copy = dup(fd);

	io_test_loop_pass(f->loop);
	assert_int_equal(io_test_polled(fd), 1);
	close(f->reader);
	f->reader = -1;
	assert_true(io_test_run(f->loop, is_gone, f));
	assert_int_equal(io_test_polled(fd), 0);
	close(copy);
}

/* Who shares the socket's description can clear its O_NONBLOCK; sending must not wait even so. */
static void test_never_waits(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fcntl(f->ch.fd, F_SETFL, 0), 0);
	fill(f, 5);
	io_test_loop_pass(f->loop);
	assert_int_equal(f->gone, 0);
}

static void test_wrong_descriptors(void **state)
{
	struct fixture *f = *state;
	struct io_channel ch;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(io_channel_open(&ch, &f->watches, fd[1], 8), -EINVAL);
	assert_int_equal(close(fd[0]) | close(fd[1]), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(io_channel_open(&ch, &f->watches, fd[1], 8), -EINVAL);
	assert_int_equal(close(fd[0]) | close(fd[1]), 0);
	assert_int_equal(io_channel_open(&ch, &f->watches, -1, 8), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_in_order),      TEST(test_overflow),
		TEST(test_purge),         TEST(test_equal_records_wait_once),
		TEST(test_reader_closes), TEST(test_leaves_every_set),
		TEST(test_never_waits),   TEST(test_wrong_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
