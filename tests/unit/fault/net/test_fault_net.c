/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts through a net: what nothing happens to stays whole and in order, what waits is a copy,
 * what waits is bounded, and a net that goes takes with it what it held.
 */
#include "tests/support/fault/net_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/fault/net/forge.h"
#include "emu/fault/net/hold.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
	struct stage *s = malloc(sizeof *s);

	assert_non_null(s);
	stage_open(s);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	stage_close(*state);
	free(*state);
	return 0;
}

/* Nobody looks, or nobody's rule matches: the same burst, not even a copy of it. */
static void test_untouched(void **state)
{
	struct stage *s = *state;

	assert_false(fault_net_active(s->net));
	stage_give(s, FAULT_TX, stage_write(s, 10, STAGE_PSN));
	assert_int_equal(s->n, 10);
	assert_ptr_equal(s->event[0].given, &s->burst);
	stage_rule(s, "drop opcode=read");
	stage_rule(s, "drop dev=uhca1");
	stage_rule(s, "delay=1s dir=rx opcode=write");
	assert_true(fault_net_active(s->net));
	stage_give(s, FAULT_TX, stage_write(s, 10, STAGE_PSN));
	assert_int_equal(s->n, 20);
	assert_ptr_equal(s->event[10].given, &s->burst);
	assert_int_equal(s->event[10].run, 10);
	assert_int_equal(fault_net_deadline(s->net), UINT64_MAX);
}

/* The packets around the one that is dropped stay together, with their payload. */
static void test_around_a_drop(void **state)
{
	struct stage *s = *state;
	uint32_t rule = stage_rule(s, "drop nth=4");

	stage_give(s, FAULT_TX, stage_write(s, 10, STAGE_PSN));
	assert_int_equal(s->n, 10);
	for (uint32_t i = 0; i < 10; i++) {
		const struct stage_event *e =
			stage_expect(s, i, i == 3 ? STAGE_DROPPED : STAGE_PASSED, STAGE_PSN + i);

		assert_int_equal(e->check, stage_sum(s, i));
		assert_int_equal(e->run, i < 3 ? 3 : i == 3 ? 1 : 6);
		assert_int_equal(e->model.rule, i == 3 ? rule : 0);
		assert_int_equal(e->model.wr_id, 4711);
		assert_int_equal(e->model.qpn, STAGE_QPN);
		assert_int_equal(e->pkt.bth.ackreq, i == 9);
	}
	assert_int_equal(s->event[4].model.offset, 4 * STAGE_PAYLOAD);
	assert_int_equal(fault_net_counters(s->net)->dropped, 1);
	/* the rule is spent: bursts are whole again */
	assert_false(fault_net_active(s->net));
}

/* Whatever rules of chance do, no packet is forgotten, and what is not dropped keeps its order. */
static void test_order(void **state)
{
	struct stage *s = *state;
	uint32_t next = STAGE_PSN;

	stage_rule(s, "set=bth.fecn:1 p=0.2");
	stage_rule(s, "drop p=0.3");
	for (unsigned i = 0; i < 100; i++)
		stage_give(s, FAULT_TX, stage_write(s, 1 + i % 40, STAGE_PSN + 100 * i));
	for (unsigned i = 0, k = 0; i < s->n; i++, k++) {
		if (k == 1 + (next - STAGE_PSN) / 100 % 40) {
			next += 100;
			k = 0;
		}
		assert_int_equal(s->event[i].pkt.bth.psn, next + k);
	}
	assert_in_range(fault_net_counters(s->net)->dropped, 300, 900);
}

static void test_copies_own_their_payload(void **state)
{
	struct stage *s = *state;
	uint32_t sums[5];

	stage_rule(s, "delay=50us");
	stage_give(s, FAULT_TX, stage_write(s, 5, STAGE_PSN));
	assert_int_equal(s->n, 0);
	for (uint32_t i = 0; i < 5; i++)
		sums[i] = stage_sum(s, i);
	memset(s->payload, 0xee, sizeof s->payload);
	memset(&s->burst, 0xee, sizeof s->burst);
	assert_int_equal(fault_net_deadline(s->net), 51000);
	s->now = 50999;
	fault_net_tick(s->net, s->now);
	assert_int_equal(s->n, 0);
	s->now = 51000;
	fault_net_tick(s->net, s->now);
	assert_int_equal(s->n, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i)->check, sums[i]);
	assert_int_equal(fault_net_deadline(s->net), UINT64_MAX);
}

/* What comes later but is due earlier goes first; what is of one rule keeps its order. */
static void test_jitter(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "delay=10us jitter=500us");
	for (unsigned i = 0; i < 200; i++) {
		stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + i));
		s->now += 1000;
	}
	while (fault_net_deadline(s->net) != UINT64_MAX) {
		s->now = fault_net_deadline(s->net);
		fault_net_tick(s->net, s->now);
	}
	assert_int_equal(s->n, 200);
	for (unsigned i = 0; i < 200; i++)
		stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i);
	assert_true(s->event[100].now - s->event[99].now != 1000 ||
		    s->event[101].now - s->event[100].now != 1000);
}

/* 100 bytes of payload in a packet of 12 + 100 + 4 + 28 bytes, at a megabit: 1152 us. */
static void test_rate(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "rate=1mbit");
	for (unsigned i = 0; i < 10; i++)
		stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + i));
	assert_int_equal(s->n, 1); /* the line was idle */
	for (unsigned i = 1; i < 10; i++) {
		assert_int_equal(fault_net_deadline(s->net), 1000 + i * 1152000);
		s->now = fault_net_deadline(s->net);
		fault_net_tick(s->net, s->now);
		stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i);
	}
}

/*
 * A device that talks to itself: what leaves has come back before the next one leaves. Those that
 * wait in the other direction and are due are not overtaken either.
 */
static void come_back(struct stage *s, enum fault_direction dir, const struct core_burst *t)
{
	if (dir == FAULT_TX)
		fault_net_burst(s->net, FAULT_RX, t, NULL, s->now);
}

static void test_comes_back(void **state)
{
	struct stage *s = *state;
	uint32_t next[2] = {STAGE_PSN, STAGE_PSN};

	s->then = come_back;
	stage_rule(s, "delay=10us dir=tx");
	stage_rule(s, "rate=1gbit dir=rx");
	for (unsigned i = 0; i < 50; i++)
		stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + i));
	for (s->now += 10100; fault_net_deadline(s->net) != UINT64_MAX; s->now += 2500)
		fault_net_tick(s->net, s->now); /* late, so that both directions are due */
	assert_int_equal(s->n, 100);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(s->event[i].pkt.bth.psn, next[s->event[i].dir]++);
}

static void test_pause(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "pause=1ms skip=1");
	for (unsigned i = 0; i < 5; i++) {
		stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + i));
		s->now += 100000;
	}
	assert_int_equal(s->n, 1);
	s->now = 1000 + 100000 + 1000000;
	assert_int_equal(fault_net_deadline(s->net), s->now);
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + 5)); /* behind those that waited */
	assert_int_equal(s->n, 6);
	for (unsigned i = 0; i < 6; i++)
		stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i);
}

static void let_all_go(struct stage *s)
{
	while (fault_net_deadline(s->net) != UINT64_MAX) {
		s->now = fault_net_deadline(s->net);
		fault_net_tick(s->net, s->now);
	}
}

/*
 * Packets i and following of a burst, one each microsecond; from the rule on they keep their order.
 */
static void burst(struct stage *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->now = 1000 * (i + 1);
		stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + i));
	}
	let_all_go(s);
	assert_int_equal(s->n, n);
	for (unsigned i = 0; i < n; i++)
		stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i);
}

/* The rule hits one packet, and those behind it wait with it: none overtakes it. */
static void test_pause_is_of_the_line(void **state)
{
	struct stage *s = *state;
	uint32_t rule = stage_rule(s, "pause=1ms opcode=send nth=3");

	burst(s, 6);
	assert_int_equal(s->event[1].now, 2000);
	for (unsigned i = 2; i < 6; i++) {
		assert_int_equal(s->event[i].now, 3000 + 1000000);
		assert_int_equal(s->event[i].model.rule, rule);
	}
	assert_int_equal(fault_plan_entry(s->plan, 0)->hits, 1);
	assert_false(fault_net_active(s->net));
}

/* Each hit is a pause of its own, behind the one that is under way. */
static void test_pauses(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "pause=1ms every=2 times=2");
	burst(s, 6);
	assert_int_equal(s->event[0].now, 1000);
	assert_int_equal(s->event[1].now, 2000 + 1000000);
	assert_int_equal(s->event[2].now, 2000 + 1000000);
	for (unsigned i = 3; i < 6; i++)
		assert_int_equal(s->event[i].now, 2000 + 2000000);
}

/* From 1 to 4, from 11 to 14 us and so on, whoever comes then. */
static void test_pause_by_the_clock(void **state)
{
	static const unsigned leaves[] = {4, 4, 4, 4, 5, 6, 7, 8, 9, 10, 14, 14, 14, 14};
	struct stage *s = *state;

	stage_rule(s, "pause=3us every=10us");
	burst(s, 14);
	for (unsigned i = 0; i < 14; i++)
		assert_int_equal(s->event[i].now, 1000 * leaves[i]);
	s->n = 0;
	s->now = 45000; /* in the middle, after a long time with nothing to hold back */
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	assert_int_equal(stage_expect(s, 0, STAGE_PASSED, STAGE_PSN)->now, 45000);
	assert_int_equal(fault_plan_entry(s->plan, 0)->hits, 2);
}

/* Whose line it is say the words that name an end of it; the other direction is another line. */
static void test_pause_of_one(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "pause=1ms qp=0x99 nth=1");
	stage_rule(s, "pause=1ms peer_qp=0x22 opcode=write nth=1");
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	stage_give(s, FAULT_TX, stage_write(s, 1, STAGE_PSN + 1));
	assert_int_equal(s->n, 1);
	s->burst.head.bth.dest_qp = 0x33;
	stage_give(s, FAULT_TX, &s->burst);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN + 1);
	stage_give(s, FAULT_RX, stage_ack(s, 5));
	assert_int_equal(s->n, 3);
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + 2));
	assert_int_equal(s->n, 3);
	let_all_go(s);
	stage_expect(s, 3, STAGE_PASSED, STAGE_PSN + 1);
	stage_expect(s, 4, STAGE_PASSED, STAGE_PSN + 2);
	s->n = 0;
	stage_rule(s, "pause=1ms dir=both");
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	stage_give(s, FAULT_RX, stage_ack(s, 5));
	assert_int_equal(s->n, 0);
	let_all_go(s);
	assert_int_equal(s->n, 2);
}

/* Taken away while packets wait: those that come do not overtake them. */
static void test_pause_taken_away(void **state)
{
	struct stage *s = *state;
	uint32_t rule = stage_rule(s, "pause=1ms");

	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	fault_plan_remove(s->plan, rule);
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + 1));
	assert_int_equal(s->n, 0);
	let_all_go(s);
	stage_expect(s, 0, STAGE_PASSED, STAGE_PSN);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN + 1);
}

static void test_reorder(void **state)
{
	struct stage *s = *state;
	static const uint32_t order[] = {0, 2, 3, 1, 4};

	stage_rule(s, "reorder=2 nth=2");
	stage_give(s, FAULT_TX, stage_write(s, 5, STAGE_PSN));
	assert_int_equal(s->n, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(stage_expect(s, i, STAGE_PASSED, STAGE_PSN + order[i])->check,
				 stage_sum(s, order[i]));
}

/* The last packet of all is overtaken by nobody: it waits, but not for ever. */
static void test_reorder_alone(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "reorder=1 nth=1");
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	assert_int_equal(s->n, 0);
	stage_give(s, FAULT_RX, stage_ack(s, 5)); /* another direction is no company */
	assert_int_equal(s->n, 1);
	s->now = fault_net_deadline(s->net);
	fault_net_tick(s->net, s->now);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN);
}

static void flood(struct stage *s, const char *rule, uint32_t packets, unsigned bursts)
{
	stage_rule(s, rule);
	for (unsigned i = 0; i < bursts; i++)
		stage_give(s, FAULT_TX, stage_write(s, packets, STAGE_PSN + packets * i));
}

/* So many were lost for want of room, and nothing else went on: returns how many. */
static unsigned overflowed_from(const struct stage *s, unsigned first)
{
	unsigned lost = 0, told = 0;

	for (unsigned i = first; i < s->n; i++) {
		assert_int_not_equal(s->event[i].fate, STAGE_PASSED);
		lost += s->event[i].fate == STAGE_DROPPED;
		told += s->event[i].fate == STAGE_NOTED && s->event[i].code == FAULT_NOTE_OVERFLOW;
	}
	assert_int_equal(told, lost);
	assert_int_equal(fault_net_counters(s->net)->overflowed, lost);
	assert_int_equal(fault_net_counters(s->net)->dropped, lost);
	return lost;
}

static unsigned overflowed(const struct stage *s)
{
	return overflowed_from(s, 0);
}

/* The queue is full: its tail is dropped, what waited leaves in its time and in order. */
static void test_limit_of_packets(void **state)
{
	struct stage *s = *state;

	flood(s, "delay=1s limit=100", 1, 130);
	assert_int_equal(overflowed(s), 30);
	s->n = 0;
	s->now += 1000000000;
	fault_net_tick(s->net, s->now);
	assert_int_equal(s->n, 100);
	for (unsigned i = 0; i < 100; i++)
		stage_expect(s, i, STAGE_PASSED, STAGE_PSN + i);
	stage_give(s, FAULT_TX, stage_write(s, 1, STAGE_PSN)); /* there is room again */
	assert_int_equal(fault_net_counters(s->net)->overflowed, 30);
}

/* Half a payload in each packet, with 60 bytes of headers. */
static void test_limit_of_bytes(void **state)
{
	struct stage *s = *state;

	flood(s, "pause=1s limit=10k", 1, 50);
	assert_int_equal(overflowed(s), 50 - 10240 / (STAGE_PAYLOAD / 2 + 60));
}

/* A line that is too slow loses what it cannot carry; it does not carry it at once. */
static void test_rate_is_kept(void **state)
{
	static uint8_t big[ROCE_MAX_MTU];
	struct stage *s = *state;
	struct core_burst t;

	stage_rule(s, "rate=1mbit");
	stage_send(s, STAGE_PSN);
	t = s->burst;
	t.iov[0] = (struct iovec){big, sizeof big};
	t.n_iov = 1;
	t.length = t.segment = sizeof big;
	for (unsigned i = 0; i < (8u << 20) / sizeof big + 100; i++)
		stage_give(s, FAULT_TX, &t);
	assert_int_equal(s->event[0].fate, STAGE_PASSED); /* the line was idle */
	assert_in_range(overflowed_from(s, 1), 100, 150);
}

/* What the machine has room for, whatever the rule says. */
static void test_limit_of_memory(void **state)
{
	static uint8_t big[ROCE_MAX_MTU];
	struct stage *s = *state;
	struct core_burst t;

	stage_rule(s, "delay=1s");
	stage_send(s, STAGE_PSN);
	t = s->burst;
	t.iov[0] = (struct iovec){big, sizeof big};
	t.n_iov = 1;
	t.length = t.segment = sizeof big;
	for (unsigned i = 0; i < FAULT_HOLD_BYTES / (sizeof big + sizeof(struct fault_held)) + 3;
	     i++)
		stage_give(s, FAULT_TX, &t);
	assert_int_equal(overflowed(s), 3);
}

/* The step queue has its limit, too, and a net may go at any time (leaks show). */
static void test_destroy_while_waiting(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "delay=1s p=0.5");
	stage_rule(s, "reorder=100 p=0.5");
	stage_rule(s, "hold p=0.3");
	fault_net_freeze(s->net, true, s->now);
	for (unsigned i = 0; i < 500; i++)
		stage_give(s, FAULT_TX, stage_write(s, 30, STAGE_PSN + 30 * i));
	assert_true(fault_net_counters(s->net)->full > 0);
}

/* ---- what is told ---- */

static void test_malformed(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "set=bth.version:1 nth=1");
	stage_rule(s, "set=bth.opcode:0xff nth=2");
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN + 1));
	stage_expect(s, 0, STAGE_MALFORMED, STAGE_PSN);
	assert_int_equal(stage_expect(s, 1, STAGE_MALFORMED, STAGE_PSN + 1)->pkt.bth.opcode.v,
			 ROCE_RC_SEND_ONLY);
	assert_int_equal(fault_net_counters(s->net)->malformed, 2);
	assert_int_equal(s->n, 2);
}

/* It happens before the packet goes on, and behind those before it. */
static void test_device_action(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "key.revoke opcode=write nth=3 dir=tx");
	stage_give(s, FAULT_TX, stage_write(s, 5, STAGE_PSN));
	assert_int_equal(s->n, 6);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN + 1);
	assert_int_equal(stage_expect(s, 2, STAGE_NOTED, STAGE_PSN + 2)->code,
			 100 + FAULT_KEY_REVOKE);
	stage_expect(s, 3, STAGE_PASSED, STAGE_PSN + 2);
}

/* An answer to what came: MSN and credits go on where the responder was. */
static void test_answer(void **state)
{
	struct stage *s = *state;
	const struct stage_event *e;

	stage_rule(s, "ghost opcode=send dir=rx");
	s->knows_qps = true;
	s->qp = (struct fault_qp){.peer_qpn = STAGE_PEER};
	stage_ack(s, 999);
	stage_give(s, FAULT_TX, &s->burst);
	stage_send(s, STAGE_PSN);
	s->burst.head.bth.dest_qp = STAGE_QPN;
	s->burst.model.qpn = 0; /* it came by the network */
	s->burst.flow.src[15] = 2;
	s->burst.flow.dst[15] = 1;
	stage_give(s, FAULT_RX, &s->burst);
	assert_int_equal(s->n, 4);
	assert_int_equal(stage_expect(s, 1, STAGE_DROPPED, STAGE_PSN)->dir, FAULT_RX);
	assert_int_equal(stage_expect(s, 2, STAGE_MADE, STAGE_PSN)->dir, FAULT_TX);
	e = stage_expect(s, 3, STAGE_PASSED, STAGE_PSN);
	assert_int_equal(e->pkt.bth.opcode.v, ROCE_RC_ACKNOWLEDGE);
	assert_int_equal(e->pkt.bth.dest_qp, STAGE_PEER);
	assert_int_equal(e->pkt.aeth.syndrome, roce_syndrome(ROCE_ACK, 5));
	assert_int_equal(e->pkt.aeth.msn, 78);
	assert_int_equal(e->flow.sport, 0xc000);
}

/* Who is not known cannot be answered: the packet goes on, and that is told. */
static void test_unfit(void **state)
{
	struct stage *s = *state;

	stage_rule(s, "rnr");
	stage_send(s, STAGE_PSN);
	s->burst.model.qpn = 0;
	stage_give(s, FAULT_RX, &s->burst);
	assert_int_equal(stage_expect(s, 0, STAGE_NOTED, STAGE_PSN)->code, FAULT_NOTE_UNFIT);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN);
	assert_int_equal(fault_net_counters(s->net)->unfit, 1);
}

/* ---- called from within ---- */

static void echo(struct stage *s, enum fault_direction dir, const struct core_burst *t)
{
	struct core_burst answer;

	if (dir == FAULT_RX)
		return;
	answer = *t;
	answer.model.qpn = STAGE_PEER;
	stage_give(s, FAULT_RX, &answer);
}

/* What is passed may bring something back at once, as inside one daemon. */
static void test_nested(void **state)
{
	struct stage *s = *state;
	unsigned dir[2] = {0, 0};

	s->then = echo;
	stage_rule(s, "drop every=3 dir=tx");
	stage_rule(s, "dup every=4 dir=rx");
	stage_rule(s, "reorder=1 every=5 dir=rx");
	stage_give(s, FAULT_TX, stage_write(s, 20, STAGE_PSN));
	s->now = 1000000000;
	fault_net_tick(s->net, s->now);
	for (unsigned i = 0; i < s->n; i++)
		if (s->event[i].fate == STAGE_PASSED) {
			dir[s->event[i].dir]++;
			assert_int_equal(s->event[i].check,
					 stage_sum(s, s->event[i].pkt.bth.psn - STAGE_PSN));
		}
	assert_int_equal(dir[FAULT_TX], 14);
	assert_int_equal(dir[FAULT_RX], 14 + 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_untouched),
		TEST(test_around_a_drop),
		TEST(test_order),
		TEST(test_copies_own_their_payload),
		TEST(test_jitter),
		TEST(test_rate),
		TEST(test_pause),
		TEST(test_pause_is_of_the_line),
		TEST(test_pauses),
		TEST(test_pause_by_the_clock),
		TEST(test_pause_of_one),
		TEST(test_pause_taken_away),
		TEST(test_reorder),
		TEST(test_reorder_alone),
		TEST(test_limit_of_packets),
		TEST(test_limit_of_bytes),
		TEST(test_destroy_while_waiting),
		TEST(test_limit_of_memory),
		TEST(test_rate_is_kept),
		TEST(test_comes_back),
		TEST(test_malformed),
		TEST(test_device_action),
		TEST(test_answer),
		TEST(test_unfit),
		TEST(test_nested),
	};

	return cmocka_run_group_tests_name("fault_net", tests, NULL, NULL);
}
