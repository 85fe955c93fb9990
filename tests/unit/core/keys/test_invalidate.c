/* SPDX-License-Identifier: BSD-2-Clause */
/* Which keys a queue may take away, and that it can do so once. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/invalidate.h"
#include "emu/core/keys/mw.h"
#include "emu/core/qp/qp.h"

#include <infiniband/verbs.h>

#define ADDR 0x7f0000001000ull
#define SIZE 8192u

static uint32_t bound_window(struct fixture *f, struct qp *qp, uint32_t region, uint32_t type)
{
	struct uhca_cmd_alloc_mw in = {.pd = qp->pd->obj.handle, .type = type};
	struct uhca_cmd_alloc_mw_reply out;
	struct uhca_abi_send_wqe wqe = {.bind = {.addr = ADDR, .length = 1, .mr_lkey = region}};

	assert_int_equal(core_alloc_mw(f->client, &in, &out), 0);
	wqe.bind.mw_rkey = out.rkey;
	wqe.bind.new_rkey = out.rkey ^ 1;
	assert_true(mw_bind(qp_key_user(qp), &wqe));
	return wqe.bind.new_rkey;
}

static void test_keys(void **state)
{
	struct fixture f;
	struct fixture_qp names, others;
	struct qp *qp, *other;
	uint32_t region, type_1, type_2;

	(void)state;
	fixture_start(&f, NULL);
	names = fixture_qp(&f, QPT_RC);
	others = fixture_qp(&f, QPT_RC);
	qp = device_find_qp(f.dev, names.qpn);
	other = device_find_qp(f.dev, others.qpn);
	region = fixture_mr(&f, names.pd, ADDR, SIZE, IBV_ACCESS_MW_BIND);
	type_1 = bound_window(&f, qp, region, 1);
	type_2 = bound_window(&f, qp, region, 2);
	assert_false(invalidate_key(qp_key_user(qp), 0));
	assert_false(invalidate_key(qp_key_user(qp), UINT32_MAX));
	assert_false(invalidate_key(qp_key_user(qp), region));
	assert_false(invalidate_key(qp_key_user(qp), type_1));
	assert_false(invalidate_key(qp_key_user(qp), type_2 ^ 1));
	assert_false(invalidate_allowed(qp_key_user(other), type_2));
	assert_false(invalidate_key(qp_key_user(other), type_2));
	assert_true(invalidate_allowed(qp_key_user(qp), type_2)); /* only asks */
	assert_true(invalidate_key(qp_key_user(qp), type_2));
	assert_false(invalidate_allowed(qp_key_user(qp), type_2));
	assert_false(invalidate_key(qp_key_user(qp), type_2));
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys)};

	return cmocka_run_group_tests_name("invalidate", tests, NULL, NULL);
}
