/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is mapped here, too: bytes arrive where they should, whatever the lists look like,
 * and a thread that polls the memory sees words whole and the end of a write last.
 */
#include "emu/io/mem/mapped.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define MEMORY  65536u
#define PIECES  100u
#define SLOTS   512u
#define STRIDE  16u
#define VALUES  250u /* what a byte counts to */
#define UNKNOWN 0xee

static struct prng rng;
static _Alignas(64) uint8_t memory[MEMORY];

static struct core_span span(size_t offset, size_t length)
{
	return (struct core_span){(uintptr_t)memory + offset, (uint32_t)length, CORE_SPACE_DEVICE};
}

/* ---- contents ---- */

static unsigned cut(size_t total, size_t *piece)
{
	unsigned i = 0;

	for (; i + 1 < PIECES && total > 0; i++) {
		size_t most = prng_below(&rng, 2) ? 20 : total;

		piece[i] = prng_below(&rng, (uint32_t)(most < total ? most : total) + 1);
		total -= piece[i];
	}
	piece[i++] = total;
	return i;
}

static void test_contents(void **state)
{
	static uint8_t expected[MEMORY], data[MEMORY], back[MEMORY];

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		size_t total = prng_below(&rng, 2) ? prng_below(&rng, 9000) : prng_below(&rng, 24);
		size_t piece[PIECES], at = prng_below(&rng, 64), from = 0;
		struct core_span to[PIECES];
		struct iovec iov[PIECES];
		unsigned n = cut(total, piece);

		prng_fill(&rng, data, total);
		for (unsigned i = 0; i < n; i++) {
			to[i] = span(at, piece[i]);
			memcpy(expected + at, data + from, piece[i]);
			at += piece[i] + prng_below(&rng, 100);
			from += piece[i];
		}
		cut(total, piece);
		from = 0;
		for (unsigned i = 0; from < total || i == 0; i++) {
			iov[i] = (struct iovec){data + from, piece[i]};
			from += piece[i];
		}
		io_mapped_write(to, n, iov);
		assert_memory_equal(memory, expected, MEMORY);
		memset(back, UNKNOWN, sizeof(back));
		io_mapped_read(to, n, back);
		assert_memory_equal(back, data, total);
		assert_int_equal(back[total], UNKNOWN);
	}
}

/* Forwards and backwards, whatever the elements and the list of the source look like. */
static void test_rows(void **state)
{
	static uint8_t expected[MEMORY], data[MEMORY], back[MEMORY];
	static const uint32_t usual[] = {1, 2, 4, 8, 16, 64};

	(void)state;
	memcpy(expected, memory, MEMORY);
	for (unsigned round = 0; round < 5000; round++) {
		uint32_t length = prng_below(&rng, 2) ? usual[prng_below(&rng, 6)]
						      : 1 + prng_below(&rng, 100);
		int64_t stride = length + (int64_t)(prng_below(&rng, 2) ? 8 * prng_below(&rng, 8)
									: prng_below(&rng, 64));
		uint32_t count = 1 + prng_below(&rng, 200), total = length * count, from = 0;
		uint32_t first =
			prng_below(&rng, 2) ? 8 * prng_below(&rng, 8) : prng_below(&rng, 64);
		bool back_to_front = prng_below(&rng, 2);
		struct core_row row = {(uintptr_t)memory + first, stride, length, count};
		size_t piece[PIECES];
		struct iovec iov[PIECES];

		if (back_to_front) {
			row.addr += (uint64_t)stride * (count - 1);
			row.stride = -stride;
		}
		prng_fill(&rng, data, total);
		for (uint32_t i = 0; i < count; i++)
			memcpy(expected + (row.addr - (uintptr_t)memory) + (uint64_t)row.stride * i,
			       data + (size_t)i * length, length);
		cut(total, piece);
		for (unsigned i = 0; from < total; from += (uint32_t)piece[i++])
			iov[i] = (struct iovec){data + from, piece[i]};
		io_mapped_write_row(&row, iov);
		assert_memory_equal(memory, expected, MEMORY);
		memset(back, UNKNOWN, sizeof(back));
		io_mapped_read_row(&row, back);
		assert_memory_equal(back, data, total);
		assert_int_equal(back[total], UNKNOWN);
	}
}

/*
 * Both in one region, apart and across each other, at lengths around those of a run, and further in
 * the page by what makes runs of a copy.
 */
static void test_across(void **state)
{
	static uint8_t expected[MEMORY];

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		size_t length = 2048 * (1 + prng_below(&rng, 3)) + prng_below(&rng, 3);
		size_t from = prng_below(&rng, 9000), to = prng_below(&rng, 9000);

		if (prng_below(&rng, 2))
			to = from + 4096 * prng_below(&rng, 3) + prng_below(&rng, 64);
		prng_fill(&rng, memory, 9000 + 8192 + 3 * 2048 + 64);
		memcpy(expected, memory, MEMORY);
		memmove(expected + to, expected + from, length);
		io_mapped_store(memory + to, memory + from, length);
		assert_memory_equal(memory, expected, MEMORY);
	}
}

static void test_all(void **state)
{
	struct core_span s[3] = {span(0, 8), span(8, 8), span(16, 0)};

	(void)state;
	assert_true(io_mapped_all(s, 3));
	assert_true(io_mapped_all(s, 0));
	s[2].space = CORE_SPACE_CLIENT;
	assert_false(io_mapped_all(s, 3));
	io_mapped_write(s, 0, NULL);
	io_mapped_write(s + 2, 1, NULL);
}

/* ---- what a polling thread sees ---- */

/*
 * Writes of "length" bytes that begin "shift" bytes into each slot, all bytes the same number: one
 * by one, or as a row.
 */
struct watch {
	size_t length, shift;
	bool row;
	uint32_t wrong;
};

/* When the last byte is there, so are the others. Ends with the last number of the last slot. */
static void *watch_order(void *arg)
{
	struct watch *w = arg;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		const uint8_t *at = memory + slot * STRIDE + w->shift;
		uint8_t last, early;

		do {
			last = __atomic_load_n(at + w->length - 1, __ATOMIC_ACQUIRE);
			for (size_t i = 0; i + 1 < w->length; i++) {
				early = __atomic_load_n(at + i, __ATOMIC_RELAXED);
				w->wrong += early < last;
			}
		} while (last != VALUES);
	}
	return NULL;
}

/* All bytes of an aligned word are of one write. */
static void *watch_word(void *arg)
{
	struct watch *w = arg;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		const void *at = memory + slot * STRIDE + w->shift;
		uint64_t v;

		do {
			v = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
			w->wrong += v != (v & 0xff) * 0x0101010101010101u;
		} while (v != VALUES * 0x0101010101010101u);
	}
	return NULL;
}

/* The source is cut in the middle, as by a packet's end. */
static void count_up(const struct watch *w)
{
	for (unsigned slot = 0; slot < SLOTS; slot++) {
		struct core_span s = span(slot * STRIDE + w->shift, w->length);

		for (unsigned v = 1; v <= VALUES; v++) {
			uint8_t a[STRIDE], b[STRIDE];
			size_t half = w->length / 2;
			struct iovec iov[2] = {{a, half}, {b, w->length - half}};

			memset(a, (int)v, sizeof(a));
			memset(b, (int)v, sizeof(b));
			io_mapped_write(&s, 1, iov);
		}
	}
}

static void count_up_rows(const struct watch *w)
{
	static uint8_t bytes[SLOTS * STRIDE];
	struct core_row row = {(uintptr_t)memory + w->shift, STRIDE, (uint32_t)w->length, SLOTS};
	struct iovec iov = {bytes, SLOTS * w->length};

	for (unsigned v = 1; v <= VALUES; v++) {
		memset(bytes, (int)v, sizeof(bytes));
		io_mapped_write_row(&row, &iov);
	}
}

static uint32_t run(void *(*watcher)(void *arg), size_t length, size_t shift, bool row)
{
	struct watch w = {.length = length, .shift = shift, .row = row};
	pthread_t thread;

	memset(memory, 0, sizeof(memory));
	assert_int_equal(pthread_create(&thread, NULL, watcher, &w), 0);
	if (row)
		count_up_rows(&w);
	else
		count_up(&w);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return w.wrong;
}

static void test_last_byte_is_last(void **state)
{
	(void)state;
	for (size_t length = 1; length <= STRIDE; length++)
		for (size_t shift = 0; shift + length <= STRIDE; shift += 5)
			assert_int_equal(run(watch_order, length, shift, false), 0);
}

static void test_words_are_whole(void **state)
{
	(void)state;
	for (size_t shift = 0; shift <= 8; shift += 8) {
		assert_int_equal(run(watch_word, 8, shift, false), 0);
		assert_int_equal(run(watch_word, 8, shift, true), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_across),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_last_byte_is_last),
		cmocka_unit_test(test_words_are_whole),
	};

	rng = prng_start("test_mapped");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
