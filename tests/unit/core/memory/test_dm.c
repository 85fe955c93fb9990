/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device memory, and memory shared with a program: limits, registration, and the way from a key to
 * its bytes.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/region.h"
#include "emu/core/keys/mr.h"
#include "emu/core/memory/dm.h"

#include <errno.h>
#include <string.h>

#define MAX 65536u

static void small(struct core_config *cfg)
{
	cfg->limits.max_dm_size = MAX;
	cfg->limits.max_shared_size = 2 * MAX;
}

static int alloc_flags(struct fixture *f, uint64_t length, uint32_t log_align, uint32_t flags,
		       uint32_t *handle)
{
	struct uhca_cmd_alloc_dm in = {.length = length, .log_align = log_align, .flags = flags};
	struct uhca_cmd_alloc_dm_reply out = {.handle = 0};
	struct core_ring ring;
	int err = core_alloc_dm(f->client, &in, &out, &ring);

	if (!err) {
		/* The memory itself, from its first byte on: no header. */
		for (uint64_t i = 0; i < length; i++)
			assert_int_equal(((const uint8_t *)ring.base)[i], 0);
		assert_true(out.region_size >= length);
	}
	*handle = out.handle;
	return err;
}

static int alloc(struct fixture *f, uint64_t length, uint32_t log_align, uint32_t *handle)
{
	return alloc_flags(f, length, log_align, 0, handle);
}

static int alloc_shared(struct fixture *f, uint64_t length, uint32_t *handle)
{
	return alloc_flags(f, length, 0, UHCA_ABI_DM_SHARED, handle);
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
	assert_int_equal(core_free_dm(f.other, b), -ENOENT);
	assert_int_equal(core_free_dm(f.client, b), 0);
	assert_int_equal(core_free_dm(f.client, b), -ENOENT);
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
	assert_int_equal(core_reg_dm_mr(f.other, &in, &out), -ENOENT);
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
	fixture_stop(&f);
}

/* ---- memory that a program shares ---- */

static void test_shared_limit(void **state)
{
	struct fixture f;
	uint32_t a, b, none;

	(void)state;
	fixture_start(&f, small);
	assert_int_equal(alloc_flags(&f, 8, 0, UHCA_ABI_DM_SHARED | 2, &none), -EINVAL);
	assert_int_equal(alloc_shared(&f, 0, &none), -EINVAL);
	assert_int_equal(alloc_shared(&f, 2 * MAX + 1, &none), -EINVAL);
	assert_int_equal(alloc_shared(&f, UINT64_MAX, &none), -EINVAL);
	f.fail_ring = 1;
	assert_int_equal(alloc_shared(&f, 8, &none), -ENOMEM);
	/* Each kind has its own account. */
	assert_int_equal(alloc_shared(&f, 2 * MAX, &a), 0);
	assert_int_equal(alloc_shared(&f, 1, &none), -ENOMEM);
	assert_int_equal(alloc(&f, MAX, 0, &b), 0);
	assert_int_equal(f.dev->shared_used, 2 * MAX);
	assert_int_equal(core_free_dm(f.other, a), -ENOENT);
	assert_int_equal(core_free_dm(f.client, a), 0);
	assert_int_equal(f.dev->shared_used, 0);
	assert_int_equal(f.dev->dm_used, MAX);
	assert_int_equal(alloc_shared(&f, 2 * MAX, &a), 0); /* freed with its client */
	fixture_stop(&f);
}

/* A region of bytes [8, 100) of shared memory that the program has at 0x7000. */
static struct uhca_cmd_reg_shared_mr shared_request(struct fixture *f)
{
	struct uhca_cmd_reg_shared_mr in = {
		.offset = 8, .length = 92, .iova = 0x7008, .pd = fixture_pd(f)};

	assert_int_equal(alloc_shared(f, 100, &in.dm), 0);
	return in;
}

static void refuse_shared(struct fixture *f, struct uhca_cmd_reg_shared_mr in, int err)
{
	struct uhca_cmd_reg_mr_reply out;

	assert_int_equal(core_reg_shared_mr(f->client, &in, &out), err);
}

/* A change of one field of a good request. */
#define REFUSE(field, value, err)                                                                  \
	do {                                                                                       \
		struct uhca_cmd_reg_shared_mr bad = in;                                            \
		bad.field = value;                                                                 \
		refuse_shared(&f, bad, err);                                                       \
	} while (0)

static void test_shared_refused(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_shared_mr in;
	struct uhca_cmd_reg_mr_reply out;
	uint32_t dm;

	(void)state;
	fixture_start(&f, NULL);
	in = shared_request(&f);
	assert_int_equal(alloc(&f, 200, 0, &dm), 0);
	REFUSE(length, 0, -EINVAL);
	REFUSE(length, 93, -EINVAL);
	REFUSE(length, UINT64_MAX, -EINVAL);
	REFUSE(offset, 9, -EINVAL);
	REFUSE(offset, UINT64_MAX, -EINVAL);
	REFUSE(iova, UINT64_MAX - 90, -EINVAL);
	REFUSE(pd, in.pd + 1, -ENOENT);
	REFUSE(dm, dm, -EINVAL); /* device memory has no addresses of the program */
	REFUSE(dm, 0xffff, -ENOENT);
	REFUSE(access, MR_ON_DEMAND, -EINVAL);
	REFUSE(access, 1u << 10, -EINVAL);
	REFUSE(access, MR_REMOTE_WRITE, -EINVAL);
	REFUSE(access, 1u << 30, -EINVAL);
	assert_int_equal(core_reg_shared_mr(f.other, &in, &out), -ENOENT);
	in.access = MR_ZERO_BASED;
	assert_int_equal(core_reg_dm_mr(f.client,
					&(struct uhca_cmd_reg_dm_mr){.length = 8,
								     .pd = in.pd,
								     .dm = in.dm,
								     .access = MR_ZERO_BASED},
					&out),
			 -EINVAL);
	assert_int_equal(core_free_dm(f.client, in.dm), 0);
	fixture_stop(&f);
}

static void test_shared_spans(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_shared_mr in;
	struct uhca_cmd_reg_mr_reply out, zero;
	struct uhca_cmd_rereg_mr change = {.flags = 4};
	const struct pd *pd;
	const struct dm *dm;
	struct core_span span;
	struct mr *mr;
	uint32_t walked;

	(void)state;
	fixture_start(&f, NULL);
	in = shared_request(&f);
	pd = table_find(&f.dev->pds, in.pd);
	dm = table_find(&f.dev->dms, in.dm);
	in.access = MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC |
		    MR_MW_BIND | MR_OPTIONAL;
	assert_int_equal(core_reg_shared_mr(f.client, &in, &out), 0);
	assert_int_equal(mr_check(pd, out.lkey, 0x7007, 1, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, out.lkey, 0x700a, 91, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, out.rkey, 0x700a, 90, MR_REMOTE_WRITE, &mr), MR_OK);
	assert_int_equal(mr_spans(mr, 0x700a, 90, &span, 1, &walked), 1);
	assert_int_equal(span.addr, (uintptr_t)dm->base + 10);
	assert_int_equal(span.length, 90);
	assert_int_equal(span.space, CORE_SPACE_DEVICE);
	in.access |= MR_ZERO_BASED;
	assert_int_equal(core_reg_shared_mr(f.client, &in, &zero), 0);
	assert_int_equal(mr_check(pd, zero.lkey, 0x7008, 1, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, zero.lkey, 91, 1, 0, &mr), MR_OK);
	change.handle = out.handle;
	assert_int_equal(core_rereg_mr(f.client, &change, &out), -EINVAL);
	assert_int_equal(core_free_dm(f.client, in.dm), -EBUSY);
	assert_int_equal(core_dereg_mr(f.client, zero.handle), 0);
	assert_int_equal(core_free_dm(f.client, in.dm), -EBUSY);
	assert_int_equal(core_dereg_mr(f.client, change.handle), 0);
	assert_int_equal(core_free_dm(f.client, in.dm), 0);
	fixture_stop(&f);
}

/* The memory is the daemon's mapping: it stays for those who share the domain. */
static void test_shared_outlives_its_client(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_shared_mr in;
	struct uhca_cmd_reg_mr_reply out;
	const struct pd *pd;
	struct mr *mr;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_client_join(f.other, f.client), 0);
	in = shared_request(&f);
	assert_int_equal(core_reg_shared_mr(f.client, &in, &out), 0);
	core_client_destroy(f.client);
	f.client = NULL;
	pd = table_find(&f.dev->pds, in.pd);
	assert_int_equal(mr_check(pd, out.lkey, 0x7008, 92, 0, &mr), MR_OK);
	assert_int_equal(mr->kind, MR_KIND_DEVICE);
	assert_int_equal(core_free_dm(f.other, in.dm), -EBUSY);
	assert_int_equal(core_dereg_mr(f.other, out.handle), 0);
	assert_int_equal(core_free_dm(f.other, in.dm), 0);
	assert_int_equal(f.dev->shared_used, 0);
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
	assert_int_equal(alloc_shared(&f, 8, &none), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.max_dm_size, 0);
	assert_int_equal(attr.max_shared_size, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_registration),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_shared_limit),
		cmocka_unit_test(test_shared_refused),
		cmocka_unit_test(test_shared_spans),
		cmocka_unit_test(test_shared_outlives_its_client),
		cmocka_unit_test(test_switched_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
