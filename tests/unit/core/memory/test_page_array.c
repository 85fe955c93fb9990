/* SPDX-License-Identifier: BSD-2-Clause */
/* Page arrays against a model that translates one byte at a time, in both shapes. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/memory/page_array.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_SPANS 8

static void test_empty(void **state)
{
	struct page_array pa;
	uint32_t walked = 1;

	(void)state;
	assert_int_equal(page_array_construct(&pa, 0x1234, 0, 12), 0);
	assert_int_equal(pa.n_pages, 0);
	assert_int_equal(pa.length, 0);
	assert_int_equal(page_array_walk(&pa, 0, 0, NULL, 0, &walked), 0);
	assert_int_equal(walked, 0);
	page_array_destruct(&pa);
}

static void test_end_of_the_address_space(void **state)
{
	struct page_array pa;
	struct core_span span;
	uint32_t walked;

	(void)state;
	assert_int_equal(page_array_construct(&pa, UINT64_MAX, 1, 12), 0);
	assert_int_equal(pa.n_pages, 1);
	assert_int_equal(page_array_walk(&pa, 0, 1, &span, 1, &walked), 1);
	assert_true(span.addr == UINT64_MAX);
	page_array_destruct(&pa);
	assert_int_equal(page_array_construct(&pa, UINT64_MAX, 2, 12), -EINVAL);
	assert_int_equal(page_array_construct(&pa, 2, UINT64_MAX, 12), -EINVAL);
}

static void check_shape(uint64_t pages, bool two_level)
{
	struct page_array pa;

	assert_int_equal(page_array_construct(&pa, 0x10000, pages << 12, 12), 0);
	assert_int_equal(pa.n_pages, pages);
	assert_int_equal(pa.leaf != NULL, two_level);
	assert_int_equal(pa.flat != NULL, !two_level);
	for (uint64_t i = 0; i < pages; i++)
		assert_int_equal(page_array_entry(&pa, i), 0x10000 + (i << 12));
	page_array_destruct(&pa);
}

static void test_shapes(void **state)
{
	(void)state;
	check_shape(1, false);
	check_shape(PAGE_ARRAY_FLAT - 1, false);
	check_shape(PAGE_ARRAY_FLAT, false);
	check_shape(PAGE_ARRAY_FLAT + 1, true);
	check_shape(2 * PAGE_ARRAY_FLAT, true);
	check_shape(2 * PAGE_ARRAY_FLAT + 1, true);
}

/* One byte into the next page makes one page more. */
static void test_page_count(void **state)
{
	struct page_array pa;

	(void)state;
	assert_int_equal(page_array_construct(&pa, 4095, 1, 12), 0);
	assert_int_equal(pa.n_pages, 1);
	assert_int_equal(pa.first_offset, 4095);
	page_array_destruct(&pa);
	assert_int_equal(page_array_construct(&pa, 4095, 2, 12), 0);
	assert_int_equal(pa.n_pages, 2);
	page_array_destruct(&pa);
	assert_int_equal(page_array_construct(&pa, 0, 4096, 12), 0);
	assert_int_equal(pa.n_pages, 1);
	page_array_destruct(&pa);
}

/* ---- random regions ---- */

static uint64_t *entry(struct page_array *pa, uint64_t i)
{
	return pa->flat ? &pa->flat[i] : &pa->leaf[i / PAGE_ARRAY_FLAT][i % PAGE_ARRAY_FLAT];
}

/* Pages as a shuffled memory has them: some runs stay together, the others jump. */
static void scatter(struct page_array *pa, struct prng *r)
{
	for (uint64_t i = 0; i < pa->n_pages; i++) {
		bool follow = i > 0 && prng_below(r, 2);
		*entry(pa, i) = follow ? *entry(pa, i - 1) + (1ull << pa->page_shift)
				       : prng_bits(r, 40) << pa->page_shift;
	}
}

static uint64_t model(const struct page_array *pa, uint64_t offset)
{
	uint64_t position = pa->first_offset + offset, size = 1ull << pa->page_shift;
	return page_array_entry(pa, position / size) + position % size;
}

static void check_walk(const struct page_array *pa, uint64_t offset, uint32_t length, unsigned max)
{
	struct core_span span[MAX_SPANS];
	uint32_t walked, at = 0;
	unsigned n = page_array_walk(pa, offset, length, span, max, &walked);

	assert_true(n <= max);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(span[i].space, CORE_SPACE_CLIENT);
		assert_true(span[i].length > 0);
		if (i) /* neighbours merge */
			assert_true(span[i - 1].addr + span[i - 1].length != span[i].addr);
		for (uint32_t k = 0; k < span[i].length; k++)
			assert_int_equal(span[i].addr + k, model(pa, offset + at++));
	}
	assert_int_equal(at, walked);
	if (walked < length) { /* it stopped because the next piece needs one span more */
		assert_int_equal(n, max);
		assert_int_not_equal(model(pa, offset + walked),
				     n ? span[n - 1].addr + span[n - 1].length : 0);
	}
}

static void check_region(struct prng *r, uint32_t shift, uint64_t pages, bool scattered)
{
	uint64_t length = 1 + prng_below(r, (uint32_t)(pages << shift));
	struct page_array pa;

	assert_int_equal(page_array_construct(&pa, prng_bits(r, 48), length, shift), 0);
	if (scattered)
		scatter(&pa, r);
	for (int i = 0; i < 50; i++) {
		uint32_t offset = prng_below(r, (uint32_t)length);
		uint32_t most = (uint32_t)length - offset;
		uint32_t want = 1 + prng_below(r, most < 2000 ? most : 2000);
		check_walk(&pa, offset, want, prng_below(r, MAX_SPANS + 1));
		if (!scattered) {
			struct core_span span;
			uint32_t walked;
			assert_int_equal(page_array_walk(&pa, offset, want, &span, 1, &walked), 1);
			assert_int_equal(walked, want);
		}
	}
	page_array_destruct(&pa);
}

static void test_model(void **state)
{
	struct prng r = prng_start("test_page_array");

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint32_t shift = 4 + prng_below(&r, 9);
		check_region(&r, shift, 1 + prng_below(&r, PAGE_ARRAY_FLAT - 2), true);
		check_region(&r, shift, PAGE_ARRAY_FLAT + prng_below(&r, 1500), true);
		check_region(&r, shift, 1 + prng_below(&r, 2000), false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),  cmocka_unit_test(test_end_of_the_address_space),
		cmocka_unit_test(test_shapes), cmocka_unit_test(test_page_count),
		cmocka_unit_test(test_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
