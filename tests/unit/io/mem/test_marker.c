/* SPDX-License-Identifier: BSD-2-Clause */
/* Where marker pages may be: whole pages, where nothing else is, and never twice alike. */
#include "emu/io/mem/marker.h"
#include "tests/support/io/marker_page.h"
#include "tests/support/wire/cmocka_all.h"

#define TIMES 64

static bool is_one_of(const uint64_t *at, unsigned n, uint64_t what)
{
	for (unsigned i = 0; i < n; i++)
		if (at[i] == what)
			return true;
	return false;
}

static void test_draw(void **state)
{
	uint64_t at[TIMES];
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < TIMES; i++) {
		at[n] = io_marker_draw();
		assert_int_equal(at[n] % 65536, 0);
		assert_in_range(at[n] >> 36, 0x566, 0x567);
		if (is_one_of(at, n, at[n]))
			continue;
		assert_true(marker_page_map(at[n]));
		assert_false(marker_page_map(at[n]));
		n++;
	}
	assert_true(n >
		    TIMES - 8); /* places are 2 million: twice the same comes once in 1000 runs */
	for (unsigned i = 0; i < n; i++)
		marker_page_unmap(at[i]);
}

static void test_piece(void **state)
{
	struct iovec piece = io_marker_piece(0x110000010000);

	(void)state;
	assert_int_equal((uintptr_t)piece.iov_base, 0x110000010000);
	assert_int_equal(piece.iov_len, IO_MARKER_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
