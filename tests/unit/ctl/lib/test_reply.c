/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of two daemons as one. */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/reply.h"
#include "tests/support/wire/cmocka_all.h"

static json_t *table(const char *text)
{
	json_t *t = json_loads(text, 0, NULL);

	assert_non_null(t);
	return t;
}

/* A daemon without such objects sends no columns, as of cm_id: those of the other one count. */
static void test_first_is_empty(void **state)
{
	json_t *t = table("{\"columns\":[],\"rows\":[]}");
	json_t *more = table("{\"columns\":[{\"name\":\"id\"},{\"name\":\"state\"}],"
			     "\"rows\":[[7,\"listening\"]]}");

	(void)state;
	ctl_append_rows(t, more);
	assert_int_equal(ctl_rows(t), 1);
	assert_int_equal(ctl_cell_number(t, 0, "id"), 7);
	assert_string_equal(ctl_cell_text(t, 0, "state"), "listening");
	json_decref(more);
	json_decref(t);
}

static void test_second_is_empty(void **state)
{
	json_t *t = table("{\"columns\":[{\"name\":\"id\"}],\"rows\":[[7]]}");
	json_t *more = table("{\"columns\":[],\"rows\":[]}");

	(void)state;
	ctl_append_rows(t, more);
	assert_int_equal(ctl_rows(t), 1);
	assert_int_equal(ctl_cell_number(t, 0, "id"), 7);
	json_decref(more);
	json_decref(t);
}

/* Columns in another order, and one that only the other has. */
static void test_other_columns(void **state)
{
	json_t *t =
		table("{\"columns\":[{\"name\":\"id\"},{\"name\":\"state\"},{\"name\":\"pid\"}],"
		      "\"rows\":[[7,\"idle\",3]]}");
	json_t *more = table("{\"columns\":[{\"name\":\"state\"},{\"name\":\"qpn\"},"
			     "{\"name\":\"id\"}],\"rows\":[[\"bound\",9,8]]}");

	(void)state;
	ctl_append_rows(t, more);
	assert_int_equal(ctl_rows(t), 2);
	assert_int_equal(ctl_cell_number(t, 0, "pid"), 3);
	assert_int_equal(ctl_cell_number(t, 1, "id"), 8);
	assert_string_equal(ctl_cell_text(t, 1, "state"), "bound");
	assert_int_equal(ctl_cell_number(t, 1, "pid"), 0);
	assert_int_equal(ctl_column(t, "qpn"), -1);
	json_decref(more);
	json_decref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_is_empty),
		cmocka_unit_test(test_second_is_empty),
		cmocka_unit_test(test_other_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
