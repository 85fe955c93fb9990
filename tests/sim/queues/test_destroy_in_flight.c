/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects go while packets are on their way: a QP, a region, a whole client (kill -9). Nothing of
 * them is touched afterwards, and the peer finds out by its own timeouts.
 */
#include "tests/sim/world/mixed.h"

static const struct vqp_conn *quick(void)
{
	static struct vqp_conn conn;

	conn = vqp_conn_default();
	conn.timeout = 8;
	conn.retry_cnt = 2;
	return &conn;
}

/* The regions that a peer may still be writing to when it is cut off. */
static void ignore_targets(struct pair *p)
{
	side_ignore(&p->a, 0, PAIR_BUFFER);
	side_ignore(&p->b, 0, PAIR_BUFFER);
}

static void test_destroy_requester(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 12000; after += 400) {
		struct pair p;

		pair_create(&p, &(struct pair_options){.conn = quick()});
		mixed_post(&p, 2);
		ignore_targets(&p);
		world_run(p.w, p.w->now + after);
		world_assert(p.w, vqp_destroy(&p.a.qp) == 0);
		side_quiet(&p.a, PAIR_SECONDS);
		world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_RTS);
		pair_finish(&p);
	}
}

static void test_destroy_responder(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 12000; after += 400) {
		struct pair p;
		unsigned bad = 0;

		pair_create(&p, &(struct pair_options){.conn = quick()});
		mixed_post(&p, 2);
		ignore_targets(&p);
		world_run(p.w, p.w->now + after);
		world_assert(p.w, vqp_destroy(&p.b.qp) == 0);
		side_wait(&p.a, 2 * MIXED_REQUESTS);
		for (unsigned i = 0; i < p.a.n_wc; i++) {
			uint8_t status = p.a.wc[i].status;

			if (status == UHCA_ABI_WC_RETRY_EXC_ERR)
				world_assert(p.w, bad++ == 0);
			else
				world_assert(p.w, status == (bad ? UHCA_ABI_WC_WR_FLUSH_ERR
								 : UHCA_ABI_WC_SUCCESS));
		}
		pair_finish(&p);
	}
}

/* The memory double fails the test when a byte is touched after deregistration. */
static void test_deregister(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 12000; after += 400) {
		struct pair p;

		pair_create(&p, &(struct pair_options){.conn = quick()});
		mixed_post(&p, 2);
		ignore_targets(&p);
		world_run(p.w, p.w->now + after);
		world_assert(p.w, vclient_dereg_mr(&p.b.c, &p.b.mr) == 0);
		side_wait(&p.a, 2 * MIXED_REQUESTS);
		world_assert(p.w, p.b.c.mem.strays == 0);
		pair_finish(&p);
	}
}

static void test_deregister_local(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 12000; after += 400) {
		struct pair p;
		unsigned bad = 0;

		pair_create(&p, &(struct pair_options){.conn = quick()});
		p.w->link[1][0].delay = 3000;
		mixed_post(&p, 2);
		ignore_targets(&p);
		world_run(p.w, p.w->now + after);
		world_assert(p.w, vclient_dereg_mr(&p.a.c, &p.a.mr) == 0);
		side_wait(&p.a, 2 * MIXED_REQUESTS);
		for (unsigned i = 0; i < p.a.n_wc; i++) {
			uint8_t status = p.a.wc[i].status;

			if (status == UHCA_ABI_WC_LOC_PROT_ERR)
				world_assert(p.w, bad++ == 0);
			else
				world_assert(p.w, status == (bad ? UHCA_ABI_WC_WR_FLUSH_ERR
								 : UHCA_ABI_WC_SUCCESS));
		}
		pair_finish(&p);
	}
}

static void kill(struct pair *p, struct side *dead, struct side *left)
{
	vclient_close(&dead->c);
	world_run(p->w, p->w->now + PAIR_SECONDS);
	side_poll(left);
	vclient_open(&dead->c, left == &p->a ? &p->w->device[1].host : &p->w->device[0].host, 5,
		     1); /* so that pair_finish has something to close */
	dead->n_wc = 0;
	world_assert(p->w, vcq_create(&dead->c, 4, 0, &dead->cq) == 0);
	pair_finish(p);
}

static void test_kill_client(void **state)
{
	(void)state;
	for (uint64_t after = 0; after < 12000; after += 400)
		for (unsigned who = 0; who < 2; who++) {
			struct pair p;

			pair_create(&p, &(struct pair_options){.conn = quick()});
			mixed_post(&p, 2);
			ignore_targets(&p);
			world_run(p.w, p.w->now + after);
			kill(&p, who ? &p.a : &p.b, who ? &p.b : &p.a);
		}
}

/* The number of a destroyed QP is not given out at once: late packets hit nobody. */
static void test_late_packets(void **state)
{
	struct vqp_init init = {0};
	struct pair p;
	struct vqp fresh;

	(void)state;
	pair_create(&p, &(struct pair_options){.conn = quick()});
	p.w->link[0][1].delay = 50000;
	side_write(&p.a, 1, 0, 100000, 5000);
	world_run(p.w, p.w->now + 1000);
	world_assert(p.w, vqp_destroy(&p.b.qp) == 0);
	init.send_cq = init.recv_cq = &p.b.cq;
	world_assert(p.w, vqp_create(&p.b.c, &init, &fresh) == 0);
	world_assert(p.w, fresh.qpn != p.b.qp.qpn);
	vqp_connect(&fresh, &fresh, quick());
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	world_assert(p.w, vqp_state(&fresh) == IBV_QPS_RTS);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destroy_requester), cmocka_unit_test(test_destroy_responder),
		cmocka_unit_test(test_deregister),        cmocka_unit_test(test_deregister_local),
		cmocka_unit_test(test_kill_client),       cmocka_unit_test(test_late_packets),
	};

	return cmocka_run_group_tests_name("destroy_in_flight", tests, NULL, NULL);
}
