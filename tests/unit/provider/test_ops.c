/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The op table for each release of rdma-core, by numbers read in its sources; and the proof that
 * tells the library that runs from the others.
 */
#include "tests/support/wire/cmocka_all.h"

#include "provider/driver.h"
#include "provider/ops.h"

#include <string.h>

static const int generations[] = {33, 34, 35, 36, 59, 62, 64, 65};

#define GENERATIONS (sizeof(generations) / sizeof(generations[0]))

static int slots(int generation)
{
	int n = 0;

	for (unsigned op = 0; op < UHCAV_OP_COUNT; op++)
		n += op + 1 == UHCAV_OP_COUNT ||
		     uhcav_op_slot((enum uhcav_op)(op + 1), generation) >
			     uhcav_op_slot((enum uhcav_op)op, generation);
	return n;
}

static void test_sizes(void **state)
{
	static const int sizes[GENERATIONS] = {72, 73, 75, 76, 79, 81, 83, 93};

	(void)state;
	for (size_t g = 0; g < GENERATIONS; g++)
		assert_int_equal(slots(generations[g]), sizes[g]);
}

static void test_slots(void **state)
{
	(void)state;
	assert_int_equal(uhcav_op_slot(UHCAV_OP_advise_mr, 64), 0);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_poll_cq, 59), 55);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_poll_cq, 62), 56);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_req_notify_cq, 59), 72);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_req_notify_cq, 62), 74);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_poll_cq, 65), 62);
	assert_int_equal(uhcav_op_slot(UHCAV_OP_req_notify_cq, 65), 84);
}

static void test_sorted(void **state)
{
	(void)state;
	for (unsigned op = 1; op < UHCAV_OP_COUNT; op++)
		assert_true(strcmp(uhcav_op_name((enum uhcav_op)(op - 1)),
				   uhcav_op_name((enum uhcav_op)op)) < 0);
}

static void free_context(struct ibv_context *ibctx)
{
	(void)ibctx;
}

/* What is filled in stands where the slot says; the rest, and the end, is left to the library. */
static void test_build(void **state)
{
	void *table[UHCAV_OP_SLOTS];

	(void)state;
	for (size_t g = 0; g < GENERATIONS; g++) {
		int n = slots(generations[g]);
		memset(table, 0xff, sizeof(table));
		uhcav_ops_build(generations[g], free_context, table);
		assert_ptr_equal(table[uhcav_op_slot(UHCAV_OP_free_context, generations[g])],
				 free_context);
		assert_non_null(table[uhcav_op_slot(UHCAV_OP_poll_cq, generations[g])]);
		assert_null(table[uhcav_op_slot(UHCAV_OP_create_counters, generations[g])]);
		assert_null(table[uhcav_op_slot(UHCAV_OP_create_counters, generations[g])]);
		for (unsigned i = (unsigned)n; i < UHCAV_OP_SLOTS; i++)
			assert_null(table[i]);
	}
}

/* The library that runs has one layout, and the proof refuses the others. */
static void test_probe(void **state)
{
	unsigned good = 0;
	const char *why;

	(void)state;
	/* A reference, so that the library is there; the provider has none. */
	assert_non_null(ibv_node_type_str(IBV_NODE_CA));
	for (size_t g = 0; g < GENERATIONS; g++) {
		if (uhcav_driver_probe(generations[g], &why))
			good++;
		else
			assert_string_equal(why, "its op table has an unknown layout");
	}
	assert_int_equal(good, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),  cmocka_unit_test(test_slots),
		cmocka_unit_test(test_sorted), cmocka_unit_test(test_build),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
