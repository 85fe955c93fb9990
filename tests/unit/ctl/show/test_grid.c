/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl's tables: alignment, hexadecimal columns, missing values, transposition, JSON.
 */
#include "emu/ctl/show/grid.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static json_t *table(const char *text)
{
	json_error_t error;
	json_t *t = json_loads(text, 0, &error);

	assert_non_null(t);
	return t;
}

static json_t *sample(void)
{
	return table("{\"columns\":[{\"name\":\"device\",\"hex\":false},"
		     "{\"name\":\"qpn\",\"hex\":true},{\"name\":\"state\",\"hex\":false}],"
		     "\"rows\":[[\"uhca0\",17,\"RTS\"],[\"uhca10\",65536,null],"
		     "[\"\",null,\"RESET\"]]}");
}

/* Drops the table. */
static char *print(json_t *t, bool transposed)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_true(ctl_table_print(f, t, transposed));
	assert_int_equal(fclose(f), 0);
	json_decref(t);
	return text;
}

static void test_table(void **state)
{
	char *text = print(sample(), false);

	(void)state;
	assert_string_equal(text, "device      qpn  state\n"
				  "uhca0      0x11  RTS\n"
				  "uhca10  0x10000  -\n"
				  "-             -  RESET\n");
	free(text);
}

static void test_transposed(void **state)
{
	char *text = print(table("{\"columns\":[{\"name\":\"device\",\"hex\":false},"
				 "{\"name\":\"tx\",\"hex\":false},"
				 "{\"name\":\"rx_long\",\"hex\":false}],"
				 "\"rows\":[[\"uhca0\",1,22],[\"uhca1\",333,4444]]}"),
			   1);

	(void)state;
	assert_string_equal(text, "device   uhca0  uhca1\n"
				  "tx           1    333\n"
				  "rx_long     22   4444\n");
	free(text);
}

static void test_json(void **state)
{
	json_t *t = sample();
	json_t *list = ctl_table_objects(t);

	(void)state;
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "qpn")),
			 65536);
	assert_null(json_object_get(json_array_get(list, 1), "state"));
	json_decref(list);
	json_decref(t);
}

static void test_nothing(void **state)
{
	json_t *t = table("{\"columns\":[],\"rows\":[]}"), *list;
	char *text = print(json_incref(t), false);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	list = ctl_table_objects(t);
	assert_int_equal(json_array_size(list), 0);
	assert_true(json_is_array(list));
	json_decref(list);
	json_decref(t);
}

static void test_no_table(void **state)
{
	static const char *const bad[] = {"{}", "[]", "{\"columns\":1,\"rows\":[]}",
					  "{\"columns\":[]}"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		json_t *t = table(bad[i]);

		assert_false(ctl_table_print(stdout, t, false));
		assert_null(ctl_table_objects(t));
		json_decref(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),    cmocka_unit_test(test_transposed),
		cmocka_unit_test(test_json),     cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
