/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to which the answer is wanted at once: it comes, also from a thread that is kept from
 * its processor; one that does not come is waited for once, and the next ones not at all until the
 * thread is back.
 */
#include "emu/io/base/base.h"
#include "emu/io/local/prompt.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

struct question {
	int gate;      /* waits until this can be read; -1: not at all */
	uint64_t busy; /* ns of processor time that it takes */
	int number, answer;
};

static void work(void *arg)
{
	struct question *q = arg;
	struct timespec t = {0};
	char byte;

	if (q->gate >= 0 && read(q->gate, &byte, 1) < 0)
		return;
	while ((uint64_t)t.tv_sec * IO_SEC + (uint64_t)t.tv_nsec < q->busy)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	q->answer = q->number + 1;
}

static bool ask(struct io_prompt *p, struct question *q)
{
	return io_prompt_ask(p, work, q, sizeof(*q), IO_PROMPT_MS);
}

static void test_answers(void **state)
{
	struct io_prompt *p = io_prompt_open();
	struct question q = {.gate = -1};

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 100; i++) {
		q.number = i;
		assert_true(ask(p, &q));
		assert_int_equal(q.answer, i + 1);
	}
	io_prompt_close(p);
	assert_false(ask(NULL, &q));
}

/* It works longer than it may sleep. On a busy machine not every question has its time. */
static void test_busy(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct io_prompt *p = io_prompt_open();
	struct question q = {.gate = -1, .busy = 4 * IO_PROMPT_MS * IO_MSEC, .number = 1};

	(void)state;
	while (!ask(p, &q) && sched_yield() == 0)
		assert_true(io_clock_now() < end);
	assert_int_equal(q.answer, 2);
	io_prompt_close(p);
}

static void test_away(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct io_prompt *p = io_prompt_open();
	struct question q = {.number = 7, .answer = 5}, next = {.gate = -1, .number = 8};
	int gate[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	q.gate = gate[0];
	assert_false(ask(p, &q));
	assert_int_equal(q.answer, 5);
	for (unsigned i = 0; i < 10000; i++) /* each of which would take its time */
		assert_false(ask(p, &next));
	close(gate[1]);
	while (!ask(p, &next) && sched_yield() == 0)
		assert_true(io_clock_now() < end);
	assert_int_equal(next.answer, 9);
	io_prompt_close(p);
	close(gate[0]);
}

/* The thread frees it when it is back. */
static void test_closed_while_away(void **state)
{
	struct io_prompt *p = io_prompt_open();
	struct question q = {.number = 7};
	int gate[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	q.gate = gate[0];
	assert_false(ask(p, &q));
	io_prompt_close(p);
	close(gate[1]);
	close(gate[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_away),
		cmocka_unit_test(test_closed_while_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
