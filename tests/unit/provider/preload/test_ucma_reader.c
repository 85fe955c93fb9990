/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who ends an id lets the thread that reads events have what there is first: for how many naps,
 * which are counted here instead of slept.
 */
#include "provider/preload/ucma_reader.h"

#include "tests/support/wire/cmocka_all.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FILE_NUMBER 4711
#define NAPS_MAX    100

static int pair[2];
static unsigned naps, takes_at; /* the event is fetched in that nap; 0: never */

/* libc's own stands behind. */
int nanosleep(const struct timespec *asked, struct timespec *left)
{
	char byte;

	(void)asked;
	(void)left;
	if (++naps == takes_at)
		assert_int_equal(recv(pair[0], &byte, 1, 0), 1);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(send(pair[1], "", 1, 0), 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static unsigned naps_before_end(uint64_t file, unsigned at)
{
	naps = 0;
	takes_at = at;
	uhca_ucma_reader_first(pair[0], file);
	return naps;
}

/* A thread that notes itself each time it is told to, until its pipe is closed. */
struct reader {
	pthread_t thread;
	pid_t tid;
	int orders[2], done[2];
};

static void *read_events(void *arg)
{
	struct reader *r = arg;
	char byte;

	r->tid = gettid();
	while (read(r->orders[0], &byte, 1) == 1) {
		uhca_ucma_reader_note(FILE_NUMBER);
		assert_int_equal(write(r->done[1], "", 1), 1);
	}
	return NULL;
}

static void note(struct reader *r)
{
	char byte;

	assert_int_equal(write(r->orders[1], "", 1), 1);
	assert_int_equal(read(r->done[0], &byte, 1), 1);
}

static void begin(struct reader *r)
{
	assert_int_equal(pipe(r->orders), 0);
	assert_int_equal(pipe(r->done), 0);
	assert_int_equal(pthread_create(&r->thread, NULL, read_events, r), 0);
	note(r);
}

/* A thread has been joined when it has left its stack; the kernel knows it a little longer. */
static void end(struct reader *r)
{
	close(r->orders[1]);
	pthread_join(r->thread, NULL);
	while (tgkill(getpid(), r->tid, 0) == 0)
		sched_yield();
	close(r->orders[0]);
	close(r->done[0]);
	close(r->done[1]);
}

static void test_lets_it_read(void **state)
{
	struct reader r;

	(void)state;
	begin(&r);
	assert_int_equal(naps_before_end(FILE_NUMBER, 3), 3);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), 0); /* nothing is there */
	end(&r);
}

static void test_loses_page_worker_once(void **state)
{
	struct reader r;

	(void)state;
	begin(&r);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), NAPS_MAX);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), 0);
	note(&r);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), NAPS_MAX);
	end(&r);
}

static void test_nobody_to_wait_for(void **state)
{
	struct reader r;

	(void)state;
	assert_int_equal(naps_before_end(1, 0), 0); /* nobody ever read */
	begin(&r);
	assert_int_equal(naps_before_end(FILE_NUMBER + 64, 0),
			 0); /* another open, the same place */
	end(&r);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), 0); /* the reader is gone */
	uhca_ucma_reader_note(FILE_NUMBER);
	assert_int_equal(naps_before_end(FILE_NUMBER, 0), 0); /* it is this thread */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lets_it_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loses_page_worker_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_to_wait_for, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
