/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network duplicates a READ request, and the next READ arrives before anything was answered:
 * the duplicate must not take the place of the second, which was then refused as one too many
 * (seed 127).
 */
#include "tests/sim/world/pair.h"

static void test_duplicate_takes_no_resource(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	(void)state;
	conn.max_rd_atomic = conn.max_dest_rd_atomic = 2;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	p.w->interleave = 0;
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_READ_REQ,
					   .count = 1,
					   .verdict = WORLD_DUPLICATE});
	for (uint32_t i = 0; i < 2; i++) {
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_READ,
					      .wr_id = i,
					      .flags = UHCA_ABI_SEND_SIGNALED,
					      .remote = 5000 * i,
					      .local = 100000 + 5000 * i,
					      .length = 5000});
		pair_expect_copy(&p.b, 5000 * i, &p.a, 100000 + 5000 * i, 5000);
	}
	vqp_doorbell(&p.a.qp);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p.a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duplicate_takes_no_resource),
	};

	return cmocka_run_group_tests_name("002-duplicate-reads", tests, NULL, NULL);
}
