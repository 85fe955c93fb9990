/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When nothing is outstanding there is no deadline: an idle daemon never wakes up. What timers
 * were set for traffic run out once, and do nothing.
 */
#include "tests/sim/world/mixed.h"

static uint64_t deadline(const struct pair *p, unsigned device)
{
	return core_next_deadline(p->w->device[device].host.dev);
}

static void expect_idle(const struct pair *p)
{
	world_assert(p->w, deadline(p, 0) == UINT64_MAX && deadline(p, 1) == UINT64_MAX);
}

static void test_fresh(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	expect_idle(&p);
	pair_finish(&p);
}

static void test_after_traffic(void **state)
{
	struct pair p;
	uint64_t packets;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	mixed_post(&p, 4);
	mixed_check(&p, 4);
	expect_idle(&p);
	packets = p.w->packets;
	world_run(p.w, p.w->now + 3600 * PAIR_SECONDS);
	world_assert(p.w, p.w->packets == packets);
	pair_finish(&p);
}

/* A timer of a QP that is gone, reset or in error does not linger. */
static void test_after_error(void **state)
{
	struct pair p;

	(void)state;
	for (unsigned how = 0; how < 3; how++) {
		pair_create(&p, &(struct pair_options){0});
		p.w->link[0][1].down = true;
		side_write(&p.a, 1, 0, 0, 5000);
		world_run(p.w, p.w->now + 10000);
		world_assert(p.w, deadline(&p, 0) != UINT64_MAX);
		if (how == 0)
			world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
		else if (how == 1)
			world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RESET) == 0);
		else
			world_assert(p.w, vqp_destroy(&p.a.qp) == 0);
		expect_idle(&p);
		pair_finish(&p);
	}
}

/* A thousand idle QPs have no deadline either, and their timers do not outlive them. */
static void test_many_qps(void **state)
{
	struct vqp_init init = {0};
	static struct vqp qp[1000];
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	init.send_cq = init.recv_cq = &p.a.cq;
	init.max_send_wr = init.max_recv_wr = 1;
	for (unsigned i = 0; i < 1000; i++) {
		world_assert(p.w, vqp_create(&p.a.c, &init, &qp[i]) == 0);
		vqp_connect(&qp[i], &qp[i], &(struct vqp_conn){.mtu = IBV_MTU_1024, .timeout = 14});
	}
	expect_idle(&p);
	for (unsigned i = 0; i < 1000; i += 3)
		world_assert(p.w, vqp_destroy(&qp[i]) == 0);
	expect_idle(&p);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_after_traffic),
		cmocka_unit_test(test_after_error),
		cmocka_unit_test(test_many_qps),
	};

	return cmocka_run_group_tests_name("idle_deadline", tests, NULL, NULL);
}
