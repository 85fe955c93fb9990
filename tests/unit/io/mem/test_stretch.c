/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pieces are read as one stretch, that each byte of them comes to its place, and that no page
 * is touched for what lies between.
 */
#include "emu/io/mem/stretch.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <string.h>

#define PIECES 256u

static struct core_span piece(uint64_t addr, uint32_t length)
{
	return (struct core_span){addr, length, CORE_SPACE_CLIENT};
}

/* A column: pieces of so many bytes, so far apart. */
static void column(struct core_span *out, unsigned n, uint32_t length, uint32_t step)
{
	for (unsigned i = 0; i < n; i++)
		out[i] = piece(0x10000 + (uint64_t)i * step, length);
}

static void test_when_it_pays(void **state)
{
	struct core_span s[PIECES];

	(void)state;
	column(s, PIECES, 8, 32);
	assert_true(io_stretch_pays(s, PIECES));
	assert_false(io_stretch_pays(s, 1));
	s[7].space = CORE_SPACE_CLIENT + 1;
	assert_false(io_stretch_pays(s, PIECES));
	column(s, PIECES, 8, 32);
	s[7].length = 0;
	assert_false(io_stretch_pays(s, PIECES));
	column(s, PIECES, 8, IO_STRETCH_STEP);
	assert_true(io_stretch_pays(s, PIECES));
	column(s, PIECES, 8, IO_STRETCH_STEP + 1);
	assert_false(io_stretch_pays(s, PIECES));
	column(s, PIECES, IO_STRETCH_STEP + 1, IO_STRETCH_STEP + 1);
	assert_false(io_stretch_pays(s, PIECES));
}

static void test_where_it_ends(void **state)
{
	struct core_span s[PIECES];
	struct io_stretch t;

	(void)state;
	column(s, PIECES, 8, 32);
	t = io_stretch_next(s, PIECES);
	assert_int_equal(t.addr, s[0].addr);
	assert_int_equal(t.n, PIECES);
	assert_int_equal(t.length, (PIECES - 1) * 32 + 8);
	column(s, PIECES, 8, IO_STRETCH_STEP);
	t = io_stretch_next(s, PIECES);
	assert_int_equal(t.n, IO_STRETCH_BYTES / IO_STRETCH_STEP);
	assert_true(t.length <= IO_STRETCH_BYTES);
	s[1] = piece(s[0].addr, 8); /* the same again, and backwards */
	assert_int_equal(io_stretch_next(s, PIECES).n, 1);
	s[1] = piece(s[0].addr - 8, 8);
	assert_int_equal(io_stretch_next(s, PIECES).n, 1);
	s[1] = piece(UINT64_MAX - 7, 8);
	assert_int_equal(io_stretch_next(s, PIECES).n, 1);
	s[0] = piece(UINT64_MAX - 15, 8); /* up to the end of all addresses */
	assert_int_equal(io_stretch_next(s, 2).n, 2);
}

static void test_bytes(void **state)
{
	static uint8_t memory[IO_STRETCH_BYTES], want[IO_STRETCH_BYTES], got[IO_STRETCH_BYTES];
	struct core_span s[PIECES];
	struct io_stretch t;
	struct prng rng;
	size_t at = 0, end = 0;

	(void)state;
	rng = prng_start("stretch");
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)prng_below(&rng, 256);
	for (unsigned i = 0; i < PIECES; i++) {
		s[i] = piece(0x10000 + at, 1 + prng_below(&rng, 40));
		memcpy(want + end, memory + at, s[i].length);
		end += s[i].length;
		at += s[i].length + prng_below(&rng, 80);
	}
	t = io_stretch_next(s, PIECES);
	assert_int_equal(t.n, PIECES);
	assert_ptr_equal(io_stretch_pick(&t, s, memory, got), got + end);
	assert_memory_equal(got, want, end);
}

/* Each page of a stretch has a byte of one of its pieces. */
static void test_pages(void **state)
{
	struct core_span s[2];

	(void)state;
	for (uint32_t length = 1; length <= 16; length++)
		for (uint64_t at = 4096 - 32; at < 4096 + 32; at++) {
			s[0] = piece(at - length, length);
			for (uint64_t gap = 0; gap + length <= IO_STRETCH_STEP; gap++) {
				s[1] = piece(at + gap, length);
				assert_int_equal(io_stretch_next(s, 2).n, 2);
				assert_true((at + gap) / 4096 - (at - 1) / 4096 <= 1);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_it_pays),
		cmocka_unit_test(test_where_it_ends),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
