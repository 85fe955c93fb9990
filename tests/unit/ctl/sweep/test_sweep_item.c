/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of a sweep: a name, the rule that it stands for, and back; and the table of errno values.
 */
#include "emu/abi/names.h"
#include "emu/ctl/sweep/sweep.h"
#include "emu/fault/rule/rules.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static void expect(const char *name, const char *rule, const char *count, const char *means)
{
	struct sweep_item item;
	struct fault_error why;
	struct fault_rule parsed;
	char text[SWEEP_RULE_MAX], again[SWEEP_NAME_MAX], words[256], error[256] = "";

	assert_int_equal(sweep_item_parse(name, &item, error, sizeof(error)), 0);
	sweep_item_name(&item, again);
	assert_string_equal(again, name);
	sweep_item_rule(&item, text);
	assert_string_equal(text, rule);
	assert_int_equal(fault_rule_parse(text, &parsed, &why), 0);
	sweep_item_count_rule(&item, text);
	assert_string_equal(text, count);
	assert_int_equal(fault_rule_parse(text, &parsed, &why), 0);
	sweep_item_words(&item, words, sizeof(words));
	assert_string_equal(words, means);
}

static void test_names_and_rules(void **state)
{
	(void)state;
	expect("call/create_qp/1/2/ENOMEM", "call.fail=ENOMEM call=create_qp client=1 nth=2",
	       "count call=create_qp client=1", "the 2nd create_qp of client 1 fails with ENOMEM");
	expect("completion/RECV/2/11/WR_FLUSH_ERR",
	       "cqe.set=status:WR_FLUSH_ERR wc.opcode=RECV client=2 nth=11",
	       "count wc.opcode=RECV client=2",
	       "the 11th RECV completion of client 2 has status WR_FLUSH_ERR");
	expect("event/modify_qp/1/3/PORT_ERR", "event=PORT_ERR call=modify_qp client=1 nth=3",
	       "count call=modify_qp client=1",
	       "event PORT_ERR comes at the 3rd modify_qp of client 1");
	expect("event/SEND/1/1/QP_FATAL", "event=QP_FATAL wc.opcode=SEND client=1 nth=1",
	       "count wc.opcode=SEND client=1",
	       "event QP_FATAL comes at the 1st SEND completion of client 1");
	expect("packet/RC_SEND_ONLY/0/22/late", "delay=20ms opcode=RC_SEND_ONLY nth=22",
	       "count opcode=RC_SEND_ONLY", "the 22nd RC_SEND_ONLY packet comes 20 ms late");
	expect("device/alloc_pd/0/1/port-flap", "port.down=50ms call=alloc_pd client=0 nth=1",
	       "count call=alloc_pd client=0",
	       "the port goes down for 50 ms at the 1st alloc_pd of client 0");
}

static void refused(const char *name, const char *because)
{
	struct sweep_item item;
	char error[256] = "";

	assert_int_equal(sweep_item_parse(name, &item, error, sizeof(error)), -EINVAL);
	if (!strstr(error, because))
		fail_msg("%s: '%s' does not say '%s'", name, error, because);
}

static void test_wrong_names(void **state)
{
	(void)state;
	refused("", "is not KIND/WHAT/CLIENT/N/HOW");
	refused("call/create_qp/1/2", "is not KIND/WHAT/CLIENT/N/HOW");
	refused("call/create_qp/1/0/ENOMEM", "is not KIND/WHAT/CLIENT/N/HOW");
	refused("call/create_qp/1/2/ENOMEM/x", "is not KIND/WHAT/CLIENT/N/HOW");
	refused("cal/create_qp/1/2/ENOMEM", "did you mean 'call'?");
	refused("call/create_pq/1/2/ENOMEM", "create_pq");
	refused("call/create_qp/1/2/ENOMEN", "did you mean 'ENOMEM'?");
	refused("packet/RC_SEND_ONLY/0/1/dropp", "did you mean 'drop'?");
	refused("packet/RC_SEND_ONLY/0/1/fatal", "unknown fault 'fatal'");
	refused("completion/RECV/1/1/GOOD", "unknown status 'GOOD'");
}

static void test_kinds(void **state)
{
	char error[256];
	unsigned kinds;

	(void)state;
	assert_int_equal(sweep_kinds_parse("calls", &kinds, error, sizeof(error)), 0);
	assert_int_equal(kinds, 1u << SWEEP_CALLS);
	assert_int_equal(sweep_kinds_parse("packets,device", &kinds, error, sizeof(error)), 0);
	assert_int_equal(kinds, 1u << SWEEP_PACKETS | 1u << SWEEP_DEVICE);
	assert_int_equal(sweep_kinds_parse("all", &kinds, error, sizeof(error)), 0);
	assert_int_equal(kinds, (1u << SWEEP_KINDS) - 1);
	assert_int_equal(sweep_kinds_parse("calls,", &kinds, error, sizeof(error)), -EINVAL);
	assert_int_equal(sweep_kinds_parse("evens", &kinds, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "did you mean 'events'?"));
}

#define NAME_(name) #name,
static const char *const calls[] = {UHCA_ABI_CALL_NAMES(NAME_)};

/* Each call has a row, and each value of it can be asked for. */
static void test_errnos(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct sweep_errno *e = sweep_errno_of(calls[i]);
		char values[128], *rest, name[SWEEP_NAME_MAX], error[256];

		if (!e)
			fail_msg("%s has no errno values", calls[i]);
		snprintf(values, sizeof(values), "%s", e->values);
		for (char *v = strtok_r(values, " ", &rest); v; v = strtok_r(NULL, " ", &rest)) {
			struct sweep_item item;

			snprintf(name, sizeof(name), "call/%s/1/1/%s", calls[i], v);
			if (sweep_item_parse(name, &item, error, sizeof(error)) < 0)
				fail_msg("%s: %s", name, error);
		}
	}
	assert_null(sweep_errno_of("none"));
}

static void test_destroys(void **state)
{
	(void)state;
	assert_true(sweep_call_destroys("destroy_qp"));
	assert_true(sweep_call_destroys("dereg_mr"));
	assert_true(sweep_call_destroys("rdma_destroy_id"));
	assert_false(sweep_call_destroys("create_qp"));
	assert_false(sweep_call_destroys("rdma_connect"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_rules), cmocka_unit_test(test_wrong_names),
		cmocka_unit_test(test_kinds),           cmocka_unit_test(test_errnos),
		cmocka_unit_test(test_destroys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
