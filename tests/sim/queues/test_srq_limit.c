/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of an SRQ: one event when fewer receives remain, none again until it is armed anew. */
#include "tests/sim/world/pair.h"

static unsigned limit_events(const struct pair *p)
{
	return vevents_count(&p->b.c.async, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED, &p->srq);
}

static void send_one(struct pair *p, unsigned i)
{
	side_send(&p->a, i, 100 * i, 100);
	side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p->a, 100 * i, &p->b, 100000 + 100 * i, 100);
}

static void create(struct pair *p, unsigned recvs)
{
	pair_create(p, &(struct pair_options){.srq_wr = 32});
	for (unsigned i = 0; i < recvs; i++)
		side_recv(&p->b, i, 100000 + 100 * i, 100);
}

static void test_once(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 10);
	world_assert(p.w, vsrq_arm(&p.srq, 8) == 0);
	for (unsigned i = 0; i < 10; i++) {
		send_one(&p, i);
		world_assert(p.w, limit_events(&p) == (i >= 2)); /* 7 < 8 remain */
	}
	pair_finish(&p);
}

static void test_armed_again(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 10);
	world_assert(p.w, vsrq_arm(&p.srq, 9) == 0);
	send_one(&p, 0);
	world_assert(p.w, limit_events(&p) == 0);
	send_one(&p, 1);
	world_assert(p.w, limit_events(&p) == 1);
	world_assert(p.w, vsrq_arm(&p.srq, 5) == 0);
	for (unsigned i = 2; i < 5; i++)
		send_one(&p, i);
	world_assert(p.w, limit_events(&p) == 1);
	send_one(&p, 5);
	world_assert(p.w, limit_events(&p) == 2);
	pair_finish(&p);
}

static void test_never_armed(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 4);
	for (unsigned i = 0; i < 4; i++)
		send_one(&p, i);
	world_assert(p.w, limit_events(&p) == 0);
	pair_finish(&p);
}

/* An empty SRQ is answered with RNR NAK like an empty receive queue. */
static void test_empty(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 0);
	side_send(&p.a, 0, 0, 100);
	world_run(p.w, p.w->now + 3000000);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->rnr_sent > 0);
	side_recv(&p.b, 0, 100000, 100);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_finish(&p);
}

/* Keys of an SRQ's receives are those of its own protection domain, not of the QP's (10.2.9.1). */
static void test_protection_domain(void **state)
{
	struct pair p;
	struct vmr mr;
	uint32_t pd;

	(void)state;
	for (unsigned good = 0; good < 2; good++) {
		create(&p, 0);
		world_assert(p.w, core_alloc_pd(p.b.c.core, &pd) == 0);
		world_assert(p.w, vqp_destroy(&p.b.qp) == 0);
		world_assert(p.w, vqp_create(&p.b.c,
					     &(struct vqp_init){.send_cq = &p.b.cq,
								.recv_cq = &p.b.cq,
								.srq = &p.srq,
								.pd = pd},
					     &p.b.qp) == 0);
		world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RESET) == 0);
		vqp_connect(&p.a.qp, &p.b.qp, &p.conn);
		world_assert(p.w, vclient_reg_mr_pd(&p.b.c, good ? p.b.c.pd : pd, &p.b.mr,
						    PAIR_ACCESS, &mr) == 0);
		p.b.mr.lkey = mr.lkey;
		side_recv(&p.b, 0, 100000, 100);
		side_send(&p.a, 0, 0, 100);
		if (good)
			pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
		side_expect(&p.b, 0, 0, good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_LOC_PROT_ERR,
			    UHCA_ABI_WC_RECV);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_armed_again),
		cmocka_unit_test(test_never_armed),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_protection_domain),
	};

	return cmocka_run_group_tests_name("srq_limit", tests, NULL, NULL);
}
