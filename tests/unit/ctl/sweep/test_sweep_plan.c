/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the trace of a good run to the list of runs.
 */
#include "emu/ctl/sweep/sweep.h"
#include "emu/fault/rule/rules.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static const char *const rules[] = {
	"count call=create_qp",
	"count call=post_send first=2000",
	"count wc.opcode=RECV first=2000",
	"count opcode=RC_SEND_ONLY first=500",
};

/* Rule 1 to 4, so often, of this client. */
static const struct {
	unsigned rule, times, client;
} hits[] = {{1, 2, 1}, {2, 6, 1}, {1, 1, 2}, {3, 4, 2}, {4, 3, 0}};

static json_t *record(void)
{
	json_t *list = json_array(), *lines = json_array();

	for (unsigned i = 0; i < 4; i++)
		json_array_append_new(list,
				      json_pack("{s:i, s:s}", "rule", i + 1, "text", rules[i]));
	json_array_append_new(lines, json_string("plan time=0 seed=1"));
	for (unsigned h = 0; h < sizeof(hits) / sizeof(hits[0]); h++)
		for (unsigned i = 0; i < hits[h].times; i++)
			json_array_append_new(
				lines, json_sprintf("hit time=1 rule=%u hits=1 match=1 layer=call "
						    "what=count dev=uhca0 program=\"my test\" "
						    "client=%u call=x",
						    hits[h].rule, hits[h].client));
	json_array_append_new(lines, json_string("hit time=1 rule=9 hits=1 what=drop"));
	return json_pack("{s:o, s:o, s:i}", "rules", list, "lines", lines, "lost", 0);
}

static void count(struct sweep_counts *counts)
{
	json_t *r = record();

	assert_int_equal(sweep_counts_read(r, counts), 0);
	json_decref(r);
}

static void expect(unsigned kinds, unsigned each, const char *const *names)
{
	struct sweep_counts counts;
	struct sweep_plan plan;
	unsigned n = 0;

	count(&counts);
	assert_int_equal(sweep_plan_make(&counts, kinds, each, &plan), 0);
	for (; names[n]; n++) {
		char name[SWEEP_NAME_MAX];

		assert_true(n < plan.n);
		sweep_item_name(&plan.item[n], name);
		assert_string_equal(name, names[n]);
	}
	assert_int_equal(plan.n, n);
	sweep_plan_free(&plan);
	sweep_counts_free(&counts);
}

static void test_counts(void **state)
{
	const struct sweep_item item = {.kind = SWEEP_CALLS, .what = "post_send", .client = 1};
	struct sweep_counts counts;
	const char *program;

	(void)state;
	count(&counts);
	assert_int_equal(counts.n, 5);
	assert_false(counts.lost);
	assert_int_equal(sweep_counts_of(&counts, &item, &program), 6);
	assert_string_equal(program, "my test");
	assert_true(counts.at[4].is_packet);
	sweep_counts_free(&counts);
}

static void test_calls(void **state)
{
	static const char *const some[] = {"call/create_qp/1/1/ENOMEM",
					   "call/create_qp/1/2/ENOMEM",
					   "call/post_send/1/1/ENOMEM",
					   "call/post_send/1/2/ENOMEM",
					   "call/post_send/1/6/ENOMEM",
					   "call/create_qp/2/1/ENOMEM",
					   NULL};
	static const char *const first[] = {
		"call/create_qp/1/1/ENOMEM", "call/create_qp/1/2/ENOMEM",
		"call/post_send/1/1/ENOMEM", "call/post_send/1/6/ENOMEM",
		"call/create_qp/2/1/ENOMEM", NULL};

	(void)state;
	expect(1u << SWEEP_CALLS, 2, some);
	expect(1u << SWEEP_CALLS, 1, first);
}

static void test_packets_and_device(void **state)
{
	static const char *const packets[] = {"packet/RC_SEND_ONLY/0/1/drop",
					      "packet/RC_SEND_ONLY/0/1/dup",
					      "packet/RC_SEND_ONLY/0/1/late",
					      "packet/RC_SEND_ONLY/0/3/drop",
					      "packet/RC_SEND_ONLY/0/3/dup",
					      "packet/RC_SEND_ONLY/0/3/late",
					      NULL};

	(void)state;
	expect(1u << SWEEP_PACKETS, 1, packets);
}

/* How many there are without a limit, and with a pattern. */
static void test_all(void **state)
{
	struct sweep_counts counts;
	struct sweep_plan plan;

	(void)state;
	count(&counts);
	assert_int_equal(sweep_plan_make(&counts, (1u << SWEEP_KINDS) - 1, 0, &plan), 0);
	/* 9 calls; 4 RECV with 6 statuses; 17 events of a first completion; 3 packets; 9 moments */
	assert_int_equal(plan.n, 9 + 4 * 6 + 17 + 3 * 3 + 9 * 6);
	sweep_plan_only(&plan, "@(packet/*/1/drop|device/create_qp/*/fatal)");
	assert_int_equal(plan.n, 1 + 3);
	sweep_plan_free(&plan);
	sweep_counts_free(&counts);
}

/* The daemon understands them, and takes as many. */
static void test_rules(void **state)
{
	char *text = NULL, *rest;
	size_t size;
	unsigned n = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	sweep_plan_rules((1u << SWEEP_KINDS) - 1, f);
	fclose(f);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct fault_error error;
		struct fault_rule rule;

		if (fault_rule_parse(line, &rule, &error) < 0)
			fail_msg("%s: %s", line, error.text);
		n++;
	}
	assert_in_range(n, 100, 1000);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_packets_and_device),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
