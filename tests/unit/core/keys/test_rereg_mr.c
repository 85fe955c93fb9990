/* SPDX-License-Identifier: BSD-2-Clause */
/* Changing regions: every combination, and after each failure the region as it was. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/mr.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ADDR 0x100000u
#define SIZE 8192u
#define NEW  0x500010u

struct room {
	struct fixture f;
	uint32_t pd, other;
	struct uhca_cmd_reg_mr_reply mr;
};

static void start(struct room *r, void (*tweak)(struct core_config *cfg))
{
	struct uhca_cmd_reg_mr in = {.addr = ADDR,
				     .iova = ADDR,
				     .length = SIZE,
				     .access = MR_LOCAL_WRITE | MR_REMOTE_WRITE};

	fixture_start(&r->f, tweak);
	in.pd = r->pd = fixture_pd(&r->f);
	r->other = fixture_pd(&r->f);
	assert_int_equal(core_reg_mr(r->f.client, &in, &r->mr), 0);
}

static enum mr_verdict check(struct room *r, uint32_t pd, uint32_t key, uint64_t addr,
			     uint32_t need)
{
	struct mr *mr;

	return mr_check(table_find(&r->f.dev->pds, pd), key, addr, 8, need, &mr);
}

static int change(struct room *r, struct uhca_cmd_rereg_mr in, struct uhca_cmd_reg_mr_reply *out)
{
	in.handle = r->mr.handle;
	in.addr = NEW;
	in.iova = NEW;
	in.length = in.length ? in.length : SIZE;
	return core_rereg_mr(r->f.client, &in, out);
}

/* To no length and back: what has none grants nothing. */
static void test_no_length(void **state)
{
	struct uhca_cmd_rereg_mr in = {.flags = IBV_REREG_MR_CHANGE_TRANSLATION};
	struct uhca_cmd_reg_mr_reply out;
	struct mr *mr;
	struct room r;

	(void)state;
	start(&r, NULL);
	in.handle = r.mr.handle;
	assert_int_equal(core_rereg_mr(r.f.client, &in, &out), 0);
	assert_int_equal(check(&r, r.pd, out.lkey, 0, MR_LOCAL_WRITE), MR_BAD_RANGE);
	assert_int_equal(
		mr_check(table_find(&r.f.dev->pds, r.pd), out.lkey, NEW, 0, MR_LOCAL_WRITE, &mr),
		MR_OK);
	in.flags = IBV_REREG_MR_CHANGE_ACCESS;
	assert_int_equal(core_rereg_mr(r.f.client, &in, &out), 0);
	assert_int_equal(
		change(&r, (struct uhca_cmd_rereg_mr){.flags = IBV_REREG_MR_CHANGE_TRANSLATION},
		       &out),
		0);
	assert_int_equal(check(&r, r.pd, out.lkey, NEW, 0), MR_OK);
	fixture_stop(&r.f);
}

static void test_combinations(void **state)
{
	(void)state;
	for (uint32_t flags = 1; flags < 8; flags++) {
		struct room r;
		struct uhca_cmd_reg_mr_reply out;
		bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
		uint32_t pd;

		start(&r, NULL);
		pd = flags & IBV_REREG_MR_CHANGE_PD ? r.other : r.pd;
		assert_int_equal(change(&r,
					(struct uhca_cmd_rereg_mr){.flags = flags,
								   .pd = r.other,
								   .access = MR_REMOTE_READ},
					&out),
				 0);
		assert_int_equal(out.handle, r.mr.handle);
		assert_int_equal(out.lkey, out.rkey);
		assert_int_equal(out.lkey == r.mr.lkey, !moves);
		assert_int_equal(check(&r, pd, out.lkey, moves ? NEW : ADDR, 0), MR_OK);
		assert_int_equal(check(&r, pd, out.lkey, moves ? ADDR : NEW, 0), MR_BAD_RANGE);
		assert_int_equal(check(&r, pd == r.pd ? r.other : r.pd, out.lkey, NEW, 0),
				 MR_BAD_PD);
		assert_int_equal(check(&r, pd, out.lkey, moves ? NEW : ADDR, MR_REMOTE_WRITE),
				 flags & IBV_REREG_MR_CHANGE_ACCESS ? MR_BAD_ACCESS : MR_OK);
		if (moves)
			assert_int_equal(check(&r, pd, r.mr.lkey, NEW, 0), MR_BAD_KEY);
		assert_int_equal(core_dealloc_pd(r.f.client, pd), -EBUSY);
		assert_int_equal(core_dealloc_pd(r.f.client, pd == r.pd ? r.other : r.pd), 0);
		fixture_stop(&r.f);
	}
}

static void test_failures_leave_it(void **state)
{
	struct room r;
	struct uhca_cmd_reg_mr_reply out;
	struct mr *mr;

	(void)state;
	start(&r, NULL);
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 0}, &out), -EINVAL);
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 8}, &out), -EINVAL);
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 3, .pd = 99}, &out),
			 -ENOENT);
	assert_int_equal(
		change(&r, (struct uhca_cmd_rereg_mr){.flags = 5, .access = MR_REMOTE_WRITE}, &out),
		-EINVAL);
	assert_int_equal(change(&r,
				(struct uhca_cmd_rereg_mr){.flags = 5, .access = MR_FLUSH_GLOBAL},
				&out) < 0,
			 !(r.f.cfg.features & UHCA_ABI_HAS_FLUSH));
	fixture_stop(&r.f);
	start(&r, NULL);
	assert_int_equal(
		change(&r, (struct uhca_cmd_rereg_mr){.flags = 1, .length = UINT64_MAX}, &out),
		-EINVAL);
	mr = table_find(&r.f.dev->mrs, r.mr.handle);
	mr->obj.refs++; /* a window is bound */
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 1}, &out), -EBUSY);
	mr->obj.refs--;
	assert_int_equal(core_rereg_mr(r.f.other,
				       &(struct uhca_cmd_rereg_mr){
					       .handle = r.mr.handle, .flags = 1, .length = 8},
				       &out),
			 -ENOENT);
	assert_int_equal(check(&r, r.pd, r.mr.lkey, ADDR, MR_REMOTE_WRITE), MR_OK);
	fixture_stop(&r.f);
}

static void test_zero_based(void **state)
{
	struct room r;
	struct uhca_cmd_reg_mr_reply out;
	const struct mr *mr;

	(void)state;
	start(&r, NULL);
	assert_int_equal(
		change(&r, (struct uhca_cmd_rereg_mr){.flags = 4, .access = MR_ZERO_BASED}, &out),
		0);
	mr = table_find(&r.f.dev->mrs, r.mr.handle);
	assert_int_equal(mr->iova, 0);
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 4, .access = 0}, &out), 0);
	assert_int_equal(mr->iova, ADDR);
	fixture_stop(&r.f);
}

static void without(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_REREG;
}

static void test_switched_off(void **state)
{
	struct room r;
	struct uhca_cmd_reg_mr_reply out;

	(void)state;
	start(&r, without);
	assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 1}, &out), -EOPNOTSUPP);
	fixture_stop(&r.f);
}

/* Whatever byte chance brings: the key before is never the key after. */
static void test_keys_change(void **state)
{
	struct room r;
	struct uhca_cmd_reg_mr_reply out;
	uint32_t before;

	(void)state;
	start(&r, NULL);
	before = r.mr.lkey;
	for (unsigned i = 0; i < 4000; i++) {
		assert_int_equal(change(&r, (struct uhca_cmd_rereg_mr){.flags = 1}, &out), 0);
		assert_int_not_equal(out.lkey, before);
		before = out.lkey;
	}
	fixture_stop(&r.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_length),         cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_failures_leave_it), cmocka_unit_test(test_zero_based),
		cmocka_unit_test(test_switched_off),      cmocka_unit_test(test_keys_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
