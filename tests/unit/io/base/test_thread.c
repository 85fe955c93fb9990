/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of the daemon: what has ended is joined, by the next start or at the end of the process;
 * one that does not end is left alone after a time.
 */
#include "emu/io/base/base.h"
#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <unistd.h>

#define THREADS 8
#define LONG_MS 20000
#define MOMENT  20 /* ms */

/* Threads of this process; one that was joined may be there for a moment (pthread_join(3)). */
static unsigned threads_here(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void *count(void *arg)
{
	__atomic_fetch_add((unsigned *)arg, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *wait_for_end(void *arg)
{
	char byte;

	while (read(*(int *)arg, &byte, 1) > 0)
		;
	return NULL;
}

static void test_all(void **state)
{
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(io_thread_start(count, &n), 0);
	assert_true(io_thread_join_all(LONG_MS));
	assert_int_equal(__atomic_load_n(&n, __ATOMIC_RELAXED), THREADS);
	while (threads_here() > 1)
		;
	assert_true(io_thread_join_all(0));
}

/* One that has not ended holds up nothing, and is joined when it has. */
static void test_late(void **state)
{
	unsigned n = 0;
	int gate[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	assert_int_equal(io_thread_start(wait_for_end, &gate[0]), 0);
	assert_int_equal(io_thread_start(count, &n), 0);
	assert_false(io_thread_join_all(MOMENT));
	close(gate[1]);
	assert_true(io_thread_join_all(LONG_MS));
	close(gate[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
