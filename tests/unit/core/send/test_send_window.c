/* SPDX-License-Identifier: BSD-2-Clause */
/* The window of a QP: where it begins, how it grows, and what a loss makes of it. */
#include "emu/core/send/send_window.h"
#include "tests/support/wire/cmocka_all.h"

#define KIB 1024u

static const struct core_config cfg = {.window_bytes = 128 * KIB, .window_most = 1024 * KIB};

static void test_grows_by_what_is_acknowledged(void **state)
{
	struct send_window w;

	(void)state;
	send_window_begin(&w, &cfg);
	assert_int_equal(w.bytes, 128 * KIB);
	send_window_grow(&w, &cfg, 64 * KIB, 4096);
	assert_int_equal(w.bytes, 192 * KIB);
	/* Beyond half of the most by a packet for each window. */
	send_window_grow(&w, &cfg, (320 + 512) * KIB, 4096);
	assert_int_equal(w.bytes, 516 * KIB);
	send_window_grow(&w, &cfg, 516 * KIB, 4096);
	assert_int_equal(w.bytes, 520 * KIB);
	send_window_grow(&w, &cfg, UINT32_MAX, 4096);
	assert_int_equal(w.bytes, 1024 * KIB);
}

/* Little goes first behind a loss; then half as much as was too much, then a packet more. */
static void test_loss(void **state)
{
	struct send_window w;

	(void)state;
	send_window_begin(&w, &cfg);
	send_window_grow(&w, &cfg, 272 * KIB, 4096);
	send_window_shrink(&w, &cfg);
	assert_int_equal(w.bytes, 16 * KIB);
	send_window_grow(&w, &cfg, 184 * KIB, 4096);
	assert_int_equal(w.bytes, 200 * KIB);
	send_window_grow(&w, &cfg, 200 * KIB, 4096);
	assert_int_equal(w.bytes, 204 * KIB);
}

/* However often something gets lost: what any receiver has room for comes back at once. */
static void test_least(void **state)
{
	struct send_window w;

	(void)state;
	send_window_begin(&w, &cfg);
	for (unsigned i = 0; i < 5; i++)
		send_window_shrink(&w, &cfg);
	send_window_grow(&w, &cfg, 112 * KIB, 4096);
	assert_int_equal(w.bytes, 128 * KIB);
	send_window_grow(&w, &cfg, 128 * KIB, 1024);
	assert_int_equal(w.bytes, 129 * KIB);
}

/* Half of what was too much may be less than any receiver has room for. */
static void test_half_is_less_than_least(void **state)
{
	struct send_window w;

	(void)state;
	send_window_begin(&w, &cfg);
	send_window_grow(&w, &cfg, 72 * KIB, 4096);
	assert_int_equal(w.bytes, 200 * KIB);
	send_window_shrink(&w, &cfg);
	send_window_grow(&w, &cfg, 96 * KIB, 4096);
	assert_int_equal(w.bytes, 112 * KIB);
	send_window_grow(&w, &cfg, 16 * KIB, 4096);
	assert_int_equal(w.bytes, 128 * KIB);
}

static void test_does_not_grow(void **state)
{
	const struct core_config fixed = {.window_bytes = 8 * KIB, .window_most = 0};
	struct send_window w;

	(void)state;
	send_window_begin(&w, &fixed);
	send_window_grow(&w, &fixed, 8 * KIB, 4096);
	assert_int_equal(w.bytes, 8 * KIB);
	send_window_shrink(&w, &fixed);
	assert_int_equal(w.bytes, 8 * KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_by_what_is_acknowledged),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_half_is_less_than_least),
		cmocka_unit_test(test_does_not_grow),
	};

	return cmocka_run_group_tests_name("send_window", tests, NULL, NULL);
}
