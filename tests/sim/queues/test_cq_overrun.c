/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CQ whose consumer does not poll: CQ_ERR once, its QPs go to the error state, nothing is
 * overwritten, and other QPs and clients do not notice (IBTA 10.8.2, 11.6.3.1).
 */
#include "tests/sim/world/pair.h"

#define CQE 8u

static void test_overrun(void **state)
{
	struct uhca_abi_cqe e;
	unsigned n = 0;
	struct vcq small;
	struct vqp_init init = {0};
	struct vqp qp;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vcq_create(&p.a.c, CQE, 1, &small) == 0);
	init.send_cq = init.recv_cq = &small;
	world_assert(p.w, vqp_create(&p.a.c, &init, &qp) == 0);
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_RESET) == 0);
	vqp_connect(&qp, &p.b.qp, &p.conn);
	for (unsigned i = 0; i < small.cqe + 4; i++) {
		struct vsend wr = {.wr_id = i,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .flags = UHCA_ABI_SEND_SIGNALED};

		world_assert(p.w, vqp_post_send(&qp, &wr) == 0);
	}
	pair_idle(&p);
	world_assert(p.w, vevents_count(&p.a.c.async, UHCA_ABI_EVENT_CQ_ERR, &small) == 1);
	world_assert(p.w, vqp_state(&qp) == IBV_QPS_ERR);
	world_assert(p.w, vevents_count(&p.a.c.async, UHCA_ABI_EVENT_QP_FATAL, &qp) == 1);
	while (vcq_poll(&small, &e))
		world_assert(p.w, e.wr_id == n++ && e.status == UHCA_ABI_WC_SUCCESS);
	world_assert(p.w, n == small.cqe);
	world_assert(p.w, vqp_destroy(&qp) == 0);
	world_assert(p.w, vcq_destroy(&small) == 0);
	pair_finish(&p);
}

/* As long as the consumer keeps up, a small CQ turns any number of times. */
static void test_wraps(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.cqe = CQE});
	for (unsigned i = 0; i < 1000; i++) {
		side_recv(&p.b, i, 100000, 10);
		side_send(&p.a, i, 0, 10);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	world_assert(p.w, vevents_left(&p.a.c.async) == 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_wraps),
	};

	return cmocka_run_group_tests_name("cq_overrun", tests, NULL, NULL);
}
