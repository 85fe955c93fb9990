/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about the modelled network: how it is, what fails in it and what its devices say then,
 * the rows of its ports, captures at one of them.
 */
#include "emu/abi/ctl.h"
#include "emu/fabric/file/file.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct io_test_daemon t;
static struct fabric_topology topology;

static int setup(void **state)
{
	struct io_settings s;
	char error[600];

	(void)state;
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	fabric_topology_init(&topology);
	topology.link.mtu = IO_NETWORK_MTU;
	assert_int_equal(
		fabric_topology_load(&topology, "one-switch:2,rate=10G", error, sizeof(error)), 0);
	io_test_settings(&s, 2);
	s.fabric = &topology;
	s.fabric_scale = 10;
	strcpy(s.fabric_name, "one-switch:2,rate=10G");
	io_test_daemon_start(&t, &s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	fabric_topology_fini(&topology);
	return 0;
}

/* "result" of the reply, or its "error" as a text. */
static json_t *ask(const char *request)
{
	char *line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	json_t *reply, *part;

	assert_non_null(line);
	reply = json_loads(line, 0, NULL);
	free(line);
	assert_non_null(reply);
	part = json_object_get(reply, UHCA_CTL_RESULT);
	part = json_incref(part ? part : json_object_get(reply, UHCA_CTL_ERROR));
	json_decref(reply);
	return part;
}

static void expect_error(const char *request, const char *error)
{
	json_t *said = ask(request);

	assert_true(json_is_string(said));
	assert_string_equal(json_string_value(said), error);
	json_decref(said);
}

static json_int_t number(const char *request, const char *name)
{
	json_t *result = ask(request);
	const json_t *value = json_object_get(result, name);
	const json_int_t n = json_integer_value(value);

	assert_true(json_is_integer(value));
	json_decref(result);
	return n;
}

#define STATE "{\"cmd\": \"fabric\"}"

static void test_state(void **state)
{
	json_t *table = ask("{\"cmd\": \"show\", \"what\": \"fabric\"}"), *rows;

	(void)state;
	assert_int_equal(number(STATE, "scale"), 10);
	assert_int_equal(number(STATE, "rate_mbps"), 10000);
	assert_int_equal(number(STATE, "delivered"), 0);
	rows = json_object_get(table, UHCA_CTL_ROWS);
	assert_int_equal(json_array_size(rows), 4);
	assert_string_equal(json_string_value(json_array_get(json_array_get(rows, 1), 0)),
			    "switch/port1");
	assert_string_equal(json_string_value(json_array_get(json_array_get(rows, 1), 1)), "h0");
	json_decref(table);
	assert_int_equal(t.d.ports[0].dev.config.burst_bytes, IO_NETWORK_BURST);
	assert_int_equal(core_port_speed(t.d.ports[0].dev.core), 100);
}

static void test_fail(void **state)
{
	(void)state;
	json_decref(
		ask("{\"cmd\": \"fabric\", \"action\": \"fail\", \"text\": \"down h1 switch\"}"));
	assert_true(core_port_is_down(t.d.ports[1].dev.core));
	assert_false(core_port_is_down(t.d.ports[0].dev.core));
	json_decref(ask("{\"cmd\": \"fabric\", \"action\": \"fail\", \"text\": \"up h1 switch\"}"));
	assert_false(core_port_is_down(t.d.ports[1].dev.core));
	json_decref(ask("{\"cmd\": \"fabric\", \"action\": \"fail\", \"text\": \"down switch\"}"));
	assert_true(core_port_is_down(t.d.ports[0].dev.core));
	assert_true(core_port_is_down(t.d.ports[1].dev.core));
}

static void test_refusals(void **state)
{
	struct io_network *network = t.d.ctl.services.network;

	(void)state;
	expect_error("{\"cmd\": \"fabric\", \"action\": \"fail\"}", "fabric fail needs \"text\"");
	expect_error("{\"cmd\": \"fabric\", \"action\": \"fail\", \"text\": \"down h7\"}",
		     "unknown node 'h7': did you mean 'h0'? Known: switch, h0, h1");
	expect_error("{\"cmd\": \"fabric\", \"action\": \"pats\"}",
		     "unknown fabric action 'pats': did you mean 'path'? Known: fail, path");
	expect_error("{\"cmd\": \"fabric\", \"action\": \"path\", \"number\": 77}",
		     "no device has a queue pair 0x00004d");
	t.d.ctl.services.network = NULL;
	expect_error(STATE, "there is no modelled network: uhca-run --fabric");
	t.d.ctl.services.network = network;
}

/* At a port that there is; the network tells nobody when the capture has ended. */
static void test_capture(void **state)
{
	char request[400];

	(void)state;
	snprintf(request, sizeof(request),
		 "{\"cmd\": \"capture\", \"action\": \"start\", \"file\": \"%s/a.pcapng\", "
		 "\"device\": \"switch/port3\"}",
		 t.dir);
	expect_error(request, "the network has no port 'switch/port3': show fabric lists them");
	assert_null(t.d.network->tap.seen);
	strcpy(strstr(request, "port3"), "port2\"}");
	json_decref(ask(request));
	assert_true(io_capture_running(&t.d.capture));
	assert_non_null(t.d.network->tap.seen);
	assert_int_equal(t.d.network->tap.port, io_network_port(t.d.network, "switch/port2"));
	json_decref(ask("{\"cmd\": \"capture\", \"action\": \"stop\"}"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_state),
		TEST(test_fail),
		TEST(test_refusals),
		TEST(test_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
