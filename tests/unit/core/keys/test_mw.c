/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows: their life, who counts as their user, and each rule of binding by itself. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/mw.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ADDR 0x7f0000001000ull
#define SIZE 8192u
#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static int alloc(struct fixture *f, uint32_t pd, uint32_t type, struct uhca_cmd_alloc_mw_reply *out)
{
	return core_alloc_mw(f->client, &(struct uhca_cmd_alloc_mw){.pd = pd, .type = type}, out);
}

static void only_2a(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)(UHCA_ABI_HAS_MW_TYPE_2B | UHCA_ABI_HAS_MW_TYPE_1);
	cfg->features |= UHCA_ABI_HAS_MW_TYPE_2A;
}

static void few(struct core_config *cfg)
{
	cfg->limits.max_mw = 2;
	cfg->limits.max_mr = 1;
}

static void test_types(void **state)
{
	struct uhca_cmd_alloc_mw_reply r;
	struct fixture f;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	assert_int_equal(alloc(&f, pd, 0, &r), -EINVAL);
	assert_int_equal(alloc(&f, pd, 3, &r), -EINVAL);
	assert_int_equal(alloc(&f, pd + 1, 1, &r), -ENOENT);
	for (uint32_t type = 1; type <= 2; type++) {
		assert_int_equal(alloc(&f, pd, type, &r), 0);
		assert_int_equal(r.rkey >> 8, r.handle);
		assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
		assert_int_equal(core_dealloc_mw(f.other, r.handle), -ENOENT);
		assert_int_equal(core_dealloc_mw(f.client, r.handle), 0);
		assert_int_equal(core_dealloc_mw(f.client, r.handle), -ENOENT);
	}
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	fixture_stop(&f);
	fixture_start(&f, only_2a);
	pd = fixture_pd(&f);
	assert_int_equal(alloc(&f, pd, 1, &r), -EOPNOTSUPP);
	assert_int_equal(alloc(&f, pd, 2, &r), 0);
	fixture_stop(&f);
}

/* Regions and windows share their numbers, but not their limits nor their verbs. */
static void test_limits(void **state)
{
	struct uhca_cmd_reg_mr in = {.addr = ADDR, .length = SIZE, .iova = ADDR};
	struct uhca_cmd_alloc_mw_reply r;
	struct uhca_cmd_reg_mr_reply mr;
	struct fixture f;

	(void)state;
	fixture_start(&f, few);
	in.pd = fixture_pd(&f);
	assert_int_equal(alloc(&f, in.pd, 1, &r), 0);
	assert_int_equal(alloc(&f, in.pd, 2, &r), 0);
	assert_int_equal(alloc(&f, in.pd, 2, &r), -ENOMEM);
	assert_int_equal(core_reg_mr(f.client, &in, &mr), 0);
	assert_int_equal(core_reg_mr(f.client, &in, &(struct uhca_cmd_reg_mr_reply){0}), -ENOMEM);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_MW), 2);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_MR), 1);
	assert_int_equal(core_dereg_mr(f.client, r.handle), -EINVAL);
	assert_int_equal(core_dealloc_mw(f.client, mr.handle), -EINVAL);
	assert_int_equal(core_dealloc_mw(f.client, r.handle), 0);
	assert_int_equal(alloc(&f, in.pd, 2, &r), 0);
	fixture_stop(&f);
}

/* ---- binding ---- */

struct stand {
	struct fixture f;
	struct fixture_qp names;
	struct qp *qp;
	uint32_t region;
	struct uhca_abi_send_wqe wqe; /* a bind that is right in all */
};

static void stand(struct stand *s, uint32_t type, void (*tweak)(struct core_config *))
{
	struct uhca_cmd_alloc_mw_reply r;

	fixture_start(&s->f, tweak);
	s->names = fixture_qp(&s->f, QPT_RC);
	s->qp = device_find_qp(s->f.dev, s->names.qpn);
	s->region = fixture_mr(&s->f, s->names.pd, ADDR, SIZE, ALL);
	assert_int_equal(alloc(&s->f, s->names.pd, type, &r), 0);
	s->wqe = (struct uhca_abi_send_wqe){.bind = {.addr = ADDR,
						     .length = SIZE,
						     .mr_lkey = s->region,
						     .mw_rkey = r.rkey,
						     .new_rkey = r.rkey ^ 3,
						     .access = IBV_ACCESS_REMOTE_READ}};
}

static enum mr_verdict use(const struct stand *s, uint32_t key, uint64_t addr, uint32_t need)
{
	struct mr *mr;

	return remote_check(qp_key_user(s->qp), key, &addr, 8, need, &mr);
}

static void test_bind(void **state)
{
	(void)state;
	for (uint32_t type = 1; type <= 2; type++) {
		struct stand s;
		uint32_t old, key;

		stand(&s, type, NULL);
		old = s.wqe.bind.mw_rkey;
		key = s.wqe.bind.new_rkey;
		assert_int_equal(use(&s, old, ADDR, MR_REMOTE_READ), MR_BAD_KEY);
		assert_true(mw_bind(qp_key_user(s.qp), &s.wqe));
		assert_int_equal(use(&s, old, ADDR, MR_REMOTE_READ), MR_BAD_KEY);
		assert_int_equal(use(&s, key, ADDR, MR_REMOTE_READ), MR_OK);
		assert_int_equal(use(&s, key, ADDR + SIZE - 8, MR_REMOTE_READ), MR_OK);
		assert_int_equal(use(&s, key, ADDR + SIZE - 7, MR_REMOTE_READ), MR_BAD_RANGE);
		assert_int_equal(use(&s, key, ADDR, MR_REMOTE_WRITE), MR_BAD_ACCESS);
		/* Type 1 may be bound again, under another key; type 2 may not. */
		assert_false(mw_bind(qp_key_user(s.qp), &s.wqe));
		s.wqe.bind.new_rkey ^= 1;
		assert_int_equal(mw_bind(qp_key_user(s.qp), &s.wqe), type == 1);
		assert_int_equal(use(&s, key, ADDR, MR_REMOTE_READ),
				 type == 1 ? MR_BAD_KEY : MR_OK);
		fixture_stop(&s.f);
	}
}

static void refuse(uint32_t type, void (*spoil)(struct stand *s), bool refused)
{
	struct stand s;
	uint32_t key;

	stand(&s, type, NULL);
	key = s.wqe.bind.new_rkey;
	spoil(&s);
	assert_int_equal(mw_bind(qp_key_user(s.qp), &s.wqe), !refused);
	key = (key & ~0xffu) | (s.wqe.bind.new_rkey & 0xff);
	if (!refused && s.wqe.bind.length && !(s.wqe.bind.access & IBV_ACCESS_ZERO_BASED))
		assert_int_equal(use(&s, key, ADDR, MR_REMOTE_READ), MR_OK);
	fixture_stop(&s.f);
}

/* Of the new key the consumer chooses the byte; programs leave anything above it. */
static void other_index(struct stand *s)
{
	s->wqe.bind.new_rkey ^= 0xabcdef00;
}

static void only_byte(struct stand *s)
{
	s->wqe.bind.new_rkey &= 0xff;
}

static void no_window(struct stand *s)
{
	s->wqe.bind.mw_rkey = s->wqe.bind.new_rkey = s->region;
}

static void same_key(struct stand *s)
{
	s->wqe.bind.new_rkey = s->wqe.bind.mw_rkey;
}

static void stale_byte(struct stand *s)
{
	s->wqe.bind.mw_rkey ^= 0x80;
}

static void zero_based(struct stand *s)
{
	s->wqe.bind.access |= IBV_ACCESS_ZERO_BASED;
}

static void local_rights(struct stand *s)
{
	s->wqe.bind.access |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
}

static void unknown_right(struct stand *s)
{
	s->wqe.bind.access |= 1u << 18;
}

static void flush_right(struct stand *s)
{
	s->wqe.bind.access |= MR_FLUSH_GLOBAL; /* which the region does not have */
}

static void too_long(struct stand *s)
{
	s->wqe.bind.length = UINT64_MAX;
}

static void no_length(struct stand *s)
{
	s->wqe.bind.length = 0;
	s->wqe.bind.mr_lkey = 0;
}

static void other_domain(struct stand *s)
{
	struct fixture_qp names = fixture_qp(&s->f, QPT_RC);

	s->qp = device_find_qp(s->f.dev, names.qpn);
}

static void test_rules(void **state)
{
	static const struct {
		void (*spoil)(struct stand *s);
		bool type_1, type_2; /* refused */
	} rules[] = {
		{other_index, false, false},  {only_byte, false, false},
		{no_window, true, true},      {same_key, true, false},
		{stale_byte, false, false},   {zero_based, true, false},
		{local_rights, false, false}, {unknown_right, true, true},
		{flush_right, true, true},    {too_long, true, true},
		{no_length, false, true},     {other_domain, true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		refuse(1, rules[i].spoil, rules[i].type_1);
		refuse(2, rules[i].spoil, rules[i].type_2);
	}
}

/* A region, a QP and a client that go away with windows bound leave nothing behind. */
static void test_teardown(void **state)
{
	void (*const tweaks[])(struct core_config *) = {NULL, only_2a};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct stand s;

		stand(&s, 2, tweaks[i]);
		assert_true(mw_bind(qp_key_user(s.qp), &s.wqe));
		assert_int_equal(core_dereg_mr(s.f.client, s.region >> 8), -EBUSY);
		assert_int_equal(core_destroy_qp(s.f.client, s.names.handle), i ? -EBUSY : 0);
		core_client_destroy(s.f.client);
		s.f.client = core_client_create(s.f.dev, &s.f.client_cookie);
		assert_int_equal(core_object_count(s.f.dev, CORE_OBJECT_MW), 0);
		assert_int_equal(core_object_count(s.f.dev, CORE_OBJECT_MR), 0);
		fixture_stop(&s.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bind),     cmocka_unit_test(test_rules),
		cmocka_unit_test(test_teardown),
	};

	return cmocka_run_group_tests_name("mw", tests, NULL, NULL);
}
