/* SPDX-License-Identifier: BSD-2-Clause */
/* Extents: which are right, and each byte of a region against a model that looks one byte at a
 * time. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/memory/extents.h"

#include <errno.h>
#include <stdlib.h>

#define ADDR   0x7f0000001000ull
#define LENGTH (1u << 20)
#define ARENA  (1u << 20)
#define SPANS  16

static struct device dev = {.cfg.limits.client_memory = 1u << 20};
static uint8_t *const arena = (uint8_t *)0x10000; /* nothing looks there */
static const struct core_arena mapped = {.size = ARENA, .window = {(uint8_t *)0x10000}};

static struct uhca_cmd_reg_pinned_mr request(uint32_t n)
{
	return (struct uhca_cmd_reg_pinned_mr){.mr = {.addr = ADDR, .length = LENGTH},
					       .n_extents = n};
}

static int make(const struct uhca_cmd_reg_pinned_mr *in)
{
	struct client c = {.dev = &dev, .arena = &mapped};
	struct extents *x;
	int err = extents_make(&c, in, NULL, &x);

	if (!err)
		free(x);
	return err;
}

static int make_one(uint64_t addr, uint64_t length, uint64_t offset)
{
	struct uhca_cmd_reg_pinned_mr in = request(1);

	in.extent[0] = (struct uhca_abi_extent){addr, length, offset};
	return make(&in);
}

static void test_which_are_right(void **state)
{
	struct uhca_cmd_reg_pinned_mr in = request(0);

	(void)state;
	assert_int_equal(make(&in), -EINVAL);
	in.n_extents = UHCA_ABI_EXTENTS + 1;
	assert_int_equal(make(&in), -EINVAL);
	assert_int_equal(make_one(ADDR, LENGTH, 0), 0);
	assert_int_equal(make_one(ADDR, 0, 0), -EINVAL);
	assert_int_equal(make_one(ADDR - 1, 1, 0), -EINVAL);
	assert_int_equal(make_one(ADDR, LENGTH + 1, 0), -EINVAL);
	assert_int_equal(make_one(ADDR + LENGTH, 1, 0), -EINVAL);
	assert_int_equal(make_one(UINT64_MAX, 2, 0), -EINVAL);
	assert_int_equal(make_one(ADDR + 1, UINT64_MAX, 0), -EINVAL);
	assert_int_equal(make_one(ADDR, 1, ARENA - 1), 0);
	assert_int_equal(make_one(ADDR, 2, ARENA - 1), -EINVAL);
	assert_int_equal(make_one(ADDR, 1, ARENA), -EINVAL);
	assert_int_equal(make_one(ADDR, 1, UINT64_MAX), -EINVAL);
	in = request(1);
	in.extent[0] = (struct uhca_abi_extent){ADDR, 1, 0};
	in.reserved = 1;
	assert_int_equal(make(&in), -EINVAL);
	in = request(1);
	in.extent[0] = (struct uhca_abi_extent){ADDR, 1, 0};
	in.mr.length = UINT64_MAX; /* wraps */
	assert_int_equal(make(&in), -EINVAL);
}

static void test_order(void **state)
{
	struct uhca_cmd_reg_pinned_mr in = request(2);

	(void)state;
	in.extent[0] = (struct uhca_abi_extent){ADDR + 100, 100, 0};
	in.extent[1] = (struct uhca_abi_extent){ADDR + 200, 100, 0};
	assert_int_equal(make(&in), 0);
	in.extent[1].addr--;
	assert_int_equal(make(&in), -EINVAL);
	in.extent[1].addr = ADDR;
	assert_int_equal(make(&in), -EINVAL);
}

/* Where a byte is: in an extent, or at its address. */
static uint64_t place(const struct extents *x, uint64_t addr, uint32_t *space)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (addr >= x->extent[i].addr && addr < x->extent[i].addr + x->extent[i].length) {
			*space = CORE_SPACE_DEVICE;
			return (uintptr_t)x->extent[i].at + (addr - x->extent[i].addr);
		}
	*space = CORE_SPACE_CLIENT;
	return addr;
}

static void check_walk(const struct extents *x, uint64_t offset, uint32_t length, unsigned max)
{
	struct core_span span[SPANS];
	uint64_t at = ADDR + offset;
	uint32_t walked, sum = 0;
	unsigned n = extents_walk(x, offset, length, span, max, &walked);

	assert_true(n <= max);
	for (unsigned i = 0; i < n; i++) {
		uint32_t step = span[i].length > 64 ? span[i].length / 7 : 1;

		for (uint32_t b = 0; b < span[i].length; b += step) {
			uint32_t space;

			assert_int_equal(place(x, at + b, &space), span[i].addr + b);
			assert_int_equal(space, span[i].space);
		}
		at += span[i].length;
		sum += span[i].length;
	}
	assert_int_equal(sum, walked);
	assert_true(walked == length || n == max);
}

static void test_walk(void **state)
{
	struct uhca_cmd_reg_pinned_mr in = request(3);
	struct client c = {.dev = &dev, .arena = &mapped};
	struct prng r = prng_start("test_extents");
	struct page_array pa;
	struct extents *x;

	(void)state;
	in.extent[0] = (struct uhca_abi_extent){ADDR + 4096, 65536, 100000};
	in.extent[1] = (struct uhca_abi_extent){ADDR + 4096 + 65536, 4096, 0};
	in.extent[2] = (struct uhca_abi_extent){ADDR + 300000, 1, 5};
	assert_int_equal(extents_make(&c, &in, &pa, &x), 0);
	assert_int_equal(extents_bytes(x), 65536 + 4096 + 1);
	assert_int_equal(page_array_construct(&pa, ADDR, LENGTH, 12), 0);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t offset = prng_below(&r, LENGTH - 1);
		uint32_t length = 1 + (uint32_t)prng_below(&r, LENGTH - offset);

		check_walk(x, offset, length, 1 + (unsigned)prng_below(&r, SPANS - 1));
	}
	page_array_destruct(&pa);
	free(x);
}

/* Windows are mapped anywhere: what reaches over their ends is in parts. */
static void test_windows(void **state)
{
	uint8_t *first = (uint8_t *)0x100000000, *second = (uint8_t *)0x10000;
	const struct core_arena two = {.size = 2 * CORE_ARENA_WINDOW + 4096,
				       .window = {first, second}};
	struct client c = {.dev = &dev, .arena = &two};
	struct uhca_cmd_reg_pinned_mr in = request(1);
	struct extents *x;

	(void)state;
	in.extent[0] = (struct uhca_abi_extent){ADDR, 8192, CORE_ARENA_WINDOW - 4096};
	assert_int_equal(extents_make(&c, &in, NULL, &x), 0);
	assert_int_equal(x->n, 2);
	assert_int_equal(extents_bytes(x), 8192);
	assert_ptr_equal(extents_of(x, ADDR + 4095)->at, first + CORE_ARENA_WINDOW - 4096);
	assert_ptr_equal(extents_of(x, ADDR + 4096)->at, second);
	free(x);
	in.extent[0].offset = 2 * CORE_ARENA_WINDOW - 4096; /* the third is not mapped */
	assert_int_equal(extents_make(&c, &in, NULL, &x), -EINVAL);
}

/* Each of 32 may reach over all windows: their parts would be 2048. */
static void test_too_many_windows(void **state)
{
	struct core_arena all = {.size = CORE_ARENA_WINDOWS * CORE_ARENA_WINDOW};
	struct client c = {.dev = &dev, .arena = &all};
	struct uhca_cmd_reg_pinned_mr in = request(2);
	struct extents *x;

	(void)state;
	for (unsigned n = 0; n < CORE_ARENA_WINDOWS; n++)
		all.window[n] = (uint8_t *)0x10000;
	in.mr.addr = 0;
	in.mr.length = 4 * all.size;
	in.extent[0] = (struct uhca_abi_extent){0, all.size, 0};
	in.extent[1] = (struct uhca_abi_extent){all.size, all.size / 2, 0};
	assert_int_equal(extents_make(&c, &in, NULL, &x), 0);
	free(x);
	in.extent[1].length = all.size;
	assert_int_equal(extents_make(&c, &in, NULL, &x), -ENOSPC);
}

static void test_addresses(void **state)
{
	struct uhca_cmd_reg_pinned_mr in = request(1);
	struct client c = {.dev = &dev, .arena = &mapped};
	struct extents *x;
	uint64_t addr;

	(void)state;
	assert_int_equal(extents_bytes(NULL), 0);
	assert_false(extents_find_address(NULL, (uintptr_t)arena, &addr));
	in.extent[0] = (struct uhca_abi_extent){ADDR + 4096, 100, 1000};
	assert_int_equal(extents_make(&c, &in, NULL, &x), 0);
	assert_false(extents_find_address(x, (uintptr_t)arena + 999, &addr));
	assert_true(extents_find_address(x, (uintptr_t)arena + 1000, &addr));
	assert_int_equal(addr, ADDR + 4096);
	assert_true(extents_find_address(x, (uintptr_t)arena + 1099, &addr));
	assert_int_equal(addr, ADDR + 4096 + 99);
	assert_false(extents_find_address(x, (uintptr_t)arena + 1100, &addr));
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_are_right),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_too_many_windows),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
