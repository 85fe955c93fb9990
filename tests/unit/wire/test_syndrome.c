/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IBTA tables 45 and 46 typed in the specification's own units (milliseconds; counts), against
 * the code's tables; encode as the inverse of decode; names.
 */
#include "tests/support/wire/cmocka_all.h"

#include "wire/syndrome.h"

#include <stdio.h>
#include <string.h>

static const char *const table_45_ms[32] = {
	"655.36", "0.01",  "0.02",  "0.03",   "0.04",   "0.06",   "0.08",   "0.12",
	"0.16",   "0.24",  "0.32",  "0.48",   "0.64",   "0.96",   "1.28",   "1.92",
	"2.56",   "3.84",  "5.12",  "7.68",   "10.24",  "15.36",  "20.48",  "30.72",
	"40.96",  "61.44", "81.92", "122.88", "163.84", "245.76", "327.68", "491.52",
};

static const uint32_t table_46[31] = {
	0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

static void test_rnr_timer(void **state)
{
	(void)state;
	for (uint8_t code = 0; code < 32; code++) {
		const uint64_t ns = roce_rnr_timer_ns(code);
		char ms[32];

		assert_int_equal(ns % 10000, 0);
		snprintf(ms, sizeof(ms), "%u.%02u", (unsigned)(ns / 1000000),
			 (unsigned)(ns % 1000000 / 10000));
		assert_string_equal(ms, table_45_ms[code]);
	}
	assert_int_equal(roce_rnr_timer_ns(32 + 12), roce_rnr_timer_ns(12));
}

static void test_credits_decode(void **state)
{
	(void)state;
	for (uint8_t code = 0; code < 31; code++)
		assert_int_equal(roce_credits_decode(code), table_46[code]);
	assert_int_equal(roce_credits_decode(ROCE_CREDITS_UNLIMITED), UINT32_MAX);
}

/* Every n up to beyond the table: the code grants no more than n, and the next one too much. */
static void test_credits_encode(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40000; n++) {
		const uint8_t code = roce_credits_encode(n);

		assert_in_range(code, 0, 30);
		assert_true(table_46[code] <= n);
		if (code < 30)
			assert_true(table_46[code + 1] > n);
	}
	assert_int_equal(roce_credits_encode(UINT32_MAX), 30);
}

static void test_pieces(void **state)
{
	(void)state;
	assert_int_equal(roce_syndrome(ROCE_ACK, ROCE_CREDITS_UNLIMITED), 0x1f);
	assert_int_equal(roce_syndrome(ROCE_RNR_NAK, 12), 0x2c);
	assert_int_equal(roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE), 0x60);
	assert_int_equal(roce_syndrome(ROCE_NAK, ROCE_NAK_REMOTE_ACCESS), 0x62);
	assert_int_equal(roce_syndrome(ROCE_ACK, 0xff), 0x1f);
	for (unsigned v = 0; v < 128; v++)
		assert_int_equal(roce_syndrome(roce_syndrome_kind((uint8_t)v),
					       roce_syndrome_value((uint8_t)v)),
				 v);
}

static void test_names(void **state)
{
	static const struct {
		uint8_t syndrome;
		const char *name;
	} names[] = {
		{0x00, "ACK"},
		{0x1f, "ACK"},
		{0x20, "RNR NAK"},
		{0x3f, "RNR NAK"},
		{0x40, "reserved syndrome"},
		{0x60, "NAK PSN sequence error"},
		{0x61, "NAK invalid request"},
		{0x62, "NAK remote access error"},
		{0x63, "NAK remote operational error"},
		{0x64, "NAK invalid RD request"},
		{0x65, "NAK reserved code"},
		{0x7f, "NAK reserved code"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(roce_syndrome_name(names[i].syndrome), names[i].name);
	for (unsigned v = 0; v < 256; v++)
		assert_non_null(roce_syndrome_name((uint8_t)v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rnr_timer),      cmocka_unit_test(test_credits_decode),
		cmocka_unit_test(test_credits_encode), cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("syndrome", tests, NULL, NULL);
}
