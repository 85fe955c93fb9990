/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ACK of a short message may wait for company (config.ack_delay_ns): one for several messages,
 * or beside a request that goes the other way; but it waits no longer than that, is never
 * forgotten, and outlives its QP.
 */
#include "tests/sim/world/mixed.h"

#define DELAY 10000u

static void create(struct pair *p)
{
	struct core_config cfg = world_config();

	cfg.ack_delay_ns = DELAY;
	pair_create(p, &(struct pair_options){.cfg = &cfg});
}

static unsigned acks(const struct pair *p)
{
	return rules_count(&p->rules, 1, ROCE_OP_ACK);
}

/* Alone, it comes when the delay is over. */
static void test_alone(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	create(&p);
	start = p.w->now;
	side_recv(&p.b, 1, 100000, 16);
	side_send(&p.a, 1, 0, 16);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	world_assert(p.w, p.w->now - start < DELAY);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	world_assert(p.w, p.w->now - start >= DELAY);
	world_assert(p.w, p.w->now - start <= DELAY + 5000);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_finish(&p);
}

/* Legal chaos: each waits, also that of a long message, and one stands for many. */
static void test_lazy(void **state)
{
	struct core_config cfg = world_config();
	struct pair p;
	uint64_t start;

	(void)state;
	cfg.ack_delay_ns = DELAY;
	cfg.lazy_acks = true;
	pair_create(&p, &(struct pair_options){.cfg = &cfg});
	start = p.w->now;
	for (unsigned i = 0; i < 4; i++) {
		side_recv(&p.b, i, 100000 + 5000 * i, 5000);
		side_send(&p.a, i, 5000 * i, 5000);
	}
	for (unsigned i = 0; i < 4; i++)
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	world_assert(p.w, p.w->now - start < DELAY);
	for (unsigned i = 0; i < 4; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	world_assert(p.w, p.w->now - start >= DELAY);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 20000);
	pair_idle(&p);
	world_assert(p.w, acks(&p) == 1);
	pair_finish(&p);
}

static void test_several_messages(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	for (unsigned i = 0; i < 5; i++) {
		side_recv(&p.b, i, 100000 + 16 * i, 16);
		side_send(&p.a, i, 16 * i, 16);
		world_run(p.w, p.w->now + 1000);
	}
	for (unsigned i = 0; i < 5; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 80);
	pair_idle(&p);
	world_assert(p.w, acks(&p) < 5);
	pair_finish(&p);
}

static void wait_for_recvs(struct side *s, unsigned n)
{
	unsigned got = 0;

	while (got < n) {
		world_assert(s->pair->w, world_step(s->pair->w));
		side_poll(s);
		got = 0;
		for (unsigned i = 0; i < s->n_wc; i++)
			got += s->wc[i].opcode == UHCA_ABI_WC_RECV;
	}
}

/* Of a QP that is reset nothing waits any more: neither the device nor its next connection. */
static void test_reset(void **state)
{
	struct device *dev;
	struct pair p;

	(void)state;
	create(&p);
	dev = p.b.c.host->dev;
	side_recv(&p.b, 1, 100000, 16);
	side_send(&p.a, 1, 0, 16);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	world_assert(p.w, core_next_deadline(dev) <= p.w->now + DELAY);
	assert_int_equal(vqp_to_state(&p.b.qp, IBV_QPS_RESET), 0);
	world_assert(p.w, core_next_deadline(dev) == UINT64_MAX);
	assert_int_equal(vqp_to_state(&p.a.qp, IBV_QPS_RESET), 0);
	side_ignore(&p.b, 100000, 16);
	pair_finish(&p);
}

/* A ping-pong: the answer takes the ACK along, nobody waits for the delay. */
static void test_ping_pong(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	create(&p);
	start = p.w->now;
	for (unsigned i = 0; i < 100; i++) {
		side_recv(&p.b, i, 100000, 16);
		side_recv(&p.a, 1000 + i, 100000, 16);
		side_send(&p.a, i, 0, 16);
		wait_for_recvs(&p.b, i + 1);
		side_send(&p.b, 2000 + i, 0, 16);
		wait_for_recvs(&p.a, i + 1);
	}
	side_wait(&p.a, 200);
	side_wait(&p.b, 200);
	world_assert(p.w, p.w->now - start < 100ull * DELAY);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_expect_copy(&p.b, 0, &p.a, 100000, 16);
	pair_finish(&p);
}

/* All kinds of traffic; retries never come from a delay. */
static void test_no_timeouts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct core_config cfg = world_config();
		struct pair p;

		cfg.ack_delay_ns = seed * 1000;
		pair_create(&p, &(struct pair_options){.cfg = &cfg, .seed = seed});
		mixed_post(&p, 6);
		mixed_check(&p, 6);
		world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits == 0);
		pair_finish(&p);
	}
}

/* The shell sleeps: what waits goes at once. */
static void test_hurry(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	create(&p);
	side_recv(&p.b, 1, 100000, 16);
	side_send(&p.a, 1, 0, 16);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	start = p.w->now;
	world_assert(p.w, core_hurry(p.w->device[1].host.dev));
	p.b.c.host->dirty = true;
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	world_assert(p.w, p.w->now - start < DELAY / 2);
	world_assert(p.w, !core_hurry(p.w->device[1].host.dev));
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_finish(&p);
}

static unsigned next_opcode(struct side *s)
{
	static uint8_t buf[8192];
	struct world *w = s->pair->w;
	struct core_burst t;

	world_assert(w, core_tx_next(s->c.host->dev, w->now, buf, sizeof(buf), &t));
	return t.head.bth.opcode.v;
}

/*
 * The time is over when a request comes: the ACK, the shorter of the two, still goes behind it, and
 * only behind one. (What is taken here is lost, and sent again.)
 */
static void test_late_company(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_recv(&p.b, 1, 100000, 16);
	side_send(&p.a, 1, 0, 16);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	world_assert(p.w, core_hurry(p.b.c.host->dev));
	for (unsigned i = 0; i < 2; i++) {
		side_recv(&p.a, 10 + i, 200000 + 16 * i, 16);
		side_send(&p.b, 20 + i, 16 * i, 16);
	}
	world_assert(p.w, next_opcode(&p.b) == ROCE_RC_SEND_ONLY);
	world_assert(p.w, next_opcode(&p.b) == ROCE_RC_ACKNOWLEDGE);
	world_assert(p.w, next_opcode(&p.b) == ROCE_RC_SEND_ONLY);
	for (unsigned i = 0; i < 2; i++)
		side_expect(&p.b, 1 + i, 20 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_wait(&p.a, 3);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_expect_copy(&p.b, 0, &p.a, 200000, 32);
	pair_finish(&p);
}

/*
 * A program that sleeps until its CQ has an event answers late, and so does its peer, which looks
 * at one completion per event: the ACK does not wait for the answer.
 */
static void test_sleeper(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	p.b.cq.page->arm = UHCA_ABI_ARM_NEXT;
	side_recv(&p.b, 1, 100000, 16);
	side_send(&p.a, 1, 0, 16);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_recv(&p.a, 10, 200000, 16);
	side_send(&p.b, 20, 0, 16);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 1, 10, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_wait(&p.b, 2);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_expect_copy(&p.b, 0, &p.a, 200000, 16);
	pair_finish(&p);
}

/* The receiver takes the completion and is gone: the sender is acknowledged all the same. */
static void test_outlives_its_qp(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 4; how++) {
		struct pair p;

		create(&p);
		side_recv(&p.b, 1, 100000, 16);
		side_send(&p.a, 1, 0, 16);
		side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
		if (how == 0)
			world_assert(p.w, vqp_destroy(&p.b.qp) == 0);
		else if (how == 1)
			world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_RESET) == 0);
		else if (how == 2)
			world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_ERR) == 0);
		else
			core_client_destroy(p.b.c.core);
		p.b.c.host->dirty = true;
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		if (how == 3) {
			p.b.c.core = core_client_create(p.w->device[1].host.dev, &p.b.c);
			world_assert(p.w, vcq_create(&p.b.c, 4, 0, &p.b.cq) == 0);
		}
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_several_messages),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_no_timeouts),
		cmocka_unit_test(test_hurry),
		cmocka_unit_test(test_late_company),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_outlives_its_qp),
	};

	return cmocka_run_group_tests_name("delayed_ack", tests, NULL, NULL);
}
