/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that the protocol gets over: whatever they do to packets, programs see all their requests
 * succeed, each byte where it belongs and each atomic executed once. Each rule is tried with
 * packets that travel one by one and with bursts that stay whole.
 */
#include "tests/sim/world/mixed.h"
#include "tests/sim/world/world_faults.h"

#define ROUNDS 3u

static void create(struct pair *p, bool whole)
{
	struct link l = link_default();

	pair_create(p, &(struct pair_options){0});
	if (!whole)
		return;
	p->w->filter = NULL;
	l.split = 0;
	world_set_links(p->w, &l);
}

static const struct core_counters *counters(struct pair *p, unsigned device)
{
	return core_counters(p->w->device[device].host.dev);
}

static void run(const char *rule, bool whole)
{
	struct pair p;

	create(&p, whole);
	world_rule(p.w, rule);
	mixed_post(&p, ROUNDS);
	mixed_check(&p, ROUNDS);
	pair_finish(&p);
}

static void run_all(const char *const *rules)
{
	for (; *rules; rules++) {
		run(*rules, false);
		run(*rules, true);
	}
}

static void test_drop(void **state)
{
	static const char *const rules[] = {
		"lost-ack: drop opcode=rc.ack nth=1",
		"lost-last: drop opcode=RC_SEND_LAST nth=1",
		"drop opcode=RC_WRITE_MIDDLE nth=2",
		"drop opcode=RC_WRITE_FIRST nth=1..2",
		"drop opcode=RC_SEND_FIRST nth=2",
		"drop opcode=read nth=1",
		"drop opcode=read_response nth=1",
		"drop opcode=read_response nth=3",
		"drop opcode=read_response nth=5",
		"drop opcode=atomic nth=1,2",
		"drop opcode=atomic_ack nth=1,3",
		"drop opcode=request every=7 times=10",
		"drop opcode=request dir=rx first=3",
		"drop opcode=response every=3 times=5",
		"drop retry nth=1 after=noise", /* and the first one, see below */
		"drop p=0.1",
		"drop p=0.1 dir=rx",
		"drop length>=1000 nth=4",
		"drop psn=+3 times=2",
		NULL,
	};

	(void)state;
	for (unsigned i = 0; rules[i]; i++) {
		struct pair p;

		for (unsigned whole = 0; whole < 2; whole++) {
			create(&p, whole);
			if (rules[i][5] == 'r')
				world_rule(p.w, "noise: drop opcode=request nth=4");
			world_rule(p.w, rules[i]);
			mixed_post(&p, ROUNDS);
			mixed_check(&p, ROUNDS);
			pair_finish(&p);
		}
	}
}

static void test_duplicate(void **state)
{
	static const char *const rules[] = {
		"dup",
		"dup=3",
		"dup dir=rx",
		"dup opcode=request",
		"dup opcode=response",
		"stale-read: dup=2 time=300us opcode=read",
		"stale-atomic: dup=2 time=300us opcode=atomic",
		"dup time=5ms opcode=send",
		"dup=4 time=70us opcode=write",
		"dup time=1ms opcode=response",
		NULL,
	};

	(void)state;
	run_all(rules);
}

static void test_reorder(void **state)
{
	static const char *const rules[] = {
		"middle: reorder=1 opcode=RC_WRITE_MIDDLE nth=1",
		"reorder=3 opcode=RC_WRITE_FIRST nth=1",
		"reorder=2 every=5",
		"reorder=1 opcode=response every=2",
		"reorder=1 opcode=read nth=1",
		"reorder=1 opcode=atomic nth=1",
		"reorder=1 opcode=RC_SEND_LAST",
		"reorder=5 dir=rx every=11",
		"reorder=1024 nth=3", /* more than ever come: its patience ends */
		NULL,
	};

	(void)state;
	run_all(rules);
}

static void test_time(void **state)
{
	static const char *const rules[] = {
		"delay=1ms",
		"slow: delay=2ms opcode=response",
		"delay=300us jitter=500us",
		"delay=1us jitter=10us dir=rx",
		"delay=100ms nth=2", /* longer than the time-out: it comes twice */
		"delay=100ms opcode=read nth=1",
		"delay=100ms opcode=atomic nth=1",
		"delay=100ms opcode=response nth=2",
		"rate=100mbit",
		"rate=20mbit opcode=response",
		"pause=5ms skip=3",
		"pause=200ms opcode=request skip=2",
		"pause=1ms dir=rx",
		NULL,
	};

	(void)state;
	run_all(rules);
}

static void test_burst(void **state)
{
	static const char *const rules[] = {
		"burst=0.1/0.6",
		"burst=0.2/0.9 opcode=response",
		"burst=0.1/0.3 times=20",
		NULL,
	};

	(void)state;
	run_all(rules);
}

/* What is broken on the way is dropped by who gets it, counted there, and sent again. */
static void test_corrupt(void **state)
{
	static const char *const rules[] = {
		"icrc: corrupt=icrc opcode=request nth=2",
		"corrupt=icrc opcode=response nth=1",
		"flip: corrupt=bit opcode=request nth=5",
		"corrupt=bit:5 opcode=RC_SEND_FIRST nth=1", /* of the opcode */
		"corrupt=bit:0 opcode=request nth=1",
		"corrupt=bit:97 opcode=RC_WRITE_FIRST nth=1", /* of the address */
		"corrupt=payload opcode=write nth=3",
		"corrupt=payload:7 opcode=RC_WRITE_LAST nth=1",
		"corrupt=payload:9999 opcode=read_response nth=2",
		"corrupt=payload:0 opcode=RC_SEND_LAST dir=rx nth=1",
		NULL,
	};

	(void)state;
	for (unsigned i = 0; rules[i]; i++) {
		bool response = strstr(rules[i], "response") != NULL;
		struct pair p;

		for (unsigned whole = 0; whole < 2; whole++) {
			create(&p, whole);
			world_rule(p.w, rules[i]);
			mixed_post(&p, ROUNDS);
			mixed_check(&p, ROUNDS);
			world_assert(p.w, world_bad_icrc(p.w, response ? 0 : 1) == 1);
			world_assert(p.w, world_bad_icrc(p.w, response ? 1 : 0) == 0);
			pair_finish(&p);
		}
	}
}

/* A mark, a notification, an answer too many: nothing that a program sees. */
static void test_harmless(void **state)
{
	static const char *const rules[] = {
		"ecn",
		"cnp opcode=request",
		"cnp dir=tx",
		"cnp opcode=response",
		"wrong-msn: set=aeth.msn:0x123456 opcode=response",
		"set=aeth.msn:+7 opcode=ack",
		"set=bth.fecn:1",
		"set=bth.becn:1 opcode=request",
		"set=bth.migreq:0",
		"forge=ack opcode=send",
		"forge=rnr:1 opcode=RC_SEND_LAST nth=1",
		"forge=nak:sequence opcode=write nth=2",
		"nak=sequence opcode=request times=3",
		"nak=sequence opcode=RC_WRITE_MIDDLE times=3 dir=tx",
		"rnr=1 opcode=request every=4",
		"rnr opcode=read times=3",
		"rnr=2 opcode=atomic times=5 dir=tx",
		"starved: set=credits:0 opcode=ack",
		"set=credits:0 opcode=response dir=rx",
		"set=bth.ackreq:0 opcode=RC_WRITE_LAST nth=1",
		"set=bth.ackreq:1 opcode=request",
		"stray: set=bth.dest_qp:+1 opcode=request nth=3",
		"set=bth.psn:+1000 opcode=request nth=2",
		"set=bth.psn:-5 opcode=RC_SEND_FIRST nth=2",
		"set=bth.pkey:0x1234 opcode=request nth=4",
		"unreadable: set=bth.opcode:0x1f opcode=request nth=3",
		"set=bth.version:3 opcode=request nth=3",
		"old-ack: set=bth.psn:-20 opcode=ack nth=2",
		NULL,
	};

	(void)state;
	run_all(rules);
}

/* The counters of both ends say what happened. */
static void test_counters(void **state)
{
	struct pair p;

	(void)state;
	create(&p, true);
	world_rule(p.w, "drop opcode=rc.ack nth=1");
	side_recv(&p.b, 2, 100000, 3000);
	side_send(&p.a, 1, 0, 3000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 3000);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, counters(&p, 0)->timeouts == 1);
	world_assert(p.w, counters(&p, 1)->duplicates >= 1);
	world_assert(p.w, fault_net_counters(world_net(p.w, 1))->dropped == 1);
	world_assert(p.w, fault_net_counters(world_net(p.w, 0))->dropped == 0);
	pair_finish(&p);
}

/* Each atomic arrives three times and is executed once. */
static void test_atomics_once(void **state)
{
	struct pair p;

	(void)state;
	create(&p, false);
	world_rule(p.w, "dup=2 time=40us opcode=atomic");
	side_store(&p.b, 0, 1000);
	for (unsigned i = 0; i < 20; i++)
		side_fetch_add(&p.a, i, 100000 + 8 * i, 0, 1);
	for (unsigned i = 0; i < 20; i++) {
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
		side_expect_u64(&p.a, 100000 + 8 * i, 1000 + i);
	}
	side_expect_u64(&p.b, 0, 1020);
	pair_idle(&p);
	world_assert(p.w, counters(&p, 1)->duplicates == 40);
	world_assert(p.w, fault_net_counters(world_net(p.w, 0))->copies == 40);
	pair_finish(&p);
}

/* Without a limit of losses nobody gets through; a partition that ends is got over. */
static void test_partition_ends(void **state)
{
	struct pair p;

	(void)state;
	create(&p, true);
	world_rule(p.w, "drop until=200ms");
	mixed_post(&p, 1);
	mixed_check(&p, 1);
	world_assert(p.w, counters(&p, 0)->timeouts >= 2);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),         cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_reorder),      cmocka_unit_test(test_time),
		cmocka_unit_test(test_burst),        cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_harmless),     cmocka_unit_test(test_counters),
		cmocka_unit_test(test_atomics_once), cmocka_unit_test(test_partition_ends),
	};

	return cmocka_run_group_tests_name("fault_recovery", tests, NULL, NULL);
}
