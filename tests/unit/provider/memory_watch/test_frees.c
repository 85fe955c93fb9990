/* SPDX-License-Identifier: BSD-2-Clause */
/* wr_ids that point to what was freed since the post. */
#include "provider/memory_watch/frees.h"

#include "tests/support/wire/cmocka_all.h"

static const uintptr_t pcs[] = {1, 2};

static void test_wanted(void **state)
{
	(void)state;
	assert_false(uhcav_frees_wanted(0x100000, 0x200000));
	uhcav_frees_watch(7); /* a number */
	assert_false(uhcav_frees_wanted(0, 0x1000));
	uhcav_frees_watch(0x100400);
	assert_true(uhcav_frees_wanted(0x1003c8, 0x100408));
	assert_true(uhcav_frees_wanted(0x100000, 0x200000));
	assert_false(uhcav_frees_wanted(0x100800, 0x100820));
	uhcav_frees_unwatch(0x100400);
	uhcav_frees_unwatch(7);
	assert_false(uhcav_frees_wanted(0x100000, 0x200000));
}

static void test_found(void **state)
{
	const struct uhcav_stack *stack = uhcav_stack_keep(pcs, 2);
	uint64_t before = uhcav_frees_now();

	(void)state;
	uhcav_frees_note(0x100000, 0x100040, stack);
	assert_ptr_equal(uhcav_frees_find(0x100000, before), stack);
	assert_ptr_equal(uhcav_frees_find(0x10003f, before), stack);
	assert_null(uhcav_frees_find(0x100040, before));
	assert_null(uhcav_frees_find(0x100000, uhcav_frees_now())); /* it was posted later */
	assert_null(uhcav_frees_find(7, before));
}

/* What is too old is forgotten. */
static void test_ring(void **state)
{
	const struct uhcav_stack *stack = uhcav_stack_keep(pcs, 2);
	uint64_t before = uhcav_frees_now();

	(void)state;
	uhcav_frees_note(0x300000, 0x300040, stack);
	for (unsigned i = 0; i < 2000; i++)
		uhcav_frees_note(0x400000, 0x400040, stack);
	assert_null(uhcav_frees_find(0x300000, before));
	assert_ptr_equal(uhcav_frees_find(0x400000, before), stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
