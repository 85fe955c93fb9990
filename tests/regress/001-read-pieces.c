/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A window whose half is no multiple of the MTU: each READ request must still ask for whole
 * packets, or the PSNs of its response do not add up (seed 85).
 */
#include "tests/sim/world/pair.h"

static void read_with_window(uint32_t window_bytes)
{
	struct core_config cfg = world_config();
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	cfg.burst_bytes = 4096;
	cfg.window_bytes = cfg.window_most = window_bytes;
	conn.mtu = IBV_MTU_4096;
	pair_create(&p, &(struct pair_options){.cfg = &cfg, .conn = &conn});
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_READ,
				     .wr_id = 1,
				     .flags = UHCA_ABI_SEND_SIGNALED,
				     .remote = 64,
				     .local = 100000,
				     .length = 41000});
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, 64, &p.a, 100000, 41000);
	pair_finish(&p);
}

static void test_odd_half(void **state)
{
	(void)state;
	read_with_window(20480);
}

static void test_half_below_mtu(void **state)
{
	(void)state;
	read_with_window(4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odd_half),
		cmocka_unit_test(test_half_below_mtu),
	};

	return cmocka_run_group_tests_name("001-read-pieces", tests, NULL, NULL);
}
