/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks: done by another thread, told of by the loop's; those that do not end hold up nobody, and
 * there is a limit to them; what an end of all waits for.
 */
#include "emu/io/base/base.h"
#include "emu/io/local/task.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <ev.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	struct io_task task;
	int gate[2]; /* work waits until this can be read; -1: not at all */
	pid_t worked_by, done_by;
	bool worked;
};

static struct ev_loop *loop;
static struct io_tasks *set;

static void work(struct io_task *t)
{
	struct job *j = (struct job *)t;
	char byte;

	j->worked_by = gettid();
	if (j->gate[0] >= 0)
		assert_int_equal(read(j->gate[0], &byte, 1), 0);
	__atomic_store_n(&j->worked, true, __ATOMIC_RELEASE);
}

static void done(struct io_task *t)
{
	((struct job *)t)->done_by = gettid();
}

static struct job *make(bool waits)
{
	struct job *j = calloc(1, sizeof(*j));

	assert_non_null(j);
	j->task = (struct io_task){.work = work, .done = done};
	j->gate[0] = -1;
	if (waits)
		assert_int_equal(pipe(j->gate), 0);
	return j;
}

static void open_gate(struct job *j)
{
	close(j->gate[1]);
}

static void drop(struct job *j)
{
	if (j->gate[0] >= 0)
		close(j->gate[0]);
	free(j);
}

static int setup(void **state)
{
	(void)state;
	loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	set = io_tasks_open(loop);
	return !set;
}

static int teardown(void **state)
{
	(void)state;
	ev_loop_destroy(loop);
	return 0;
}

static bool is_done(void *job)
{
	return ((struct job *)job)->done_by != 0;
}

static void test_done(void **state)
{
	struct job *j = make(false);

	(void)state;
	assert_int_equal(io_task_start(set, &j->task), 0);
	assert_true(io_test_run(loop, is_done, j));
	assert_int_not_equal(j->worked_by, gettid());
	assert_int_equal(j->done_by, gettid());
	io_tasks_close(set, 0);
	drop(j);
}

static void test_at_once(void **state)
{
	struct job *j = make(false);

	(void)state;
	assert_int_equal(io_task_start(NULL, &j->task), 0);
	assert_int_equal(j->worked_by, gettid());
	assert_int_equal(j->done_by, gettid());
	io_tasks_close(set, 0);
	drop(j);
}

/* As many as there may be that do not end; then one comes back, and there is room again. */
static void test_stuck(void **state)
{
	struct job *stuck[IO_TASKS_MAX], *next = make(false);

	(void)state;
	for (unsigned i = 0; i < IO_TASKS_MAX; i++) {
		stuck[i] = make(true);
		assert_int_equal(io_task_start(set, &stuck[i]->task), 0);
	}
	assert_int_equal(io_task_start(set, &next->task), -EAGAIN);
	assert_int_equal(next->done_by, 0);
	open_gate(stuck[0]);
	assert_true(io_test_run(loop, is_done, stuck[0]));
	assert_int_equal(io_task_start(set, &next->task), 0);
	assert_true(io_test_run(loop, is_done, next));
	for (unsigned i = 1; i < IO_TASKS_MAX; i++)
		open_gate(stuck[i]);
	io_tasks_close(set, IO_TEST_SECONDS * 1000);
	for (unsigned i = 0; i < IO_TASKS_MAX; i++) {
		assert_int_equal(stuck[i]->done_by, gettid());
		drop(stuck[i]);
	}
	drop(next);
}

/* Nobody tells of one that comes back later. */
static void test_left_alone(void **state)
{
	uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct job *j = make(true);

	(void)state;
	assert_int_equal(io_task_start(set, &j->task), 0);
	io_tasks_close(set, 1);
	assert_int_equal(j->done_by, 0);
	open_gate(j);
	while (!__atomic_load_n(&j->worked, __ATOMIC_ACQUIRE) && sched_yield() == 0)
		assert_true(io_clock_now() < end);
	io_test_loop_pass(loop);
	assert_int_equal(j->done_by, 0);
	close(j->gate[0]); /* the thread may still look at j, which stays */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_done),
		TEST(test_at_once),
		TEST(test_stuck),
		TEST(test_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
