/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that wait: each once, in order, taken back by their first eight bytes. That the cost does
 * not grow with their number is seen in processor time of many against few.
 */
#include "emu/io/base/clock.h"
#include "emu/io/serve/record_queue.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MANY 65536u

struct record {
	uint64_t first;
	uint32_t type, rest;
};

static int add(struct io_record_queue *q, uint64_t first, uint32_t type)
{
	struct record r = {first, type, 0};

	return record_queue_add(q, &r);
}

static uint64_t first_of(const struct io_record_queue *q)
{
	const void *record = record_queue_first(q);
	uint64_t first = 0;

	if (record)
		memcpy(&first, record, sizeof(first));
	return first;
}

static void test_order(void **state)
{
	struct io_record_queue q;

	(void)state;
	record_queue_init(&q, sizeof(struct record));
	assert_null(record_queue_first(&q));
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(add(&q, i, 7), 0);
	assert_int_equal(add(&q, 500, 7), -EEXIST);
	assert_int_equal(add(&q, 500, 8), 0);
	assert_int_equal(q.n, 1001);
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_int_equal(first_of(&q), i);
		record_queue_drop_first(&q);
	}
	assert_int_equal(first_of(&q), 500);
	record_queue_clear(&q);
	assert_int_equal(q.n, 0);
	assert_null(record_queue_first(&q));
}

/* What is detached has its order; the queue begins anew. */
static void test_detach(void **state)
{
	struct io_record_queue q, *all;

	(void)state;
	record_queue_init(&q, sizeof(struct record));
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(add(&q, i, 7), 0);
	all = record_queue_detach(&q);
	assert_non_null(all);
	assert_int_equal(q.n, 0);
	assert_null(record_queue_first(&q));
	assert_int_equal(add(&q, 5, 7), 0);
	assert_int_equal(add(all, 5, 7), -EEXIST);
	assert_int_equal(record_queue_purge(all, 50), 1);
	for (uint64_t i = 1; i <= 100; i++) {
		if (i == 50)
			continue;
		assert_int_equal(first_of(all), i);
		record_queue_drop_first(all);
	}
	assert_int_equal(all->n, 0);
	record_queue_clear(all);
	free(all);
	record_queue_clear(&q);
}

static void test_purge(void **state)
{
	struct io_record_queue q;

	(void)state;
	record_queue_init(&q, sizeof(struct record));
	assert_int_equal(record_queue_purge(&q, 3), 0);
	for (uint64_t i = 1; i <= 100; i++)
		for (uint32_t type = 0; type < 3; type++)
			assert_int_equal(add(&q, i, type), 0);
	assert_int_equal(record_queue_purge(&q, 1), 3);
	assert_int_equal(record_queue_purge(&q, 1), 0);
	assert_int_equal(record_queue_purge(&q, 50), 3);
	assert_int_equal(q.n, 294);
	assert_int_equal(first_of(&q), 2);
	assert_int_equal(add(&q, 50, 1), 0);
	record_queue_clear(&q);
}

/* Looks for what waits already. Returns ns of processor time for MANY looks. */
static uint64_t look(unsigned waiting)
{
	struct io_record_queue q;
	uint64_t begin;

	record_queue_init(&q, sizeof(uint64_t));
	for (uint64_t i = 0; i < waiting; i++)
		assert_int_equal(record_queue_add(&q, &i), 0);
	begin = io_clock_thread();
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t record = i % waiting;

		assert_int_equal(record_queue_add(&q, &record), -EEXIST);
	}
	begin = io_clock_thread() - begin;
	record_queue_clear(&q);
	return begin;
}

/* A thousand times as many: a look at each of them would take a thousand times as long. */
static void test_cost(void **state)
{
	uint64_t few = look(MANY / 1024), many = look(MANY);

	(void)state;
	assert_true(many < 100 * few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_purge),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
