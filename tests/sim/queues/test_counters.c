/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What devices and QPs count: each packet and byte once on either side, and what went wrong, by
 * its name, on the side where it happened.
 */
#include "tests/sim/world/mixed.h"

#include "emu/core/qp/qp.h"

#define MTU 1024u

static const struct core_counters *device(const struct side *s)
{
	return core_counters(s->c.host->dev);
}

static struct qp_counters counted(const struct side *s)
{
	return device_find_qp(s->c.host->dev, s->qp.qpn)->counters;
}

/* One QP is all that a device has. */
static void expect_sent(const struct side *s, uint64_t packets, uint64_t bytes)
{
	struct qp_counters n = counted(s);

	assert_int_equal(n.tx_packets, packets);
	assert_int_equal(n.tx_bytes, bytes);
	assert_int_equal(device(s)->tx_packets, packets);
	assert_int_equal(device(s)->tx_bytes, bytes);
}

static void expect_received(const struct side *s, uint64_t packets, uint64_t bytes)
{
	struct qp_counters n = counted(s);

	assert_int_equal(n.rx_packets, packets);
	assert_int_equal(n.rx_bytes, bytes);
	assert_int_equal(device(s)->rx_packets, packets);
	assert_int_equal(device(s)->rx_bytes, bytes);
}

/* Nothing went wrong. */
static void expect_calm(const struct side *s)
{
	const struct core_counters *n = device(s);
	struct qp_counters q = counted(s);

	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		assert_int_equal(n->drops[i], 0);
	assert_int_equal(n->naks_sent + n->naks_received + n->rnr_sent + n->rnr_received, 0);
	assert_int_equal(n->timeouts + n->retransmits + n->duplicates + n->errors, 0);
	assert_int_equal(q.retries + q.rnr + q.errors, 0);
}

/* A SEND of five packets and one byte, its ACK; a READ of three packets, its request. */
static void test_traffic(void **state)
{
	uint64_t answers;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 1, 100000, 5 * MTU + 1);
	side_send(&p.a, 1, 0, 5 * MTU + 1);
	side_wait(&p.a, 1);
	side_wait(&p.b, 1);
	pair_idle(&p);
	answers = counted(&p.b).tx_packets;
	assert_true(answers >= 1);
	expect_sent(&p.a, 6, 5 * MTU + 1);
	expect_received(&p.b, 6, 5 * MTU + 1);
	expect_sent(&p.b, answers, 0);
	expect_received(&p.a, answers, 0);
	side_read(&p.a, 2, 200000, 300000, 2 * MTU + 8);
	side_wait(&p.a, 2);
	pair_idle(&p);
	expect_sent(&p.a, 7, 5 * MTU + 1);
	expect_received(&p.b, 7, 5 * MTU + 1);
	expect_sent(&p.b, answers + 3, 2 * MTU + 8);
	expect_received(&p.a, answers + 3, 2 * MTU + 8);
	assert_int_equal(device(&p.a)->completions, 2);
	assert_int_equal(device(&p.b)->completions, 1);
	expect_calm(&p.a);
	expect_calm(&p.b);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 5 * MTU + 1);
	pair_expect_copy(&p.b, 300000, &p.a, 200000, 2 * MTU + 8);
	pair_finish(&p);
}

/* A packet that is lost: a NAK, and one round of sending again. */
static void test_gap(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .positions = 1u << ROCE_POS_MIDDLE,
					   .count = 1,
					   .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 200000, 4 * MTU);
	side_wait(&p.a, 1);
	pair_idle(&p);
	assert_int_equal(device(&p.b)->naks_sent, 1);
	assert_int_equal(device(&p.a)->naks_received, 1);
	assert_int_equal(device(&p.a)->retransmits, 1);
	assert_int_equal(counted(&p.a).retries, 1);
	assert_int_equal(device(&p.a)->timeouts, 0);
	assert_int_equal(device(&p.b)->naks_received + device(&p.a)->naks_sent, 0);
	assert_int_equal(device(&p.b)->retransmits + counted(&p.b).retries, 0);
	assert_int_equal(counted(&p.a).errors + device(&p.a)->errors, 0);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 4 * MTU);
	pair_finish(&p);
}

/* An ACK that is lost: a timeout, and a duplicate at the other side. */
static void test_lost_ack(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 1, .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 200000, 100);
	side_wait(&p.a, 1);
	pair_idle(&p);
	assert_int_equal(device(&p.a)->timeouts, 1);
	assert_int_equal(device(&p.a)->retransmits, 1);
	assert_int_equal(counted(&p.a).retries, 1);
	assert_int_equal(device(&p.b)->duplicates, 1);
	assert_int_equal(device(&p.b)->timeouts + device(&p.a)->duplicates, 0);
	assert_int_equal(device(&p.a)->naks_received + device(&p.b)->naks_sent, 0);
	expect_sent(&p.a, 2, 200);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 100);
	pair_finish(&p);
}

/* A receiver that is not ready, once. */
static void test_not_ready(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_send(&p.a, 1, 0, 8);
	while (device(&p.a)->rnr_received == 0)
		world_run(p.w, *p.a.c.host->now + 1000);
	side_recv(&p.b, 1, 100000, 8);
	side_wait(&p.a, 1);
	side_wait(&p.b, 1);
	pair_idle(&p);
	assert_int_equal(device(&p.b)->rnr_sent, 1);
	assert_int_equal(device(&p.a)->rnr_received, 1);
	assert_int_equal(counted(&p.a).rnr, 1);
	assert_int_equal(device(&p.a)->rnr_sent + device(&p.b)->rnr_received, 0);
	assert_int_equal(counted(&p.b).rnr, 0);
	assert_int_equal(device(&p.a)->timeouts, 0);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 8);
	pair_finish(&p);
}

/* A request that must fail, and one that is flushed behind it: two errors of the QP. */
static void test_errors(void **state)
{
	struct op wrong = {.opcode = UHCA_ABI_WR_RDMA_WRITE,
			   .wr_id = 1,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .length = 8,
			   .remote = PAIR_BUFFER};
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_queue(&p.a, &wrong);
	side_send(&p.a, 2, 0, 8);
	side_wait(&p.a, 2);
	pair_idle(&p);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, UHCA_ABI_WC_SEND);
	assert_int_equal(counted(&p.a).errors, 2);
	assert_int_equal(device(&p.a)->errors, 2);
	assert_int_equal(device(&p.a)->completions, 2);
	assert_int_equal(device(&p.b)->naks_sent, 1);
	assert_int_equal(device(&p.a)->naks_received, 1);
	assert_int_equal(device(&p.b)->errors, 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic),  cmocka_unit_test(test_gap),
		cmocka_unit_test(test_lost_ack), cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
