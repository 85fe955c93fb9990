/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the daemon, out of its replies; and what is no table. */
#include "provider/nldev/table.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static const char good[] =
	"{\"ok\":true,\"result\":{\"columns\":[{\"name\":\"device\",\"hex\":false},"
	"{\"name\":\"qpn\",\"hex\":true},{\"name\":\"waits\",\"hex\":false}],"
	"\"rows\":[[\"uhca0\",14946304,\"\"],[\"a\\\"b,]\",null,\"x\"]]}}\n";

/* On the heap, exactly as long as it is: sanitizers watch its end. */
static bool parse(struct uhca_table *t, const char *text, size_t n)
{
	char *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, text, n);
	copy[n] = '\0';
	return uhca_table_parse(t, copy);
}

static void test_cells(void **state)
{
	struct uhca_table t;

	(void)state;
	assert_true(parse(&t, good, strlen(good)));
	assert_int_equal(t.n_columns, 3);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(uhca_table_text(&t, 0, "device"), "uhca0");
	assert_int_equal(uhca_table_number(&t, 0, "qpn"), 14946304);
	assert_string_equal(uhca_table_text(&t, 0, "waits"), "");
	assert_string_equal(uhca_table_text(&t, 1, "device"), "a\\\"b,]");
	assert_string_equal(uhca_table_text(&t, 1, "qpn"), "");
	assert_string_equal(uhca_table_text(&t, 1, "waits"), "x");
	assert_int_equal(uhca_table_number(&t, 1, "none"), 0);
	uhca_table_free(&t);
}

static void test_empty(void **state)
{
	static const char none[] = "{\"ok\":true,\"result\":{\"columns\":[],\"rows\":[]}}\n";
	struct uhca_table t;

	(void)state;
	assert_true(parse(&t, none, strlen(none)));
	assert_int_equal(t.n_rows, 0);
	uhca_table_free(&t);
}

/* Cut anywhere, and with each byte another: no more than the reply is read. */
static void test_no_table(void **state)
{
	static const char refusal[] = "{\"ok\":false,\"error\":\"no\"}\n";
	char changed[sizeof(good)];
	struct uhca_table t;

	(void)state;
	assert_false(parse(&t, refusal, strlen(refusal)));
	uhca_table_free(&t);
	for (size_t n = 0; n < strlen(good) - 3; n++) {
		assert_false(parse(&t, good, n));
		uhca_table_free(&t);
		for (const char *c = "\",[]{}\\n"; *c; c++) {
			memcpy(changed, good, sizeof(good));
			changed[n] = *c;
			parse(&t, changed, strlen(changed));
			uhca_table_free(&t);
		}
	}
}

static void test_nobody(void **state)
{
	struct uhca_table t;

	(void)state;
	assert_false(uhca_table_ask(&t, "/nonexistent", "qp"));
	uhca_table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
