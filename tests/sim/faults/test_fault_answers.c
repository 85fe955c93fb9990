/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers that a rule makes up in the name of the other end, seen from both: RNR so often or for
 * ever, ACKs for what was never done, credits that nobody has, NAKs about packets that nobody
 * sent, congestion notifications.
 */
#include "tests/sim/world/mixed.h"
#include "tests/sim/world/world_faults.h"
#include "wire/syndrome.h"

#define LENGTH 3000u

static const struct core_counters *counters(struct pair *p, unsigned device)
{
	return core_counters(p->w->device[device].host.dev);
}

static void create(struct pair *p, uint8_t rnr_retry)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.rnr_retry = rnr_retry;
	pair_create(p, &(struct pair_options){.conn = &conn});
}

static void send_one(struct pair *p)
{
	side_recv(&p->b, 2, 100000, LENGTH);
	side_send(&p->a, 1, 0, LENGTH);
}

static void expect_one(struct pair *p)
{
	side_expect(&p->a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p->a, 0, &p->b, 100000, LENGTH);
	pair_idle(p);
}

/* Three times means three RNR NAKs, however many packets the message has; nothing else is NAKed. */
static void rnr_storm(const char *rule, unsigned times)
{
	struct pair p;

	create(&p, 7);
	world_rule(p.w, rule);
	send_one(&p);
	expect_one(&p);
	world_assert(p.w, counters(&p, 0)->rnr_received == times);
	world_assert(p.w, counters(&p, 0)->timeouts == 0);
	world_assert(p.w, counters(&p, 1)->naks_sent == 0);
	world_assert(p.w, world_rule_entry(p.w, "1")->hits == times);
	pair_finish(&p);
}

static void test_rnr_storm(void **state)
{
	(void)state;
	rnr_storm("rnr times=3", 3);
	rnr_storm("rnr=1 opcode=send times=20", 20);
	rnr_storm("rnr=2 opcode=RC_SEND_FIRST times=5", 5);
	rnr_storm("rnr=1 opcode=send times=2 dir=tx", 2);
}

static void test_rnr_for_ever(void **state)
{
	struct pair p;
	uint32_t rule;

	(void)state;
	create(&p, 7);
	rule = world_rule(p.w, "rnr=1");
	send_one(&p);
	side_quiet(&p.a, 50000000);
	side_quiet(&p.b, 0);
	world_assert(p.w, world_rule_entry(p.w, "1")->hits > 1000);
	world_rule_remove(p.w, rule);
	expect_one(&p);
	pair_finish(&p);
}

/* The time that the NAK asks for is waited. */
static void test_rnr_timer(void **state)
{
	(void)state;
	for (unsigned code = 1; code < 32; code += 5) {
		char rule[40];
		uint64_t start;
		struct pair p;

		create(&p, 7);
		snprintf(rule, sizeof rule, "rnr=%u times=1", code);
		world_rule(p.w, rule);
		start = p.w->now;
		send_one(&p);
		side_wait(&p.a, 1);
		world_assert(p.w, p.w->now - start >= roce_rnr_timer_ns((uint8_t)code));
		expect_one(&p);
		pair_finish(&p);
	}
}

/* The program hears of success; nobody got anything. */
static void test_ghost(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "ghost");
	send_one(&p);
	side_write(&p.a, 2, 0, 200000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, p.b.n_wc == 0);
	world_assert(p.w, counters(&p, 1)->rx_packets == 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_RTS);
	pair_finish(&p);
}

/* One ghost among honest requests: the responder waits for it, which has long been forgotten. */
static void test_ghost_once(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "ghost opcode=RC_WRITE_ONLY times=1");
	side_write(&p.a, 1, 0, 200000, 100);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_write(&p.a, 2, 0, 300000, 100);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	world_assert(p.w, counters(&p, 1)->naks_sent >= 1);
	pair_finish(&p);
}

/* What is to bring data back cannot be ghosted: it goes on, and that is counted. */
static void test_no_ghost_of_a_read(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "ghost opcode=read,atomic");
	mixed_post(&p, 1);
	mixed_check(&p, 1);
	world_assert(p.w, fault_net_counters(world_net(p.w, 1))->unfit == 4);
	world_assert(p.w, fault_net_counters(world_net(p.w, 1))->made == 0);
	pair_finish(&p);
}

/* An ACK before its time, and no real one: success, and the receiver has it too. */
static void test_forged_ack(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "forge=ack opcode=RC_SEND_LAST");
	world_rule(p.w, "drop opcode=ack dir=tx");
	send_one(&p);
	expect_one(&p);
	world_assert(p.w, counters(&p, 0)->timeouts == 0);
	pair_finish(&p);
}

/* 9.7.7.2: without credits one request goes at a time; with each ACK the next. */
static void test_credit_starvation(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "set=credits:0 opcode=response");
	for (unsigned i = 0; i < 20; i++) {
		side_recv(&p.b, i, 100000 + 100 * i, 100);
		side_send(&p.a, i, 100 * i, 100);
	}
	for (unsigned i = 0; i < 20; i++) {
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 2000);
	pair_idle(&p);
	/* Those that went before the first answer, and then each has its own. */
	world_assert(p.w, world_rule_entry(p.w, "1")->hits > 1);
	pair_finish(&p);
}

/* A NAK about a PSN that is not outstanding is dropped (9.7.5.1.1), the time-out gets over it. */
static void test_nak_out_of_range(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "drop opcode=RC_WRITE_FIRST nth=1");
	world_rule(p.w, "set=bth.psn:+100000 opcode=nak nth=1");
	side_write(&p.a, 1, 0, 100000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
	world_assert(p.w, counters(&p, 0)->timeouts == 1);
	world_assert(p.w, counters(&p, 0)->naks_received == 0);
	world_assert(p.w, counters(&p, 0)->drops[CORE_DROP_RESPONSE] == 1);
	pair_finish(&p);
}

/* A notification for each request: the device counts them, it has no rate to reduce. */
static void test_cnp(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "cnp opcode=send");
	send_one(&p);
	expect_one(&p);
	world_assert(p.w, fault_net_counters(world_net(p.w, 1))->made == 3);
	world_assert(p.w, counters(&p, 0)->cnps_received == 3);
	pair_finish(&p);
}

/* Each answer comes late: all is well, and lasts. */
static void test_slow_peer(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	create(&p, 7);
	world_rule(p.w, "delay=20ms opcode=response");
	start = p.w->now;
	mixed_post(&p, 1);
	mixed_check(&p, 1);
	world_assert(p.w, p.w->now - start >= 20000000);
	world_assert(p.w, counters(&p, 0)->timeouts == 0);
	pair_finish(&p);
}

/* The same over IPv6, and with receives from an SRQ. */
static void test_v6_and_srq(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	(void)state;
	conn.gid_index = 1;
	pair_create(&p, &(struct pair_options){.conn = &conn, .srq_wr = 16});
	world_rule(p.w, "rnr=1 times=2");
	world_rule(p.w, "drop opcode=ack nth=1");
	send_one(&p);
	expect_one(&p);
	world_assert(p.w, counters(&p, 0)->rnr_received == 2);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rnr_storm),        cmocka_unit_test(test_rnr_for_ever),
		cmocka_unit_test(test_rnr_timer),        cmocka_unit_test(test_ghost),
		cmocka_unit_test(test_ghost_once),       cmocka_unit_test(test_no_ghost_of_a_read),
		cmocka_unit_test(test_forged_ack),       cmocka_unit_test(test_credit_starvation),
		cmocka_unit_test(test_nak_out_of_range), cmocka_unit_test(test_cnp),
		cmocka_unit_test(test_slow_peer),        cmocka_unit_test(test_v6_and_srq),
	};

	return cmocka_run_group_tests_name("fault_answers", tests, NULL, NULL);
}
