/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions: what may be registered, and each verdict of an access in its order. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/keys/mr.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ADDR 0x7f0000001234ull
#define SIZE 10000u
#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

static const struct pd *pd_of(const struct fixture *f, uint32_t handle)
{
	return table_find(&f->dev->pds, handle);
}

static enum mr_verdict check(const struct pd *pd, uint32_t key, uint64_t addr, uint64_t length,
			     uint32_t need)
{
	struct mr *mr = NULL;
	enum mr_verdict v = mr_check(pd, key, addr, length, need, &mr);

	assert_int_equal(v == MR_OK, mr != NULL);
	return v;
}

static int reg(struct fixture *f, uint32_t access, uint64_t length)
{
	struct uhca_cmd_reg_mr in = {.addr = ADDR, .iova = ADDR, .length = length};
	struct uhca_cmd_reg_mr_reply out;
	int err;

	in.access = access;
	assert_int_equal(core_alloc_pd(f->client, &in.pd), 0);
	err = core_reg_mr(f->client, &in, &out);
	if (!err)
		assert_int_equal(core_dereg_mr(f->client, out.handle), 0);
	assert_int_equal(core_dealloc_pd(f->client, in.pd), 0);
	return err;
}

static void test_access_flags(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(reg(&f, 0, 1), 0);
	assert_int_equal(reg(&f, ALL, 1), 0);
	assert_int_equal(reg(&f, IBV_ACCESS_REMOTE_READ, 1), 0);
	assert_int_equal(reg(&f, IBV_ACCESS_REMOTE_WRITE, 1), -EINVAL);
	assert_int_equal(reg(&f, IBV_ACCESS_REMOTE_ATOMIC, 1), -EINVAL);
	assert_int_equal(reg(&f, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, 1), -EINVAL);
	assert_int_equal(reg(&f, IBV_ACCESS_MW_BIND, 1), 0);
	assert_int_equal(reg(&f, IBV_ACCESS_ZERO_BASED, 1), 0);
	assert_int_equal(reg(&f, IBV_ACCESS_HUGETLB, 1), 0);
	assert_int_equal(reg(&f, IBV_ACCESS_RELAXED_ORDERING, 1), 0);
	assert_int_equal(reg(&f, 1u << 29, 1), 0); /* optional range: may be ignored */
	assert_int_equal(reg(&f, IBV_ACCESS_ON_DEMAND, 1), 0);
	assert_int_equal(reg(&f, 1u << 8, 1), 0); /* FLUSH_GLOBAL */
	assert_int_equal(reg(&f, 1u << 9, 1), 0); /* FLUSH_PERSISTENT */
	f.dev->cfg.features &= ~(uint32_t)UHCA_ABI_HAS_FLUSH;
	assert_int_equal(reg(&f, 1u << 8, 1), -EOPNOTSUPP);
	assert_int_equal(reg(&f, 1u << 9, 1), -EOPNOTSUPP);
	for (unsigned bit = 10; bit < 32; bit++)
		if (bit < 20 || bit > 29)
			assert_int_equal(reg(&f, 1u << bit, 1), -EINVAL);
	fixture_stop(&f);
}

static void small(struct core_config *cfg)
{
	cfg->limits.max_mr = 2;
	cfg->limits.max_mr_size = 1 << 20;
}

static void test_limits(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr in = {.length = 1};
	struct uhca_cmd_reg_mr_reply out;

	(void)state;
	fixture_start(&f, small);
	assert_int_equal(reg(&f, 0, 1 << 20), 0);
	assert_int_equal(reg(&f, 0, (1 << 20) + 1), -EINVAL);
	assert_int_equal(reg(&f, 0, UINT64_MAX), -EINVAL);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(core_reg_mr(f.client, &in, &out), -ENOMEM);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_MR), 2);
	fixture_stop(&f);
}

/* Neither addresses nor iova may wrap around. */
static void test_wrap(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr in = {.length = 4096};
	struct uhca_cmd_reg_mr_reply out;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	in.addr = UINT64_MAX - 4094;
	assert_int_equal(core_reg_mr(f.client, &in, &out), -EINVAL);
	in.addr = 0;
	in.iova = UINT64_MAX - 4094;
	assert_int_equal(core_reg_mr(f.client, &in, &out), -EINVAL);
	in.iova--;
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(check(pd_of(&f, in.pd), out.lkey, UINT64_MAX, 1, 0), MR_OK);
	assert_int_equal(check(pd_of(&f, in.pd), out.lkey, UINT64_MAX, 2, 0), MR_BAD_RANGE);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_MR), 1);
	fixture_stop(&f);
}

static void test_keys(void **state)
{
	struct fixture f;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, ADDR, SIZE, ALL);
	assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, 0), MR_OK);
	for (unsigned bit = 0; bit < 32; bit++)
		assert_int_equal(check(pd_of(&f, pd), key ^ 1u << bit, ADDR, 1, 0), MR_BAD_KEY);
	assert_int_equal(check(pd_of(&f, pd), 0, ADDR, 1, 0), MR_BAD_KEY);
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, 0), MR_BAD_KEY);
	fixture_stop(&f);
}

static void test_foreign(void **state)
{
	struct fixture f;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, ADDR, SIZE, ALL);
	assert_int_equal(core_dereg_mr(f.other, key >> 8), -ENOENT);
	assert_int_equal(core_dereg_mr(f.client, 0), -ENOENT);
	assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, 0), MR_OK);
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	assert_int_equal(core_dereg_mr(f.client, key >> 8), -ENOENT);
	fixture_stop(&f);
}

static void test_busy(void **state)
{
	struct fixture f;
	uint32_t pd, key;
	struct mr *mr;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, ADDR, SIZE, ALL);
	assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, 0), MR_OK);
	mr = table_find(&f.dev->mrs, key >> 8);
	mr->obj.refs = 1;
	assert_int_equal(core_dereg_mr(f.client, key >> 8), -EBUSY);
	assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, 0), MR_OK);
	mr->obj.refs = 0;
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	fixture_stop(&f);
}

static void test_range(void **state)
{
	struct fixture f;
	uint32_t handle, key;
	const struct pd *pd;

	(void)state;
	fixture_start(&f, NULL);
	handle = fixture_pd(&f);
	pd = pd_of(&f, handle);
	key = fixture_mr(&f, handle, ADDR, SIZE, ALL);
	assert_int_equal(check(pd, key, ADDR, SIZE, 0), MR_OK);
	assert_int_equal(check(pd, key, ADDR, SIZE + 1, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, ADDR - 1, 1, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, ADDR - 1, SIZE, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, ADDR + SIZE - 1, 1, 0), MR_OK);
	assert_int_equal(check(pd, key, ADDR + SIZE - 1, 2, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, ADDR + SIZE, 1, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, ADDR + 1, UINT64_MAX, 0), MR_BAD_RANGE);
	assert_int_equal(check(pd, key, UINT64_MAX, UINT64_MAX, 0), MR_BAD_RANGE);
	/* No bytes are everywhere inside. */
	assert_int_equal(check(pd, key, 0, 0, 0), MR_OK);
	assert_int_equal(check(pd, key, UINT64_MAX, 0, MR_REMOTE_WRITE), MR_OK);
	fixture_stop(&f);
}

static void test_zero_length_region(void **state)
{
	struct fixture f;
	uint32_t handle, key;

	(void)state;
	fixture_start(&f, NULL);
	handle = fixture_pd(&f);
	key = fixture_mr(&f, handle, ADDR, 0, 0);
	assert_int_equal(check(pd_of(&f, handle), key, ADDR, 0, 0), MR_OK);
	assert_int_equal(check(pd_of(&f, handle), key, ADDR, 1, 0), MR_BAD_RANGE);
	fixture_stop(&f);
}

/* Every set of rights against every set of needs. */
static void test_access(void **state)
{
	struct fixture f;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	for (uint32_t has = 0; has < 16; has++) {
		if (has & (MR_REMOTE_WRITE | MR_REMOTE_ATOMIC) && !(has & MR_LOCAL_WRITE))
			continue;
		key = fixture_mr(&f, pd, ADDR, SIZE, has);
		for (uint32_t need = 0; need < 16; need++)
			assert_int_equal(check(pd_of(&f, pd), key, ADDR, 1, need),
					 need & ~has ? MR_BAD_ACCESS : MR_OK);
		assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	}
	fixture_stop(&f);
}

/* Key before protection domain before access before range. */
static void test_precedence(void **state)
{
	struct fixture f;
	uint32_t mine, key;
	const struct pd *pd, *foreign;

	(void)state;
	fixture_start(&f, NULL);
	mine = fixture_pd(&f);
	pd = pd_of(&f, mine);
	foreign = pd_of(&f, fixture_pd(&f));
	key = fixture_mr(&f, mine, ADDR, SIZE, 0);
	assert_int_equal(check(foreign, key + 1, 0, 1, MR_REMOTE_READ), MR_BAD_KEY);
	assert_int_equal(check(foreign, key, 0, 1, MR_REMOTE_READ), MR_BAD_PD);
	assert_int_equal(check(pd, key, 0, 1, MR_REMOTE_READ), MR_BAD_ACCESS);
	assert_int_equal(check(pd, key, 0, 1, 0), MR_BAD_RANGE);
	fixture_stop(&f);
}

static void test_addressing(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr in = {.addr = ADDR, .length = SIZE, .iova = 0x42};
	struct uhca_cmd_reg_mr_reply out;
	struct core_span span;
	struct mr *mr;
	uint32_t walked;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(mr_check(pd_of(&f, in.pd), out.rkey, 0x43, SIZE - 1, 0, &mr), MR_OK);
	assert_int_equal(mr_spans(mr, 0x43, SIZE - 1, &span, 1, &walked), 1);
	assert_int_equal(span.addr, ADDR + 1);
	assert_int_equal(span.length, SIZE - 1);
	/* Zero-based: whatever iova says. */
	in.access = IBV_ACCESS_ZERO_BASED;
	assert_int_equal(core_reg_mr(f.client, &in, &out), 0);
	assert_int_equal(check(pd_of(&f, in.pd), out.rkey, SIZE, 1, 0), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd_of(&f, in.pd), out.rkey, 5, 100, 0, &mr), MR_OK);
	assert_int_equal(mr_spans(mr, 5, 100, &span, 1, &walked), 1);
	assert_int_equal(span.addr, ADDR + 5);
	fixture_stop(&f);
}

/* Big regions have big pages: no client makes the device keep a big array. */
static void test_page_sizes(void **state)
{
	static const uint64_t length[] = {1,          1ull << 26,       (1ull << 26) + 1,
					  1ull << 35, (1ull << 35) + 1, 1ull << 47};
	struct fixture f;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	for (unsigned i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		key = fixture_mr(&f, pd, 0x1000, length[i], 0);
		const struct mr *mr = table_find(&f.dev->mrs, key >> 8);
		assert_true(mr->pages.n_pages <= 16385);
		assert_int_equal(mr->pages.page_shift, i < 2                     ? 12
						       : i < 4                   ? 21
						       : length[i] <= 1ull << 44 ? 30
										 : 39);
		assert_int_equal(check(pd_of(&f, pd), key, 0x1000, length[i], 0), MR_OK);
		assert_int_equal(check(pd_of(&f, pd), key, 0x1000, length[i] + 1, 0), MR_BAD_RANGE);
		assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	}
	fixture_stop(&f);
}

/* Random regions and accesses: inside is decided in 128 bits by the model. */
static void test_model(void **state)
{
	struct prng r = prng_start("test_mr");
	struct fixture f;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	for (int i = 0; i < 2000; i++) {
		uint64_t base = prng_bits(&r, 1 + prng_below(&r, 47));
		uint64_t size = prng_bits(&r, 1 + prng_below(&r, 20));
		uint32_t key = fixture_mr(&f, pd, base, size, 0);
		for (int k = 0; k < 20; k++) {
			uint64_t addr = base + prng_bits(&r, 21) - prng_bits(&r, 20);
			uint64_t len = prng_below(&r, 10) ? prng_bits(&r, 20) : prng_u64(&r);
			__uint128_t end = (__uint128_t)addr + len;
			bool inside = !len || (addr >= base && end <= (__uint128_t)base + size);
			assert_int_equal(check(pd_of(&f, pd), key, addr, len, 0),
					 inside ? MR_OK : MR_BAD_RANGE);
		}
		assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	}
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_access_flags), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_wrap),         cmocka_unit_test(test_keys),
		cmocka_unit_test(test_foreign),      cmocka_unit_test(test_busy),
		cmocka_unit_test(test_range),        cmocka_unit_test(test_zero_length_region),
		cmocka_unit_test(test_access),       cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_addressing),   cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
