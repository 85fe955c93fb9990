/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice: each errno of ibv_advise_mr(3), and the implicit region. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/mr.h"

#include <errno.h>

static int advise(struct fixture *f, uint32_t pd, uint32_t advice, uint64_t addr, uint32_t length,
		  uint32_t lkey)
{
	struct uhca_cmd_advise_mr in = {.pd = pd, .advice = advice, .num_sge = 1};

	in.sge[0].addr = addr;
	in.sge[0].length = length;
	in.sge[0].lkey = lkey;
	return core_advise_mr(f->client, &in);
}

static void test_errors(void **state)
{
	struct fixture f;
	struct uhca_cmd_advise_mr empty = {.num_sge = 0};
	uint32_t pd, other, key, plain, read_only;

	(void)state;
	fixture_start(&f, NULL);
	empty.pd = pd = fixture_pd(&f);
	other = fixture_pd(&f);
	key = fixture_mr(&f, pd, 4096, 4096, MR_ON_DEMAND | MR_LOCAL_WRITE);
	read_only = fixture_mr(&f, pd, 4096, 4096, MR_ON_DEMAND);
	plain = fixture_mr(&f, pd, 4096, 4096, MR_LOCAL_WRITE);
	for (uint32_t advice = 0; advice < 3; advice++)
		assert_int_equal(advise(&f, pd, advice, 4096, 4096, key), 0);
	assert_int_equal(advise(&f, pd, 3, 4096, 4096, key), -EOPNOTSUPP);
	assert_int_equal(advise(&f, 12345, 0, 4096, 4096, key), -ENOENT);
	assert_int_equal(advise(&f, other, 0, 4096, 4096, key), -EPERM);
	assert_int_equal(advise(&f, pd, 0, 4097, 4096, key), -EFAULT);
	assert_int_equal(advise(&f, pd, 0, 4096, 1, 0xdeadbe00), -EFAULT);
	assert_int_equal(advise(&f, pd, 0, 4096, 1, key ^ 1), -ENOENT);
	assert_int_equal(advise(&f, pd, 1, 4096, 1, read_only), -EPERM);
	assert_int_equal(advise(&f, pd, 0, 4096, 1, read_only), 0);
	assert_int_equal(advise(&f, pd, 0, 4096, 1, plain), -EINVAL);
	assert_int_equal(core_advise_mr(f.client, &empty), -EINVAL);
	empty.num_sge = UHCA_ABI_ADVISE_SGES + 1;
	assert_int_equal(core_advise_mr(f.client, &empty), -EINVAL);
	empty.num_sge = 1;
	empty.flags = 2;
	assert_int_equal(core_advise_mr(f.client, &empty), -EINVAL);
	fixture_stop(&f);
}

static void test_implicit(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr in = {.length = UINT64_MAX, .access = MR_ON_DEMAND | MR_LOCAL_WRITE};
	struct uhca_cmd_reg_mr_reply out;
	const struct pd *pd;
	struct core_span span;
	struct mr *mr;
	uint32_t walked;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	pd = table_find(&f.dev->pds, in.pd);
	in.iova = 4096;
	assert_int_equal(core_reg_mr(f.client, &in, &out), -EINVAL);
	in.iova = 0;
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(mr_check(pd, out.lkey, 0x7fffdeadb000, 4096, MR_LOCAL_WRITE, &mr), MR_OK);
	assert_int_equal(mr_spans(mr, 0x7fffdeadb000, 4096, &span, 1, &walked), 1);
	assert_int_equal(span.addr, 0x7fffdeadb000);
	assert_int_equal(span.space, CORE_SPACE_CLIENT);
	assert_int_equal(mr_check(pd, out.lkey, UINT64_MAX - 8, 16, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(advise(&f, in.pd, 0, 0x1000, 100, out.lkey), 0);
	assert_int_equal(
		core_rereg_mr(f.client,
			      &(struct uhca_cmd_rereg_mr){.handle = out.handle, .flags = 4}, &out),
		-EINVAL);
	fixture_stop(&f);
}

static void without(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_ODP;
}

static void test_switched_off(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr in = {.length = 8, .access = MR_ON_DEMAND};
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_cmd_device_attr attr;

	(void)state;
	fixture_start(&f, without);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_reg_mr(f.client, &in, &out), -EOPNOTSUPP);
	assert_int_equal(advise(&f, in.pd, 0, 0, 0, 0), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.odp_general | attr.odp_rc | attr.odp_uc | attr.odp_ud, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_implicit),
		cmocka_unit_test(test_switched_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
