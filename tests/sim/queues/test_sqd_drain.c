/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Send queue drain (10.3.1.5): what was begun is finished, nothing new is begun, the event comes
 * when asked for, the receive queue goes on, and RTS takes up where it stopped.
 */
#include "tests/sim/world/pair.h"

static int to_sqd(struct vqp *qp, bool notify)
{
	return vqp_modify(
		qp, IBV_QP_STATE | (notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0),
		&(struct uhca_abi_qp_attr){.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = notify});
}

static unsigned drained(const struct pair *p)
{
	return side_events(&p->a, UHCA_ABI_EVENT_SQ_DRAINED);
}

static void test_idle_queue(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, to_sqd(&p.a.qp, true) == 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_SQD);
	world_assert(p.w, drained(&p) == 1);
	pair_finish(&p);
}

static void test_no_event_unless_asked(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_write(&p.a, 1, 0, 100000, 5000);
	world_assert(p.w, to_sqd(&p.a.qp, false) == 0);
	world_run(p.w, p.w->now + PAIR_SECONDS);
	world_assert(p.w, drained(&p) == 0);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RTS) == 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 5000);
	pair_finish(&p);
}

/* A long WRITE is under way: it completes, the one behind it waits for RTS. */
static void test_begun_is_finished(void **state)
{
	struct core_config cfg = world_config();

	(void)state;
	cfg.burst_bytes = 4096;
	cfg.window_bytes = cfg.window_most = 8192;
	for (uint64_t after = 0; after < 60000; after += 3000) {
		struct pair p;
		bool begun;
		unsigned done;

		pair_create(&p, &(struct pair_options){.cfg = &cfg});
		side_write(&p.a, 1, 0, 100000, 50000);
		side_write(&p.a, 2, 50000, 200000, 50000);
		world_run(p.w, p.w->now + after);
		world_assert(p.w, to_sqd(&p.a.qp, true) == 0);
		world_run(p.w, p.w->now + PAIR_SECONDS);
		world_assert(p.w, drained(&p) == 1);
		side_poll(&p.a);
		done = p.a.n_wc;
		begun = rules_count(&p.rules, 0, ROCE_OP_WRITE) > 49;
		world_assert(p.w, done == 1u + begun);
		side_quiet(&p.a, PAIR_SECONDS);
		world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RTS) == 0);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		pair_expect_copy(&p.a, 0, &p.b, 100000, 100000 - 50000);
		pair_expect_copy(&p.a, 50000, &p.b, 200000, 50000);
		pair_finish(&p);
	}
}

/* Lost packets of what was begun are still sent again. */
static void test_loss_while_draining(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .skip = 2,
					   .count = 2,
					   .verdict = WORLD_DROP});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 1,
					   .count = 1,
					   .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 100000, 5000);
	side_read(&p.a, 2, 200000, 0, 5000);
	world_pump(p.w);
	world_assert(p.w, to_sqd(&p.a.qp, true) == 0);
	side_write(&p.a, 3, 0, 300000, 10);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	world_run(p.w, p.w->now + PAIR_SECONDS);
	world_assert(p.w, drained(&p) == 1);
	world_assert(p.w, p.a.n_wc == 2);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 5000);
	pair_expect_copy(&p.b, 0, &p.a, 200000, 5000);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RTS) == 0);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 300000, 10);
	pair_finish(&p);
}

/* In SQD the QP answers its peer as ever. */
static void test_responder_goes_on(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, to_sqd(&p.a.qp, false) == 0);
	side_recv(&p.a, 1, 100000, 5000);
	side_send(&p.b, 2, 0, 5000);
	side_read(&p.b, 3, 200000, 0, 3000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 1, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, 0, &p.a, 100000, 5000);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 3000);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_queue),
		cmocka_unit_test(test_no_event_unless_asked),
		cmocka_unit_test(test_begun_is_finished),
		cmocka_unit_test(test_loss_while_draining),
		cmocka_unit_test(test_responder_goes_on),
	};

	return cmocka_run_group_tests_name("sqd_drain", tests, NULL, NULL);
}
