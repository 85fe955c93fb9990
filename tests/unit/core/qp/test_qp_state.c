/* SPDX-License-Identifier: BSD-2-Clause */
/* The state table against the one of the test, every type, transition and attribute. */
#include "tests/support/core/qp_table.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/base/base.h"
#include "emu/core/qp/qp_state.h"

#include <string.h>

static void test_values(void **state)
{
	(void)state;
	assert_int_equal(QP_ATTR_STATE, IBV_QP_STATE);
	assert_int_equal(QP_ATTR_CUR_STATE, IBV_QP_CUR_STATE);
	assert_int_equal(QP_ATTR_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	assert_int_equal(QP_ATTR_ACCESS_FLAGS, IBV_QP_ACCESS_FLAGS);
	assert_int_equal(QP_ATTR_PKEY_INDEX, IBV_QP_PKEY_INDEX);
	assert_int_equal(QP_ATTR_PORT, IBV_QP_PORT);
	assert_int_equal(QP_ATTR_QKEY, IBV_QP_QKEY);
	assert_int_equal(QP_ATTR_AV, IBV_QP_AV);
	assert_int_equal(QP_ATTR_PATH_MTU, IBV_QP_PATH_MTU);
	assert_int_equal(QP_ATTR_TIMEOUT, IBV_QP_TIMEOUT);
	assert_int_equal(QP_ATTR_RETRY_CNT, IBV_QP_RETRY_CNT);
	assert_int_equal(QP_ATTR_RNR_RETRY, IBV_QP_RNR_RETRY);
	assert_int_equal(QP_ATTR_RQ_PSN, IBV_QP_RQ_PSN);
	assert_int_equal(QP_ATTR_MAX_QP_RD_ATOMIC, IBV_QP_MAX_QP_RD_ATOMIC);
	assert_int_equal(QP_ATTR_ALT_PATH, IBV_QP_ALT_PATH);
	assert_int_equal(QP_ATTR_MIN_RNR_TIMER, IBV_QP_MIN_RNR_TIMER);
	assert_int_equal(QP_ATTR_SQ_PSN, IBV_QP_SQ_PSN);
	assert_int_equal(QP_ATTR_MAX_DEST_RD_ATOMIC, IBV_QP_MAX_DEST_RD_ATOMIC);
	assert_int_equal(QP_ATTR_PATH_MIG_STATE, IBV_QP_PATH_MIG_STATE);
	assert_int_equal(QP_ATTR_CAP, IBV_QP_CAP);
	assert_int_equal(QP_ATTR_DEST_QPN, IBV_QP_DEST_QPN);
	assert_int_equal(QPS_ERR, IBV_QPS_ERR);
	assert_int_equal(QPT_RC, IBV_QPT_RC);
	assert_int_equal(QPT_XRC_RECV, IBV_QPT_XRC_RECV);
}

static bool legal(uint32_t type, uint32_t from, uint32_t to, uint32_t mask)
{
	static struct device dev;
	bool bare = !qp_state_check(&dev, (enum qp_type)type, (enum qp_state)from,
				    (enum qp_state)to, mask & ~(uint32_t)IBV_QP_STATE);

	assert_int_equal(bare, !qp_state_check(&dev, (enum qp_type)type, (enum qp_state)from,
					       (enum qp_state)to, mask | IBV_QP_STATE));
	return bare;
}

/* Each required attribute left out in turn, each optional and each illegal one added. */
static void check_rule(uint32_t type, uint32_t from, uint32_t to, const struct qp_rule *r)
{
	assert_true(legal(type, from, to, r->required));
	assert_true(legal(type, from, to, r->required | r->optional));
	for (unsigned bit = 1; bit < QP_RULE_BITS; bit++) {
		uint32_t one = 1u << bit;
		if (r->required & one)
			assert_false(legal(type, from, to, (r->required | r->optional) & ~one));
		else
			assert_int_equal(legal(type, from, to, r->required | one),
					 (r->optional & one) != 0);
	}
}

static void check_illegal(uint32_t type, uint32_t from, uint32_t to)
{
	assert_false(legal(type, from, to, 0));
	assert_false(legal(type, from, to, UINT32_MAX));
	for (unsigned bit = 1; bit < QP_RULE_BITS; bit++)
		assert_false(legal(type, from, to, 1u << bit));
}

static void test_table(void **state)
{
	unsigned rules = 0;

	(void)state;
	for (unsigned i = 0; i < QP_RULE_TYPES; i++)
		for (uint32_t from = 0; from < QPS_COUNT; from++)
			for (uint32_t to = 0; to < QPS_COUNT; to++) {
				uint32_t type = qp_rule_type[i];
				const struct qp_rule *r = qp_rule_find(type, from, to);
				rules += r != NULL;
				if (r)
					check_rule(type, from, to, r);
				else
					check_illegal(type, from, to);
			}
	/* 8 kinds of transition for each type, SQE to RTS for two, RESET and ERR from all 7. */
	assert_int_equal(rules, 8 * QP_RULE_TYPES + 2 + 2 * 7 * QP_RULE_TYPES);
}

static void test_random_masks(void **state)
{
	struct prng rand = prng_start("test_qp_state");

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint32_t type = qp_rule_type[prng_below(&rand, QP_RULE_TYPES)];
		uint32_t from = prng_below(&rand, QPS_COUNT), to = prng_below(&rand, QPS_COUNT);
		const struct qp_rule *r = qp_rule_find(type, from, to);
		uint32_t mask = prng_u32(&rand) & prng_u32(&rand) & 0x1fffff;
		bool expected;
		if (r && prng_below(&rand, 2))
			mask = r->required | (mask & r->optional);
		mask &= ~(uint32_t)IBV_QP_STATE;
		expected = r && (mask & r->required) == r->required &&
			   !(mask & ~(r->required | r->optional));
		assert_int_equal(legal(type, from, to, mask), expected);
	}
}

/* A raw packet QP has a port and nothing else; each row the kernel's table has, and no more. */
static void test_raw(void **state)
{
	static const struct {
		uint32_t from, to, mask;
		bool ok;
	} row[] = {
		{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PORT, true},
		{IBV_QPS_RESET, IBV_QPS_INIT, 0, false},
		{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PORT | IBV_QP_PKEY_INDEX, false},
		{IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_PORT, true},
		{IBV_QPS_INIT, IBV_QPS_RTR, 0, true},
		{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_QKEY, false},
		{IBV_QPS_RTR, IBV_QPS_RTS, 0, true},
		{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, false},
		{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_RATE_LIMIT, false},
		{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_RATE_LIMIT, true},
		{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_RATE_LIMIT, true},
		{IBV_QPS_RTS, IBV_QPS_SQD, 0, true},
		{IBV_QPS_SQD, IBV_QPS_RTS, 0, true},
		{IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_CUR_STATE, true},
		{IBV_QPS_RESET, IBV_QPS_RTS, IBV_QP_PORT, false},
		{IBV_QPS_RTS, IBV_QPS_RESET, 0, true},
		{IBV_QPS_RTS, IBV_QPS_ERR, 0, true},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(legal(QPT_RAW_PACKET, row[i].from, row[i].to, row[i].mask),
				 row[i].ok);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(qp_state_name(QPS_RESET), "RESET");
	assert_string_equal(qp_state_name(QPS_SQD), "SQD");
	assert_string_equal(qp_state_name(QPS_ERR), "ERR");
	assert_string_equal(qp_state_name(QPS_COUNT), "unknown");
	assert_string_equal(qp_type_name(QPT_RC), "RC");
	assert_string_equal(qp_type_name(QPT_UC), "UC");
	assert_string_equal(qp_type_name(QPT_UD), "UD");
	assert_string_equal(qp_type_name(QPT_RAW_PACKET), "RAW_PACKET");
	assert_string_equal(qp_type_name(QPT_XRC_SEND), "XRC_SEND");
	assert_string_equal(qp_type_name(QPT_XRC_RECV), "XRC_RECV");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),       cmocka_unit_test(test_table),
		cmocka_unit_test(test_random_masks), cmocka_unit_test(test_raw),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
