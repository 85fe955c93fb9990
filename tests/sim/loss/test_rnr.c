/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing posted at the receiver: RNR NAK with the timer of its QP, the sender waits that long
 * and tries again as often as rnr_retry says, 7 for ever (IBTA 9.7.5.2.8, 9.9.2.4.2, table 45).
 */
#include "tests/sim/world/pair.h"
#include "wire/syndrome.h"

#define LENGTH 3000u

static void create(struct pair *p, uint8_t rnr_retry, uint8_t min_rnr_timer)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.rnr_retry = rnr_retry;
	conn.min_rnr_timer = min_rnr_timer;
	pair_create(p, &(struct pair_options){.conn = &conn});
}

static unsigned rnr_naks(const struct pair *p)
{
	const struct logged *l;
	unsigned n = 0;

	for (unsigned i = 0; (l = rules_nth(&p->rules, 1, ROCE_OP_ACK, i)); i++)
		n += roce_syndrome_kind(l->pkt.aeth.syndrome) == ROCE_RNR_NAK;
	return n;
}

static void expect_delivery(struct pair *p)
{
	side_expect(&p->a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p->b, 0, LENGTH);
	pair_expect_copy(&p->a, 0, &p->b, 100000, LENGTH);
	pair_idle(p);
}

/* The receive comes while the sender still has retries. */
static void test_finite(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 3, 12); /* 0.64 ms */
	side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, p.w->now + 1500000);
	world_assert(p.w, rnr_naks(&p) == 3);
	side_recv(&p.b, 2, 100000, LENGTH);
	expect_delivery(&p);
	pair_finish(&p);
}

static void test_infinite(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7, 1); /* 0.01 ms */
	side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, p.w->now + 20000000);
	world_assert(p.w, rnr_naks(&p) > 1000);
	side_quiet(&p.a, 1000000);
	side_recv(&p.b, 2, 100000, LENGTH);
	expect_delivery(&p);
	pair_finish(&p);
}

static void exceed(uint8_t rnr_retry)
{
	struct pair p;

	create(&p, rnr_retry, 5);
	side_send(&p.a, 1, 0, LENGTH);
	side_send(&p.a, 2, 0, 10);
	side_write(&p.a, 3, 0, 200000, 10);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, 0);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p.w, rnr_naks(&p) == rnr_retry + 1u);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_ERR);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_RTS);
	side_quiet(&p.a, PAIR_SECONDS);
	pair_finish(&p);
}

static void test_exceeded(void **state)
{
	(void)state;
	for (uint8_t n = 0; n < 7; n++)
		exceed(n);
}

/* Between the NAK and the next try lies at least the time that the NAK asked for. */
static void test_timer(void **state)
{
	(void)state;
	for (uint8_t code = 0; code < 32; code++) {
		const struct logged *first, *second;
		struct pair p;

		create(&p, 7, code);
		side_send(&p.a, 1, 0, 100);
		world_run(p.w, p.w->now + 1000000000);
		first = rules_nth(&p.rules, 0, ROCE_OP_SEND, 0);
		second = rules_nth(&p.rules, 0, ROCE_OP_SEND, 1);
		world_assert(p.w, first && second);
		world_assert(p.w, second->time - first->time >= roce_rnr_timer_ns(code));
		world_assert(p.w, second->time - first->time <= roce_rnr_timer_ns(code) + 10000);
		side_recv(&p.b, 2, 100000, 100);
		pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
		side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		pair_finish(&p);
	}
}

/* The counter is full again after each message that went through (9.9.2.4.2). */
static void test_counter_refills(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 2, 12);
	for (unsigned i = 0; i < 5; i++) {
		side_send(&p.a, i, 0, 100);
		world_run(p.w, p.w->now + 1000000);
		side_recv(&p.b, i, 100000, 100);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	}
	world_assert(p.w, rnr_naks(&p) > 5);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_finish(&p);
}

/* The network doubles each NAK: the copy is no second refusal. */
static void test_duplicate_nak(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 1, 12);
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_ACK,
					   .syndrome_mask = 0x60,
					   .syndrome = 0x20,
					   .verdict = WORLD_DUPLICATE});
	side_send(&p.a, 1, 0, LENGTH);
	world_run(p.w, p.w->now + 300000);
	side_recv(&p.b, 2, 100000, LENGTH);
	expect_delivery(&p);
	pair_finish(&p);
}

/* A WRITE with immediate data moves its bytes but waits with its last packet. */
static void test_write_with_imm(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 7, 5);
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
				     .wr_id = 1,
				     .flags = UHCA_ABI_SEND_SIGNALED,
				     .length = 8000,
				     .remote = 100000,
				     .imm = 77});
	side_quiet(&p.b, 1000000);
	side_recv(&p.b, 2, 0, 0);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV_RDMA_WITH_IMM);
	side_expect_len(&p.b, 0, 8000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 8000);
	pair_finish(&p);
}

/*
 * The peer answers as soft-RoCE does: behind its RNR NAK comes a NAK for the sequence, because what
 * was under way behind the refused packet does not follow the one that it expects.
 */
static void complain(struct pair *p, unsigned *done)
{
	const struct logged *l;

	for (; (l = rules_nth(&p->rules, 1, ROCE_OP_ACK, *done)); ++*done) {
		struct roce_packet pkt = l->pkt;
		struct roce_flow flow = {.tclass = 0};
		struct core_burst t;

		if (roce_syndrome_kind(pkt.aeth.syndrome) != ROCE_RNR_NAK)
			continue;
		memcpy(flow.src, p->w->device[1].host.gid[0], 16);
		memcpy(flow.dst, p->w->device[0].host.gid[0], 16);
		pkt.aeth.syndrome = roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE);
		core_burst_start(&t, &pkt, &flow);
		world_send(p->w, 1, &t);
	}
}

#define BURST 4u

/* Far more refusals than there are retries, and no packet is ever lost. */
static void refuse_burst(uint8_t min_rnr_timer, uint64_t nak_delay, uint64_t until)
{
	unsigned complained = 0;
	struct pair p;

	create(&p, 7, min_rnr_timer);
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_ACK,
					   .syndrome_mask = 0x7f,
					   .syndrome = 0x60,
					   .delay = nak_delay});
	for (unsigned i = 0; i < BURST; i++)
		side_send(&p.a, i, i * LENGTH, LENGTH);
	for (until += p.w->now; p.w->now < until && world_step(p.w);)
		complain(&p, &complained);
	world_assert(p.w, rnr_naks(&p) > 20);
	if (!nak_delay) /* nothing but the refusals made it go back */
		world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits ==
					  core_counters(p.w->device[0].host.dev)->rnr_received);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_RTS);
	for (unsigned i = 0; i < BURST; i++)
		side_recv(&p.b, i, 100000 + i * LENGTH, LENGTH);
	while (p.a.n_wc < BURST && world_step(p.w)) {
		complain(&p, &complained);
		side_poll(&p.a);
	}
	for (unsigned i = 0; i < BURST; i++) {
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		pair_expect_copy(&p.a, i * LENGTH, &p.b, 100000 + i * LENGTH, LENGTH);
	}
	pair_idle(&p);
	pair_finish(&p);
}

/* While the sender waits, and when it has sent again already: the refused packet did arrive. */
static void test_naks_behind(void **state)
{
	(void)state;
	refuse_burst(12, 0, 20000000);
	refuse_burst(1, 11000, 5000000);
	refuse_burst(1, 95000, 5000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finite),          cmocka_unit_test(test_infinite),
		cmocka_unit_test(test_exceeded),        cmocka_unit_test(test_timer),
		cmocka_unit_test(test_counter_refills), cmocka_unit_test(test_duplicate_nak),
		cmocka_unit_test(test_write_with_imm),  cmocka_unit_test(test_naks_behind),
	};

	return cmocka_run_group_tests_name("rnr", tests, NULL, NULL);
}
