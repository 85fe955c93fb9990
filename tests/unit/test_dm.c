/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory: its limit, its registration, and the way from a key to its bytes. */
#include "../support/cmocka_all.h"
#include "../support/core_fixture.h"

#include "dm.h"
#include "mr.h"
#include "region.h"

#include <errno.h>
#include <string.h>

#define MAX 65536u

static void small(struct core_config *cfg)
{
	cfg->limits.max_dm_size = MAX;
}

static int alloc(struct fixture *f, uint64_t length, uint32_t log_align, uint32_t *handle)
{
	struct uhca_cmd_alloc_dm in = {.length = length, .log_align = log_align};
	struct uhca_cmd_alloc_dm_reply out = {.handle = 0};
	struct core_ring ring;
	int err = core_alloc_dm(f->client, &in, &out, &ring);

	if (!err) {
		const struct uhca_abi_region *header = ring.base;
		assert_int_equal(header->kind, UHCA_ABI_REGION_DM);
		assert_true(out.region_size >= length + UHCA_ABI_DM_OFFSET);
	}
	*handle = out.handle;
	return err;
}

static void test_limit(void **state)
{
	struct fixture f;
	uint32_t a, b, none;

	(void)state;
	fixture_start(&f, small);
	assert_int_equal(alloc(&f, 0, 0, &none), -EINVAL);
	assert_int_equal(alloc(&f, MAX + 1, 0, &none), -EINVAL);
	assert_int_equal(alloc(&f, UINT64_MAX, 0, &none), -EINVAL);
	assert_int_equal(alloc(&f, 8, 13, &none), -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(alloc(&f, MAX, 0, &none), -ENOMEM);
	assert_int_equal(alloc(&f, MAX - 1, 12, &a), 0);
	assert_int_equal(alloc(&f, 2, 0, &none), -ENOMEM);
	assert_int_equal(alloc(&f, 1, 0, &b), 0);
	assert_int_equal(core_free_dm(f.other, b), -EINVAL);
	assert_int_equal(core_free_dm(f.client, b), 0);
	assert_int_equal(core_free_dm(f.client, b), -EINVAL);
	assert_int_equal(core_free_dm(f.client, a), 0);
	assert_int_equal(f.dev->dm_used, 0);
	assert_int_equal(alloc(&f, MAX, 0, &a), 0); /* freed with its client */
	fixture_stop(&f);
}

static void test_registration(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_dm_mr in = {.offset = 8, .length = 92, .access = MR_ZERO_BASED};
	struct uhca_cmd_reg_mr_reply out;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	assert_int_equal(alloc(&f, 100, 0, &in.dm), 0);
	in.offset = 9;
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), -EINVAL);
	in.offset = UINT64_MAX;
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), -EINVAL);
	in.offset = 8;
	in.access = MR_LOCAL_WRITE;
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), -EINVAL);
	in.access = MR_ZERO_BASED | MR_ON_DEMAND;
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), -EINVAL);
	in.access = MR_ZERO_BASED | MR_REMOTE_WRITE;
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), -EINVAL);
	in.access = MR_ZERO_BASED;
	assert_int_equal(core_reg_dm_mr(f.other, &in, &out), -EINVAL);
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), 0);
	assert_int_equal(core_free_dm(f.client, in.dm), -EBUSY);
	assert_int_equal(
		core_rereg_mr(f.client,
			      &(struct uhca_cmd_rereg_mr){.handle = out.handle, .flags = 4}, &out),
		-EINVAL);
	assert_int_equal(core_dereg_mr(f.client, out.handle), 0);
	assert_int_equal(core_free_dm(f.client, in.dm), 0);
	fixture_stop(&f);
}

static void test_spans(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_dm_mr in = {.offset = 8, .length = 92, .access = MR_ZERO_BASED};
	struct uhca_cmd_reg_mr_reply out;
	const struct pd *pd;
	const struct dm *dm;
	struct core_span span;
	struct mr *mr;
	uint32_t walked;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	pd = table_find(&f.dev->pds, in.pd);
	assert_int_equal(alloc(&f, 100, 0, &in.dm), 0);
	dm = table_find(&f.dev->dms, in.dm);
	assert_int_equal(core_reg_dm_mr(f.client, &in, &out), 0);
	assert_int_equal(mr_check(pd, out.lkey, 10, 83, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, out.lkey, 10, 82, 0, &mr), MR_OK);
	assert_int_equal(mr_spans(mr, 10, 82, &span, 1, &walked), 1);
	assert_int_equal(walked, 82);
	assert_int_equal(span.addr, (uintptr_t)dm->base + 18);
	assert_int_equal(span.length, 82);
	assert_int_equal(span.space, CORE_SPACE_DEVICE);
	assert_false(mr_is_plain(mr, f.client));
	fixture_stop(&f);
}

static void without(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_DM;
}

static void test_switched_off(void **state)
{
	struct fixture f;
	struct uhca_cmd_device_attr attr;
	uint32_t none;

	(void)state;
	fixture_start(&f, without);
	assert_int_equal(alloc(&f, 8, 0, &none), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.max_dm_size, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_registration),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_switched_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
