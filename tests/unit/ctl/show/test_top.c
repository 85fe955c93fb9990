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

static struct top_list make(unsigned a, unsigned b, const struct top_list *before)
{
	json_t *table = qps(a, b), *names = json_loads(clients, 0, NULL);
	struct top_list list;

	assert_true(top_make(&list, table, names, before, 2));
	json_decref(table);
	json_decref(names);
	return list;
}

static void test_rates(void **state)
{
	const struct top_list none = {0};
	struct top_list first = make(100, 1000, &none);
	struct top_list second = make(5100, 1200, &first);
	struct top_list third = make(10, 1400, &second);

	(void)state;
	assert_int_equal(first.n, 3);
	assert_true(first.qp[0].packet_rate == 0);
	assert_int_equal(second.qp[0].qpn, 17);
	assert_true(second.qp[0].packet_rate == 2500 && second.qp[0].byte_rate == 2500000);
	assert_true(second.qp[1].packet_rate == 100);
	assert_string_equal(second.qp[0].program, "perf?[2J");
	assert_int_equal(second.qp[0].retries, 3);
	/* The number went to another QP: no rate that is none. */
	assert_int_equal(third.qp[0].qpn, 18);
	assert_true(third.qp[1].packet_rate == 0);
	top_free(&first);
	top_free(&second);
	top_free(&third);
}

static unsigned count_lines(const struct top_list *l, unsigned lines, const char *words)
{
	char *text = NULL;
	size_t size;
	unsigned n = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	top_print(f, l, lines);
	fclose(f);
	assert_non_null(strstr(text, words));
	for (const char *p = text; *p; p++)
		n += *p == '\n';
	free(text);
	return n;
}

static void test_print(void **state)
{
	const struct top_list none = {0};
	struct top_list first = make(100, 1000, &none);
	struct top_list list = make(5100, 1200, &first);

	(void)state;
	assert_int_equal(count_lines(&list, 0, "3 QPs, 2600 packets/s, 2.60 MB/s"), 6);
	assert_int_equal(count_lines(&list, 4, "0x11"), 4);
	assert_int_equal(count_lines(&list, 1, "DEVICE"), 3);
	assert_int_equal(count_lines(&none, 0, "0 QPs"), 3);
	top_free(&first);
	top_free(&list);
}

static void test_nonsense(void **state)
{
	const struct top_list none = {0};
	json_t *wrong = json_object();
	json_t *odd = json_loads("{\"columns\":7,\"rows\":[1,[],{}]}", 0, NULL);
	struct top_list list;

	(void)state;
	assert_false(top_make(&list, wrong, wrong, &none, 1));
	assert_true(top_make(&list, odd, wrong, &none, 1));
	assert_int_equal(list.n, 3);
	top_free(&list);
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
