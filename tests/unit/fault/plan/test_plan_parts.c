/* SPDX-License-Identifier: BSD-2-Clause */
/* Links, switches and hosts in rules: found in the modelled network, or refused with the column. */
#include "emu/fault/plan/plan.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static bool has_network;

static const char *part(void *user, enum fault_part kind, unsigned i)
{
	static const char *const names[FAULT_PARTS][6] = {
		{"h0", "leaf0/port1", "h0/leaf0", "leaf0/h0"},
		{"leaf0", "leaf1", "spine0"},
		{"h0", "h1"},
		{"leaf0/port1", "leaf0/port2"},
	};

	(void)user;
	return has_network ? names[kind][i] : NULL;
}

static const struct fault_plan_ops ops = {.part = part};

static int setup(void **state)
{
	has_network = true;
	*state = fault_plan_create(1, &ops, NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
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

static void taken(struct fault_plan *p, const char *rule)
{
	struct fault_error error = {0};

	if (fault_plan_add(p, rule, 0, &error) < 0)
		fail_msg("%s: %s", rule, error.text);
}

static void test_taken(void **state)
{
	taken(*state, "link.down=1ms link=leaf0/port1");
	taken(*state, "link.down=1ms link=h0,leaf0/h0 nth=3");
	taken(*state, "link.rate=10gbit link=*/port*");
	taken(*state, "switch: switch.down switch=spine?");
	taken(*state, "host.pause=1ms host=H1");
	taken(*state, "drop p=1%");
	taken(*state, "drop p=1% at=leaf0/port2");
	taken(*state, "count at=hop");
}

static void test_refused(void **state)
{
	refused(*state, "link.down link=leaf0/port9", 16,
		"'leaf0/port9' is no link of the network, as 'leaf0/port1' is: did you mean "
		"'leaf0/port1'?");
	refused(*state, "x: link.down nth=3 link=h0,h7", 28, "'h7' is no link of the network");
	refused(*state, "switch.down switch=leaf7", 20,
		"'leaf7' is no switch of the network, as 'leaf0' is: did you mean 'leaf0'?");
	refused(*state, "host.pause host=leaf0", 17, "'leaf0' is no host");
	refused(*state, "drop nth=1 at=leaf0/port3", 15,
		"'leaf0/port3' is no port of the network, as 'leaf0/port1' is: did you mean");
	refused(*state, "host.pause host=h0,", 20, "'' is no host");
}

static void test_no_network(void **state)
{
	struct fault_plan *p = fault_plan_create(1, &(struct fault_plan_ops){0}, NULL);

	has_network = false;
	refused(*state, "x: link.down nth=3 link=h0", 4,
		"'link.down' needs a modelled network: uhca-run --fabric");
	refused(*state, "switch.down=1ms switch=s", 1, "'switch.down' needs a modelled network");
	refused(*state, "drop at=leaf0/port1", 6, "'at=leaf0/port1' needs a modelled network");
	refused(*state, "drop at=hop", 6, "'at=hop' needs a modelled network");
	/* Nobody can say whether there is one. */
	taken(p, "link.down link=h0");
	fault_plan_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_network, setup, teardown),
	};

	return cmocka_run_group_tests_name("plan_parts", tests, NULL, NULL);
}
