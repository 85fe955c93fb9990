/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer is silent: retry_cnt tries, then RETRY_EXC_ERR for the oldest request and a flush of
 * all others, in order, exactly once (IBTA 9.9.2.4.1, 10.8.3.1).
 */
#include "tests/sim/world/pair.h"

#define TIMEOUT_NS (4096ull << 8)

static void create(struct pair *p, uint8_t retry_cnt)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.timeout = 8;
	conn.retry_cnt = retry_cnt;
	pair_create(p, &(struct pair_options){.conn = &conn});
}

static void expect_end(struct pair *p, unsigned requests, unsigned recvs)
{
	side_wait(&p->a, requests + recvs);
	side_quiet(&p->a, PAIR_SECONDS);
	side_expect(&p->a, 0, 0, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	for (unsigned i = 1; i < requests; i++)
		side_expect(&p->a, i, i, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	for (unsigned i = 0; i < recvs; i++)
		side_expect(&p->a, requests + i, 1000 + i, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p->w, p->a.n_wc == requests + recvs);
	world_assert(p->w, vqp_state(&p->a.qp) == IBV_QPS_ERR);
	world_assert(p->w, vqp_send_used(&p->a.qp) == 0);
}

static void silent_peer(uint8_t retry_cnt)
{
	struct pair p;
	uint64_t start;

	create(&p, retry_cnt);
	p.w->link[0][1].down = true;
	start = p.w->now;
	for (unsigned i = 0; i < 5; i++)
		side_recv(&p.a, 1000 + i, 400000, 10);
	for (unsigned i = 0; i < 20; i++)
		side_send(&p.a, i, 0, 100 * i);
	side_wait(&p.a, 1);
	/* Each wait: not shorter than the timeout, and not longer than four times that (9.7.6). */
	world_assert(p.w, p.w->now - start >= (retry_cnt + 1) * TIMEOUT_NS);
	world_assert(p.w, p.w->now - start <= (retry_cnt + 1) * 4 * TIMEOUT_NS);
	expect_end(&p, 20, 5);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits == retry_cnt);
	pair_finish(&p);
}

static void test_silent_peer(void **state)
{
	(void)state;
	for (uint8_t n = 0; n <= 7; n++)
		silent_peer(n);
}

/* Unsignalled requests that fail are reported all the same. */
static void test_unsignalled(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 2);
	p.w->link[0][1].down = true;
	for (unsigned i = 0; i < 6; i++)
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					     .wr_id = i,
					     .length = 3000,
					     .remote = 100000});
	expect_end(&p, 6, 0);
	pair_finish(&p);
}

/* READs and atomics that were never answered. */
static void test_read_and_atomic(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 3);
	p.w->link[1][0].down = true;
	side_store(&p.b, 0, 10);
	side_fetch_add(&p.a, 0, 100000, 0, 1);
	side_read(&p.a, 1, 200000, 1000, 3000);
	side_read(&p.a, 2, 300000, 1000, 3000);
	expect_end(&p, 3, 0);
	side_expect_u64(&p.b, 0, 11); /* executed, once */
	pair_finish(&p);
}

/* Each answer refills the counter: a bad but living link goes on for ever. */
static void test_counter_refills(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 1);
	rules_add(
		&p.rules,
		&(struct rule){.from = 0, .op = ROCE_OP_WRITE, .count = 10, .verdict = WORLD_DROP});
	for (unsigned i = 0; i < 10; i++) {
		p.rules.rule[0].seen = 0;
		p.rules.rule[0].hits = 0;
		p.rules.rule[0].count = 1;
		side_write(&p.a, i, 0, 100000, 100);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == 10);
	pair_finish(&p);
}

/* The other side does not notice and serves a new connection after reset. */
static void test_reconnect(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	(void)state;
	create(&p, 1);
	p.w->link[0][1].down = true;
	side_send(&p.a, 0, 0, 100);
	expect_end(&p, 1, 0);
	p.w->link[0][1].down = false;
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RESET) == 0);
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_RESET) == 0);
	conn.sq_psn = 77;
	vqp_connect(&p.a.qp, &p.b.qp, &conn);
	side_recv(&p.b, 5, 100000, 100);
	side_send(&p.a, 6, 0, 100);
	side_expect(&p.a, 1, 6, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 5, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_peer),     cmocka_unit_test(test_unsignalled),
		cmocka_unit_test(test_read_and_atomic), cmocka_unit_test(test_counter_refills),
		cmocka_unit_test(test_reconnect),
	};

	return cmocka_run_group_tests_name("retry_exceeded", tests, NULL, NULL);
}
