/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan: which subjects its rules hit, in which order, how often; that chance is the same each
 * time and one rule's chance is not another's; rules that come and go.
 */
#include "tests/support/fault/plan_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/cm_msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND ROCE_RC_SEND_ONLY
#define ACK  ROCE_RC_ACKNOWLEDGE

/* ---- limits ---- */

/* The rule alone; "pattern" says for each of the packets whether it is hit: "..x.". */
static void check_pattern(const char *rule, const char *pattern)
{
	struct plan_stage st;

	plan_stage_open(&st, 1);
	plan_stage_add(&st, rule);
	for (unsigned i = 0; pattern[i]; i++)
		if (plan_stage_send(&st, SEND, i) != (pattern[i] == 'x'))
			fail_msg("%s: packet %u", rule, i + 1);
	plan_stage_close(&st);
}

static void test_counts(void **state)
{
	(void)state;
	check_pattern("drop", "xxxxxxxx");
	check_pattern("drop nth=3", "..x.....");
	check_pattern("drop nth=1,4..6", "x..xxx..");
	check_pattern("drop nth>6", "......xx");
	check_pattern("drop every=3", "..x..x..");
	check_pattern("drop every=1", "xxxxxxxx");
	check_pattern("drop first=2", "xx......");
	check_pattern("drop skip=3", "...xxxxx");
	check_pattern("drop skip=1 every=2 first=5", "..x.x...");
	check_pattern("drop times=3", "xxx.....");
	check_pattern("drop every=2 times=2", ".x.x....");
	check_pattern("drop nth=2,4,6 times=2", ".x.x....");
	check_pattern("drop p=1", "xxxxxxxx");
}

static void test_counters(void **state)
{
	struct plan_stage st;
	const struct fault_entry *e;

	(void)state;
	plan_stage_open(&st, 1);
	st.now = 100;
	plan_stage_add(&st, "late: drop opcode=send after=10ns every=2");
	e = fault_plan_find(st.plan, "late");
	for (unsigned i = 0; i < 4; i++)
		plan_stage_send(&st, SEND, i);
	plan_stage_send(&st, ACK, 0);
	st.now = 110;
	for (unsigned i = 0; i < 5; i++)
		plan_stage_send(&st, SEND, i);
	assert_int_equal(e->added, 100);
	assert_int_equal(e->seen, 9);
	assert_int_equal(e->matched, 5);
	assert_int_equal(e->hits, 2);
	plan_stage_close(&st);
}

static uint64_t passed(const struct fault_entry *e, const char *word)
{
	for (unsigned i = 0; i < FAULT_QUESTIONS; i++)
		if ((e->questions >> i & 1) && strcmp(fault_plan_question(i), word) == 0)
			return e->passed[i];
	fail_msg("the rule does not ask '%s'", word);
	return 0;
}

/* Which word keeps a rule from firing is counted, each for itself, until it fires. */
static void test_why_not(void **state)
{
	struct plan_stage st;
	const struct fault_entry *e;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "no: drop opcode=ack psn=7..9 nth=2");
	e = fault_plan_find(st.plan, "no");
	for (unsigned psn = 0; psn < 10; psn++)
		plan_stage_send(&st, SEND, psn);
	assert_int_equal(plan_stage_send(&st, ACK, 1), 0);
	assert_int_equal(plan_stage_send(&st, ACK, 7), 0);
	assert_int_equal(e->looked, 12);
	assert_int_equal(passed(e, "opcode"), 2);
	assert_int_equal(passed(e, "psn"), 4);
	assert_int_equal(e->seen, 1);
	assert_int_equal(plan_stage_send(&st, ACK, 8), 1);
	assert_int_equal(plan_stage_send(&st, ACK, 9), 0);
	assert_int_equal(e->looked, 13);
	for (unsigned i = 0; i < FAULT_QUESTIONS; i++)
		assert_true(fault_plan_question(i)[0]);
	plan_stage_close(&st);
}

static void test_windows(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	st.now = 1000;
	plan_stage_add(&st, "drop after=10us until=20us");
	for (unsigned us = 0; us < 30; us++) {
		st.now = 1000 + us * 1000;
		assert_int_equal(plan_stage_send(&st, SEND, 0), us >= 10 && us < 20);
	}
	assert_false(fault_plan_watches(st.plan, FAULT_LAYER_PACKET));
	plan_stage_close(&st);
}

static void test_while_file(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "drop nth=2.. while_file=/tmp/x");
	assert_int_equal(plan_stage_send(&st, SEND, 0), 0);
	st.file = "/tmp/x";
	assert_int_equal(plan_stage_send(&st, SEND, 0), 0);
	assert_int_equal(plan_stage_send(&st, SEND, 0), 1);
	st.file = "/tmp/y";
	assert_int_equal(plan_stage_send(&st, SEND, 0), 0);
	plan_stage_close(&st);
}

static void test_after_another_rule(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "first: ecn opcode=send");
	plan_stage_add(&st, "second: drop opcode=ack after=first:2+5us");
	assert_int_equal(plan_stage_send(&st, ACK, 0), 0);
	plan_stage_send(&st, SEND, 0);
	assert_int_equal(plan_stage_send(&st, ACK, 0), 0);
	st.now = 1000;
	plan_stage_send(&st, SEND, 0);
	assert_int_equal(plan_stage_send(&st, ACK, 0), 0);
	st.now = 5999;
	assert_int_equal(plan_stage_send(&st, ACK, 0), 0);
	st.now = 6000;
	assert_int_equal(plan_stage_send(&st, ACK, 0), 1);
	/* one that comes when the other has hit already */
	plan_stage_add(&st, "dup opcode=read after=first");
	assert_int_equal(plan_stage_send(&st, ROCE_RC_READ_REQUEST, 0), 1);
	plan_stage_close(&st);
}

/* ---- order ---- */

static void test_order(void **state)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct plan_stage st;
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, SEND);

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "ecn");
	plan_stage_add(&st, "delay=1ms");
	plan_stage_add(&st, "drop every=2");
	plan_stage_add(&st, "dup");
	assert_int_equal(fault_plan_decide(st.plan, &s, 0, hit), 3);
	assert_int_equal(hit[0]->number, 1);
	assert_int_equal(hit[1]->number, 2);
	assert_int_equal(hit[2]->number, 4);
	/* what is taken away, nobody behind sees */
	assert_int_equal(fault_plan_decide(st.plan, &s, 0, hit), 3);
	assert_int_equal(hit[2]->number, 3);
	assert_int_equal(fault_plan_find(st.plan, "4")->seen, 1);
	for (unsigned i = 0; i < 2 * FAULT_HITS_MAX; i++)
		plan_stage_add(&st, "ecn");
	assert_int_equal(fault_plan_decide(st.plan, &s, 0, hit), FAULT_HITS_MAX);
	plan_stage_close(&st);
}

static void test_layers(void **state)
{
	struct plan_stage st;
	struct fault_subject s = {.layer = FAULT_LAYER_CALL, .call = "create_qp"};

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "drop");
	assert_true(fault_plan_watches(st.plan, FAULT_LAYER_PACKET));
	for (enum fault_layer l = FAULT_LAYER_CALL; l < FAULT_LAYERS; l++)
		assert_false(fault_plan_watches(st.plan, l));
	assert_int_equal(plan_stage_show(&st, &s), 0);
	plan_stage_add(&st, "call.fail=ENOMEM call=create_*,reg_mr nth=1");
	assert_true(fault_plan_watches(st.plan, FAULT_LAYER_CALL));
	assert_int_equal(plan_stage_show(&st, &s), 1);
	assert_false(fault_plan_watches(st.plan, FAULT_LAYER_CALL));
	plan_stage_close(&st);
}

/* ---- selectors ---- */

/* Does "drop SELECTOR" hit the subject? */
static bool selects(const char *selector, const struct fault_subject *s)
{
	static const char *const actions[FAULT_LAYERS] = {[FAULT_LAYER_PACKET] = "drop",
							  [FAULT_LAYER_CALL] = "call.slow=1s",
							  [FAULT_LAYER_COMPLETION] = "cqe.withhold",
							  [FAULT_LAYER_MEMORY] = "mem.fail",
							  [FAULT_LAYER_TIME] = "dev.exit"};
	struct plan_stage st;
	char rule[FAULT_TEXT_MAX];
	bool hit;

	snprintf(rule, sizeof(rule), "%s %s", actions[s->layer], selector);
	plan_stage_open(&st, 1);
	plan_stage_add(&st, rule);
	hit = plan_stage_show(&st, s) == 1;
	plan_stage_close(&st);
	return hit;
}

static void test_packet_selectors(void **state)
{
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, ROCE_RC_WRITE_FIRST);
	struct roce_flow flow = {.src = {[10] = 0xff, 0xff, 127, 0, 0, 1},
				 .dst = {[10] = 0xff, 0xff, 127, 0, 0, 2}};

	(void)state;
	pkt.bth.psn = 100;
	pkt.reth = (struct roce_reth){0x1000, 0x77, 256};
	pkt.payload_len = 128;
	s.flow = &flow;
	s.offset = 4096;
	s.program = "ib_write_bw";
	assert_true(selects("dir=tx", &s) && !selects("dir=rx", &s) && selects("dir=both", &s));
	assert_true(selects("opcode=write", &s) && !selects("opcode=read,send", &s));
	assert_true(selects("qp=0x11", &s) && !selects("qp=0x12", &s));
	assert_true(selects("peer_qp=0x22", &s) && !selects("peer_qp=0x11", &s));
	assert_true(selects("psn=90..110", &s) && !selects("psn<100", &s));
	assert_true(selects("length=128", &s) && !selects("length>=129", &s));
	assert_true(selects("offset>=4k", &s) && !selects("offset=0", &s));
	assert_true(selects("key=0x77", &s) && !selects("key=0x78", &s));
	assert_true(selects("address=0x10ff..0x2000", &s) && !selects("address>=0x1100", &s));
	assert_true(selects("address=0..0x1000", &s) && !selects("address<0x1000", &s));
	assert_true(selects("peer=127.0.0.2", &s) && !selects("peer=127.0.0.1", &s));
	assert_true(selects("dev=uhca0", &s) && !selects("dev=uhca1", &s));
	assert_true(selects("dev=uhca1,*0", &s) && selects("dev=uhc??", &s));
	assert_true(selects("program=ib_*", &s) && !selects("program=*_lat", &s));
	assert_true(!selects("retry", &s) && !selects("cm=REQ", &s));
	s.retry = true;
	assert_true(selects("retry", &s));
	s.program = NULL;
	assert_false(selects("program=*", &s));
}

static void test_selectors_of_other_packets(void **state)
{
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, ROCE_RC_FETCH_ADD);
	struct roce_flow flow = {.src = {[15] = 1}, .dst = {[15] = 2}};

	(void)state;
	pkt.atomiceth.va = 0x2000;
	pkt.atomiceth.rkey = 0x99;
	assert_true(selects("key=0x99", &s) && selects("address=0x2007", &s));
	assert_false(selects("address=0x2008", &s));
	pkt.bth.opcode.v = ROCE_RC_SEND_LAST_INV;
	pkt.ieth = 0x55;
	assert_true(selects("key=0x55", &s) && !selects("address>=0", &s));
	pkt.bth.opcode.v = ROCE_XRC_SEND_ONLY;
	pkt.xrcsrq = 5;
	s.srq = 6;
	assert_true(selects("srq=5", &s) && !selects("srq=6", &s));
	s.direction = FAULT_RX;
	s.flow = &flow;
	s.peer_qpn = 0x33;
	assert_true(selects("dir=rx peer=::1", &s) && !selects("dir=rx peer=::2", &s));
	assert_true(selects("dir=rx peer_qp=0x33", &s));
	pkt.bth.opcode.v = ROCE_UD_SEND_ONLY;
	pkt.deth.src_qp = 0x44;
	assert_true(selects("dir=rx peer_qp=0x44", &s) && !selects("dir=rx peer_qp=0x33", &s));
}

static void test_acknowledges(void **state)
{
	static const struct {
		uint8_t syndrome;
		const char *is, *is_not;
	} kinds[] = {{0x00, "opcode=ack", "opcode=nak,rnr"},
		     {0x1f, "opcode=rc.ack", "opcode=xrc.ack"},
		     {0x21, "opcode=rnr", "opcode=ack,nak"},
		     {0x60, "opcode=rc.nak", "opcode=rc.ack,rc.rnr"}};
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, ACK);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		pkt.aeth.syndrome = kinds[i].syndrome;
		assert_true(selects(kinds[i].is, &s) && !selects(kinds[i].is_not, &s));
		assert_true(selects("opcode=response", &s) && selects("opcode=rc", &s));
		assert_true(selects("opcode=RC_ACKNOWLEDGE", &s));
	}
	pkt.bth.opcode.v = 0xff; /* no opcode at all */
	assert_true(selects("", &s) && !selects("opcode=*", &s));
}

static void test_cm_selector(void **state)
{
	uint8_t mad[ROCE_MAD_LENGTH];
	struct roce_cm_msg msg = {.attr = ROCE_CM_REP};
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, ROCE_UD_SEND_ONLY);

	(void)state;
	assert_true(roce_cm_emit(&msg, mad));
	pkt.payload = mad;
	pkt.payload_len = sizeof(mad);
	assert_false(selects("cm=REP", &s));
	pkt.bth.dest_qp = 1;
	assert_true(selects("cm=REQ,REP", &s) && !selects("cm=REQ,RTU", &s));
	assert_true(selects("opcode=cm", &s));
	pkt.payload_len = 24;
	assert_false(selects("cm=REP", &s));
}

static void test_selectors_of_other_layers(void **state)
{
	struct fault_subject s = {.layer = FAULT_LAYER_CALL,
				  .device = "uhca0",
				  .client = 4,
				  .pd = 5,
				  .call = "reg_mr",
				  .address = 0x1000,
				  .length = 4096};

	(void)state;
	assert_true(selects("call=reg_mr client=4 pd=5", &s) && !selects("call=dereg_mr", &s));
	assert_true(!selects("call=* client=5", &s) && !selects("call=* pd=4", &s));
	assert_true(selects("call=* address=0x1800 length>=4k", &s));
	s = (struct fault_subject){.layer = FAULT_LAYER_COMPLETION,
				   .qpn = 0x11,
				   .cq = 7,
				   .wc_status = 12,
				   .wc_opcode = 128,
				   .length = 8};
	assert_true(selects("wc=ERROR cq=7 qp=0x11", &s) && !selects("wc=SUCCESS", &s));
	assert_true(selects("wc=RETRY_EXC_ERR wc.opcode=RECV length=8", &s));
	assert_true(!selects("wc.opcode=SEND", &s) && !selects("cq=8", &s));
	assert_false(selects("dev=uhca0", &s)); /* not known */
	s = (struct fault_subject){.layer = FAULT_LAYER_MEMORY, .client = 3, .address = 64};
	assert_true(selects("client=3 address=64", &s) && !selects("address=65", &s));
}

static void test_qp_order(void **state)
{
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, SEND);
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "ecn qp=#2");
	s.qpn = 1; /* that of connection management does not count */
	assert_int_equal(plan_stage_show(&st, &s), 0);
	s.qpn = 0x50;
	assert_int_equal(plan_stage_show(&st, &s), 0);
	s.qpn = 0x40;
	assert_int_equal(plan_stage_show(&st, &s), 1);
	s.device = "uhca1"; /* another device's of the same number */
	assert_int_equal(plan_stage_show(&st, &s), 0);
	s.device = "uhca0";
	assert_int_equal(plan_stage_show(&st, &s), 1);
	plan_stage_close(&st);
}

static void test_relative_psn(void **state)
{
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, SEND);
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "ecn psn=+2 dir=both");
	for (uint32_t i = 0; i < 5; i++) {
		pkt.bth.psn = (0xfffffe + i) & 0xffffff;
		assert_int_equal(plan_stage_show(&st, &s), i == 2);
	}
	/* The ACK that comes for the third belongs to it; what the peer requests has its own. */
	pkt.bth.opcode.v = ACK;
	pkt.bth.psn = 0;
	s.direction = FAULT_RX;
	assert_int_equal(plan_stage_show(&st, &s), 1);
	pkt.bth.opcode.v = SEND;
	assert_int_equal(plan_stage_show(&st, &s), 0);
	pkt.bth.psn = 2;
	assert_int_equal(plan_stage_show(&st, &s), 1);
	plan_stage_close(&st);
}

static void test_too_many_qps(void **state)
{
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, SEND);
	struct plan_stage st;
	unsigned hits = 0;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "ecn qp>=#1");
	for (s.qpn = 2; s.qpn < 10002; s.qpn++)
		hits += plan_stage_show(&st, &s);
	assert_int_equal(hits, 4095);
	plan_stage_close(&st);
}

/* ---- chance ---- */

/* Which of 1000 packets rule 1 hits, as text of '.' and 'x'. */
static void draw(char *out, uint64_t seed, const char *rule, const char *other)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct plan_stage st;
	struct roce_packet pkt;
	struct fault_subject s = plan_stage_packet(&pkt, SEND);

	plan_stage_open(&st, seed);
	plan_stage_add(&st, rule);
	if (other)
		plan_stage_add(&st, other);
	memset(out, '.', 1000);
	for (unsigned i = 0; i < 1000; i++) {
		const unsigned n = fault_plan_decide(st.plan, &s, 0, hit);

		if (n && hit[0]->number == 1)
			out[i] = 'x';
		if (n)
			fault_plan_random(st.plan, hit[0]->number, 10);
	}
	out[1000] = '\0';
	plan_stage_close(&st);
}

static unsigned crosses(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == 'x';
	return n;
}

static void test_same_seed_same_hits(void **state)
{
	char a[1001], b[1001], rule[64];

	(void)state;
	draw(a, 5, "ecn p=10%", NULL);
	assert_in_range(crosses(a), 60, 140);
	draw(b, 5, "ecn p=10%", NULL);
	assert_string_equal(a, b);
	draw(b, 6, "ecn p=10%", NULL);
	assert_string_not_equal(a, b);
	draw(b, 5, "ecn p=10%", "dup p=50%");
	assert_string_equal(a, b);
	snprintf(rule, sizeof(rule), "ecn p=10%% stream=%llu",
		 (unsigned long long)fault_plan_stream(5, 1));
	draw(b, 999, rule, NULL);
	assert_string_equal(a, b);
	draw(b, 5, "ecn p=10% stream=2", NULL);
	assert_string_not_equal(a, b);
}

static void test_rare_and_nearly_sure(void **state)
{
	char a[1001];

	(void)state;
	draw(a, 1, "ecn p=0.000000001", NULL);
	assert_int_equal(crosses(a), 0);
	draw(a, 1, "ecn p=99.9%", NULL);
	assert_in_range(crosses(a), 990, 1000);
}

/* Losses come together: of P = 2 %, Q = 20 % about one in eleven, in runs of five. */
static void test_bursts(void **state)
{
	char a[1001], b[1001];
	unsigned runs = 0;

	(void)state;
	draw(a, 3, "burst=2%/20%", NULL);
	for (unsigned i = 0; i < 1000; i++)
		runs += a[i] == 'x' && (i == 0 || a[i - 1] == '.');
	assert_in_range(crosses(a), 30, 200);
	assert_true(crosses(a) > 2 * runs);
	draw(b, 3, "burst=2%/20%", NULL);
	assert_string_equal(a, b);
	draw(a, 3, "burst=100%/0", NULL);
	assert_int_equal(crosses(a), 1000);
}

static void test_random_values(void **state)
{
	struct plan_stage st;
	uint64_t first, second;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "ecn");
	plan_stage_add(&st, "dup");
	plan_stage_send(&st, SEND, 0);
	first = fault_plan_random(st.plan, 1, UINT64_MAX);
	second = fault_plan_random(st.plan, 1, UINT64_MAX);
	assert_true(first != second);
	assert_true(first != fault_plan_random(st.plan, 2, UINT64_MAX));
	plan_stage_send(&st, SEND, 0);
	assert_true(first != fault_plan_random(st.plan, 1, UINT64_MAX));
	for (unsigned i = 0; i < 100; i++)
		assert_true(fault_plan_random(st.plan, 1, 7) < 7);
	assert_int_equal(fault_plan_random(st.plan, 1, 1), 0);
	assert_int_equal(fault_plan_random(st.plan, 9, 7), 0);
	plan_stage_close(&st);
}

/* ---- the clock ---- */

static void test_clock(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	assert_true(fault_plan_deadline(st.plan) == UINT64_MAX);
	st.now = 1000;
	plan_stage_add(&st, "port.down=1ms after=5us");
	plan_stage_add(&st, "gid.change after=3us");
	plan_stage_add(&st, "drop after=1us");
	assert_int_equal(fault_plan_deadline(st.plan), 4000);
	assert_int_equal(plan_stage_wait(&st, 3999), 0);
	assert_int_equal(plan_stage_wait(&st, 4000), 1);
	assert_int_equal(fault_plan_deadline(st.plan), 6000);
	assert_int_equal(plan_stage_wait(&st, 10000), 1);
	assert_true(fault_plan_deadline(st.plan) == UINT64_MAX);
	plan_stage_add(&st, "dev.exit");
	assert_int_equal(fault_plan_deadline(st.plan), 10000);
	plan_stage_close(&st);
}

static void test_clock_again_and_again(void **state)
{
	struct plan_stage st;
	const struct fault_subject clock = {.layer = FAULT_LAYER_TIME};

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "port.down=1ms after=5ms every=10ms times=4 until=40ms");
	assert_int_equal(plan_stage_wait(&st, 20000000), 2);
	assert_int_equal(fault_plan_deadline(st.plan), 25000000);
	assert_int_equal(plan_stage_wait(&st, 100000000), 2);
	plan_stage_add(&st, "gid.change every=10ms until=15ms");
	assert_int_equal(plan_stage_wait(&st, 200000000), 2);
	/* a daemon that slept does not catch up */
	plan_stage_add(&st, "dev.fatal every=10ms");
	st.now = 300000000;
	assert_int_equal(plan_stage_show(&st, &clock), 1);
	assert_int_equal(fault_plan_deadline(st.plan), 310000000);
	plan_stage_close(&st);
}

/* Of packets: the first in each period, however many come. */
static void test_packets_by_the_clock(void **state)
{
	struct plan_stage st;
	const struct fault_entry *e;

	(void)state;
	plan_stage_open(&st, 1);
	st.now = 1000;
	plan_stage_add(&st, "drop every=100us");
	e = fault_plan_entry(st.plan, 0);
	for (st.now = 1000; st.now < 1000 + 250000; st.now += 10000)
		plan_stage_send(&st, SEND, 1);
	assert_int_equal(e->hits, 3);
	assert_int_equal(e->tick, 201000);
	st.now = 931000; /* nothing came for long: one, and the next is due with the clock */
	assert_int_equal(plan_stage_send(&st, SEND, 1), 1);
	assert_int_equal(e->tick, 901000);
	st.now = 1000999;
	assert_int_equal(plan_stage_send(&st, SEND, 1), 0);
	st.now = 1001000;
	assert_int_equal(plan_stage_send(&st, SEND, 1), 1);
	plan_stage_close(&st);
}

static void test_clock_after_a_rule(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "lost: drop opcode=ack");
	plan_stage_add(&st, "port.down after=lost:2+1us");
	plan_stage_send(&st, ACK, 0);
	assert_true(fault_plan_deadline(st.plan) == UINT64_MAX);
	st.now = 500;
	plan_stage_send(&st, ACK, 0);
	assert_int_equal(fault_plan_deadline(st.plan), 1500);
	assert_int_equal(plan_stage_wait(&st, 1500), 1);
	plan_stage_close(&st);
}

static void test_clock_and_devices(void **state)
{
	struct fault_subject clock = {.layer = FAULT_LAYER_TIME, .device = "uhca0"};
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "port.down dev=uhca1");
	assert_int_equal(plan_stage_show(&st, &clock), 0);
	clock.device = "uhca1";
	assert_int_equal(plan_stage_show(&st, &clock), 1);
	plan_stage_add(&st, "qp.error qp=0x11 dev=uhca1");
	clock.device = NULL;
	assert_int_equal(plan_stage_show(&st, &clock), 1);
	plan_stage_close(&st);
}

/* ---- rules come and go ---- */

static void wrong(struct plan_stage *st, const char *rule, unsigned column, const char *part)
{
	struct fault_error e;

	assert_int_equal(fault_plan_add(st->plan, rule, 0, &e), -EINVAL);
	if (e.column != column || !strstr(e.text, part))
		fail_msg("%s: column %u: %s", rule, e.column, e.text);
}

static void test_names(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	assert_int_equal(plan_stage_add(&st, "a: drop"), 1);
	assert_int_equal(plan_stage_add(&st, "dup"), 2);
	wrong(&st, "  a: drop", 3, "rule 1 has the name 'a'");
	wrong(&st, "drop nth=1 after=b", 18, "unknown rule 'b'");
	wrong(&st, "c: drop after=c", 15, "unknown rule 'c'");
	wrong(&st, "drop nth=x", 10, "not a number");
	assert_int_equal(fault_plan_count(st.plan), 2);
	assert_ptr_equal(fault_plan_find(st.plan, "a"), fault_plan_find(st.plan, "1"));
	assert_ptr_equal(fault_plan_find(st.plan, "2"), fault_plan_entry(st.plan, 1));
	assert_null(fault_plan_find(st.plan, ""));
	assert_null(fault_plan_find(st.plan, "b"));
	assert_null(fault_plan_find(st.plan, "3"));
	assert_null(fault_plan_find(st.plan, "4294967297"));
	plan_stage_close(&st);
}

static void test_removal(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "drop");
	plan_stage_add(&st, "b: dup");
	plan_stage_add(&st, "ecn after=b");
	assert_int_equal(fault_plan_remove(st.plan, 1), 0);
	assert_int_equal(fault_plan_remove(st.plan, 1), -ENOENT);
	assert_int_equal(plan_stage_send(&st, SEND, 0), 2);
	assert_int_equal(fault_plan_remove(st.plan, 2), 0);
	assert_int_equal(fault_plan_count(st.plan), 1);
	assert_int_equal(fault_plan_entry(st.plan, 0)->number, 3);
	assert_int_equal(plan_stage_send(&st, SEND, 0), 1);
	fault_plan_clear(st.plan);
	assert_int_equal(fault_plan_count(st.plan), 0);
	assert_false(fault_plan_watches(st.plan, FAULT_LAYER_PACKET));
	assert_int_equal(plan_stage_add(&st, "drop"), 4);
	plan_stage_close(&st);
}

static void test_change(void **state)
{
	struct fault_error e;
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	plan_stage_add(&st, "a: drop opcode=send nth=1");
	plan_stage_add(&st, "b: dup after=a");
	plan_stage_send(&st, SEND, 0);
	assert_int_equal(fault_plan_change(st.plan, 1, "a: drop opcode=ack", 7, &e), 0);
	assert_int_equal(fault_plan_find(st.plan, "a")->hits, 0);
	assert_int_equal(fault_plan_find(st.plan, "a")->added, 7);
	assert_int_equal(fault_plan_entry(st.plan, 0)->number, 1);
	assert_int_equal(fault_plan_change(st.plan, 9, "drop", 0, &e), -ENOENT);
	assert_int_equal(fault_plan_change(st.plan, 1, "a: drop nth=0", 0, &e), -EINVAL);
	assert_int_equal(fault_plan_change(st.plan, 1, "b: drop", 0, &e), -EINVAL);
	assert_int_equal(fault_plan_change(st.plan, 1, "a: drop after=a", 0, &e), -EINVAL);
	assert_int_equal(e.column, 15);
	assert_int_equal(fault_plan_change(st.plan, 1, "a: drop after=b", 0, &e), -EINVAL);
	assert_non_null(strstr(e.text, "rule 'b' waits for this rule"));
	assert_string_equal(fault_plan_find(st.plan, "1")->rule.text, "a: drop opcode=ack");
	plan_stage_close(&st);
}

static void test_limit_of_rules(void **state)
{
	struct plan_stage st;

	(void)state;
	plan_stage_open(&st, 1);
	for (unsigned i = 0; i < 1000; i++)
		plan_stage_add(&st, "drop");
	wrong(&st, "drop", 1, "limit of 1000 rules");
	plan_stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_why_not),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_while_file),
		cmocka_unit_test(test_after_another_rule),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_packet_selectors),
		cmocka_unit_test(test_selectors_of_other_packets),
		cmocka_unit_test(test_acknowledges),
		cmocka_unit_test(test_cm_selector),
		cmocka_unit_test(test_selectors_of_other_layers),
		cmocka_unit_test(test_qp_order),
		cmocka_unit_test(test_relative_psn),
		cmocka_unit_test(test_too_many_qps),
		cmocka_unit_test(test_same_seed_same_hits),
		cmocka_unit_test(test_rare_and_nearly_sure),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_random_values),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_clock_again_and_again),
		cmocka_unit_test(test_packets_by_the_clock),
		cmocka_unit_test(test_clock_after_a_rule),
		cmocka_unit_test(test_clock_and_devices),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_limit_of_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
