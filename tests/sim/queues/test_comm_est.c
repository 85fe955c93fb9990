/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first packet that reaches a QP in RTR raises COMM_EST, once; the passive side of a
 * connection may go to RTS by it (IBTA 10.3.1, 11.6.3.2).
 */
#include "tests/sim/world/pair.h"

/* a is in RTS, b still in RTR. */
static void create(struct pair *p, enum ibv_qp_type type)
{
	struct vqp_conn b;

	pair_create(p, &(struct pair_options){.type = type, .unconnected = true});
	b = p->conn;
	b.sq_psn = p->conn.rq_psn;
	b.rq_psn = p->conn.sq_psn;
	world_assert(p->w, vqp_init(&p->a.qp, &p->conn) == 0 && vqp_init(&p->b.qp, &b) == 0);
	world_assert(p->w, vqp_rtr(&p->a.qp, &p->conn, p->b.c.host, p->b.qp.qpn) == 0);
	world_assert(p->w, vqp_rtr(&p->b.qp, &b, p->a.c.host, p->a.qp.qpn) == 0);
	world_assert(p->w, vqp_rts(&p->a.qp, &p->conn) == 0);
}

static unsigned established(const struct pair *p)
{
	return side_events(&p->b, UHCA_ABI_EVENT_COMM_EST);
}

static void once(enum ibv_qp_type type)
{
	struct pair p;

	create(&p, type);
	world_assert(p.w, established(&p) == 0);
	for (unsigned i = 0; i < 3; i++) {
		side_recv(&p.b, i, 100000, 100);
		side_send(&p.a, i, 0, 100);
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		world_assert(p.w, established(&p) == 1);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	world_assert(p.w, side_events(&p.a, UHCA_ABI_EVENT_COMM_EST) == 0);
	pair_finish(&p);
}

static void test_once(void **state)
{
	(void)state;
	once(IBV_QPT_RC);
	once(IBV_QPT_UC);
}

/* In RTS already: nothing to tell. */
static void test_not_in_rts(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 1, 100000, 100);
	side_send(&p.a, 1, 0, 100);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	world_assert(p.w, established(&p) == 0);
	pair_finish(&p);
}

/* What was received in RTR can be answered from RTS. */
static void test_then_rts(void **state)
{
	struct vqp_conn b = vqp_conn_default();
	struct pair p;

	(void)state;
	create(&p, IBV_QPT_RC);
	side_recv(&p.b, 1, 100000, 100);
	side_recv(&p.a, 2, 100000, 100);
	side_send(&p.a, 1, 0, 100);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	b.sq_psn = p.conn.rq_psn;
	world_assert(p.w, vqp_rts(&p.b.qp, &b) == 0);
	side_send(&p.b, 3, 0, 100);
	side_wait(&p.a, 2);
	side_expect(&p.b, 1, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_expect_copy(&p.b, 0, &p.a, 100000, 100);
	pair_finish(&p);
}

/* INIT: receives may be posted, packets are not taken yet. */
static void test_deaf_in_init(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.unconnected = true});
	world_assert(p.w, vqp_init(&p.a.qp, &p.conn) == 0 && vqp_init(&p.b.qp, &p.conn) == 0);
	world_assert(p.w, vqp_rtr(&p.a.qp, &p.conn, p.b.c.host, p.b.qp.qpn) == 0);
	world_assert(p.w, vqp_rts(&p.a.qp, &p.conn) == 0);
	side_recv(&p.b, 1, 100000, 100);
	side_send(&p.a, 1, 0, 100);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	world_assert(p.w, p.b.n_wc == 0 && established(&p) == 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_not_in_rts),
		cmocka_unit_test(test_then_rts),
		cmocka_unit_test(test_deaf_in_init),
	};

	return cmocka_run_group_tests_name("comm_est", tests, NULL, NULL);
}
