/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenario files: every statement and condition becomes the step it is, and every mistake is named
 * by line and column.
 */
#include "../support/cmocka_all.h"
#include "emu/ctl/scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct scenario s;

static void parse(const char *text)
{
	struct scenario_error e;

	if (scenario_parse(text, &s, &e) != 0)
		fail_msg("%u:%u: %s", e.line, e.column, e.text);
}

static const struct scenario_step *only(const char *text)
{
	parse(text);
	assert_int_equal(s.n_steps, 1);
	return &s.step[0];
}

static int teardown(void **state)
{
	(void)state;
	scenario_free(&s);
	return 0;
}

static void test_head(void **state)
{
	(void)state;
	parse("# a remark\n\n  title Of this\r\nlimit 5s\ndaemon --devices 2\ndaemon --wire\n"
	      "capture run.pcapng\ncommand\n");
	assert_string_equal(s.title, "Of this");
	assert_string_equal(s.capture, "run.pcapng");
	assert_int_equal(s.limit, 5000000000);
	assert_int_equal(s.n_daemon, 3);
	assert_string_equal(s.daemon[1], "2");
	assert_true(s.has_command);
	assert_int_equal(s.step[0].line, 8);
}

static void test_rules(void **state)
{
	(void)state;
	parse("fault x: drop opcode=rc.ack  nth=3\noptional fault drop\nremove x");
	assert_string_equal(s.step[0].text, "x: drop opcode=rc.ack  nth=3");
	assert_false(s.step[0].optional);
	assert_true(s.step[1].optional);
	assert_int_equal(s.step[2].verb, SCENARIO_REMOVE);
	assert_string_equal(s.step[2].name, "x");
}

static void test_runs(void **state)
{
	const struct scenario_step *step = only("run a.b: sh -c 'echo a: b' ");

	(void)state;
	assert_int_equal(step->verb, SCENARIO_RUN);
	assert_string_equal(step->name, "a.b");
	assert_string_equal(step->text, "sh -c 'echo a: b' ");
	scenario_free(&s);
	step = only("kill a.b KILL");
	assert_int_equal(step->number, SIGKILL);
	scenario_free(&s);
	assert_int_equal(only("kill a")->number, SIGTERM);
}

static void test_after_is_a_wait(void **state)
{
	(void)state;
	parse("after rule x hits > 3 within 2s: uhcactl port down uhca0");
	assert_int_equal(s.n_steps, 2);
	assert_int_equal(s.step[0].verb, SCENARIO_WAIT);
	assert_int_equal(s.step[0].what, SCENARIO_RULE);
	assert_int_equal(s.step[0].relation, SCENARIO_MORE);
	assert_int_equal(s.step[0].number, 3);
	assert_int_equal(s.step[0].within, 2000000000);
	assert_string_equal(s.step[1].text, "port down uhca0");
	assert_string_equal(s.step[1].source, "uhcactl port down uhca0");
	scenario_free(&s);
	parse("after 10us: command");
	assert_int_equal(s.step[0].what, SCENARIO_TIME);
	assert_int_equal(s.step[0].number, 10000);
}

static void test_conditions(void **state)
{
	const struct scenario_step *step;

	(void)state;
	step = only("expect exit client");
	assert_true(step->what == SCENARIO_EXIT && step->relation == SCENARIO_EQUAL &&
		    step->number == 0);
	scenario_free(&s);
	step = only("expect exit client != 0 within 3ms");
	assert_true(step->relation == SCENARIO_UNEQUAL && step->within == 3000000);
	scenario_free(&s);
	step = only("expect output a got [0-9]+ within reach within 1s");
	assert_string_equal(step->text, "got [0-9]+ within reach");
	assert_int_equal(step->within, 1000000000);
	scenario_free(&s);
	step = only("expect completion count == 2 status=FLUSH qp!=0x11 within 1s");
	assert_true(step->what == SCENARIO_RECORD && step->number == 2);
	assert_string_equal(step->name, "completion");
	assert_string_equal(step->text, "status=FLUSH qp!=0x11");
	scenario_free(&s);
	step = only("expect no event type=PORT_ERR");
	assert_true(step->no && step->relation == SCENARIO_AT_LEAST && step->number == 1);
	scenario_free(&s);
	step = only("expect counter retransmits 4");
	assert_true(step->what == SCENARIO_COUNTER && step->relation == SCENARIO_EQUAL);
	scenario_free(&s);
	assert_int_equal(only("expect no leak")->what, SCENARIO_NO_LEAK);
	scenario_free(&s);
	assert_int_equal(only("wait listen 18515")->number, 18515);
	scenario_free(&s);
	assert_int_equal(only("wait exit x")->relation, SCENARIO_AT_LEAST);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *says;
	} bad[] = {
		{"", 1, 1, "nothing to do"},
		{"# only\n", 2, 1, "nothing to do"},
		{"command\nrnu x: y", 2, 1, "no statement 'rnu'"},
		{"run x y", 1, 5, "run NAME: COMMAND"},
		{"run x:", 1, 7, "command is missing"},
		{"run a/b: y", 1, 5, "cannot be the name"},
		{"fault", 1, 6, "rule is missing"},
		{"optional drop", 1, 10, "optional fault"},
		{"expect exit", 1, 12, "name of a run is missing"},
		{"expect exit a b", 1, 15, "'b' is no number"},
		{"expect rule a hits >", 1, 21, "a number is missing"},
		{"expect rule a hits 1 2", 1, 22, "no meaning"},
		{"expect listen 5", 1, 8, "nothing that can be expected"},
		{"wait leak", 1, 6, "nothing that can be waited for"},
		{"expect leak", 1, 12, "expect no leak"},
		{"expect no exit a within 1s", 1, 1, "judged at the end"},
		{"expect completion status", 1, 19, "not NAME=VALUE"},
		{"wait listen 65536", 1, 18, "1 to 65535"},
		{"wait 10", 1, 6, "waited for"},
		{"limit 10", 1, 7, "no time such as"},
		{"limit 99999999999999s", 1, 7, "no time such as"},
		{"after 1s command", 1, 7, "after CONDITION: STATEMENT"},
		{"after 1s: ", 1, 11, "a statement is missing"},
		{"kill x HUP", 1, 8, "a signal is"},
		{"command\n  command", 2, 1, "once"},
		{"uhcactl", 1, 8, "words for uhcactl"},
		{"capture", 1, 8, "file is missing"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scenario_error e;

		assert_int_equal(scenario_parse(bad[i].text, &s, &e), -EINVAL);
		if (!strstr(e.text, bad[i].says) || e.line != bad[i].line ||
		    e.column != bad[i].column)
			fail_msg("'%s' gave %u:%u: %s", bad[i].text, e.line, e.column, e.text);
		assert_null(s.memory);
	}
}

static void test_too_many(void **state)
{
	size_t len = (SCENARIO_STEPS_MAX + 1) * 8;
	char *text = malloc(len + 1);
	struct scenario_error e;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < len; i += 8)
		memcpy(text + i, "wait 1s\n", 9);
	assert_int_equal(scenario_parse(text, &s, &e), -EINVAL);
	assert_int_equal(e.line, SCENARIO_STEPS_MAX + 1);
	free(text);
}

static void test_files(void **state)
{
	struct scenario_error e;

	(void)state;
	assert_int_equal(scenario_load("/no/such/file", &s, &e), -ENOENT);
	assert_int_equal(e.line, 0);
	assert_non_null(strstr(e.text, "No such file"));
	assert_true(scenario_load("/dev", &s, &e) < 0);
	assert_int_equal(scenario_load("/dev/zero", &s, &e), -EFBIG);
}

static void test_relations(void **state)
{
	static const bool holds[][3] = {{0, 1, 0}, {1, 0, 1}, {1, 0, 0},
					{1, 1, 0}, {0, 0, 1}, {0, 1, 1}};

	(void)state;
	for (unsigned r = 0; r < 6; r++) {
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(scenario_holds(4 + i, (enum scenario_relation)r, 5),
					 holds[r][i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_head, teardown),
		cmocka_unit_test_teardown(test_rules, teardown),
		cmocka_unit_test_teardown(test_runs, teardown),
		cmocka_unit_test_teardown(test_after_is_a_wait, teardown),
		cmocka_unit_test_teardown(test_conditions, teardown),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_relations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
