/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A QP that goes to the error state: every outstanding request and receive completes once, in
 * order, with WR_FLUSH_ERR, and so does what is posted later; an SRQ keeps its receives and the
 * QP says that it took its last (IBTA 10.3.1.7, 10.2.9.5, 10.8.3.1).
 */
#include "tests/sim/world/pair.h"

static void fill(struct pair *p, unsigned sends, unsigned recvs)
{
	for (unsigned i = 0; i < recvs; i++)
		side_recv(&p->a, 1000 + i, 400000, 10);
	for (unsigned i = 0; i < sends; i++)
		side_post(&p->a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					      .wr_id = i,
					      .flags = i % 2 ? UHCA_ABI_SEND_SIGNALED : 0,
					      .length = 500,
					      .remote = 100000 + 500 * i});
}

static void expect_flush(struct pair *p, unsigned first, unsigned count, uint64_t wr_id)
{
	for (unsigned i = 0; i < count; i++)
		side_expect(&p->a, first + i, wr_id + i, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
}

/* Nothing was sent yet: all is flushed, signalled or not. */
static void flush_type(enum ibv_qp_type type)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){.type = type});
	p.w->link[0][1].down = true;
	for (unsigned i = 0; i < 8; i++)
		side_recv(&p.a, 1000 + i, 400000, 50);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
	for (unsigned i = 0; i < 6; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = i});
	vqp_doorbell(&p.a.qp);
	side_wait(&p.a, 14);
	expect_flush(&p, 0, 8, 1000);
	expect_flush(&p, 8, 6, 0);
	side_recv(&p.a, 2000, 400000, 50);
	expect_flush(&p, 14, 1, 2000);
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = 50});
	expect_flush(&p, 15, 1, 50);
	side_quiet(&p.a, PAIR_SECONDS);
	world_assert(p.w, vqp_send_used(&p.a.qp) == 0);
	pair_finish(&p);
}

static void test_all_types(void **state)
{
	(void)state;
	flush_type(IBV_QPT_RC);
	flush_type(IBV_QPT_UC);
	flush_type(IBV_QPT_UD);
}

/* Half-way through a long queue: successes, then flushes, no gap and no repetition. */
static void test_in_flight(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 40000; after += 1300) {
		struct vqp_conn conn = vqp_conn_default();
		unsigned n = 0;
		struct pair p;

		conn.mtu = IBV_MTU_256;
		pair_create(&p, &(struct pair_options){.conn = &conn});
		p.w->link[1][0].delay = 7000;
		for (unsigned i = 0; i < 40; i++) {
			side_ignore(&p.b, 100000 + 500 * i, 500);
			side_write(&p.a, i, 0, 100000 + 500 * i, 500);
			world_run(p.w, p.w->now + 500);
		}
		world_run(p.w, p.w->now + after);
		world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
		side_wait(&p.a, 40);
		for (unsigned i = 0; i < 40; i++) {
			if (p.a.wc[i].status == UHCA_ABI_WC_SUCCESS) {
				world_assert(p.w, n == i);
				n++;
			}
			side_expect(&p.a, i, i, p.a.wc[i].status, UHCA_ABI_WC_RDMA_WRITE);
			world_assert(p.w, n > i || p.a.wc[i].status == UHCA_ABI_WC_WR_FLUSH_ERR);
		}
		side_quiet(&p.a, PAIR_SECONDS);
		pair_finish(&p);
	}
}

static void test_outstanding_and_queued(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	p.w->link[0][1].down = true;
	fill(&p, 30, 10);
	world_run(p.w, p.w->now + 10000);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
	side_wait(&p.a, 40);
	expect_flush(&p, 0, 30, 0);
	expect_flush(&p, 30, 10, 1000);
	side_quiet(&p.a, PAIR_SECONDS);
	world_assert(p.w, side_events(&p.a, UHCA_ABI_EVENT_QP_FATAL) == 0);
	pair_finish(&p);
}

static void test_srq(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.srq_wr = 16});
	for (unsigned i = 0; i < 5; i++)
		side_recv(&p.b, 1000 + i, 100000 + 1000 * i, 1000);
	side_send(&p.a, 1, 0, 500);
	side_expect(&p.b, 0, 1000, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 500);
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_ERR) == 0);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, side_events(&p.b, UHCA_ABI_EVENT_QP_LAST_WQE_REACHED) == 1);
	/* The other four are still there for a QP that works. */
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_RESET) == 0);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RESET) == 0);
	vqp_connect(&p.a.qp, &p.b.qp, &p.conn);
	side_send(&p.a, 2, 0, 500);
	side_expect(&p.b, 1, 1001, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 101000, 500);
	pair_finish(&p);
}

/* A SEND is half-way in when its receiver goes to ERR: that receive is flushed, once. */
static void test_half_received(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_SEND,
					   .positions = 1u << ROCE_POS_LAST,
					   .verdict = WORLD_DROP});
	side_ignore(&p.b, 100000, 3000);
	side_recv(&p.b, 1, 100000, 3000);
	side_recv(&p.b, 2, 200000, 3000);
	side_send(&p.a, 3, 0, 3000);
	world_run(p.w, p.w->now + 10000);
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_ERR) == 0);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p.b, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p.a, 0, 3, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	side_quiet(&p.b, PAIR_SECONDS);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_types),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_outstanding_and_queued),
		cmocka_unit_test(test_srq),
		cmocka_unit_test(test_half_received),
	};

	return cmocka_run_group_tests_name("qp_error_flush", tests, NULL, NULL);
}
