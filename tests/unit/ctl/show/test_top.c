/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates of QPs from two answers of the daemon. */
#include "emu/ctl/show/top.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char clients[] = "{\"columns\":[{\"name\":\"client\"},{\"name\":\"program\"}],"
			      "\"rows\":[[1,\"perf\\u001b[2J\"],[2,null]]}";

static json_t *qps(unsigned a_packets, unsigned b_packets)
{
	char text[800];
	json_t *table;

	snprintf(text, sizeof(text),
		 "{\"columns\":[{\"name\":\"device\"},{\"name\":\"client\"},{\"name\":\"qpn\"},"
		 "{\"name\":\"state\"},{\"name\":\"dest_qpn\"},{\"name\":\"tx_packets\"},"
		 "{\"name\":\"tx_bytes\"},{\"name\":\"rx_packets\"},{\"name\":\"rx_bytes\"},"
		 "{\"name\":\"retries\"},{\"name\":\"rnr\"},{\"name\":\"errors\"}],"
		 "\"rows\":[[\"uhca0\",1,17,\"RTS\",18,%u,%u,1,2,3,4,5],"
		 "[\"uhca0\",2,18,\"RTS\",17,%u,%u,0,0,0,0,0],"
		 "[\"uhca1\",2,17,\"INIT\",null,0,0,0,0,0,0,0]]}",
		 a_packets, a_packets * 1000, b_packets, b_packets * 1000);
	table = json_loads(text, 0, NULL);
	assert_non_null(table);
	return table;
}

static json_t *make(unsigned a, unsigned b, const json_t *before)
{
	json_t *table = qps(a, b), *names = json_loads(clients, 0, NULL);
	json_t *list = top_make(table, names, before, 2);

	assert_non_null(list);
	json_decref(table);
	json_decref(names);
	return list;
}

static double number(const json_t *list, size_t i, const char *member)
{
	return json_number_value(json_object_get(json_array_get(list, i), member));
}

static void test_rates(void **state)
{
	json_t *first = make(100, 1000, NULL);
	json_t *second = make(5100, 1200, first);
	json_t *third = make(10, 1400, second);

	(void)state;
	assert_int_equal(json_array_size(first), 3);
	assert_true(number(first, 0, "packets_per_second") == 0);
	assert_true(number(second, 0, "qpn") == 17 && number(second, 0, "peer_qpn") == 18);
	assert_true(number(second, 0, "packets_per_second") == 2500 &&
		    number(second, 0, "bytes_per_second") == 2500000);
	assert_true(number(second, 1, "packets_per_second") == 100);
	assert_true(number(second, 0, "retries") == 3 && number(second, 0, "new_retries") == 0);
	/* The number went to another QP: no rate that is none. */
	assert_true(number(third, 0, "qpn") == 18);
	assert_true(number(third, 1, "packets_per_second") == 0);
	json_decref(first);
	json_decref(second);
	json_decref(third);
}

static unsigned count_lines(const json_t *list, unsigned lines, const char *words)
{
	char *text = NULL;
	size_t size;
	unsigned n = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	top_print(f, list, lines);
	fclose(f);
	assert_non_null(strstr(text, words));
	for (const char *p = text; *p; p++)
		n += *p == '\n';
	free(text);
	return n;
}

static void test_print(void **state)
{
	json_t *first = make(100, 1000, NULL), *list = make(5100, 1200, first);
	json_t *none = json_array();

	(void)state;
	assert_int_equal(count_lines(list, 0, "3 QPs, 2600 packets/s, 2.60 MB/s"), 6);
	assert_int_equal(count_lines(list, 0, " perf?[2J "), 6);
	assert_int_equal(count_lines(list, 4, "0x11"), 4);
	assert_int_equal(count_lines(list, 1, "device"), 3);
	assert_int_equal(count_lines(none, 0, "0 QPs"), 3);
	json_decref(first);
	json_decref(list);
	json_decref(none);
}

static void test_nonsense(void **state)
{
	json_t *wrong = json_object(), *list;
	json_t *odd = json_loads("{\"columns\":7,\"rows\":[1,[],{}]}", 0, NULL);

	(void)state;
	assert_null(top_make(wrong, wrong, NULL, 1));
	list = top_make(odd, wrong, NULL, 1);
	assert_int_equal(json_array_size(list), 3);
	json_decref(list);
	json_decref(wrong);
	json_decref(odd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
