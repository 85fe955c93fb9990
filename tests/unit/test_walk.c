/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk from a key to a byte, against the addresses that were registered. */
#include "../support/cmocka_all.h"
#include "../support/core_fixture.h"

#include "mw.h"

#include <errno.h>
#include <string.h>

#define ADDR 0x7000000012340ull

static void check_byte(struct fixture *f, uint32_t key, uint64_t offset, uint64_t n_pages)
{
	struct core_walk w;
	bool shown = false;

	assert_int_equal(core_walk_mr(f->dev, key, offset, &w), 0);
	assert_ptr_equal(w.client, &f->client_cookie);
	assert_int_equal(w.index << 8 | w.key_byte, key);
	assert_int_equal(w.iova, ADDR);
	assert_int_equal(w.first_offset, 0x340);
	assert_int_equal(w.n_pages, n_pages);
	assert_int_equal(w.byte, ADDR + offset);
	assert_int_equal(w.position, 0x340 + offset);
	assert_int_equal(w.entry, w.position / 4096);
	assert_int_equal(w.in_page, w.position % 4096);
	assert_in_range(w.n_shown, 1, CORE_WALK_SHOWN);
	for (unsigned i = 0; i < w.n_shown; i++) {
		assert_true(i == 0 || w.shown[i].index > w.shown[i - 1].index);
		assert_int_equal(w.shown[i].page, (ADDR & ~0xfffull) + 4096 * w.shown[i].index);
		shown |= w.shown[i].index == w.entry;
	}
	assert_true(shown);
	assert_int_equal(w.shown[0].index, 0);
	assert_int_equal(w.shown[w.n_shown - 1].index, n_pages - 1);
}

static void walk(uint64_t length, uint64_t n_pages, uint32_t leaf_entries)
{
	const uint64_t offsets[] = {0, 1, 0xcbf, 0xcc0, length / 2, length - 1};
	struct core_walk w;
	struct fixture f;
	uint32_t pd, key;

	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, ADDR, length, MR_LOCAL_WRITE);
	for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		if (offsets[i] < length)
			check_byte(&f, key, offsets[i], n_pages);
	assert_int_equal(core_walk_mr(f.dev, key, 0, &w), 0);
	assert_int_equal(w.leaf_entries, leaf_entries);
	assert_int_equal(w.access, MR_LOCAL_WRITE);
	assert_int_equal(w.length, length);
	assert_int_equal(w.pd, pd);
	assert_int_equal(core_walk_mr(f.dev, key, length, &w), -ERANGE);
	assert_int_equal(core_walk_mr(f.dev, key ^ 1, 0, &w), -ENOENT);
	assert_int_equal(core_walk_mr(f.dev, key ^ 0x100, 0, &w), -ENOENT);
	fixture_stop(&f);
}

static void test_one_level(void **state)
{
	(void)state;
	walk(1, 1, 0);
	walk(4096, 2, 0);
	walk(20 * 4096, 21, 0);
}

static void test_two_levels(void **state)
{
	(void)state;
	walk(1000 * 4096, 1001, PAGE_ARRAY_FLAT);
}

static void test_empty(void **state)
{
	struct core_walk w;
	struct fixture f;
	uint32_t key;

	(void)state;
	fixture_start(&f, NULL);
	key = fixture_mr(&f, fixture_pd(&f), ADDR, 0, 0);
	assert_int_equal(core_walk_mr(f.dev, key, 0, &w), 0);
	assert_int_equal(w.n_pages, 0);
	assert_int_equal(w.n_shown, 0);
	assert_int_equal(core_walk_mr(f.dev, key, 1, &w), -ERANGE);
	fixture_stop(&f);
}

/* A window opens a part of its region, by a key of its own. */
static void test_window(void **state)
{
	struct uhca_cmd_alloc_mw in = {.type = 1};
	struct uhca_cmd_alloc_mw_reply out;
	struct core_walk w;
	struct fixture f;
	struct mw *mw;
	uint32_t key;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	key = fixture_mr(&f, in.pd, ADDR, 3 * 4096, MR_LOCAL_WRITE | MR_MW_BIND);
	assert_int_equal(core_alloc_mw(f.client, &in, &out), 0);
	mw = table_find(&f.dev->mrs, out.rkey >> 8);
	assert_int_equal(core_walk_mr(f.dev, out.rkey, 0, &w), -EINVAL);
	mw->mr = table_find(&f.dev->mrs, key >> 8);
	mw->addr = ADDR + 5000;
	mw->length = 100;
	mw->access = MR_REMOTE_READ;
	mw->mr->obj.refs++;
	assert_int_equal(core_walk_mr(f.dev, out.rkey, 99, &w), 0);
	assert_true(w.window);
	assert_int_equal(w.region_key, key);
	assert_int_equal(w.window_offset, 5000);
	assert_int_equal(w.window_length, 100);
	assert_int_equal(w.access, MR_REMOTE_READ);
	assert_int_equal(w.byte, ADDR + 5099);
	assert_int_equal(core_walk_mr(f.dev, out.rkey, 100, &w), -ERANGE);
	assert_int_equal(core_walk_mr(f.dev, out.rkey ^ 1, 0, &w), -ENOENT);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_level),
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
