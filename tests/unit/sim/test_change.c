/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes wrong during a simulation: how it is written, and what becomes of messages. */
#include "tests/support/simulator/curve.h"

#include "emu/sim/change.h"

#include <string.h>

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *said;
	} rows[] = {
		{"down leaf0", 1, "is not a time such as 10us"},
		{"1ms dwn leaf0", 5, "unknown change 'dwn': did you mean 'down'?"},
		{"1ms down leaf9 spine0", 10, "unknown node 'leaf9'"},
		{"1ms down leaf1/port9", 10,
		 "'leaf1/port9' is no node: name a link by the nodes at both"},
		{"1ms down leaf0 leaf1", 16, "no link joins leaf0 and leaf1"},
		{"1ms down h0", 12, "h0 is a host: name its link by both ends"},
		{"1ms loss leaf0 spine0", 22, "is not a ratio"},
		{"1ms rate leaf0 spine0 10", 23, "rate"},
		{"1ms delay leaf0", 16, "unknown node ''"},
		{"1ms delay leaf0 spine0 5", 24, "delay: '5' is not a time such as 10us"},
		{"1ms pause leaf0", 11, "leaf0 is a switch: hosts pause"},
		{"1ms up leaf0 spine0 now", 21, "a word too many: 'now'"},
	};
	struct fabric_topology t;
	struct fabric_error e;
	struct change c;

	(void)state;
	fabric_topology_init(&t);
	assert_int_equal(fabric_topology_generate(&t, "leaf-spine", &e), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(change_read(&c, rows[i].text, &t, &e) < 0);
		if (e.column != rows[i].column || !strstr(e.text, rows[i].said))
			fail_msg("%s: %u: %s", rows[i].text, e.column, e.text);
	}
	assert_int_equal(change_read(&c, "1.5ms loss leaf0 spine1 2%", &t, &e), 0);
	assert_int_equal(c.time, 1500 * FABRIC_US);
	assert_int_equal(c.failure.value, 85899346);
	assert_int_equal(change_read(&c, "2ms rate spine0 leaf1 2.5G", &t, &e), 0);
	assert_int_equal(c.failure.value, UINT64_C(2500000000));
	assert_int_equal(change_read(&c, "2ms delay spine0 leaf1 5us", &t, &e), 0);
	assert_int_equal(c.failure.value, 5 * FABRIC_US);
	fabric_topology_fini(&t);
}

#define TREE      "sim --topology leaf-spine:leaves=2,spines=2,hosts=4"
#define SLOW_TREE TREE ",rate=10G --workload permutation:2M "

/* A spine goes down: routes avoid it, what was lost is sent again, and all messages arrive. */
static void test_down(void **state)
{
	json_t *report = curve_run(SLOW_TREE "--at 1ms_down_spine1 --reroute 200us --drain 100ms "
					     "--cc dcqcn");

	(void)state;
	assert_true(curve_number(report, "flows.finished") == 8);
	assert_true(curve_number(report, "network.dropped.down") > 0);
	assert_true(curve_number(report, "transport.retransmitted") > 0);
	json_decref(report);
	/* With no way left they do not. */
	report = curve_run(SLOW_TREE "--at 1ms_down_spine1 --at 1ms_down_spine0 --drain 100ms");
	assert_true(curve_number(report, "flows.unfinished") > 0);
	assert_true(curve_number(report, "transport.timeouts") > 10);
	json_decref(report);
	/* And when it comes back they go on. */
	report = curve_run(SLOW_TREE "--at 1ms_down_spine1 --at 1ms_down_spine0 --at 5ms_up_spine0 "
				     "--drain 100ms");
	assert_true(curve_number(report, "flows.unfinished") == 0);
	json_decref(report);
}

/* A host that pauses for 2 ms holds up who sends to it, and those who share its way. */
static void test_pause(void **state)
{
	json_t *report = curve_run(
		TREE
		" --workload permutation:20M --at 1ms_pause_h2 --at 3ms_resume_h2 --drain 100ms");

	(void)state;
	assert_true(curve_number(report, "flows.finished") == 8);
	assert_true(curve_number(report, "network.paused_us") > 2000);
	assert_true(curve_number(report, "network.dropped.headroom") == 0);
	json_decref(report);
}

static void test_loss(void **state)
{
	json_t *report = curve_run("sim --topology one-switch:2 --workload pair:size=10M "
				   "--at 100us_loss_h0_switch_1% --at 200us_loss_h0_switch_0 "
				   "--drain 100ms");
	const double lost = curve_number(report, "network.dropped.loss");

	(void)state;
	/* 100 us at full speed are 1130 packets and as many ACKs. */
	curve_within("lost", lost, 3, 45);
	assert_true(curve_number(report, "flows.finished") == 1);
	json_decref(report);
}

/*
 * 9766 packets of 1106 bytes take 864 us at 100 Gb/s. 200 us at a tenth of it do the work of 20 us,
 * and the data and the last ACK are 19 us longer on their way each: 864 + 180 + 38, and 4 us of
 * other delay.
 */
static void test_slow(void **state)
{
	json_t *report = curve_run("sim --topology one-switch:2 --workload pair:size=10M "
				   "--at 100us_rate_h0_switch_10G --at 300us_rate_h0_switch_100G "
				   "--at 500us_delay_h0_switch_20us --drain 100ms");

	(void)state;
	assert_true(curve_number(report, "flows.finished") == 1);
	curve_within("us", curve_number(report, "flows.fct_us.max"), 1082, 1090);
	assert_true(curve_number(report, "transport.retransmitted") == 0);
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors), cmocka_unit_test(test_down),
		cmocka_unit_test(test_pause),  cmocka_unit_test(test_loss),
		cmocka_unit_test(test_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
