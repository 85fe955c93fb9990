/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenario files: every statement and condition becomes the step it is, and every mistake is named
 * by line and column.
 */
#include "emu/ctl/scenario/scenario.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const struct scenario_step *last(const char *text)
{
	parse(text);
	return &s.step[s.n_steps - 1];
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
	assert_int_equal(s.daemon_line, 5);
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
	step = last("run a.b: x\nkill a.b KILL");
	assert_int_equal(step->number, SIGKILL);
	scenario_free(&s);
	assert_int_equal(last("run a: x\nkill a")->number, SIGTERM);
	scenario_free(&s);
	assert_int_equal(last("kill command")->number, SIGTERM);
	assert_true(s.wants_command);
	assert_false(s.has_command);
}

static void test_peer(void **state)
{
	(void)state;
	parse("fault drop\npeer fault x: drop\npeer optional fault dup\npeer uhcactl top");
	assert_false(s.step[0].peer);
	assert_true(s.step[1].peer && s.step[1].verb == SCENARIO_FAULT);
	assert_int_equal(s.step[1].column, 12);
	assert_true(s.step[2].peer && s.step[2].optional);
	assert_true(s.step[3].peer && s.step[3].verb == SCENARIO_UHCACTL);
	assert_false(s.has_peer);
	scenario_free(&s);
	parse("peer run a: x\nafter exit a: peer run b: y\nrun c: z");
	assert_true(s.has_peer);
	assert_string_equal(s.step[0].source, "peer run a: x");
	assert_true(s.step[0].peer && s.step[2].peer);
	assert_false(s.step[1].peer || s.step[3].peer);
}

static void test_after_is_a_wait(void **state)
{
	(void)state;
	parse("fault x: drop\nafter rule x hits > 3 within 2s: uhcactl port down uhca0");
	assert_int_equal(s.n_steps, 3);
	assert_int_equal(s.step[0].column, 7);
	assert_int_equal(s.step[1].verb, SCENARIO_WAIT);
	assert_int_equal(s.step[1].what, SCENARIO_RULE);
	assert_int_equal(s.step[1].relation, SCENARIO_MORE);
	assert_int_equal(s.step[1].number, 3);
	assert_int_equal(s.step[1].within, 2000000000);
	assert_int_equal(s.step[1].column, 12);
	assert_string_equal(s.step[2].text, "port down uhca0");
	assert_string_equal(s.step[2].source, "uhcactl port down uhca0");
	scenario_free(&s);
	parse("after 10us: command");
	assert_int_equal(s.step[0].what, SCENARIO_TIME);
	assert_int_equal(s.step[0].number, 10000);
}

static void test_conditions(void **state)
{
	const struct scenario_step *step;

	(void)state;
	step = last("run client: x\nexpect exit client");
	assert_true(step->what == SCENARIO_EXIT && step->relation == SCENARIO_EQUAL &&
		    step->number == 0);
	scenario_free(&s);
	step = last("run client: x\nexpect exit client != 0 within 3ms");
	assert_true(step->relation == SCENARIO_UNEQUAL && step->within == 3000000);
	scenario_free(&s);
	step = last("run a: x\nexpect output a got [0-9]+ within reach within 1s");
	assert_string_equal(step->text, "got [0-9]+ within reach");
	assert_int_equal(step->within, 1000000000);
	scenario_free(&s);
	step = last("run a: x\nexpect output a done within 5 seconds");
	assert_string_equal(step->text, "done within 5 seconds");
	scenario_free(&s);
	step = only("expect completion count == 2 status=WR_FLUSH_ERR qp!=0x11 within 1s");
	assert_true(step->what == SCENARIO_RECORD && step->number == 2);
	assert_string_equal(step->name, "completion");
	assert_string_equal(step->text, "status=WR_FLUSH_ERR qp!=0x11");
	assert_int_equal(step->column, 30);
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
	assert_int_equal(last("run x: y\nwait exit x")->relation, SCENARIO_AT_LEAST);
	scenario_free(&s);
	assert_int_equal(last("run x: y\nexpect exit x >= 0")->number, 0);
}

struct mistake {
	const char *text;
	unsigned line, column;
	const char *says;
};

static void expect_mistakes(const struct mistake *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct scenario_error e;

		if (scenario_parse(bad[i].text, &s, &e) != -EINVAL)
			fail_msg("'%s' is taken", bad[i].text);
		if (!strstr(e.text, bad[i].says) || e.line != bad[i].line ||
		    e.column != bad[i].column)
			fail_msg("'%s' gave %u:%u: %s", bad[i].text, e.line, e.column, e.text);
		assert_null(s.memory);
	}
}

static void test_mistakes(void **state)
{
	static const struct mistake bad[] = {
		{"", 1, 1, "has no statement"},
		{"# only\n", 2, 1, "has no statement"},
		{"command\nrnu x: y", 2, 1,
		 "unknown statement 'rnu': did you mean 'run'? Known: title, "},
		{"command\nafter 1s: rnu x: y", 2, 11, "unknown statement 'rnu'"},
		{"title", 1, 6, "title is missing"},
		{"title a\ntitle b", 2, 1, "given twice"},
		{"limit 1s\nlimit 2s", 2, 1, "given twice"},
		{"limit", 1, 6, "is missing"},
		{"limit 10", 1, 7, "not a time such as"},
		{"limit 0s", 1, 7, "not a time such as"},
		{"limit 5sec", 1, 7, "not a time such as"},
		{"limit 5s 6s", 1, 10, "unknown word"},
		{"limit 99999999999999s", 1, 7, "not a time such as"},
		{"daemon", 1, 7, "options are missing"},
		{"capture", 1, 8, "file is missing"},
		{"capture a\ncapture b", 2, 1, "given twice"},
		{"fault", 1, 6, "rule is missing"},
		{"optional drop", 1, 10, "optional fault"},
		{"remove", 1, 7, "name of a rule is missing"},
		{"fault a: drop\nremove b", 2, 8, "unknown earlier rule 'b'"},
		{"remove a\nfault a: drop", 1, 8, "unknown earlier rule"},
		{"fault ab: drop\nremove a", 2, 8, "unknown earlier rule"},
		{"fault a: drop\nremove a b", 2, 10, "unknown word"},
		{"run x y", 1, 5, "run NAME: COMMAND"},
		{"peer", 1, 5, "'peer' stands before run, fault"},
		{"peer expect no leak", 1, 6, "'peer' stands before run, fault"},
		{"peer optional run a: x", 1, 15, "optional fault RULE"},
		{"run x:", 1, 7, "command is missing"},
		{"run a/b: y", 1, 5, "not a valid run name"},
		{"run a: x\nrun a: y", 2, 5, "already"},
		{"run command: y", 1, 5, "already"},
		{"command now", 1, 9, "unknown word"},
		{"command\n  command", 2, 1, "once"},
		{"uhcactl", 1, 8, "arguments of uhcactl"},
		{"run x: y\nkill z", 2, 6, "unknown earlier run 'z'; known: x"},
		{"run x: y\nkill x HUP", 2, 8, "unknown signal 'HUP'"},
		{"run x: y\nkill x KILL now", 2, 13, "unknown word"},
		{"kill", 1, 5, "name of a run is missing"},
		{"after 1s command", 1, 7, "after CONDITION: STATEMENT"},
		{"after 1s: ", 1, 11, "a statement is missing"},
		{"after 1s now: command", 1, 10, "unknown word"},
		{"wait", 1, 5, "the condition is missing"},
		{"expect", 1, 7, "the condition is missing"},
		{"expect no", 1, 10, "the condition is missing"},
	};

	(void)state;
	expect_mistakes(bad, sizeof(bad) / sizeof(bad[0]));
}

#define RUN   "run a: x\n"
#define FAULT "fault f: drop\n"

/* A condition that is misspelt is refused: it would be so for ever, or never. */
static void test_mistaken_conditions(void **state)
{
	static const struct mistake bad[] = {
		{"wait 10", 1, 6, "unknown condition to wait for '10'"},
		{"wait 0s", 1, 6, "unknown condition to wait for '0s'"},
		{"wait time", 1, 10, "is missing"},
		{"wait time 10", 1, 11, "not a time"},
		{"expect time 10ms", 1, 8, "unknown condition to expect"},
		{"expect listen 5", 1, 8, "unknown condition to expect"},
		{"wait listen 65536", 1, 18, "1 to 65535"},
		{"wait listen 0", 1, 14, "1 to 65535"},
		{"wait listen 5x", 1, 13, "not a number"},
		{"wait listen tcp", 1, 13, "unknown word"},
		{"wait listen 5 cm", 1, 15, "unknown word"},
		{"wait leak", 1, 6, "unknown condition to wait for"},
		{"expect leak", 1, 12, "expect no leak"},
		{"expect no leaks", 1, 11, "unknown condition to expect"},
		{"expect no leak now", 1, 16, "unknown word"},
		{FAULT "expect rule", 2, 12, "is missing"},
		{FAULT "expect rule g", 2, 13, "unknown earlier rule"},
		{FAULT "expect rule f >= 2", 2, 15, "unknown word"},
		{FAULT "expect rule f hit 2", 2, 15, "unknown word"},
		{FAULT "expect rule f hits", 2, 19, "a number is missing"},
		{FAULT "expect rule f hits >", 2, 21, "a number is missing"},
		{FAULT "expect rule f hits => 1", 2, 20, "not a number"},
		{FAULT "expect rule f hits = 1", 2, 20, "not a number"},
		{FAULT "expect rule f hits -1", 2, 20, "not a number"},
		{FAULT "expect rule f hits 1O", 2, 20, "not a number"},
		{FAULT "expect rule f hits 1 2", 2, 22, "unknown word"},
		{FAULT "expect rule f hits >= 0", 2, 20, "always true"},
		{FAULT "expect rule f hits < 0", 2, 20, "never be true"},
		{FAULT "expect rule f hits 99999999999999999999", 2, 20, "not a number"},
		{FAULT "expect rule f wihtin 1s", 2, 15, "unknown word"},
		{FAULT "expect rule f within", 2, 21, "is missing"},
		{FAULT "expect rule f within 1", 2, 22, "not a time"},
		{"expect exit", 1, 12, "name of a run is missing"},
		{RUN "expect exit b", 2, 13, "unknown earlier run 'b'"},
		{"expect exit a\n" RUN, 1, 13, "unknown earlier run"},
		{RUN "expect exit a b", 2, 15, "'b' is not a number"},
		{RUN "expect exit a 256", 2, 15, "never more than 255"},
		{RUN "expect exit a != 256", 2, 15, "never more than 255"},
		{RUN "expect exit a > 255", 2, 15, "never be true"},
		{RUN "expect exit a < 0", 2, 15, "never be true"},
		{RUN "expect exit a <> 0", 2, 15, "not a number"},
		{RUN "expect exit a wihtin 1s", 2, 15, "not a number"},
		{RUN "expect no exit a within 1s", 2, 1, "checked at the end"},
		{"expect output", 1, 14, "is missing"},
		{RUN "expect output b x", 2, 15, "unknown earlier run"},
		{RUN "expect output a", 2, 16, "expression is missing"},
		{RUN "expect output a [", 2, 17, "not a regular expression"},
		{RUN "expect no output a error within 1sec", 2, 33, "not a time"},
		{RUN "expect no output a error within 0s", 2, 33, "not a time"},
		{"expect output command x", 1, 15, "output is not captured"},
		{"expect counter", 1, 15, "is missing"},
		{"expect counter x", 1, 17, "a number is missing"},
		{"expect counter x =< 1", 1, 18, "not a number"},
		{"expect counter x >= 0", 1, 18, "always true"},
		{"expect counter x <= 18446744073709551615", 1, 18, "always true"},
		{"expect cuonter x 1", 1, 8, "'cuonter': did you mean 'counter'?"},
		{"expect nak count >= 0", 1, 18, "always true"},
		{"expect nak count 1 count 2", 1, 20, "not NAME=VALUE"},
		{"expect nak cuont 1", 1, 12, "not NAME=VALUE"},
		{"expect nak within 1sec", 1, 12, "not NAME=VALUE"},
	};

	(void)state;
	expect_mistakes(bad, sizeof(bad) / sizeof(bad[0]));
}

/* For each word of each kind of record one that is right and one that is not. */
static void test_records(void **state)
{
	static const struct {
		const char *kind, *good, *bad, *says;
	} words[] = {
		{"completion", "status=RETRY_EXC_ERR", "stauts=RETRY_EXC_ERR", " 'stauts'"},
		{"completion", "status!=SUCCESS", "status!=SUCESS", "unknown status 'SUCESS'"},
		{"completion", "status=success", "status=RETRY_EXCEEDED", "RETRY_EXC_ERR"},
		{"completion", "status=WR_FLUSH_ERR", "status=IBV_WC_WR_FLUSH_ERR",
		 "unknown status"},
		{"completion", "status=GENERAL_ERR", "status==GENERAL_ERR", "unknown status '=GEN"},
		{"completion", "status=REM_OP_ERR", "status=11", "unknown status '11'"},
		{"completion", "opcode=RDMA_READ", "opcode=READ", "unknown opcode 'READ'"},
		{"completion", "opcode=RECV", "opcode=", "unknown opcode ''"},
		{"completion", "qp=0x11", "qp=1x1", "not a number"},
		{"completion", "qp!=17", "qp=0x1000000", "not a number up to"},
		{"completion", "cq=1", "cq=one", "not a number"},
		{"completion", "wr=0x2a", "wr=-1", "not a number"},
		{"completion", "length=64", "length>=64", "compared with = and !="},
		{"completion", "vendor=0x3", "vendor=3.5", "not a number"},
		{"completion", "dev=uhca0", "dev=no/name", "cannot be a dev"},
		{"completion", "dev=uhca10", "device=uhca0", " 'device'"},
		{"event", "type=QP_FATAL", "type=QP_FATALL", "unknown type 'QP_FATALL'"},
		{"event", "type=port_err", "type=IBV_EVENT_PORT_ERR", "unknown type"},
		{"event", "type=SRQ_LIMIT_REACHED srq=3", "typ=SRQ_ERR", " 'typ'"},
		{"event", "cq=3", "wr=3", " 'wr'"},
		{"event", "clients=1", "clients=all", "not a number"},
		{"state", "from=RTS to=ERR", "to=ERROR", "unknown to 'ERROR'"},
		{"state", "from=SQD", "form=SQD", " 'form'"},
		{"state", "qp=1", "state=RTS", " 'state'"},
		{"retry", "why=timeout", "why=timeuot",
		 "'timeuot': did you mean 'timeout'? Known: timeout, nak"},
		{"retry", "left=7 psn=9", "left=8", "not a number up to 7"},
		{"nak", "syndrome=0x60", "syndrome=0x160", "not a number up to 255"},
		{"nak", "psn=5", "why=sequence", " 'why'"},
		{"call", "verb=reg_mr", "verb=ibv_reg_mr", "unknown verb 'ibv_reg_mr'"},
		{"call", "status=ENOMEM", "status=NOMEM", "cannot be a status"},
		{"call", "status=slow", "status=12", "cannot be a status"},
		{"call", "client=4", "program=x", " 'program'"},
		{"hit", "rule=1 hits=2 match=3", "rule=lost", "not a number"},
		{"hit", "layer=packet", "layer=wire", "unknown layer 'wire'"},
		{"hit", "what=RC_ACKNOWLEDGE", "what=RC_ACK", "cannot be a what"},
		{"hit", "what=create_qp", "what=create", "cannot be a what"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct mistake bad = {.line = 1, .says = words[i].says};
		char text[128];

		snprintf(text, sizeof(text), "expect %s %s", words[i].kind, words[i].good);
		scenario_free(&s);
		only(text);
		scenario_free(&s);
		snprintf(text, sizeof(text), "expect no %s count 2 %s", words[i].kind,
			 words[i].bad);
		bad.text = text;
		bad.column = (unsigned)strlen(words[i].kind) + 20;
		/* " 'NAME'": the word itself is wrong, and not its value */
		if (bad.says[0] != ' ' && !strstr(bad.says, "compared"))
			bad.column += (unsigned)strcspn(words[i].bad, "=") + 1;
		expect_mistakes(&bad, 1);
	}
	expect_mistakes(&(struct mistake){"expect nak psn=1 psn=2", 1, 18, "twice"}, 1);
	expect_mistakes(&(struct mistake){"expect nak psn=1 psn!=2", 1, 18, "twice"}, 1);
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

/* Nothing behind a NUL would be carried out. */
static void test_nul(void **state)
{
	char name[] = "/tmp/uhca-scenario-XXXXXX";
	struct scenario_error e;
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "run a: x\n\0expect exit a\n", 24), 24);
	close(fd);
	assert_int_equal(scenario_load(name, &s, &e), -EILSEQ);
	unlink(name);
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
		cmocka_unit_test_teardown(test_peer, teardown),
		cmocka_unit_test_teardown(test_conditions, teardown),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_mistaken_conditions),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_relations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
