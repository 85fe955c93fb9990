/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks: equal ones are one pointer, whether they were unwound or remembered; others are not taken
 * for them, though they come from the same call in the same frame.
 */
#include "provider/diagnostic/diagnostic.h"

#include "tests/support/wire/cmocka_all.h"

#include <pthread.h>

#define NOT_INLINED __attribute__((noinline, noclone))

/* Stands for a watching function. */
static NOT_INLINED const struct uhcav_stack *take_stack(void)
{
	const struct uhcav_stack *s = uhcav_stack_take(UHCAV_HERE);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return s;
}

static NOT_INLINED const struct uhcav_stack *verb(void)
{
	const struct uhcav_stack *s = take_stack();

	__asm__ volatile("" ::: "memory");
	return s;
}

/* Two ways to the same call, with frames of the same size. */
static NOT_INLINED const struct uhcav_stack *one_way(void)
{
	const struct uhcav_stack *s = verb();

	__asm__ volatile("nop" ::: "memory");
	return s;
}

static NOT_INLINED const struct uhcav_stack *other_way(void)
{
	const struct uhcav_stack *s = verb();

	__asm__ volatile("nop; nop" ::: "memory");
	return s;
}

static void test_equal(void **state)
{
	const struct uhcav_stack *seen[3];

	(void)state;
	for (volatile int i = 0; i < 3; i++) /* one call, however the compiler likes loops */
		seen[i] = one_way();
	assert_ptr_equal(seen[0], seen[1]);
	assert_ptr_equal(seen[1], seen[2]);
	assert_true(seen[0]->n >= 3); /* verb, one_way, this */
	for (uint32_t i = 0; i < seen[0]->n; i++)
		assert_true(seen[0]->pc[i] != 0);
}

static void test_different(void **state)
{
	const struct uhcav_stack *a, *b;

	(void)state;
	for (int i = 0; i < 3; i++) {
		a = one_way();
		b = other_way();
		assert_ptr_not_equal(a, b);
		assert_int_equal(a->pc[0], b->pc[0]); /* in verb */
		assert_int_not_equal(a->pc[1], b->pc[1]);
	}
}

static NOT_INLINED const struct uhcav_stack *deep(unsigned n)
{
	const struct uhcav_stack *s = n ? deep(n - 1) : take_stack();

	__asm__ volatile("" ::: "memory");
	return s;
}

static void test_deep(void **state)
{
	(void)state;
	assert_int_equal(deep(100)->n, UHCAV_STACK_DEPTH);
	assert_ptr_equal(deep(100), deep(100));
	assert_ptr_not_equal(deep(3), deep(4));
}

static void *in_thread(void *arg)
{
	*(const struct uhcav_stack **)arg = one_way();
	return NULL;
}

/* Another stack, of another thread, at what may be the same place. */
static void test_threads(void **state)
{
	const struct uhcav_stack *seen[4];
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&thread, NULL, in_thread, &seen[i]), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ptr_equal(seen[i], seen[0]);
		assert_ptr_not_equal(seen[i], one_way());
	}
}

static void test_keep(void **state)
{
	const uintptr_t a[] = {1, 2, 3}, b[] = {1, 2, 4};

	(void)state;
	assert_ptr_equal(uhcav_stack_keep(a, 3), uhcav_stack_keep(a, 3));
	assert_ptr_not_equal(uhcav_stack_keep(a, 3), uhcav_stack_keep(b, 3));
	assert_ptr_not_equal(uhcav_stack_keep(a, 3), uhcav_stack_keep(a, 2));
	assert_ptr_equal(uhcav_stack_keep(a, 2), uhcav_stack_keep(b, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal), cmocka_unit_test(test_different),
		cmocka_unit_test(test_deep),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
