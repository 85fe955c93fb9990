/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of JSON: what must be escaped is, what is too long is cut, and it never overflows. */
#include "provider/diagnostic/line.h"

#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static void test_escapes(void **state)
{
	static struct uhcav_line l;

	(void)state;
	uhcav_line_put(&l, "{");
	uhcav_line_key(&l, "a");
	uhcav_line_string(&l, "q\" b\\ n\n t\x01 \x7f %d");
	uhcav_line_put(&l, ",");
	uhcav_line_number(&l, UINT64_MAX);
	uhcav_line_put(&l, "}");
	assert_string_equal(
		l.text,
		"{\"a\":\"q\\\" b\\\\ n\\u000a t\\u0001 \\u007f %d\",18446744073709551615}");
}

static void test_long(void **state)
{
	static struct uhcav_line l;
	static char text[3 * UHCAV_LINE_STRING];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	uhcav_line_string(&l, text);
	assert_int_equal(l.n, UHCAV_LINE_STRING + 2);
	while (uhcav_line_has_room(&l))
		uhcav_line_string(&l, text);
	for (int i = 0; i < 100; i++)
		uhcav_line_string(&l, text);
	assert_true(l.n < sizeof(l.text));
	assert_int_equal(strlen(l.text), l.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
