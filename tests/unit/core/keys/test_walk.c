/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk from a key to a byte, against the addresses that were registered; for indirect memory
 * keys against what the description says, byte by byte.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/mw.h"

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
	assert_true(w.has_byte);
	assert_int_equal(w.byte, ADDR + offset);
	assert_int_equal(w.n_steps, 0);
	assert_int_equal(w.region_offset, offset);
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
	assert_int_equal(w.window_of, key);
	assert_int_equal(w.region_key, key);
	assert_int_equal(w.window_offset, 5000);
	assert_int_equal(w.window_length, 100);
	assert_int_equal(w.access, MR_REMOTE_READ);
	assert_int_equal(w.byte, ADDR + 5099);
	assert_int_equal(core_walk_mr(f.dev, out.rkey, 100, &w), -ERANGE);
	assert_int_equal(core_walk_mr(f.dev, out.rkey ^ 1, 0, &w), -ENOENT);
	fixture_stop(&f);
}

/* ---- indirect memory keys ---- */

struct indirect_rig {
	struct fixture f;
	uint32_t pd, region, implicit;
};

static void rig_start(struct indirect_rig *d)
{
	struct uhca_cmd_reg_mr reg = {.length = UINT64_MAX, .access = MR_ON_DEMAND};
	struct uhca_cmd_reg_mr_reply out;

	fixture_start(&d->f, NULL);
	d->pd = reg.pd = fixture_pd(&d->f);
	d->region = fixture_mr(&d->f, d->pd, ADDR, 1 << 20, MR_LOCAL_WRITE | MR_MW_BIND);
	assert_int_equal(core_reg_mr(d->f.client, &reg, &out), 0);
	d->implicit = out.lkey;
}

static struct mr *find_mr(struct indirect_rig *d, uint32_t key)
{
	return table_find(&d->f.dev->mrs, key >> 8);
}

static uint32_t alloc_key(struct indirect_rig *d)
{
	struct uhca_cmd_alloc_key in = {.pd = d->pd, .max_entries = 16};
	struct uhca_cmd_reg_mr_reply out;

	assert_int_equal(core_alloc_key(d->f.client, &in, &out), 0);
	return out.lkey;
}

/* Describes a new key; its access is local write and binding of windows. */
static uint32_t describe(struct indirect_rig *d, uint32_t shape, struct uhca_abi_layout layout,
			 const void *list, size_t bytes)
{
	layout.key = alloc_key(d);
	layout.access = MR_LOCAL_WRITE;
	assert_int_equal(
		indirect_describe(find_mr(d, layout.key), shape, &layout, list, (uint32_t)bytes),
		0);
	return layout.key;
}

static struct core_walk walk_to(struct indirect_rig *d, uint32_t key, uint64_t offset)
{
	struct core_walk w;

	assert_int_equal(core_walk_mr(d->f.dev, key, offset, &w), 0);
	return w;
}

/* What is common to all steps: the entry that is used is among those that are shown, in order. */
static void check_step(const struct core_walk_step *s, uint32_t key, const char *name, uint64_t n)
{
	bool shown = false;

	assert_int_equal(s->key, key);
	assert_string_equal(s->name, name);
	assert_int_equal(s->n, n);
	assert_in_range(s->n_shown, 1, CORE_WALK_SHOWN);
	for (unsigned i = 0; i < s->n_shown; i++) {
		assert_true(i == 0 || s->shown[i].index > s->shown[i - 1].index);
		if (s->shown[i].index != s->entry)
			continue;
		shown = true;
		assert_int_equal(s->shown[i].key, s->child_key);
		assert_true(s->in_entry < s->shown[i].bytes);
	}
	assert_true(shown);
	assert_int_equal(s->shown[s->n_shown - 1].index, n - 1);
}

static void test_pages(void **state)
{
	const uint64_t page[] = {ADDR + 0x3ccc0, ADDR + 0x10cc0, ADDR + 0x4cc0};
	struct uhca_abi_layout layout = {
		.iova = 0x5000123, .length = 9000, .n = 3, .page_shift = 12};
	struct indirect_rig d;
	uint32_t key;

	(void)state;
	rig_start(&d);
	layout.lkey = d.region;
	key = describe(&d, UHCA_ABI_SHAPE_PAGES, layout, page, sizeof(page));
	for (uint64_t at = 0; at < 9000; at += 7) {
		struct core_walk w = walk_to(&d, key, at);
		uint64_t position = 0x123 + at;

		assert_int_equal(w.n_steps, 1);
		check_step(&w.step[0], key, "pages", 3);
		assert_int_equal(w.step[0].page_shift, 12);
		assert_int_equal(w.step[0].first_offset, 0x123);
		assert_int_equal(w.step[0].entry, position / 4096);
		assert_int_equal(w.step[0].in_entry, position % 4096);
		assert_int_equal(w.region_key, d.region);
		assert_int_equal(w.byte, page[position / 4096] + position % 4096);
		assert_int_equal(w.region_offset, w.byte - ADDR);
	}
	fixture_stop(&d.f);
}

static void test_blocks(void **state)
{
	struct uhca_abi_block block[9];
	struct indirect_rig d;
	uint64_t at = 0;
	uint32_t key;

	(void)state;
	rig_start(&d);
	for (unsigned i = 0; i < 9; i++)
		block[i] = (struct uhca_abi_block){
			.addr = ADDR + 5000 * (9 - i), .length = 1 + i * 100, .lkey = d.region};
	key = describe(&d, UHCA_ABI_SHAPE_BLOCKS, (struct uhca_abi_layout){.n = 9}, block,
		       sizeof(block));
	for (unsigned i = 0; i < 9; i++) {
		for (uint64_t in = 0; in < block[i].length; in += 50) {
			struct core_walk w = walk_to(&d, key, at + in);

			check_step(&w.step[0], key, "blocks", 9);
			assert_int_equal(w.step[0].entry, i);
			assert_int_equal(w.step[0].in_entry, in);
			assert_int_equal(w.step[0].part, block[i].length - in);
			assert_int_equal(w.byte, block[i].addr + in);
		}
		at += block[i].length;
	}
	fixture_stop(&d.f);
}

/* Two pieces, two dimensions, one of them backwards: the list of all bytes, made by loops. */
static void test_interleaved(void **state)
{
	struct {
		uint64_t count[2];
		struct uhca_abi_piece piece[2];
	} list = {{3, 5},
		  {{.addr = ADDR + 4000, .bytes = 8, .stride = {1000, -40}},
		   {.addr = ADDR + 9000, .bytes = 3, .stride = {-500, 16}}}};
	struct indirect_rig d;
	uint64_t at = 0;
	uint32_t key;

	(void)state;
	rig_start(&d);
	list.piece[0].lkey = list.piece[1].lkey = d.region;
	key = describe(&d, UHCA_ABI_SHAPE_INTERLEAVED,
		       (struct uhca_abi_layout){.n = 2, .n_dims = 2}, &list, sizeof(list));
	for (int64_t i = 0; i < 3; i++) {
		for (int64_t j = 0; j < 5; j++) {
			for (unsigned b = 0; b < 11; b++, at++) {
				const struct uhca_abi_piece *piece = &list.piece[b >= 8];
				struct core_walk w = walk_to(&d, key, at);
				const struct core_walk_step *s = &w.step[0];

				check_step(s, key, "interleaved", 2);
				assert_int_equal(s->entry, b >= 8);
				assert_int_equal(s->repeat, at / 11);
				assert_int_equal(s->index[0], i);
				assert_int_equal(s->index[1], j);
				assert_int_equal(s->count[0], 3);
				assert_int_equal(s->stride[1], piece->stride[1]);
				assert_int_equal(w.byte, (int64_t)piece->addr +
								 i * piece->stride[0] +
								 j * piece->stride[1] + b % 8);
			}
		}
	}
	assert_int_equal(at, walk_to(&d, key, 0).step[0].length);
	fixture_stop(&d.f);
}

/* A composite of a part of a column and of any memory of the program. */
static void test_nested(void **state)
{
	struct {
		uint64_t count;
		struct uhca_abi_piece piece;
	} column = {10, {.addr = ADDR + 16, .bytes = 4, .stride = {64}}};
	struct uhca_abi_block block[] = {{.addr = 6, .length = 10}, {.addr = 0x1234, .length = 5}};
	struct core_walk w;
	struct indirect_rig d;
	uint32_t inner, outer;

	(void)state;
	rig_start(&d);
	column.piece.lkey = d.region;
	inner = describe(&d, UHCA_ABI_SHAPE_INTERLEAVED,
			 (struct uhca_abi_layout){.n = 1, .n_dims = 1}, &column, sizeof(column));
	block[0].lkey = inner;
	block[1].lkey = d.implicit;
	outer = alloc_key(&d);
	struct uhca_abi_layout layout = {.key = outer, .n = 2}; /* for reading */
	assert_int_equal(indirect_describe(find_mr(&d, outer), UHCA_ABI_SHAPE_SG, &layout, block,
					   sizeof(block)),
			 0);
	w = walk_to(&d, outer, 7);
	assert_int_equal(w.n_steps, 2);
	check_step(&w.step[0], outer, "sg", 2);
	check_step(&w.step[1], inner, "interleaved", 1);
	assert_int_equal(w.step[0].depth, 2);
	assert_int_equal(w.step[0].child_key, inner);
	assert_int_equal(w.step[1].offset, 13);
	assert_int_equal(w.step[1].index[0], 3);
	assert_int_equal(w.byte, ADDR + 16 + 3 * 64 + 1);
	w = walk_to(&d, outer, 12);
	assert_int_equal(w.n_steps, 1);
	assert_int_equal(w.region_key, d.implicit);
	assert_int_equal(w.n_pages, 0);
	assert_true(w.has_byte);
	assert_int_equal(w.byte, 0x1236);
	assert_int_equal(core_walk_mr(d.f.dev, outer, 15, &w), -ERANGE);
	fixture_stop(&d.f);
}

/* Memory that program and device share is at the program's addresses; device memory is not. */
static void test_shared(void **state)
{
	struct uhca_cmd_alloc_dm in = {.length = 8192, .flags = UHCA_ABI_DM_SHARED};
	struct uhca_cmd_alloc_dm_reply dm;
	struct uhca_cmd_reg_shared_mr reg = {.length = 4096, .offset = 4096, .iova = ADDR};
	struct uhca_cmd_reg_dm_mr reg_dm = {.length = 4096, .access = MR_ZERO_BASED};
	struct uhca_cmd_reg_mr_reply out;
	struct core_ring ring;
	struct core_walk w;
	struct indirect_rig d;

	(void)state;
	rig_start(&d);
	assert_int_equal(core_alloc_dm(d.f.client, &in, &dm, &ring), 0);
	reg.pd = d.pd;
	reg.dm = dm.handle;
	assert_int_equal(core_reg_shared_mr(d.f.client, &reg, &out), 0);
	w = walk_to(&d, out.lkey, 77);
	assert_string_equal(w.kind, "shared memory");
	assert_true(w.has_byte);
	assert_int_equal(w.byte, ADDR + 77);
	in.flags = 0;
	assert_int_equal(core_alloc_dm(d.f.client, &in, &dm, &ring), 0);
	reg_dm.pd = d.pd;
	reg_dm.dm = dm.handle;
	assert_int_equal(core_reg_dm_mr(d.f.client, &reg_dm, &out), 0);
	w = walk_to(&d, out.lkey, 77);
	assert_string_equal(w.kind, "device memory");
	assert_false(w.has_byte);
	fixture_stop(&d.f);
}

static void test_invalid(void **state)
{
	struct core_walk w;
	struct indirect_rig d;
	uint32_t key;

	(void)state;
	rig_start(&d);
	key = alloc_key(&d);
	w = walk_to(&d, key, 0);
	assert_int_equal(w.n_steps, 0);
	assert_int_equal(w.length, 0);
	assert_true(w.invalid);
	assert_false(w.has_byte);
	assert_string_equal(w.kind, "nothing: the key is invalid");
	assert_int_equal(core_walk_mr(d.f.dev, key, 1, &w), -ERANGE);
	fixture_stop(&d.f);
}

/* A window on a part of an indirect memory key: its offset comes before all descriptions. */
static void test_window_on_indirect(void **state)
{
	const struct uhca_abi_block block[] = {{.addr = ADDR + 100, .length = 50},
					       {.addr = ADDR + 3000, .length = 50}};
	struct uhca_cmd_alloc_mw in = {.type = 1};
	struct uhca_cmd_alloc_mw_reply out;
	struct uhca_abi_block list[2];
	struct core_walk w;
	struct indirect_rig d;
	struct mw *mw;
	uint32_t key;

	(void)state;
	rig_start(&d);
	memcpy(list, block, sizeof(list));
	list[0].lkey = list[1].lkey = d.region;
	key = describe(&d, UHCA_ABI_SHAPE_BLOCKS, (struct uhca_abi_layout){.n = 2}, list,
		       sizeof(list));
	in.pd = d.pd;
	assert_int_equal(core_alloc_mw(d.f.client, &in, &out), 0);
	mw = table_find(&d.f.dev->mrs, out.rkey >> 8);
	mw->mr = find_mr(&d, key);
	mw->addr = 40;
	mw->length = 20;
	mw->access = MR_REMOTE_READ;
	mw->mr->obj.refs++;
	w = walk_to(&d, out.rkey, 15);
	assert_true(w.window);
	assert_int_equal(w.window_of, key);
	assert_int_equal(w.n_steps, 1);
	assert_int_equal(w.step[0].offset, 55);
	assert_int_equal(w.access, MR_REMOTE_READ);
	assert_int_equal(w.byte, ADDR + 3005);
	assert_int_equal(core_walk_mr(d.f.dev, out.rkey, 20, &w), -ERANGE);
	fixture_stop(&d.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_level),
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_interleaved),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_window_on_indirect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
