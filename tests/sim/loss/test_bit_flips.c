/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers with a flipped bit whose ICRC happens to be right: nothing can be promised about the
 * exchange, but the device does not crash, does not answer for ever, does not touch memory that
 * is not registered, and completes what it was given.
 */
#include "tests/sim/world/mixed.h"

static void flip(uint64_t seed, uint32_t ppm)
{
	struct vqp_conn conn = vqp_conn_default();
	struct link link = link_default();
	struct pair p;

	conn.timeout = 8;
	conn.retry_cnt = 3;
	conn.rnr_retry = 3;
	pair_create(&p, &(struct pair_options){.seed = seed, .conn = &conn});
	link.flip = ppm;
	link.loss = 10000;
	world_set_links(p.w, &link);
	side_ignore(&p.a, 0, PAIR_BUFFER);
	side_ignore(&p.b, 0, PAIR_BUFFER);
	mixed_post(&p, 4);
	pair_idle(&p);
	side_poll(&p.a);
	world_assert(p.w, p.a.n_wc == 4 * MIXED_REQUESTS);
	world_assert(p.w, p.a.c.mem.strays == 0 && p.b.c.mem.strays == 0);
	pair_finish(&p);
}

static void test_rare(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		flip(seed, 20000);
}

static void test_often(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		flip(seed, 300000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rare),
		cmocka_unit_test(test_often),
	};

	return cmocka_run_group_tests_name("bit_flips", tests, NULL, NULL);
}
