/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last packet of a message is lost and nothing follows that would show the gap: only the
 * local ACK timeout recovers it (9.7.6).
 */
#include "tests/sim/world/mixed.h"

static void lose_last(const struct op *op, enum roce_operation wire, unsigned times)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = wire,
					   .positions = 1u << ROCE_POS_LAST | 1u << ROCE_POS_ONLY,
					   .count = times,
					   .verdict = WORLD_DROP});
	side_recv(&p.b, 2, 100000, 8000);
	side_post(&p.a, op);
	side_wait(&p.a, 1);
	side_expect(&p.a, 0, op->wr_id, UHCA_ABI_WC_SUCCESS, p.a.wc[0].opcode);
	pair_expect_copy(&p.a, op->local, &p.b, 100000, op->length);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == times);
	pair_finish(&p);
}

static void test_send(void **state)
{
	const struct op op = {.opcode = UHCA_ABI_WR_SEND,
			      .wr_id = 1,
			      .flags = UHCA_ABI_SEND_SIGNALED,
			      .length = 5000};

	(void)state;
	for (unsigned times = 1; times <= 7; times++)
		lose_last(&op, ROCE_OP_SEND, times);
}

static void test_write(void **state)
{
	const struct op op = {.opcode = UHCA_ABI_WR_RDMA_WRITE,
			      .wr_id = 1,
			      .flags = UHCA_ABI_SEND_SIGNALED,
			      .remote = 100000,
			      .length = 5000};

	(void)state;
	for (unsigned times = 1; times <= 7; times++)
		lose_last(&op, ROCE_OP_WRITE, times);
}

static void test_only_packet(void **state)
{
	const struct op op = {.opcode = UHCA_ABI_WR_SEND,
			      .wr_id = 1,
			      .flags = UHCA_ABI_SEND_SIGNALED,
			      .length = 50};

	(void)state;
	lose_last(&op, ROCE_OP_SEND, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_only_packet),
	};

	return cmocka_run_group_tests_name("last_packet_lost", tests, NULL, NULL);
}
