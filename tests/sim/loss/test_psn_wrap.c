/* SPDX-License-Identifier: BSD-2-Clause */
/* PSNs pass 2^24 in both directions at every point of an exchange (9.7.1). */
#include "tests/sim/world/mixed.h"

static void wrap_at(uint32_t before, uint32_t loss)
{
	struct vqp_conn conn = vqp_conn_default();
	struct link link = link_default();
	struct pair p;

	conn.sq_psn = 0x1000000 - before;
	conn.rq_psn = 0x1000000 - before / 2 - 1;
	pair_create(&p, &(struct pair_options){.conn = &conn, .seed = before});
	link.loss = loss;
	link.max_losses = 2;
	world_set_links(p.w, &link);
	mixed_post(&p, 2);
	mixed_check(&p, 2);
	pair_finish(&p);
}

static void test_wrap(void **state)
{
	(void)state;
	for (uint32_t before = 1; before < 60; before++)
		wrap_at(before, 0);
}

static void test_wrap_with_loss(void **state)
{
	(void)state;
	for (uint32_t before = 1; before < 60; before++)
		wrap_at(before, 150000);
}

/* The other half of the number circle looks like "before" from the far end: nothing special. */
static void test_half_way(void **state)
{
	(void)state;
	for (uint32_t before = 0x800000 - 20; before < 0x800000 + 20; before += 3)
		wrap_at(before, 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_wrap_with_loss),
		cmocka_unit_test(test_half_way),
	};

	return cmocka_run_group_tests_name("psn_wrap", tests, NULL, NULL);
}
