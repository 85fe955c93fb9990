/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that share: what each may name, and what is left when one of them ends. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/group.h"
#include "emu/core/keys/mr.h"

#include <errno.h>

struct room {
	struct fixture f;
	uint32_t pd, mr, dm, dm_mr;
	uint32_t mr_key, dm_key;
};

static void start(struct room *r)
{
	struct uhca_cmd_reg_mr mr = {.addr = 4096, .iova = 4096, .length = 100};
	struct uhca_cmd_alloc_dm dm = {.length = 100};
	struct uhca_cmd_reg_dm_mr reg = {.length = 100, .access = MR_ZERO_BASED};
	struct uhca_cmd_alloc_dm_reply dm_reply;
	struct uhca_cmd_reg_mr_reply out;
	struct core_ring ring;

	fixture_start(&r->f, NULL);
	reg.pd = mr.pd = r->pd = fixture_pd(&r->f);
	assert_int_equal(core_reg_mr(r->f.client, &mr, &out), 0);
	r->mr = out.handle;
	r->mr_key = out.lkey;
	assert_int_equal(core_alloc_dm(r->f.client, &dm, &dm_reply, &ring), 0);
	reg.dm = r->dm = dm_reply.handle;
	assert_int_equal(core_reg_dm_mr(r->f.client, &reg, &out), 0);
	r->dm_mr = out.handle;
	r->dm_key = out.lkey;
}

static void test_join(void **state)
{
	struct room r;
	struct uhca_cmd_import_reply out;
	struct uhca_cmd_reg_mr_reply null;
	struct core_ring ring;
	uint32_t cq;

	(void)state;
	start(&r);
	assert_int_equal(core_import_pd(r.f.other, r.pd), -ENOENT);
	assert_int_equal(core_client_join(r.f.client, r.f.client), -EINVAL);
	assert_int_equal(core_client_join(r.f.other, r.f.client), 0);
	assert_int_equal(core_client_join(r.f.other, r.f.client), -EINVAL);
	assert_int_equal(core_import_pd(r.f.other, r.pd), 0);
	assert_int_equal(core_import_mr(r.f.other, r.mr, &out), 0);
	assert_int_equal(out.lkey, r.mr_key);
	assert_int_equal(out.rkey, r.mr_key);
	assert_int_equal(out.length, 100);
	assert_int_equal(core_alloc_null_mr(r.f.client, r.pd, &null), 0);
	assert_int_equal(core_import_mr(r.f.other, null.handle, &out), 0);
	assert_int_equal(out.lkey, null.lkey);
	assert_int_equal(out.rkey, 0); /* it is for local use only */
	assert_int_equal(core_import_dm(r.f.other, r.dm, &out, &ring), 0);
	assert_int_equal(out.length, 100);
	assert_int_equal(out.region_size, ring.size); /* what the importer maps */
	assert_non_null(ring.base);
	assert_int_equal(core_import_mr(r.f.other, r.mr + 1, &out), -ENOENT);
	/* Queues stay their owner's. */
	cq = fixture_cq(&r.f, 4);
	assert_int_equal(core_destroy_cq(r.f.other, cq), -ENOENT);
	/* Either may destroy what is shared. */
	assert_int_equal(core_dereg_mr(r.f.other, r.mr), 0);
	assert_int_equal(core_dereg_mr(r.f.client, r.mr), -ENOENT);
	fixture_stop(&r.f);
}

static void test_owner_ends(void **state)
{
	struct room r;
	const struct pd *pd;
	struct mr *mr;
	struct uhca_cmd_reg_mr_reply null;

	(void)state;
	start(&r);
	assert_int_equal(core_client_join(r.f.other, r.f.client), 0);
	assert_int_equal(core_alloc_null_mr(r.f.other, r.pd, &null), 0);
	pd = table_find(&r.f.dev->pds, r.pd);
	core_client_destroy(r.f.client);
	assert_ptr_equal(table_find(&r.f.dev->pds, r.pd), pd);
	/* Its memory is gone with it, device memory is not. */
	assert_int_equal(mr_check(pd, r.mr_key, 4096, 1, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, r.dm_key, 0, 100, 0, &mr), MR_OK);
	assert_int_equal(mr_check(pd, null.lkey, 0, 100, 0, &mr), MR_OK);
	assert_int_equal(core_dealloc_pd(r.f.other, r.pd), -EBUSY);
	assert_int_equal(core_dereg_mr(r.f.other, r.mr), 0);
	assert_int_equal(core_dereg_mr(r.f.other, r.dm_mr), 0);
	assert_int_equal(core_dereg_mr(r.f.other, null.handle), 0);
	assert_int_equal(core_free_dm(r.f.other, r.dm), 0);
	assert_int_equal(core_dealloc_pd(r.f.other, r.pd), 0);
	r.f.client = core_client_create(r.f.dev, &r.f.client_cookie);
	assert_non_null(r.f.client);
	fixture_stop(&r.f);
}

static void test_joiner_ends(void **state)
{
	struct room r;
	uint32_t pd;

	(void)state;
	start(&r);
	assert_int_equal(core_client_join(r.f.other, r.f.client), 0);
	assert_int_equal(core_alloc_pd(r.f.other, &pd), 0);
	core_client_destroy(r.f.other);
	assert_int_equal(core_dealloc_pd(r.f.client, pd), 0);
	assert_int_equal(r.f.client->group->members, 1);
	r.f.other = core_client_create(r.f.dev, &r.f.other_cookie);
	assert_non_null(r.f.other);
	assert_int_equal(core_import_pd(r.f.other, r.pd), -ENOENT);
	fixture_stop(&r.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_owner_ends),
		cmocka_unit_test(test_joiner_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
