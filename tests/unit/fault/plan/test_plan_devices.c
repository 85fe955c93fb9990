/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of devices in rules: found among those of the plan's owner, or refused with the column. */
#include "emu/fault/plan/plan.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static unsigned n_devices;

static const char *device(void *user, unsigned i)
{
	static const char *const names[] = {"uhca0", "uhca1", "uhca2"};

	(void)user;
	return i < n_devices ? names[i] : NULL;
}

/* Device i has ::i+1 and ::ffff:127.0.0.i+1. */
static bool address(void *user, unsigned i, unsigned k, uint8_t out[16])
{
	(void)user;
	memset(out, 0, 16);
	out[15] = (uint8_t)(i + 1);
	if (k == 1) {
		out[10] = out[11] = 0xff;
		out[12] = 127;
	}
	return k < 2;
}

static const struct fault_plan_ops ops = {.device = device, .address = address};

static int group_setup(void **state)
{
	n_devices = 3;
	*state = fault_plan_create(1, &ops, NULL);
	return *state ? 0 : -1;
}

static int group_teardown(void **state)
{
	fault_plan_destroy(*state);
	return 0;
}

static void refused(struct fault_plan *p, const char *rule, unsigned column, const char *text)
{
	struct fault_error error;

	assert_int_equal(fault_plan_add(p, rule, 0, &error), -EINVAL);
	if (!strstr(error.text, text))
		fail_msg("%s: '%s' is not in '%s'", rule, text, error.text);
	assert_int_equal(error.column, column);
}

static const struct fault_select *added(struct fault_plan *p, const char *rule)
{
	struct fault_error error = {0};

	if (fault_plan_add(p, rule, 0, &error) < 0)
		fail_msg("%s: %s", rule, error.text);
	return &fault_plan_entry(p, fault_plan_count(p) - 1)->rule.select;
}

/* Hits of a rule by packets that leave for ::LAST. */
static bool hits(const char *rule, uint8_t last)
{
	struct fault_plan *p = fault_plan_create(1, &ops, NULL);
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct roce_packet pkt = {.bth = {.opcode = {ROCE_RC_SEND_ONLY}}};
	struct roce_flow flow = {.dst = {[15] = last}};
	const struct fault_subject s = {.layer = FAULT_LAYER_PACKET,
					.device = "uhca0",
					.direction = FAULT_TX,
					.pkt = &pkt,
					.flow = &flow};
	bool yes;

	added(p, rule);
	yes = fault_plan_decide(p, &s, 0, hit) == 1;
	fault_plan_destroy(p);
	return yes;
}

static void test_peers(void **state)
{
	const struct fault_select *s = added(*state, "drop peer=uhca1");

	assert_int_equal(s->n_peers, 2);
	assert_int_equal(added(*state, "drop peer=uhca*")->n_peers, 6);
	assert_int_equal(added(*state, "drop peer=127.0.0.9,UHCA2")->n_peers, 3);
	assert_true(hits("drop peer=uhca1", 2));
	assert_false(hits("drop peer=uhca1", 1));
	assert_true(hits("drop peer=::9,uhca2", 3));
	assert_true(hits("drop peer=::9,uhca2", 9));
	assert_false(hits("drop peer=::9,uhca2", 2));
}

static void test_refused(void **state)
{
	refused(*state, "drop dev=uhca", 10, "'uhca' is not a device; known: uhca0 to uhca2: did");
	refused(*state, "drop device=uhca0,uhca3", 19, "'uhca3' is not a device");
	refused(*state, "drop dev=mlx5_*", 10, "'mlx5_*' is not a device");
	refused(*state, "drop peer=uhca7", 11, "did you mean 'uhca0'?");
	refused(*state, "drop peer=uhca0,localhost", 17, "neither an IP address nor a device");
	added(*state, "drop dev=uhca2,uhca?");
	n_devices = 1;
	refused(*state, "drop dev=uhca1", 10, "known: uhca0: did you mean 'uhca0'?");
	n_devices = 0;
	added(*state, "drop dev=uhca1"); /* nobody knows any: it may come */
	refused(*state, "drop peer=uhca1", 11, "no device is known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("plan_devices", tests, group_setup, group_teardown);
}
