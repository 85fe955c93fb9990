/* SPDX-License-Identifier: BSD-2-Clause */
/* The request came through, its acknowledgement did not: executed once, acknowledged again. */
#include "tests/sim/world/mixed.h"

static void test_only_ack(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 1, .verdict = WORLD_DROP});
	side_recv(&p.b, 2, 100000, 3000);
	side_send(&p.a, 1, 0, 3000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 3000);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == 1);
	pair_finish(&p);
}

/* Later ACKs speak for the lost ones: nothing is sent again (9.7.5.1.1). */
static void test_all_but_the_last_ack(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 5, .verdict = WORLD_DROP});
	for (unsigned i = 0; i < 6; i++) {
		side_recv(&p.b, i, 100000 + 100 * i, 100);
		side_send(&p.a, i, 100 * i, 100);
		world_run(p.w, p.w->now + 10000);
	}
	for (unsigned i = 0; i < 6; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 600);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits == 0);
	pair_finish(&p);
}

/* A READ response acknowledges the requests before it (9.7.5.1.2). */
static void test_read_response_acknowledges(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 1, .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 100000, 3000);
	world_run(p.w, p.w->now + 10000);
	side_read(&p.a, 2, 200000, 0, 3000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 3000);
	pair_expect_copy(&p.b, 0, &p.a, 200000, 3000);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits == 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_ack),
		cmocka_unit_test(test_all_but_the_last_ack),
		cmocka_unit_test(test_read_response_acknowledges),
	};

	return cmocka_run_group_tests_name("ack_lost", tests, NULL, NULL);
}
