/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interleaved keys of one piece: many elements at a time give the bytes that one step at a time
 * gives, for random layouts over mapped memory, over pages, and over regions of which parts are
 * pinned.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/keys/indirect_grid.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUTS 5000
#define CHILD   (1u << 20) /* bytes of the region below */
#define IOVA    0x7000000u
#define ADDR    0x40000000u
#define MAX     40u
#define HERE    0x500000000000u /* where pinned memory would be mapped */

static struct prng rng;

/* A key over a region, made by hand: the walk needs no device. */
struct stand {
	struct indirect ind;
	struct indirect_piece piece;
	struct mr child, key;
	struct extents *pinned; /* the child's */
};

static void make_child(struct stand *s, enum mr_kind kind)
{
	s->child.kind = kind;
	s->child.iova = IOVA;
	s->child.addr = ADDR + prng_below(&rng, 5000);
	s->child.pages.length = CHILD;
	if (kind == MR_KIND_MEMORY)
		assert_int_equal(page_array_construct(&s->child.pages, s->child.addr, CHILD, 12),
				 0);
}

/* Two parts of the child are mapped, in another order; what is around them is not. */
static void pin_parts(struct stand *s)
{
	uint64_t third = CHILD / 3;
	struct extents *x = calloc(1, sizeof(*x) + 2 * sizeof(x->extent[0]));

	assert_non_null(x);
	x->from = s->child.addr;
	x->pages = &s->child.pages;
	x->n = 2;
	for (uint64_t i = 0; i < 2; i++)
		x->extent[i] =
			(struct extent){.addr = s->child.addr + i * third + prng_below(&rng, 9000),
					.length = third - 10000 + prng_below(&rng, 1000),
					.at = (uint8_t *)HERE + (1 - i) * CHILD};
	s->child.pinned = s->pinned = x;
}

/* Up to four dimensions, forwards and backwards, that stay inside the child. */
static void make_key(struct stand *s)
{
	int64_t low = 0, high = 0;

	s->ind.shape = UHCA_ABI_SHAPE_INTERLEAVED;
	s->ind.n = 1;
	s->ind.piece = &s->piece;
	s->ind.n_dims = (uint8_t)(1 + prng_below(&rng, 4));
	s->piece.child = &s->child;
	s->piece.bytes = s->ind.round = 1 + prng_below(&rng, prng_below(&rng, 4) ? 70 : 6000);
	s->key.kind = MR_KIND_INDIRECT;
	s->key.ind = &s->ind;
	s->key.iova = prng_below(&rng, 2) ? 0 : 0x123456;
	s->key.pages.length = s->piece.bytes;
	for (unsigned d = 0; d < s->ind.n_dims; d++) {
		s->ind.count[d] = 1 + prng_below(&rng, d == s->ind.n_dims - 1u ? 20 : 9);
		s->piece.stride[d] = (int64_t)prng_below(&rng, 10000) - 5000;
		if (d == s->ind.n_dims - 1u && s->piece.stride[d] == (int64_t)s->piece.bytes)
			s->piece.stride[d]++;
		s->key.pages.length *= s->ind.count[d];
		if (s->piece.stride[d] < 0)
			low += s->piece.stride[d] * (int64_t)(s->ind.count[d] - 1);
		else
			high += s->piece.stride[d] * (int64_t)(s->ind.count[d] - 1);
	}
	s->piece.addr = (uint64_t)(IOVA + CHILD / 2 + low / 4 - high / 4);
}

/* Where the byte is by single steps. */
static uint64_t place_of(struct stand *s, uint64_t addr)
{
	uint64_t part = 1;
	struct mr *leaf = indirect_leaf(&s->key, &addr, &part);

	assert_ptr_equal(leaf, &s->child);
	assert_int_equal(part, 1);
	return leaf->addr + (addr - leaf->iova);
}

/* Of the client what is ours, too. */
static uint64_t at_client(const struct stand *s, const struct core_span *span)
{
	uint64_t addr;

	if (s->child.kind == MR_KIND_DEVICE)
		assert_int_equal(span->space, CORE_SPACE_DEVICE);
	if (!s->pinned) {
		assert_int_equal(span->space == CORE_SPACE_DEVICE, s->child.kind == MR_KIND_DEVICE);
		return span->addr;
	}
	if (extents_find_address(s->pinned, span->addr, &addr)) {
		assert_int_equal(span->space, CORE_SPACE_DEVICE);
		return addr;
	}
	assert_null(extents_of(s->pinned, span->addr));
	assert_int_equal(span->space, CORE_SPACE_CLIENT);
	return span->addr;
}

static void check_part(struct stand *s, uint64_t offset, uint32_t length, unsigned max)
{
	struct core_span span[MAX];
	uint64_t addr = s->key.iova + offset, sum = 0;
	uint32_t walked;
	unsigned n = indirect_grid_spans(&s->key, addr, length, span, max, &walked);

	assert_true(n >= 1 && n <= max);
	assert_true(walked == length || (walked < length && n == max));
	for (unsigned i = 0; i < n; i++) {
		struct core_span last = span[i];

		/* The first and the last byte: what is between them stands together. */
		assert_true(span[i].length > 0);
		assert_int_equal(at_client(s, &span[i]), place_of(s, addr + sum));
		sum += span[i].length;
		last.addr += last.length - 1;
		assert_int_equal(at_client(s, &last), place_of(s, addr + sum - 1));
	}
	assert_int_equal(sum, walked);
}

/* The elements of a row, where there is one, are where single steps find them. */
static bool check_row(struct stand *s, uint64_t offset, uint32_t length)
{
	uint64_t addr = s->key.iova + offset;
	struct core_row row;

	if (!indirect_grid_row(&s->key, addr, length, &row))
		return false;
	assert_int_equal(offset % s->piece.bytes, 0);
	assert_int_equal(row.length, s->piece.bytes);
	assert_true(row.count > 0 && (uint64_t)row.count * row.length <= length);
	for (uint32_t i = 0; i < row.count; i++, addr += row.length) {
		struct core_span first = {row.addr + (uint64_t)row.stride * i, row.length,
					  CORE_SPACE_DEVICE};
		struct core_span last = first;

		assert_int_equal(at_client(s, &first), place_of(s, addr));
		last.addr += row.length - 1;
		assert_int_equal(at_client(s, &last), place_of(s, addr + row.length - 1));
	}
	return true;
}

static unsigned rows_seen;

static void check_layouts(enum mr_kind kind, bool pinned)
{
	for (unsigned i = 0; i < LAYOUTS; i++) {
		struct stand s;

		memset(&s, 0, sizeof(s));
		make_child(&s, kind);
		if (pinned)
			pin_parts(&s);
		make_key(&s);
		assert_true(indirect_is_grid(&s.key));
		for (unsigned k = 0; k < 10; k++) {
			uint32_t all = (uint32_t)s.key.pages.length;
			uint32_t offset = prng_below(&rng, all);
			uint32_t length = 1 + prng_below(&rng, all - offset);
			check_part(&s, offset, length, 1 + prng_below(&rng, MAX));
			offset -= prng_below(&rng, 4) ? offset % (uint32_t)s.piece.bytes : 0;
			rows_seen += check_row(&s, offset, all - offset);
		}
		page_array_destruct(&s.child.pages);
		free(s.pinned);
	}
}

static void test_mapped(void **state)
{
	(void)state;
	rows_seen = 0;
	check_layouts(MR_KIND_DEVICE, false);
	assert_in_range(rows_seen, LAYOUTS, 10 * LAYOUTS);
}

static void test_pages(void **state)
{
	(void)state;
	rows_seen = 0;
	check_layouts(MR_KIND_MEMORY, false);
	assert_int_equal(rows_seen, 0);
}

static void test_pinned(void **state)
{
	(void)state;
	rows_seen = 0;
	check_layouts(MR_KIND_MEMORY, true);
	assert_in_range(rows_seen, LAYOUTS / 10, 10 * LAYOUTS);
}

static void test_no_grid(void **state)
{
	struct stand s;

	(void)state;
	memset(&s, 0, sizeof(s));
	make_child(&s, MR_KIND_DEVICE);
	make_key(&s);
	assert_true(indirect_is_grid(&s.key));
	assert_false(indirect_is_grid(&s.child));
	s.child.kind = MR_KIND_NULL;
	assert_false(indirect_is_grid(&s.key));
	s.child.kind = MR_KIND_INDIRECT;
	assert_false(indirect_is_grid(&s.key));
	s.child.kind = MR_KIND_DEVICE;
	s.ind.n = 2;
	assert_false(indirect_is_grid(&s.key));
	s.ind.n = 1;
	s.ind.shape = UHCA_ABI_SHAPE_SG;
	assert_false(indirect_is_grid(&s.key));
	s.ind.shape = UHCA_ABI_SHAPE_INTERLEAVED;
	s.piece.stride[s.ind.n_dims - 1u] = (int64_t)s.piece.bytes;
	assert_false(indirect_is_grid(&s.key));
	s.ind.n_dims = 0;
	assert_false(indirect_is_grid(&s.key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_no_grid),
	};

	rng = prng_start("test_indirect_grid");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
