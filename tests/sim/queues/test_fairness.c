/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many QPs with work: they are served in turn, burst by burst, 16 at a time where those are of one
 * packet; one with a long message does not keep the others waiting, nor does one with many short
 * ones.
 */
#include "tests/sim/world/pair.h"

#include <stdlib.h>

#define QPS 64u

struct many {
	struct pair p;
	struct vqp a[QPS], b[QPS];
};

static void create(struct many *m, const struct core_config *cfg)
{
	struct vqp_init init = {.max_send_wr = 512};

	pair_create(&m->p, &(struct pair_options){.cfg = cfg, .cqe = 4096, .buffer = 4u << 20});
	for (unsigned i = 0; i < QPS; i++) {
		init.send_cq = init.recv_cq = &m->p.a.cq;
		world_assert(m->p.w, vqp_create(&m->p.a.c, &init, &m->a[i]) == 0);
		init.send_cq = init.recv_cq = &m->p.b.cq;
		world_assert(m->p.w, vqp_create(&m->p.b.c, &init, &m->b[i]) == 0);
		vqp_connect(&m->a[i], &m->b[i], &m->p.conn);
	}
}

static void post_write(struct many *m, unsigned i, uint32_t length)
{
	struct uhca_abi_sge sge = {m->p.a.mr.addr, length, m->p.a.mr.lkey};
	struct vsend wr = {.wr_id = i,
			   .opcode = UHCA_ABI_WR_RDMA_WRITE,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = m->p.b.mr.addr,
			   .rkey = m->p.b.mr.rkey};

	world_assert(m->p.w, vqp_queue_send(&m->a[i], &wr) == 0);
}

/* QP 0 has megabytes to send; the 63 others one small message each, posted afterwards. */
static void test_long_message_does_not_block(void **state)
{
	struct many *m = calloc(1, sizeof *m);
	struct core_config cfg = world_config();

	(void)state;
	assert_non_null(m);
	cfg.burst_bytes = 16384;
	create(m, &cfg);
	post_write(m, 0, 4u << 20);
	vqp_doorbell(&m->a[0]);
	for (unsigned i = 1; i < QPS; i++) {
		post_write(m, i, 100);
		vqp_doorbell(&m->a[i]);
	}
	side_wait(&m->p.a, QPS);
	for (unsigned i = 0; i < QPS; i++)
		world_assert(m->p.w, m->p.a.wc[i].status == UHCA_ABI_WC_SUCCESS);
	world_assert(m->p.w, m->p.a.wc[QPS - 1].wr_id == 0);
	pair_expect_copy(&m->p.a, 0, &m->p.b, 0, 4u << 20);
	pair_finish(&m->p);
	free(m);
}

/* Equal work: between any two turns of a QP every other has at most one. */
static void test_round_robin(void **state)
{
	struct many *m = calloc(1, sizeof *m);
	struct core_config cfg = world_config();
	unsigned turns[QPS] = {0}, least, most;

	(void)state;
	assert_non_null(m);
	cfg.burst_bytes = 4096;
	cfg.window_bytes = 1u << 20;
	create(m, &cfg);
	for (unsigned i = 0; i < QPS; i++)
		post_write(m, i, 16384);
	for (unsigned i = 0; i < QPS; i++)
		vqp_doorbell(&m->a[i]);
	world_pump(m->p.w);
	for (unsigned k = 0; k < m->p.rules.n_log; k++) {
		const struct logged *l = &m->p.rules.log[k];

		for (unsigned i = 0; i < QPS; i++)
			turns[i] += l->pkt.bth.dest_qp == m->b[i].qpn;
		least = most = turns[0];
		for (unsigned i = 1; i < QPS; i++) {
			least = turns[i] < least ? turns[i] : least;
			most = turns[i] > most ? turns[i] : most;
		}
		world_assert(m->p.w, most - least <= 4); /* packets of one burst */
	}
	side_wait(&m->p.a, QPS);
	pair_expect_copy(&m->p.a, 0, &m->p.b, 0, 16384);
	pair_finish(&m->p);
	free(m);
}

/* Of the packets that went to a QP of b, the index of that QP; QPS for all others. */
static unsigned whose(const struct many *m, unsigned k)
{
	const struct logged *l = &m->p.rules.log[k];

	for (unsigned i = 0; i < QPS; i++)
		if (l->from == 0 && l->pkt.bth.dest_qp == m->b[i].qpn)
			return i;
	return QPS;
}

/* 40 short messages of each QP: 16 in a row of one, then of the next, and nobody is left out. */
static void test_short_messages_in_company(void **state)
{
	struct many *m = calloc(1, sizeof *m);
	struct core_config cfg = world_config();
	unsigned sent = 0;

	(void)state;
	assert_non_null(m);
	create(m, &cfg);
	for (unsigned k = 0; k < 40; k++)
		for (unsigned i = 0; i < QPS; i++)
			post_write(m, i, 8);
	for (unsigned i = 0; i < QPS; i++)
		vqp_doorbell(&m->a[i]);
	world_pump(m->p.w);
	for (unsigned k = 0; k < m->p.rules.n_log && sent < 32 * QPS; k++) {
		unsigned i = whose(m, k);

		if (i < QPS)
			world_assert(m->p.w, i == sent++ / 16 % QPS);
	}
	world_assert(m->p.w, sent == 32 * QPS);
	side_wait(&m->p.a, 40 * QPS);
	pair_expect_copy(&m->p.a, 0, &m->p.b, 0, 8);
	pair_finish(&m->p);
	free(m);
}

/* Hundreds of short messages beside a long one: it gets a burst after each 16 of them. */
static void test_short_messages_do_not_starve(void **state)
{
	struct many *m = calloc(1, sizeof *m);
	struct core_config cfg = world_config();
	unsigned run = 0, most = 0;

	(void)state;
	assert_non_null(m);
	cfg.burst_bytes = 4096;
	cfg.window_bytes = 1u << 20;
	create(m, &cfg);
	post_write(m, 1, 256u << 10);
	for (unsigned k = 0; k < 500; k++)
		post_write(m, 0, 256);
	vqp_doorbell(&m->a[0]);
	vqp_doorbell(&m->a[1]);
	world_pump(m->p.w);
	for (unsigned k = 0, left = (256u << 10) / 1024; left > 0; k++) {
		unsigned i = k < m->p.rules.n_log ? whose(m, k) : QPS;

		world_assert(m->p.w, k < m->p.rules.n_log);
		left -= i == 1;
		run = i == 1 ? 0 : run + (i == 0);
		most = run > most ? run : most;
	}
	world_assert(m->p.w, most == 16);
	side_wait(&m->p.a, 501);
	pair_expect_copy(&m->p.a, 0, &m->p.b, 0, 256u << 10);
	pair_finish(&m->p);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_message_does_not_block),
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_short_messages_in_company),
		cmocka_unit_test(test_short_messages_do_not_starve),
	};

	return cmocka_run_group_tests_name("fairness", tests, NULL, NULL);
}
