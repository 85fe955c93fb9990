/* SPDX-License-Identifier: BSD-2-Clause */
/* QP attributes travel whole, and only those that the mask names. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/qp/qp_attr.h"

#include <string.h>

#define ALL 0x1fffff /* every bit of enum ibv_qp_attr_mask up to DEST_QPN */

static struct ibv_qp_attr example(void)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.path_mig_state = IBV_MIG_ARMED,
		.qkey = 0x11111111,
		.rq_psn = 0x222222,
		.sq_psn = 0x333333,
		.dest_qp_num = 0x444444,
		.qp_access_flags = 0xf,
		.cap = {1, 2, 3, 4, 5},
		.pkey_index = 6,
		.alt_pkey_index = 7,
		.en_sqd_async_notify = 1,
		.max_rd_atomic = 8,
		.max_dest_rd_atomic = 9,
		.min_rnr_timer = 10,
		.port_num = 11,
		.timeout = 12,
		.retry_cnt = 13,
		.rnr_retry = 14,
		.alt_port_num = 15,
		.alt_timeout = 16,
	};

	for (uint8_t i = 0; i < 16; i++)
		a.ah_attr.grh.dgid.raw[i] = (uint8_t)(i + 1);
	a.ah_attr.grh.flow_label = 0xabcde;
	a.ah_attr.grh.sgid_index = 3;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.grh.traffic_class = 0x20;
	a.ah_attr.dlid = 0x1234;
	a.ah_attr.sl = 4;
	a.ah_attr.src_path_bits = 5;
	a.ah_attr.static_rate = 6;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.alt_ah_attr = a.ah_attr;
	a.alt_ah_attr.sl = 7;
	return a;
}

static void test_round_trip(void **state)
{
	struct ibv_qp_attr in = example(), out;
	struct uhca_abi_qp_attr abi;

	(void)state;
	uhcav_qp_attr_to_abi(&in, ALL, &abi);
	uhcav_qp_attr_from_abi(&abi, &out);
	assert_int_equal(out.qp_state, in.qp_state);
	assert_int_equal(out.cur_qp_state, in.cur_qp_state);
	assert_int_equal(out.path_mtu, in.path_mtu);
	assert_int_equal(out.path_mig_state, in.path_mig_state);
	assert_int_equal(out.qkey, in.qkey);
	assert_int_equal(out.rq_psn, in.rq_psn);
	assert_int_equal(out.sq_psn, in.sq_psn);
	assert_int_equal(out.dest_qp_num, in.dest_qp_num);
	assert_int_equal(out.qp_access_flags, in.qp_access_flags);
	assert_memory_equal(&out.cap, &in.cap, sizeof(in.cap));
	assert_memory_equal(&out.ah_attr.grh, &in.ah_attr.grh, sizeof(in.ah_attr.grh));
	assert_int_equal(out.ah_attr.dlid, in.ah_attr.dlid);
	assert_int_equal(out.ah_attr.sl, in.ah_attr.sl);
	assert_int_equal(out.ah_attr.src_path_bits, in.ah_attr.src_path_bits);
	assert_int_equal(out.ah_attr.static_rate, in.ah_attr.static_rate);
	assert_int_equal(out.ah_attr.is_global, in.ah_attr.is_global);
	assert_int_equal(out.ah_attr.port_num, in.ah_attr.port_num);
	assert_int_equal(out.alt_ah_attr.sl, in.alt_ah_attr.sl);
}

static void test_round_trip_rest(void **state)
{
	struct ibv_qp_attr in = example(), out;
	struct uhca_abi_qp_attr abi;

	(void)state;
	uhcav_qp_attr_to_abi(&in, ALL, &abi);
	uhcav_qp_attr_from_abi(&abi, &out);
	assert_int_equal(out.pkey_index, in.pkey_index);
	assert_int_equal(out.alt_pkey_index, in.alt_pkey_index);
	assert_int_equal(out.en_sqd_async_notify, in.en_sqd_async_notify);
	assert_int_equal(out.max_rd_atomic, in.max_rd_atomic);
	assert_int_equal(out.max_dest_rd_atomic, in.max_dest_rd_atomic);
	assert_int_equal(out.min_rnr_timer, in.min_rnr_timer);
	assert_int_equal(out.port_num, in.port_num);
	assert_int_equal(out.timeout, in.timeout);
	assert_int_equal(out.retry_cnt, in.retry_cnt);
	assert_int_equal(out.rnr_retry, in.rnr_retry);
	assert_int_equal(out.alt_port_num, in.alt_port_num);
	assert_int_equal(out.alt_timeout, in.alt_timeout);
}

/* The caller need not have set what it does not name. */
static void test_mask(void **state)
{
	static const struct uhca_abi_qp_attr zero;
	struct uhca_abi_qp_attr abi, want = zero;
	struct ibv_qp_attr in;

	(void)state;
	memset(&in, 0xee, sizeof(in));
	uhcav_qp_attr_to_abi(&in, 0, &abi);
	assert_memory_equal(&abi, &zero, sizeof(abi));
	in.qp_state = IBV_QPS_ERR;
	want.qp_state = IBV_QPS_ERR;
	uhcav_qp_attr_to_abi(&in, IBV_QP_STATE, &abi);
	assert_memory_equal(&abi, &want, sizeof(abi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_rest),
		cmocka_unit_test(test_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
