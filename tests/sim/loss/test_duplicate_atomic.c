/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics whose request arrives twice or whose answer is lost: executed once, and the answer is
 * the value from before the first execution (IBTA 9.7.5.1.4).
 */
#include "tests/sim/world/pair.h"

#define ATOMICS 20u

/* n additions of 1 to a counter that starts at 1000, one after the other. */
static void count_up(struct pair *p, unsigned n)
{
	side_store(&p->b, 0, 1000);
	for (unsigned i = 0; i < n; i++)
		side_fetch_add(&p->a, i, 100000 + 8 * i, 0, 1);
	for (unsigned i = 0; i < n; i++) {
		side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
		side_expect_u64(&p->a, 100000 + 8 * i, 1000 + i);
	}
	side_expect_u64(&p->b, 0, 1000 + n);
	pair_idle(p);
}

static void test_request_twice(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 0, .op = ROCE_OP_FETCH_ADD, .verdict = WORLD_DUPLICATE});
	count_up(&p, ATOMICS);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->duplicates == ATOMICS);
	pair_finish(&p);
}

static void test_answer_lost(void **state)
{
	(void)state;
	for (unsigned lost = 1; lost <= 5; lost++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		rules_add(&p.rules, &(struct rule){.from = 1,
						   .op = ROCE_OP_ATOMIC_ACK,
						   .skip = 3,
						   .count = lost,
						   .verdict = WORLD_DROP});
		count_up(&p, ATOMICS);
		pair_finish(&p);
	}
}

/* A swap that succeeded must not be tried again against the value it left. */
static void test_swap_answer_lost(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){
			  .from = 1, .op = ROCE_OP_ATOMIC_ACK, .count = 2, .verdict = WORLD_DROP});
	side_store(&p.b, 0, 5);
	side_cmp_swap(&p.a, &(struct op){.wr_id = 1, .local = 100000, .compare_add = 5, .swap = 6});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_COMP_SWAP);
	side_expect_u64(&p.a, 100000, 5);
	side_expect_u64(&p.b, 0, 6);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_twice),
		cmocka_unit_test(test_answer_lost),
		cmocka_unit_test(test_swap_answer_lost),
	};

	return cmocka_run_group_tests_name("duplicate_atomic", tests, NULL, NULL);
}
