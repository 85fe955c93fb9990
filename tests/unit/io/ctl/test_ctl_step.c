/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of step mode: packets of a frozen device wait, are listed, go, are lost or changed as
 * is asked for, and what cannot be is refused.
 */
#include "emu/abi/ctl.h"
#include "emu/core/base/device.h"
#include "emu/io/base/clock.h"
#include "emu/io/base/log.h"
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct io_test_daemon t;

/* What stands below the fault box of uhca0. */
static struct {
	struct netif netif;
	unsigned packets;
	struct roce_packet last;
} below;

static void take_burst(struct netif *n, const struct core_burst *burst, uint64_t now)
{
	(void)n;
	(void)now;
	below.packets += burst->count;
	below.last = burst->head;
}

static const struct netif_ops below_ops = {.send = take_burst};

static int setup(void **state)
{
	(void)state;
	io_log_echo_errors(false);
	io_test_daemon_begin(&t, 2);
	memset(&below, 0, sizeof(below));
	below.netif.ops = &below_ops;
	t.d.ports[0].fault.netif.below = &below.netif;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	return 0;
}

static json_t *ask(const char *members)
{
	char request[300];
	char *line;
	json_t *reply;

	snprintf(request, sizeof(request), "{'cmd':'step',%s}", members);
	for (char *p = request; (p = strchr(p, '\'')); p++)
		*p = '"';
	line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	reply = json_loads(line, 0, NULL);
	assert_non_null(reply);
	free(line);
	return reply;
}

static void refused(const char *members, const char *why)
{
	json_t *reply = ask(members);

	assert_true(json_is_false(json_object_get(reply, UHCA_CTL_OK)));
	assert_string_equal(json_string_value(json_object_get(reply, UHCA_CTL_ERROR)), why);
	json_decref(reply);
}

/* With these words first. */
static void refused_as(const char *members, const char *why)
{
	json_t *reply = ask(members);
	const char *error = json_string_value(json_object_get(reply, UHCA_CTL_ERROR));

	assert_non_null(error);
	if (strncmp(error, why, strlen(why)) != 0)
		fail_msg("%s: %s", members, error);
	json_decref(reply);
}

/* What a reply says of its device "i". */
static const json_t *state_in(const json_t *reply, size_t i)
{
	return json_array_get(
		json_object_get(json_object_get(reply, UHCA_CTL_RESULT), UHCA_CTL_DEVICES), i);
}

static void check_state(const json_t *state, bool frozen, unsigned waiting)
{
	assert_non_null(state);
	assert_int_equal(json_is_true(json_object_get(state, UHCA_CTL_FROZEN)), frozen);
	assert_int_equal(json_integer_value(json_object_get(state, UHCA_CTL_TOTAL)), waiting);
}

/* It is done to one device, and so many packets wait then. */
static void done(const char *members, bool frozen, unsigned waiting)
{
	json_t *reply = ask(members);

	check_state(state_in(reply, 0), frozen, waiting);
	assert_null(state_in(reply, 1));
	json_decref(reply);
}

/* "next" lets so many packets go, the first of them of this device and with this number. */
static void goes(const char *members, unsigned packets, const char *device, unsigned number)
{
	json_t *reply = ask(members);
	const json_t *result = json_object_get(reply, UHCA_CTL_RESULT);
	const json_t *gone = json_object_get(result, UHCA_CTL_GONE);
	const json_t *first = json_array_get(gone, 0);

	assert_int_equal(json_integer_value(json_object_get(result, UHCA_CTL_TOTAL)), packets);
	assert_int_equal(json_array_size(gone), packets < 256 ? packets : 256);
	assert_string_equal(json_string_value(json_object_get(first, UHCA_CTL_DEVICE)), device);
	assert_int_equal(json_integer_value(json_object_get(first, UHCA_CTL_NUMBER)), number);
	assert_non_null(strstr(json_string_value(json_object_get(first, UHCA_CTL_PACKET)), "psn="));
	json_decref(reply);
}

/* A message of so many packets leaves uhca0. */
static struct core_burst send_message(unsigned packets)
{
	static uint8_t payload[1 << 20];
	struct prng rng = prng_start("ctl_step");
	struct core_burst burst;

	burst_gen_message(&rng, &burst_gen_messages[0], 256, packets * 256, payload, &burst);
	burst.model.has_wr = true;
	burst.model.wr_id = UINT64_MAX;
	netif_send(&t.d.ports[0].dev.top, &burst, io_clock_now());
	return burst;
}

static void test_packets_go(void **state)
{
	struct core_burst burst;
	const json_t *first;
	json_t *reply;

	(void)state;
	done("'device':'uhca0','action':'freeze'", true, 0);
	burst = send_message(6);
	reply = ask("'device':'uhca0','action':'list'");
	first = json_array_get(json_object_get(state_in(reply, 0), UHCA_CTL_WAITING), 0);
	assert_int_equal(json_integer_value(json_object_get(first, UHCA_CTL_NUMBER)), 1);
	assert_string_equal(json_string_value(json_object_get(first, UHCA_CTL_DIRECTION)), "tx");
	assert_string_equal(json_string_value(json_object_get(first, UHCA_CTL_WR)),
			    "18446744073709551615");
	assert_non_null(strstr(json_string_value(json_object_get(first, UHCA_CTL_PACKET)), "psn="));
	json_decref(reply);
	goes("'device':'uhca0','action':'next'", 1, "uhca0", 1);
	assert_int_equal(below.last.bth.psn, burst.head.bth.psn);
	done("'device':'uhca0','action':'release','number':4", true, 4);
	assert_int_equal(below.last.bth.psn, (burst.head.bth.psn + 3) & 0xffffff);
	done("'device':'uhca0','action':'drop','number':2", true, 3);
	assert_int_equal(below.packets, 2);
	done("'device':'uhca0','action':'change','number':3,'field':'bth.psn','value':77", true, 3);
	goes("'device':'uhca0','action':'next','count':1", 1, "uhca0", 3);
	assert_int_equal(below.last.bth.psn, 77);
	done("'device':'uhca1','action':'list'", false, 0);
	done("'device':'uhca0','action':'go'", false, 0);
	assert_int_equal(below.packets, 5);
	assert_false(t.d.ports[0].fault.active);
}

/* Of very many only the first are told, and how many there are. */
static void test_many(void **state)
{
	json_t *reply;

	(void)state;
	done("'device':'uhca0','action':'freeze'", true, 0);
	send_message(1000);
	reply = ask("'device':'uhca0','action':'list'");
	assert_int_equal(json_array_size(json_object_get(state_in(reply, 0), UHCA_CTL_WAITING)),
			 256);
	json_decref(reply);
	goes("'device':'uhca0','action':'next','count':999999", 1000, "uhca0", 1);
	assert_int_equal(below.packets, 1000);
	refused("'device':'uhca0','action':'next'", "no packet waits");
}

/* Without a name: all of them. The oldest packet goes first, wherever it waits. */
static void test_all_devices(void **state)
{
	struct core_burst burst;
	json_t *reply;

	(void)state;
	reply = ask("'action':'freeze'");
	check_state(state_in(reply, 0), true, 0);
	check_state(state_in(reply, 1), true, 0);
	json_decref(reply);
	burst = send_message(1);
	netif_receive(t.d.ports[1].fault.netif.above->below, &burst, io_clock_now() + 1000);
	goes("'action':'next'", 1, "uhca0", 1);
	goes("'action':'next','count':2", 1, "uhca1", 1);
	refused("'action':'release','number':1", "the device is missing: name one of 2 devices");
	refused("'action':'change','number':1", "the device is missing: name one of 2 devices");
	refused("'action':'next'", "no packet waits");
	reply = ask("'action':'go'");
	check_state(state_in(reply, 0), false, 0);
	check_state(state_in(reply, 1), false, 0);
	json_decref(reply);
	done("'device':'uhca1','action':'list'", false, 0);
}

static void on_timer(struct timer *timer, uint64_t now)
{
	(void)now;
	timer->deadline = 0;
}

/* What a frozen device waits for is due so much later; what it owes to its program is not. */
static void test_clock(void **state)
{
	struct device *core = t.d.ports[0].dev.core;
	struct timer retry = {.fire = on_timer}, moderation = {.fire = on_timer};
	uint64_t begin;

	(void)state;
	assert_int_equal(timer_heap_reserve(&core->timers, 1), 0);
	assert_int_equal(timer_heap_reserve(&core->cq_timers, 1), 0);
	begin = io_clock_now();
	timer_set(&core->timers, &retry, begin + IO_SEC);
	timer_set(&core->cq_timers, &moderation, begin + 2 * IO_SEC);
	done("'device':'uhca1','action':'freeze'", true, 0);
	assert_true(core_next_deadline(core) == begin + IO_SEC);
	done("'device':'uhca0','action':'freeze'", true, 0);
	assert_true(core_next_deadline(core) == begin + 2 * IO_SEC);
	core_tick(core, begin + 2 * IO_SEC);
	assert_true(timer_is_set(&retry));
	assert_false(timer_is_set(&moderation));
	assert_true(core_next_deadline(core) == UINT64_MAX);
	done("'device':'uhca0','action':'go'", false, 0);
	assert_true(core_next_deadline(core) > begin + 2 * IO_SEC);
	timer_cancel(&core->timers, &retry);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("'action':'drop','number':1", "the device is missing: name one of 2 devices");
	refused("'action':'release','number':1", "the device is missing: name one of 2 devices");
	refused("'action':'change','number':1", "the device is missing: name one of 2 devices");
	refused("'action':'next'", "no packet waits");
	refused("'action':'list','device':'uhca7'",
		"unknown device 'uhca7': did you mean 'uhca0'? Known: uhca0, uhca1");
	refused("'action':'list','device':'uhca0','who':1", "step takes no member 'who'");
	refused("'device':'uhca0'",
		"step needs \"action\": freeze, go, list, next, release, drop or change");
	refused("'device':'uhca0','action':'run'",
		"step needs \"action\": freeze, go, list, next, release, drop or change");
	refused("'device':'uhca0','action':'next','count':0",
		"the number of packets must be 1 or more");
	refused("'device':'uhca0','action':'next','count':'x'",
		"the number of packets must be 1 or more");
	refused("'device':'uhca0','action':'drop'", "step drop needs a packet number");
	refused("'device':'uhca0','action':'release'", "step release needs a packet number");
	refused("'device':'uhca0','action':'change'", "step change needs a packet number");
	refused("'device':'uhca0','action':'drop','number':1", "no packet 1 waits");
	refused("'device':'uhca0','action':'release','number':4711", "no packet 4711 waits");
	done("'device':'uhca0','action':'freeze'", true, 0);
	send_message(2);
	refused("'device':'uhca0','action':'change','number':1",
		"packet 1 does not have this field");
	refused("'device':'uhca0','action':'change','number':1,'field':'aeth.msn','value':1",
		"packet 1 does not have this field");
	refused_as("'device':'uhca0','action':'change','number':1,'field':'bth.pns','value':1",
		   "unknown field 'bth.pns': did you mean 'bth.psn'? Known: bth.opcode, ");
	refused_as("'device':'uhca0','action':'change','number':1,'field':'colour','value':1",
		   "unknown field 'colour'; known: bth.opcode, ");
	refused("'device':'uhca0','action':'change','number':1,'field':'bth.se','value':2",
		"packet field 'bth.se' cannot be set to 2");
	refused_as("'device':'uhca0','action':'change','number':1,'field':'drop nth=1','value':2",
		   "unknown field 'drop nth=1'");
	done("'device':'uhca0','action':'list'", true, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_packets_go), TEST(test_many),     TEST(test_all_devices),
		TEST(test_clock),      TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
