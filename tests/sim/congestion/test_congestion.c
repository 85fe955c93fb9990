/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every congestion control on a network that marks, loses, doubles and reorders: what it may change
 * is when packets leave, never what arrives.
 */
#include "tests/sim/world/marks.h"
#include "tests/sim/world/mixed.h"

static void run(const char *control, uint32_t marked, uint32_t lost, uint64_t seed)
{
	static struct marks m;
	struct link link = link_default();

	m = (struct marks){.chance = {marked, marked}};
	marks_config(&m, control);
	marks_start(&m, &(struct pair_options){.seed = seed});
	link.loss = link.duplicate = link.reorder = lost;
	link.max_losses = 2;
	world_set_links(m.p.w, &link);
	mixed_post(&m.p, 8);
	mixed_check(&m.p, 8);
	world_assert(m.p.w, marks_counters(&m.p.b)->ecn_marked > 0);
	world_assert(m.p.w, marks_counters(&m.p.a)->cnps_received <=
				    marks_counters(&m.p.b)->cnps_sent * 2);
	pair_finish(&m.p);
}

static void test_all(void **state)
{
	(void)state;
	for (unsigned i = 0; cc_at(i); i++) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run(cc_at(i)->name, 1000000, 0, seed);
			run(cc_at(i)->name, 200000, 30000, seed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests_name("congestion", tests, NULL, NULL);
}
