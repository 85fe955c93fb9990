/* SPDX-License-Identifier: BSD-2-Clause */
/* Some packet of a READ response is lost; what follows tells, or the timeout does. */
#include "tests/sim/world/mixed.h"

#define LENGTH 7000u /* seven packets */

/* Loses the n-th response packet "times" times. */
static void lose(unsigned n, unsigned times)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = n,
					   .count = times,
					   .verdict = WORLD_DROP});
	side_read(&p.a, 1, 100000, 0, LENGTH);
	side_read(&p.a, 2, 200000, 50000, 100);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, 0, &p.a, 100000, LENGTH);
	pair_expect_copy(&p.b, 50000, &p.a, 200000, 100);
	pair_finish(&p);
}

static void test_first(void **state)
{
	(void)state;
	for (unsigned times = 1; times < 7; times++)
		lose(0, times);
}

static void test_middle(void **state)
{
	(void)state;
	for (unsigned n = 1; n < 6; n++)
		for (unsigned times = 1; times < 7; times++)
			lose(n, times);
}

static void test_last(void **state)
{
	(void)state;
	for (unsigned times = 1; times < 7; times++)
		lose(6, times);
}

/* A gap is seen once: the packets behind it must not cost a retry each. */
static void test_gap_costs_one_retry(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	(void)state;
	conn.retry_cnt = 1;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	rules_add(&p.rules,
		  &(struct rule){
			  .from = 1, .op = ROCE_OP_READ_RESP, .count = 1, .verdict = WORLD_DROP});
	side_read(&p.a, 1, 100000, 0, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, 0, &p.a, 100000, LENGTH);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_gap_costs_one_retry),
	};

	return cmocka_run_group_tests_name("read_response_lost", tests, NULL, NULL);
}
