/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with units, both ways; texts of keys and values, and where they are wrong. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/fabric/base/base.h"

#include <errno.h>
#include <string.h>

static void test_values(void **state)
{
	static const struct {
		const char *text;
		enum fabric_unit unit;
		uint64_t value;
		const char *back;
	} rows[] = {
		{"100G", FABRIC_RATE, UINT64_C(100000000000), "100G"},
		{"2.5Gbps", FABRIC_RATE, UINT64_C(2500000000), "2500M"},
		{"40Mb/s", FABRIC_RATE, 40000000, "40M"},
		{"64Ki", FABRIC_BYTES, 65536, "65536"},
		{"100KB", FABRIC_BYTES, 100000, "100K"},
		{"1MiB", FABRIC_BYTES, 1048576, "1048576"},
		{"1.5us", FABRIC_TIME, 1500000, "1500ns"},
		{"0", FABRIC_TIME, 0, "0"},
		{"55us", FABRIC_TIME, 55000000, "55us"},
		{"20%", FABRIC_RATIO, 858993459, "20%"},
		{"0.2", FABRIC_RATIO, 858993459, "20%"},
		{"0.01%", FABRIC_RATIO, 429497, "0.01%"},
		{"1/256", FABRIC_RATIO, 16777216, "1/256"},
		{"8", FABRIC_RATIO, UINT64_C(8) << 32, "800%"},
		{"64K", FABRIC_COUNT, 64000, "64000"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v = 1;

		assert_int_equal(
			fabric_quantity(rows[i].text, strlen(rows[i].text), rows[i].unit, &v), 0);
		assert_int_equal(v, rows[i].value);
		assert_string_equal(fabric_quantity_text(v, rows[i].unit, text, sizeof(text)),
				    rows[i].back);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		enum fabric_unit unit;
	} rows[] = {
		{"", FABRIC_RATE},
		{"G", FABRIC_RATE},
		{"1X", FABRIC_RATE},
		{"-1", FABRIC_COUNT},
		{"1.5", FABRIC_COUNT},
		{"5", FABRIC_TIME},
		{"1.us", FABRIC_TIME},
		{"1/0", FABRIC_RATIO},
		{"1/2.5", FABRIC_RATIO},
		{"1/", FABRIC_RATIO},
		{"1..2", FABRIC_RATIO},
		{"0x10", FABRIC_COUNT},
		{"1 us", FABRIC_TIME},
		{"1e9", FABRIC_COUNT},
		{"1234567890123456", FABRIC_COUNT},
		{"99999999s", FABRIC_TIME},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v;

		assert_int_equal(
			fabric_quantity(rows[i].text, strlen(rows[i].text), rows[i].unit, &v),
			-EINVAL);
	}
}

static void test_spec(void **state)
{
	uint64_t hosts = 8, rate = 1;
	const struct fabric_spec_key keys[] = {{"hosts", FABRIC_COUNT, 1, 100, &hosts},
					       {"rate", FABRIC_RATE, 1, 1000000, &rate},
					       {0}};
	struct fabric_error e;

	(void)state;
	assert_int_equal(fabric_spec_read("net", keys, &e), 0);
	assert_int_equal(hosts, 8);
	assert_int_equal(fabric_spec_read("net:20,rate=5K", keys, &e), 0);
	assert_int_equal(hosts, 20);
	assert_int_equal(rate, 5000);
	assert_int_equal(fabric_spec_read("net:rate=1M,hosts=3", keys, &e), 0);
	assert_int_equal(hosts, 3);
	assert_int_equal(fabric_spec_read("net:20,5K", keys, &e), -EINVAL);
	assert_int_equal(e.column, 8);
	assert_string_equal(e.text, "'5K' is not KEY=VALUE");
	assert_int_equal(fabric_spec_read("net:hosst=3", keys, &e), -EINVAL);
	assert_int_equal(e.column, 5);
	assert_non_null(strstr(e.text, "did you mean 'hosts'?"));
	assert_int_equal(fabric_spec_read("net:hosts=101", keys, &e), -EINVAL);
	assert_int_equal(e.column, 11);
	assert_string_equal(e.text, "hosts: '101' is not in the range 1 to 100");
	assert_int_equal(fabric_spec_read("net:rate=fast", keys, &e), -EINVAL);
	assert_string_equal(e.text, "rate: 'fast' is not a rate such as 100G");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_spec),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
