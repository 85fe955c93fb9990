/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates of a network's ports from two states of it. */
#include "emu/ctl/show/top_fabric.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After so many us of the network's time; h1 sends to the switch, which passes it to h0. */
static json_t *state_at(int us, int packets, int dropped, int xoff)
{
	json_t *ports = json_array();

	json_array_append_new(ports,
			      json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "port", "h0",
					"to", "s/port1", "link", "up", "rate_mbps", 10000,
					"packets", 1, "bytes", 100, "marked", 0, "dropped", 0));
	json_array_append_new(ports,
			      json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s}",
					"port", "s/port1", "to", "h0\x1b[2J", "link", "up",
					"rate_mbps", 10000, "packets", packets, "bytes",
					packets * 1000, "marked", packets / 2, "dropped", dropped,
					"xoff", xoff, "queued", 7777, "paused", "yes"));
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:{s:i, s:i}, s:o}", "network",
			 "one-switch:2", "scale", 10, "rate_mbps", 10000, "time_ns", us * 1000,
			 "delivered", packets, "marked", packets / 2, "xoff", xoff, "paused_us",
			 10 * xoff, "dropped", "tail", dropped, "loss", 1, "ports", ports);
}

static double number(const json_t *state, int port, const char *member)
{
	if (port >= 0)
		state = json_array_get(json_object_get(state, "ports"), (size_t)port);
	return json_number_value(json_object_get(state, member));
}

static const char *name(const json_t *state, size_t port)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(state, "ports"), port), "port"));
}

/* 500 packets of 1000 bytes in 1 ms: 4 Gb/s, 40 % of 10 Gb/s. */
static void test_rates(void **state)
{
	json_t *first = state_at(1000, 100, 0, 0), *second = state_at(2000, 600, 3, 2);
	json_t *stood = state_at(2000, 600, 3, 2), *anew = state_at(10, 20, 0, 0);

	(void)state;
	assert_int_equal(top_fabric_rate(first, NULL), 0);
	assert_true(number(first, -1, "since_ns") == 0 && number(first, 0, "mbps") == 0);
	assert_true(number(first, 0, "new_marked") == 0);
	assert_int_equal(top_fabric_rate(second, first), 0);
	assert_string_equal(name(second, 0), "s/port1");
	assert_string_equal(name(second, 1), "h0");
	assert_true(number(second, -1, "since_ns") == 1000000);
	assert_true(number(second, 0, "mbps") == 4000 && number(second, 0, "used_percent") == 40);
	assert_true(number(second, 0, "packets_per_second") == 500000);
	assert_true(number(second, 0, "new_marked") == 250 && number(second, 0, "marked") == 300);
	assert_true(number(second, 0, "new_dropped") == 3 && number(second, 0, "new_xoff") == 2);
	assert_true(number(second, 1, "mbps") == 0);
	assert_true(number(second, -1, "new_delivered") == 500);
	assert_true(number(second, -1, "new_dropped") == 3);
	assert_true(number(second, -1, "new_paused_us") == 20);
	/* The network's time stands: no rate. It began anew: none either. */
	assert_int_equal(top_fabric_rate(stood, second), 0);
	assert_true(number(stood, -1, "since_ns") == 0 && number(stood, 0, "mbps") == 0);
	assert_int_equal(top_fabric_rate(anew, second), 0);
	assert_true(number(anew, -1, "since_ns") == 0 && number(anew, 0, "new_packets") == 0);
	json_decref(first);
	json_decref(second);
	json_decref(stood);
	json_decref(anew);
}

static unsigned count_lines(const json_t *state, unsigned lines, const char *words)
{
	char *text = NULL;
	size_t size;
	unsigned n = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	top_fabric_print(f, state, lines);
	fclose(f);
	assert_non_null(strstr(text, words));
	for (const char *p = text; *p; p++)
		n += *p == '\n';
	free(text);
	return n;
}

static void test_print(void **state)
{
	json_t *first = state_at(1000, 100, 0, 0), *second = state_at(2000, 600, 3, 2);

	(void)state;
	assert_int_equal(top_fabric_rate(first, NULL), 0);
	assert_int_equal(top_fabric_rate(second, first), 0);
	assert_int_equal(count_lines(second, 0, "10 Gb/s run as 1 Gb/s"), 8);
	assert_int_equal(
		count_lines(second, 0,
			    "in the last 1.000 ms: delivered 500, marked 250, dropped 3, pauses 2"),
		8);
	assert_int_equal(count_lines(second, 0, "4000.00   40.00     500000    7777"), 8);
	assert_int_equal(count_lines(second, 0, " h0?[2J "), 8);
	assert_int_equal(count_lines(second, 7, "s/port1"), 7);
	assert_int_equal(count_lines(second, 1, "used_%"), 6);
	json_decref(first);
	json_decref(second);
}

static void test_nonsense(void **state)
{
	json_t *none = json_object(), *odd = json_loads("{\"ports\":[1,[],{}]}", 0, NULL);

	(void)state;
	assert_int_equal(top_fabric_rate(none, NULL), -EINVAL);
	assert_int_equal(top_fabric_rate(odd, odd), 0);
	assert_int_equal(count_lines(odd, 0, "queued"), 9);
	json_decref(none);
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
