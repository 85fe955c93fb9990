/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message sequence number of answers (9.7.7.1): it counts completed messages, SENDs and WRITEs
 * with their last packet, READs and atomics with their request; a NAK tells the count so far.
 */
#include "tests/sim/world/mixed.h"

static uint32_t last_msn(const struct pair *p)
{
	const struct logged *found = NULL;

	for (unsigned i = 0; i < p->rules.n_log; i++) {
		const struct logged *l = &p->rules.log[i];

		if (l->from == 1 && roce_opcode_info(l->pkt.bth.opcode)->headers & ROCE_HDR_AETH)
			found = l;
	}
	world_assert(p->w, found != NULL);
	return found->pkt.aeth.msn;
}

static void test_counts_messages(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 0, 0);
	for (unsigned i = 0; i < 12; i++) {
		side_recv(&p.b, i, 100000, 5000);
		if (i % 4 == 0)
			side_send(&p.a, i, 0, i * 100);
		else if (i % 4 == 1)
			side_write(&p.a, i, 0, 200000, 5000);
		else if (i % 4 == 2)
			side_read(&p.a, i, 300000, 8, 3000);
		else
			side_fetch_add(&p.a, i, 400000, 0, 1);
		side_wait(&p.a, i + 1);
		pair_idle(&p);
		assert_int_equal(last_msn(&p), i + 1);
	}
	side_ignore(&p.b, 100000, 5000);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 5000);
	pair_expect_copy(&p.b, 8, &p.a, 300000, 3000);
	side_expect_u64(&p.a, 400000, 2);
	side_expect_u64(&p.b, 0, 3);
	pair_finish(&p);
}

/* Duplicates do not count, a message that is not complete does not either. */
static void test_loss_does_not_count(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 2, .verdict = WORLD_DROP});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .positions = 1u << ROCE_POS_MIDDLE,
					   .skip = 4,
					   .count = 1,
					   .verdict = WORLD_DROP});
	for (unsigned i = 0; i < 3; i++) {
		side_write(&p.a, i, 0, 200000, 5000);
		side_wait(&p.a, i + 1);
		pair_idle(&p);
		assert_int_equal(last_msn(&p), i + 1);
	}
	pair_expect_copy(&p.a, 0, &p.b, 200000, 5000);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_messages),
		cmocka_unit_test(test_loss_does_not_count),
	};

	return cmocka_run_group_tests_name("msn", tests, NULL, NULL);
}
