/* SPDX-License-Identifier: BSD-2-Clause */
/* Work that waits for somebody is left to its thread; work that computes is not. */
#include "emu/io/local/local.h"
#include "emu/io/mem/page_worker.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define SOON_MS    20000
#define LONGEST_MS 195 /* all looks of page_worker.c, but for what is rounded */

static struct task {
	int gate[2]; /* work waits for a byte */
	long busy_ms;
	unsigned dropped;
} task;

static int make(void **state)
{
	(void)state;
	task = (struct task){.busy_ms = 0};
	assert_int_equal(pipe(task.gate), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(task.gate[0]);
	close(task.gate[1]);
	return 0;
}

static int wait_at_the_gate(void *arg)
{
	struct task *t = arg;
	char byte;

	return read(t->gate[0], &byte, 1) == 1 ? 7 : -EIO;
}

/* Of the thread's own processor time. */
static int compute(void *arg)
{
	const struct task *t = arg;
	struct timespec now = {0};

	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < t->busy_ms)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 8;
}

static void drop(void *arg)
{
	__atomic_fetch_add(&((struct task *)arg)->dropped, 1, __ATOMIC_SEQ_CST);
}

static const struct io_file_request_plan waits = {wait_at_the_gate, drop};

static unsigned dropped(void)
{
	return __atomic_load_n(&task.dropped, __ATOMIC_SEQ_CST);
}

static void open_gate(void)
{
	assert_int_equal(write(task.gate[1], "", 1), 1);
}

static long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Work with an open gate is done at once. A busy machine may give its thread no processor for so
 * long that it is late, and dropped: then it is sent again. Returns how often.
 */
static unsigned send_with_open_gate(struct io_page_worker *p)
{
	for (unsigned late = 0;; late++) {
		long begun = clock_ms();
		int result;

		open_gate();
		result = io_page_worker_send(p, &waits, &task);
		if (result != -ESRCH) {
			assert_int_equal(result, 7);
			return late;
		}
		assert_true(clock_ms() - begun >= LONGEST_MS);
		assert_true(io_reaper_wait(SOON_MS));
		assert_true(io_page_worker_is_back(p));
	}
}

static void test_at_once(void **state)
{
	struct io_page_worker p = {NULL};
	unsigned late;

	(void)state;
	late = send_with_open_gate(&p);
	assert_true(io_page_worker_is_back(&p));
	assert_int_equal(dropped(), late); /* the last is ours */
	io_page_worker_end(&p);
}

/*
 * It is waited for while it runs: much longer than for one that sleeps, though not for ever. A busy
 * machine may give it no processor for so long.
 */
static void test_computing(void **state)
{
	static const struct io_file_request_plan computes = {compute, drop};
	struct io_page_worker p = {NULL};
	long begun;
	int result;

	(void)state;
	task.busy_ms = 40;
	begun = clock_ms();
	result = io_page_worker_send(&p, &computes, &task);
	if (result == -ESRCH) {
		assert_true(clock_ms() - begun >= LONGEST_MS);
		assert_true(io_reaper_wait(SOON_MS));
	} else {
		assert_int_equal(result, 8);
	}
	io_page_worker_end(&p);
}

static void test_late(void **state)
{
	struct io_page_worker p = {NULL};

	(void)state;
	assert_int_equal(io_page_worker_send(&p, &waits, &task), -ESRCH);
	assert_false(io_page_worker_is_back(&p));
	assert_int_equal(dropped(), 0);
	open_gate();
	assert_true(io_reaper_wait(SOON_MS));
	assert_true(io_page_worker_is_back(&p));
	assert_int_equal(dropped(), 1);
	send_with_open_gate(&p);
	io_page_worker_end(&p);
}

/* Nobody asks any more: the thread drops it, or who does not ask, if it is back. */
static void test_forgotten(void **state)
{
	struct io_page_worker p = {NULL};

	(void)state;
	assert_int_equal(io_page_worker_send(&p, &waits, &task), -ESRCH);
	io_page_worker_end(&p);
	assert_true(io_page_worker_is_back(&p));
	assert_int_equal(dropped(), 0);
	open_gate();
	assert_true(io_reaper_wait(SOON_MS));
	assert_int_equal(dropped(), 1);
	assert_int_equal(io_page_worker_send(&p, &waits, &task), -ESRCH);
	open_gate();
	assert_true(io_reaper_wait(SOON_MS));
	io_page_worker_end(&p);
	assert_int_equal(dropped(), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_at_once, make, end),
		cmocka_unit_test_setup_teardown(test_computing, make, end),
		cmocka_unit_test_setup_teardown(test_late, make, end),
		cmocka_unit_test_setup_teardown(test_forgotten, make, end),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	io_reaper_end(SOON_MS);
	return failed;
}
