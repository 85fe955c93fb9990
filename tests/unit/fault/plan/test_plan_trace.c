/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a plan tells of itself, and a plan made of that: it hits the same subjects in the same way,
 * whatever seed it has and whatever time it is.
 */
#include "tests/support/fault/plan_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is told ---- */

static void test_lines(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 7);
	st.now = 5;
	plan_stage_add(&st, "lost: drop opcode=rc.ack nth=2");
	plan_stage_add(&st, "call.slow=1ms call=* program=\"my prog\"");
	plan_stage_send(&st, ROCE_RC_ACKNOWLEDGE, 100);
	plan_stage_send(&st, ROCE_RC_ACKNOWLEDGE, 101);
	assert_string_equal(
		st.trace,
		"plan time=0 seed=7\n"
		"rule time=5 number=1 what=added text=\"lost: drop opcode=rc.ack nth=2\"\n"
		"rule time=5 number=2 what=added "
		"text=\"call.slow=1ms call=* program=\\\"my prog\\\"\"\n"
		"hit time=5 rule=1 hits=1 match=2 layer=packet what=drop dev=uhca0 dir=tx qp=0x11 "
		"psn=101 op=RC_ACKNOWLEDGE\n");
	plan_stage_close(&st);
}

static const char *last_line(const struct plan_stage *st)
{
	const char *at = st->trace + st->trace_used - 1;

	while (at > st->trace && at[-1] != '\n')
		at--;
	return at;
}

static void test_lines_of_other_layers(void **state)
{
	struct fault_subject s = {.layer = FAULT_LAYER_CALL, .device = "uhca1", .client = 3};
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 7);
	plan_stage_add(&st, "call.fail=ENOMEM call=create_*");
	plan_stage_add(&st, "cqe.withhold wc=ERROR");
	plan_stage_add(&st, "mem.fail");
	plan_stage_add(&st, "port.down");
	s.call = "create_cq";
	s.program = "my prog";
	plan_stage_show(&st, &s);
	assert_string_equal(last_line(&st), "hit time=0 rule=1 hits=1 match=1 layer=call "
					    "what=call.fail dev=uhca1 program=\"my prog\" client=3 "
					    "call=create_cq\n");
	s.layer = FAULT_LAYER_COMPLETION;
	s.program = NULL;
	s.qpn = 0x12;
	s.cq = 4;
	s.wc_status = 12;
	plan_stage_show(&st, &s);
	assert_string_equal(last_line(&st),
			    "hit time=0 rule=2 hits=1 match=1 layer=completion what=cqe.withhold "
			    "dev=uhca1 client=3 qp=0x12 cq=0x4 status=RETRY_EXC_ERR\n");
	s.layer = FAULT_LAYER_MEMORY;
	s.cq = 0;
	s.key = 0x77;
	s.address = 0x1000;
	s.length = 64;
	plan_stage_show(&st, &s);
	assert_string_equal(last_line(&st),
			    "hit time=0 rule=3 hits=1 match=1 layer=memory what=mem.fail dev=uhca1 "
			    "client=3 qp=0x12 key=0x77 address=0x1000 length=64\n");
	plan_stage_wait(&st, 10);
	assert_string_equal(last_line(&st),
			    "hit time=0 rule=4 hits=1 match=1 layer=time what=port.down\n");
	plan_stage_close(&st);
}

/* ---- and back ---- */

struct rules {
	struct plan_stage *into;
	char text[64 * 1024];
	char notes[4096];
	unsigned n;
};

static int take_rule(void *user, const char *text)
{
	struct rules *r = user;

	if (r->into)
		plan_stage_add(r->into, text);
	assert_true(strlen(r->text) + strlen(text) + 2 < sizeof(r->text));
	strcat(strcat(r->text, text), "\n");
	r->n++;
	return 0;
}

static void take_note(void *user, const char *text)
{
	struct rules *r = user;

	assert_true(strlen(r->notes) + strlen(text) + 2 < sizeof(r->notes));
	strcat(strcat(r->notes, text), "\n");
}

static const struct fault_replay_ops replay_ops = {take_rule, take_note};

/* Opens "again" with the plan that the trace of "st" makes. */
static void reopen(const struct plan_stage *st, struct plan_stage *again, struct rules *rules)
{
	struct fault_trace_error e;
	uint64_t seed;

	memset(rules, 0, sizeof(*rules));
	assert_int_equal(
		fault_trace_to_plan(st->trace, st->trace_used, &seed, &replay_ops, rules, &e), 0);
	assert_int_equal(seed, fault_plan_seed(st->plan));
	plan_stage_open(again, ~seed); /* chance is told with the rules */
	memset(rules, 0, sizeof(*rules));
	rules->into = again;
	fault_trace_to_plan(st->trace, st->trace_used, &seed, &replay_ops, rules, &e);
}

/* 3000 packets, of which the clock of each run makes something else. */
static void traffic(struct plan_stage *st, uint64_t step)
{
	static const uint8_t opcodes[] = {ROCE_RC_SEND_ONLY, ROCE_RC_ACKNOWLEDGE,
					  ROCE_RC_WRITE_FIRST, ROCE_RC_READ_REQUEST,
					  ROCE_UC_SEND_ONLY};

	for (uint32_t i = 0; i < 3000; i++) {
		plan_stage_wait(st, st->now + step);
		plan_stage_send(st, opcodes[i % 7 % 5], i);
	}
}

/* The rules, their replay, and what the replay's rules are when "wanted" is not NULL. */
static void check_replay(const char *const *rules, const char *wanted)
{
	static struct rules got;
	struct plan_stage st, again;

	plan_stage_open(&st, 4711);
	st.file = "/there";
	for (; *rules; rules++)
		plan_stage_add(&st, *rules);
	traffic(&st, 1000);
	assert_true(st.log_used > 0);
	reopen(&st, &again, &got);
	if (wanted)
		assert_string_equal(got.text, wanted);
	traffic(&again, 1000);
	assert_string_equal(st.log, again.log);
	plan_stage_close(&st);
	plan_stage_close(&again);
}

#define REPLAY_(wanted, ...) check_replay((const char *const[]){__VA_ARGS__, NULL}, wanted)

static void test_rules_that_count_stay(void **state)
{
	(void)state;
	REPLAY_("a: drop opcode=rc.ack nth=3,5..7\n", "a: drop opcode=rc.ack nth=3,5..7");
	REPLAY_("dup every=10 skip=5 first=100\n", "dup every=10 skip=5 first=100");
	REPLAY_("corrupt=bit first=3 stream=9\n", "corrupt=bit first=3 stream=9");
	REPLAY_(NULL, "corrupt=bit first=3");
	REPLAY_("port.down after=1ms\n", "port.down after=1ms");
}

static void test_time_becomes_a_count(void **state)
{
	(void)state;
	REPLAY_("drop nth=100..199\n", "drop after=100us until=200us");
	REPLAY_("drop nth=1,1000,2000,3000\n", "drop every=1ms");
	REPLAY_("drop opcode=rc.ack nth=1..857\n", "drop opcode=rc.ack while_file=/there");
	REPLAY_("a: drop nth=50\necn nth=50..52\n", "a: drop nth=50", "ecn after=a times=3");
}

static void test_chance_becomes_a_count(void **state)
{
	(void)state;
	REPLAY_(NULL, "few: drop opcode=rc p=0.001");
	REPLAY_(NULL, "many: drop opcode=rc p=0.2");
	REPLAY_(NULL, "many: delay=1ms jitter=1ms p=0.2");
	REPLAY_(NULL, "burst=0.05/0.3");
	REPLAY_(NULL, "one: burst=0.02/0.3 opcode=send", "drop p=0.1", "corrupt=bit p=0.3",
		"dup p=0.4", "delay=5us jitter=10us p=50% until=2ms");
}

static void test_lists_are_split(void **state)
{
	static struct rules got;
	struct plan_stage st, again;

	(void)state;
	plan_stage_open(&st, 9);
	plan_stage_add(&st, "odd: drop opcode=request p=0.5");
	plan_stage_add(&st, "port.down after=odd:40+5us");
	traffic(&st, 1000);
	reopen(&st, &again, &got);
	assert_true(got.n > 20);
	assert_non_null(strstr(got.text, "odd: drop opcode=request nth="));
	assert_non_null(strstr(got.text, "odd.2: drop opcode=request nth="));
	assert_non_null(strstr(got.text, "port.down after=odd."));
	assert_non_null(strstr(got.text, "+5000ns\n"));
	traffic(&again, 1000);
	assert_string_equal(st.log, again.log);
	plan_stage_close(&st);
	plan_stage_close(&again);
}

/* Another clock, another seed even: what was counted is counted. */
static void test_replay_does_not_look_at_the_clock(void **state)
{
	static struct rules got;
	struct plan_stage st, again;

	(void)state;
	plan_stage_open(&st, 3);
	plan_stage_add(&st, "drop p=0.1 after=300us until=1ms");
	traffic(&st, 1000);
	reopen(&st, &again, &got);
	traffic(&again, 77);
	assert_string_equal(st.log, again.log);
	plan_stage_close(&st);
	plan_stage_close(&again);
}

static void test_clock_with_a_file(void **state)
{
	static struct rules got;
	struct plan_stage st, again;

	(void)state;
	plan_stage_open(&st, 3);
	plan_stage_add(&st, "flap: port.down every=1ms while_file=/there");
	plan_stage_wait(&st, 3500000);
	st.file = "/there";
	plan_stage_wait(&st, 12500000);
	reopen(&st, &again, &got);
	assert_string_equal(got.text, "flap: port.down after=10000000ns\n"
				      "flap.2: port.down after=11000000ns\n"
				      "flap.3: port.down after=12000000ns\n");
	assert_int_equal(plan_stage_wait(&again, 20000000), 3);
	plan_stage_close(&st);
	plan_stage_close(&again);
}

/* ---- rules that came and went, and what is wrong ---- */

static int convert(const char *trace, struct rules *rules, struct fault_trace_error *e)
{
	uint64_t seed;

	memset(rules, 0, sizeof(*rules));
	return fault_trace_to_plan(trace, strlen(trace), &seed, &replay_ops, rules, e);
}

static void test_rules_that_came_and_went(void **state)
{
	static struct rules got;
	struct fault_trace_error e;

	(void)state;
	assert_int_equal(convert("plan time=100 seed=1\n"
				 "rule time=100 number=1 what=added text=\"drop opcode=ack\"\n"
				 "rule time=100 number=2 what=added text=\"dup p=0.5\"\n"
				 "note text=hello\n"
				 "\n"
				 "hit time=200 rule=1 hits=1 match=1\n"
				 "hit time=200 rule=1 hits=2 match=2 unknown=1\n"
				 "rule time=250 number=1 what=changed text=\"drop opcode=nak\"\n"
				 "hit time=260 rule=1 match=1\n"
				 "rule time=300 number=1 what=removed text=\"\"\n",
				 &got, &e),
			 0);
	assert_string_equal(got.text, "drop opcode=ack nth=1..2\n"
				      "drop opcode=nak nth=1 after=150ns\n");
	assert_string_equal(got.notes, "rule 1 was added later: it counts from that time\n"
				       "rule 2 never hit\n");
}

static void wrong(const char *trace, unsigned line, const char *part)
{
	static struct rules got;
	struct fault_trace_error e;

	assert_int_equal(convert(trace, &got, &e), -EINVAL);
	if (e.line != line || !strstr(e.text, part))
		fail_msg("line %u: %s", e.line, e.text);
}

static void test_mistakes(void **state)
{
	static const char added[] = "rule number=1 what=added text=drop\n";
	char text[256];

	(void)state;
	wrong("plan seed=x\n", 1, "number");
	wrong("plan seed=\"1\n", 1, "unterminated");
	wrong("plan seed\n", 1, "without '='");
	wrong("\nrule what=added text=drop\n", 2, "has no number");
	wrong("rule number=1 what=added text=\"drop nth=0\"\n", 1, "column 10");
	wrong("rule number=1 what=removed\n", 1, "never added");
	wrong("hit rule=4 match=1\n", 1, "unknown rule");
	snprintf(text, sizeof(text), "%s%s", added, added);
	wrong(text, 2, "already");
	snprintf(text, sizeof(text), "%shit rule=1 match=2\nhit rule=1 match=2\n", added);
	wrong(text, 3, "does not increase");
	snprintf(text, sizeof(text), "%srule number=1 what=eaten\n", added);
	wrong(text, 2, "added, changed or removed");
}

static int refuse(void *user, const char *text)
{
	(void)user;
	(void)text;
	return -ENOSPC;
}

static void test_owner_can_end_it(void **state)
{
	static const struct fault_replay_ops ops = {refuse, NULL};
	static const char trace[] = "rule number=1 what=added text=\"drop nth=1\"\n"
				    "rule number=2 what=added text=\"drop p=0.1\"\n";
	struct fault_trace_error e;
	uint64_t seed;

	(void)state;
	assert_int_equal(fault_trace_to_plan(trace, strlen(trace), &seed, &ops, NULL, &e), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_of_other_layers),
		cmocka_unit_test(test_rules_that_count_stay),
		cmocka_unit_test(test_time_becomes_a_count),
		cmocka_unit_test(test_chance_becomes_a_count),
		cmocka_unit_test(test_lists_are_split),
		cmocka_unit_test(test_replay_does_not_look_at_the_clock),
		cmocka_unit_test(test_clock_with_a_file),
		cmocka_unit_test(test_rules_that_came_and_went),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_owner_can_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
