/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains: counted, limited, kept while something is in them. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>

static void few(struct core_config *cfg)
{
	cfg->limits.max_pd = 3;
}

static void test_limit(void **state)
{
	struct fixture f;
	uint32_t handle[3], more;

	(void)state;
	fixture_start(&f, few);
	for (int i = 0; i < 3; i++)
		assert_int_equal(core_alloc_pd(f.client, &handle[i]), 0);
	assert_int_equal(core_alloc_pd(f.client, &more), -ENOMEM);
	assert_int_equal(core_dealloc_pd(f.client, handle[1]), 0);
	assert_int_equal(core_alloc_pd(f.client, &more), 0);
	assert_int_not_equal(more, handle[1]);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_PD), 3);
	fixture_stop(&f);
}

static void test_wrong_handles(void **state)
{
	struct fixture f;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	assert_int_equal(core_dealloc_pd(f.other, pd), -ENOENT);
	assert_int_equal(core_dealloc_pd(f.client, 0), -ENOENT);
	assert_int_equal(core_dealloc_pd(f.client, pd + 1), -ENOENT);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_PD), 1);
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), -ENOENT);
	fixture_stop(&f);
}

/* Each kind of object keeps its PD busy, and only as long as it lives. */
static void test_busy(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr mr = {.addr = 4096, .length = 10};
	struct uhca_cmd_reg_mr_reply mr_reply;
	struct uhca_cmd_create_ah ah = {.attr = fixture_attr(0).ah};
	uint32_t pd, ah_handle, srq;

	(void)state;
	fixture_start(&f, NULL);
	pd = mr.pd = ah.pd = fixture_pd(&f);
	assert_int_equal(core_reg_mr(f.client, &mr, &mr_reply), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
	assert_int_equal(core_dereg_mr(f.client, mr_reply.handle), 0);

	assert_int_equal(core_create_ah(f.client, &ah, &ah_handle), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
	assert_int_equal(core_destroy_ah(f.client, ah_handle), 0);

	srq = fixture_srq(&f, pd);
	assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
	assert_int_equal(core_destroy_srq(f.client, srq), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	fixture_stop(&f);
}

static void test_busy_with_qp(void **state)
{
	struct fixture f;
	struct fixture_qp qp;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, 2);
	assert_int_equal(core_dealloc_pd(f.client, qp.pd), -EBUSY);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_wrong_handles),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_busy_with_qp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
