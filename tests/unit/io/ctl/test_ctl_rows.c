/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows as text of JSON: all columns in each of them, whatever they have, and any text. */
#include "emu/abi/ctl.h"
#include "emu/io/ctl/ctl_rows.h"
#include "tests/support/wire/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *whole(struct ctl_rows *r, const char *before, const char *after)
{
	size_t length;
	char *text = ctl_rows_end(r, before, after, &length);
	json_t *j;

	assert_non_null(text);
	assert_int_equal(strlen(text), length);
	j = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	free(text);
	ctl_rows_free(r);
	return j;
}

static const json_t *cell(const json_t *table, size_t row, size_t column)
{
	return json_array_get(json_array_get(json_object_get(table, UHCA_CTL_ROWS), row), column);
}

static void test_none(void **state)
{
	struct ctl_rows r = {.n = 0};
	json_t *j = whole(&r, "{\"result\":", "}");
	const json_t *table = json_object_get(j, "result");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(table, UHCA_CTL_COLUMNS)), 0);
	assert_int_equal(json_array_size(json_object_get(table, UHCA_CTL_ROWS)), 0);
	json_decref(j);
}

/* Each row has what it has, and null where another has something; in whatever order. */
static void test_columns(void **state)
{
	struct ctl_rows r = {.n = 0};
	json_t *j;

	(void)state;
	ctl_rows_start(&r); /* with nothing at all */
	ctl_rows_start(&r);
	ctl_rows_number(&r, "a", 1);
	ctl_rows_text(&r, "b", NULL);
	ctl_rows_hex(&r, "c", UINT64_C(0x7fffffffffffffff));
	ctl_rows_start(&r);
	ctl_rows_number(&r, "d", 4);
	ctl_rows_number(&r, "b", 2);
	ctl_rows_number(&r, "b", 3); /* the later one */
	j = whole(&r, "", "");
	assert_int_equal(json_array_size(json_object_get(j, UHCA_CTL_COLUMNS)), 4);
	for (size_t row = 0; row < 3; row++)
		assert_int_equal(
			json_array_size(json_array_get(json_object_get(j, UHCA_CTL_ROWS), row)), 4);
	assert_true(json_is_null(cell(j, 0, 0)) && json_is_null(cell(j, 0, 3)));
	assert_int_equal(json_integer_value(cell(j, 1, 0)), 1);
	assert_true(json_is_null(cell(j, 1, 1)) && json_is_null(cell(j, 1, 3)));
	assert_int_equal(json_integer_value(cell(j, 1, 2)), INT64_MAX);
	assert_true(json_is_null(cell(j, 2, 0)) && json_is_null(cell(j, 2, 2)));
	assert_int_equal(json_integer_value(cell(j, 2, 1)), 3);
	assert_int_equal(json_integer_value(cell(j, 2, 3)), 4);
	assert_true(json_is_true(json_object_get(
		json_array_get(json_object_get(j, UHCA_CTL_COLUMNS), 2), UHCA_CTL_HEX)));
	json_decref(j);
}

/* Whatever a text has, the line is one of JSON, and of ASCII. */
static void test_texts(void **state)
{
	static const char *const given[] = {"", "plain", "\"\\/\b\n\x01", "caf\xc3\xa9 \xff"};
	static const char *const got[] = {"", "plain", "\"\\/\b\n\x01", "caf?? ?"};
	struct ctl_rows r = {.n = 0};
	char longest[8000];
	json_t *j;

	(void)state;
	memset(longest, 1, sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (unsigned i = 0; i < 4; i++) {
		ctl_rows_start(&r);
		ctl_rows_text(&r, "text", given[i]);
	}
	ctl_rows_start(&r);
	ctl_rows_text(&r, "text", longest);
	ctl_rows_text(&r, "more", longest); /* there is no room for it */
	j = whole(&r, "", "");
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(json_string_value(cell(j, i, 0)), got[i]);
	assert_string_equal(json_string_value(cell(j, 4, 0)), longest);
	json_decref(j);
}

static void test_many(void **state)
{
	struct ctl_rows r = {.n = 0};
	char name[32];
	json_t *j;

	(void)state;
	for (unsigned i = 0; i < 30000; i++) {
		ctl_rows_start(&r);
		ctl_rows_number(&r, "i", i);
		ctl_rows_text(&r, "text", "some text that is in each row");
	}
	ctl_rows_start(&r);
	for (unsigned i = 0; i < CTL_COLUMNS + 10; i++) {
		snprintf(name, sizeof(name), "column %u", i);
		ctl_rows_number(&r, name, UINT64_MAX);
	}
	j = whole(&r, "", "");
	for (unsigned i = 0; i < 30000; i++)
		assert_int_equal(json_integer_value(cell(j, i, 0)), i);
	assert_int_equal(json_array_size(json_object_get(j, UHCA_CTL_COLUMNS)), CTL_COLUMNS);
	assert_int_equal(json_integer_value(cell(j, 30000, CTL_COLUMNS - 1)), -1);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
