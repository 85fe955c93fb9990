/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches on descriptors that somebody else has, too: events are told, what is stopped leaves no
 * trace in any epoll set of the process though its description lives on, and what is called may
 * stop whatever else is to be told.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WATCHES 40u /* more than a batch */

struct watched {
	struct io_watch w;
	struct fixture *f;
	int copy; /* another's descriptor of the same description */
	unsigned told;
	uint32_t events;
};

struct fixture {
	struct ev_loop *loop;
	struct io_watches set;
	struct watched one[WATCHES];
	bool stop_others;
	uint64_t busy; /* ns that each takes */
};

static void on_event(struct io_watch *w, uint32_t events)
{
	struct watched *me = w->arg;

	uint64_t end = io_clock_now() + me->f->busy;

	me->told++;
	me->events = events;
	while (io_clock_now() < end)
		;
	for (unsigned i = 0; me->f->stop_others && i < WATCHES; i++)
		if (&me->f->one[i] != me)
			io_watch_stop(&me->f->one[i].w);
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){.loop = ev_loop_new(EVBACKEND_EPOLL)};
	assert_int_equal(io_watches_open(&f.set, f.loop), 0);
	for (unsigned i = 0; i < WATCHES; i++) {
		struct watched *me = &f.one[i];

		me->f = &f;
		me->w = (struct io_watch){.event = on_event, .arg = me};
		me->w.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		me->copy = dup(me->w.fd);
		assert_true(me->w.fd >= 0 && me->copy >= 0);
	}
	*state = &f;
	return 0;
}

static void close_one(struct watched *me)
{
	io_watch_stop(&me->w);
	if (me->w.fd >= 0)
		close(me->w.fd);
	me->w.fd = -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < WATCHES; i++) {
		close_one(&f->one[i]);
		close(f->one[i].copy);
	}
	io_watches_close(&f->set);
	io_watches_close(&f->set);
	ev_loop_destroy(f->loop);
	return 0;
}

static void start(struct fixture *f, unsigned i, uint32_t events)
{
	assert_int_equal(io_watch_start(&f->set, &f->one[i].w, events), 0);
}

static void ring(struct watched *me)
{
	uint64_t one = 1;

	assert_int_equal(write(me->copy, &one, sizeof(one)), sizeof(one));
}

static unsigned calls(const struct fixture *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WATCHES; i++)
		n += f->one[i].told;
	return n;
}

static bool all_called(void *arg)
{
	const struct fixture *f = arg;

	for (unsigned i = 0; i < WATCHES; i++)
		if (!f->one[i].told)
			return false;
	return true;
}

static void test_more_than_a_batch(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < WATCHES; i++) {
		start(f, i, EPOLLIN);
		ring(&f->one[i]);
	}
	assert_true(io_test_run(f->loop, all_called, f));
	for (unsigned i = 0; i < WATCHES; i++)
		assert_int_equal(f->one[i].events, EPOLLIN);
}

/* Where one takes long the others come in the next passes, each before the first comes again. */
static void test_long_ones(void **state)
{
	struct fixture *f = *state;
	unsigned before = 0;

	for (unsigned i = 0; i < WATCHES; i++) {
		start(f, i, EPOLLIN);
		ring(&f->one[i]);
	}
	f->busy = 2 * IO_MSEC;
	for (unsigned pass = 0; pass < WATCHES; pass++) {
		io_test_loop_pass(f->loop);
		assert_true(calls(f) <= before + 1);
		before = calls(f);
	}
	assert_int_equal(before, WATCHES);
	assert_true(all_called(f));
}

/* Edges: a write is told once, though nobody reads what was written. */
static void test_once(void **state)
{
	struct fixture *f = *state;

	start(f, 0, EPOLLIN | EPOLLET);
	for (unsigned i = 1; i <= 3; i++) {
		ring(&f->one[0]);
		for (unsigned k = 0; k < 3; k++)
			io_test_loop_pass(f->loop);
		assert_int_equal(f->one[0].told, i);
	}
}

static void test_change(void **state)
{
	struct fixture *f = *state;

	start(f, 0, EPOLLIN);
	io_test_loop_pass(f->loop);
	assert_int_equal(f->one[0].told, 0);
	io_watch_change(&f->one[0].w, EPOLLIN | EPOLLOUT);
	io_test_loop_pass(f->loop);
	assert_int_equal(f->one[0].told, 1);
	assert_int_equal(f->one[0].events, EPOLLOUT);
	io_watch_change(&f->one[0].w, EPOLLIN);
	io_test_loop_pass(f->loop);
	assert_int_equal(f->one[0].told, 1);
}

/* Of those that are to be told in one pass the first stops all others. */
static void test_stopped_while_it_waits(void **state)
{
	struct fixture *f = *state;

	f->stop_others = true;
	for (unsigned i = 0; i < WATCHES; i++) {
		start(f, i, EPOLLIN);
		ring(&f->one[i]);
	}
	io_test_loop_pass(f->loop);
	assert_int_equal(calls(f), 1);
}

/*
 * The other one's copy keeps the description alive and rings it after our descriptor was closed,
 * and then the number is another's. A set that still had it would tell of it for ever.
 */
static void test_nothing_stays(void **state)
{
	struct fixture *f = *state;
	int fd = f->one[0].w.fd;

	start(f, 0, EPOLLIN);
	start(f, 1, EPOLLIN);
	io_test_loop_pass(f->loop);
	assert_int_equal(io_test_polled(fd), 1);
	close_one(&f->one[0]);
	assert_int_equal(io_test_polled(fd), 0);
	ring(&f->one[0]);
	assert_int_equal(dup2(f->one[1].copy, fd), fd);
	for (unsigned i = 0; i < 3; i++)
		io_test_loop_pass(f->loop);
	assert_int_equal(calls(f), 0);
	close(fd);
}

static void test_what_cannot_be_watched(void **state)
{
	struct fixture *f = *state;
	struct io_watch w = {.fd = -1, .event = on_event};

	assert_int_equal(io_watch_start(&f->set, &w, EPOLLIN), -EBADF);
	assert_null(w.set);
	io_watch_stop(&w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_more_than_a_batch),
		TEST(test_long_ones),
		TEST(test_once),
		TEST(test_change),
		TEST(test_stopped_while_it_waits),
		TEST(test_nothing_stays),
		TEST(test_what_cannot_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
