/* SPDX-License-Identifier: BSD-2-Clause */
/* The null region: zeroes to read, nothing to write, and an L_Key only. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/mr.h"
#include "emu/core/keys/sgl.h"

#include <errno.h>
#include <string.h>

static void test_access(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_abi_sge sge = {.addr = 0xdead0000, .length = 64};
	struct sgl l = {.sge = &sge, .n = 1};
	uint8_t bytes[64];
	struct iovec iov = {bytes, sizeof(bytes)};
	struct mr *mr;

	(void)state;
	fixture_start(&f, NULL);
	l.dev = f.dev;
	assert_int_equal(core_alloc_null_mr(f.client, 77, &out), -ENOENT);
	uint32_t pd = fixture_pd(&f);
	assert_int_equal(core_alloc_null_mr(f.client, pd, &out), 0);
	assert_int_equal(out.rkey, 0);
	sge.lkey = out.lkey;
	l.pd = table_find(&f.dev->pds, pd);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(sgl_write(&l, 0, &iov, 1), 0);
	assert_int_equal(sgl_read(&l, 0, sizeof(bytes), bytes), 0);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(mr_check(l.pd, out.lkey, 0, 8, MR_REMOTE_READ, &mr), MR_BAD_ACCESS);
	assert_int_equal(mr_check(l.pd, out.lkey, 0, 8, MR_MW_BIND, &mr), MR_BAD_ACCESS);
	assert_int_equal(core_dealloc_pd(f.client, pd), -EBUSY);
	assert_int_equal(core_dereg_mr(f.client, out.handle), 0);
	assert_int_equal(core_dealloc_pd(f.client, pd), 0);
	fixture_stop(&f);
}

/* A list whose middle goes nowhere: the rest still lands where it should. */
static void test_skips_in_a_list(void **state)
{
	struct fixture f;
	struct uhca_cmd_reg_mr_reply null;
	struct uhca_cmd_alloc_dm dm = {.length = 64};
	struct uhca_cmd_alloc_dm_reply dm_out;
	struct uhca_cmd_reg_dm_mr reg = {.length = 64, .access = MR_ZERO_BASED | MR_LOCAL_WRITE};
	struct uhca_cmd_reg_mr_reply out;
	struct core_ring ring;
	char text[] = "abcdefgh", back[9] = "";
	struct iovec iov = {text, 8};

	(void)state;
	fixture_start(&f, NULL);
	reg.pd = fixture_pd(&f);
	assert_int_equal(core_alloc_null_mr(f.client, reg.pd, &null), 0);
	assert_int_equal(core_alloc_dm(f.client, &dm, &dm_out, &ring), 0);
	reg.dm = dm_out.handle;
	assert_int_equal(core_reg_dm_mr(f.client, &reg, &out), 0);
	struct uhca_abi_sge sge[3] = {{0, 3, out.lkey}, {5, 2, null.lkey}, {3, 3, out.lkey}};
	struct sgl l = {f.dev, table_find(&f.dev->pds, reg.pd), sge, 3};
	assert_int_equal(sgl_check(&l, MR_LOCAL_WRITE), MR_OK);
	assert_int_equal(sgl_write(&l, 0, &iov, 1), 0);
	assert_int_equal(sgl_read(&l, 0, 8, back), 0);
	assert_memory_equal(back, "abc\0\0fgh", 8);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_skips_in_a_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
