/* SPDX-License-Identifier: BSD-2-Clause */
/* The region table: ranges, churn against a model, growth under readers. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "provider/base/mr_table.h"

#include <stdlib.h>
#include <string.h>

static struct uhcav_mr_table table;

static int setup(void **state)
{
	(void)state;
	uhcav_mr_table_construct(&table);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uhcav_mr_table_destruct(&table);
	return 0;
}

static void add(uint32_t lkey, uint64_t iova, uint64_t length, uint64_t addr)
{
	struct uhcav_region r = {.lkey = lkey, .iova = iova, .length = length, .addr = addr};

	assert_int_equal(uhcav_mr_table_reserve(&table), 0);
	uhcav_mr_table_add(&table, &r);
}

static uintptr_t find_region(uint32_t lkey, uint64_t iova, uint64_t length)
{
	return (uintptr_t)uhcav_mr_table_find(&table, lkey, iova, length);
}

static void test_ranges(void **state)
{
	(void)state;
	assert_int_equal(find_region(0x100, 0, 1), 0); /* before anything was added */
	add(0x100, 0x5000, 100, 0x90000);
	assert_int_equal(find_region(0x100, 0x5000, 100), 0x90000);
	assert_int_equal(find_region(0x100, 0x5063, 1), 0x90063);
	assert_int_equal(find_region(0x100, 0x5064, 0), 0x90064);
	assert_int_equal(find_region(0x100, 0x5064, 1), 0);
	assert_int_equal(find_region(0x100, 0x5065, 0), 0);
	assert_int_equal(find_region(0x100, 0x4fff, 1), 0);
	assert_int_equal(find_region(0x100, 0x5001, UINT64_MAX), 0);
	assert_int_equal(find_region(0x101, 0x5000, 1), 0);
	assert_int_equal(find_region(0, 0x5000, 1), 0);
	assert_int_equal(find_region(1, 0x5000, 1), 0);
	uhcav_mr_table_remove(&table, 0x999);
	uhcav_mr_table_remove(&table, 0x100);
	assert_int_equal(find_region(0x100, 0x5000, 1), 0);
}

static unsigned tables(void)
{
	unsigned n = 0;

	for (const struct uhcav_mr_slots *s = table.slots; s; s = s->older)
		n++;
	return n;
}

/* A program that registers and deregisters for ever keeps one table. */
static void test_churn_is_free(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < 100000; i++) {
		add(i << 8, i, 10, i);
		assert_int_equal(find_region(i << 8, i, 1), i);
		uhcav_mr_table_remove(&table, i << 8);
	}
	assert_int_equal(tables(), 1);
	assert_int_equal(table.live, 0);
}

#define KEYS 3000u

static void test_model(void **state)
{
	static uint8_t there[KEYS];
	struct prng r = prng_start("mr_table");

	(void)state;
	memset(there, 0, sizeof(there));
	for (unsigned step = 0; step < 60000; step++) {
		uint32_t k = prng_below(&r, KEYS);
		uint32_t lkey = (k + 1) * 37 << 8 | (k & 0xff);
		if (there[k])
			uhcav_mr_table_remove(&table, lkey);
		else
			add(lkey, k, 1, 1000 + k);
		there[k] = !there[k];
		k = prng_below(&r, KEYS);
		lkey = (k + 1) * 37 << 8 | (k & 0xff);
		assert_int_equal(find_region(lkey, k, 1), there[k] ? 1000 + k : 0);
	}
}

/* Readers see a region whole or not at all while the table grows. */
#define STABLE 50u

static int stop_reading;

static void *reader(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop_reading, __ATOMIC_RELAXED))
		for (uint32_t k = 1; k <= STABLE; k++)
			if (find_region(k << 8, k * 10, 10) != k * 1000)
				abort();
	return NULL;
}

static void test_readers(void **state)
{
	pthread_t t;

	(void)state;
	for (uint32_t k = 1; k <= STABLE; k++)
		add(k << 8, k * 10, 10, k * 1000);
	assert_int_equal(pthread_create(&t, NULL, reader, NULL), 0);
	for (uint32_t k = STABLE + 1; k < 5000; k++)
		add(k << 8, 1, 1, 1);
	for (uint32_t k = STABLE + 1; k < 5000; k++)
		uhcav_mr_table_remove(&table, k << 8);
	__atomic_store_n(&stop_reading, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(test_churn_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(test_model, setup, teardown),
		cmocka_unit_test_setup_teardown(test_readers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
