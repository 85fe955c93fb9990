/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that does not answer for a while (core_ops.mem_read, -ESRCH): what was not done counts as
 * lost on the way. Reliable requests are done again, once; who waits too long fails as if the other
 * end had gone. Of datagrams the one in question is lost, and its receive is not.
 */
#include "tests/sim/world/pair.h"

#define LENGTH  20000u
#define FOREVER UINT32_MAX

/* Each kind of request once; b's memory, or the requester's own, is silent for so many accesses. */
static void ask(struct pair *p, struct memory *m, unsigned silent)
{
	m->silent = silent;
	side_write(&p->a, 0, 0, 100000, LENGTH);
	side_expect(&p->a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p->a, 0, &p->b, 100000, LENGTH);
	m->silent = silent;
	side_read(&p->a, 1, 200000, 0, LENGTH);
	side_expect(&p->a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p->b, 0, &p->a, 200000, LENGTH);
	side_recv(&p->b, 7, 300000, LENGTH);
	m->silent = silent;
	side_send(&p->a, 2, 50000, LENGTH);
	side_expect(&p->a, 2, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->b, 0, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p->a, 50000, &p->b, 300000, LENGTH);
	side_store(&p->b, 400000, 5);
	m->silent = silent;
	side_fetch_add(&p->a, 3, 400000, 400000, 1);
	side_expect(&p->a, 3, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
	side_expect_u64(&p->a, 400000, 5);
	side_expect_u64(&p->b, 400000, 6);
	world_assert(p->w, m->silent == 0);
}

static void test_for_a_while(void **state)
{
	(void)state;
	for (unsigned silent = 1; silent < 4; silent++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		ask(&p, &p.b.c.mem, silent);
		pair_finish(&p);
		pair_create(&p, &(struct pair_options){0});
		ask(&p, &p.a.c.mem, silent);
		pair_finish(&p);
	}
}

/* In the midst of a message, too. */
static void test_half_way(void **state)
{
	(void)state;
	for (unsigned from = 1; from < 5; from++) {
		struct pair p;
		struct core_config cfg;

		core_config_default(&cfg);
		cfg.burst_bytes = 4096; /* five bursts of a message */
		pair_create(&p, &(struct pair_options){.cfg = &cfg});
		p.b.c.mem.silent_from = from;
		p.b.c.mem.silent = 1;
		side_write(&p.a, 0, 0, 100000, LENGTH);
		side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
		p.b.c.mem.silent_from = from;
		p.b.c.mem.silent = 1;
		side_read(&p.a, 1, 200000, 0, LENGTH);
		side_expect(&p.a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
		pair_expect_copy(&p.b, 0, &p.a, 200000, LENGTH);
		pair_finish(&p);
	}
}

static void test_for_ever(void **state)
{
	struct pair p;

	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		struct memory *m;

		pair_create(&p, &(struct pair_options){0});
		m = own ? &p.a.c.mem : &p.b.c.mem;
		m->silent = FOREVER;
		side_write(&p.a, 0, 0, 100000, LENGTH);
		side_expect(&p.a, 0, 0, UHCA_ABI_WC_RETRY_EXC_ERR, UHCA_ABI_WC_RDMA_WRITE);
		m->silent = 0;
		pair_finish(&p);
	}
}

/* An atomic whose value was read is not done twice: it has failed. */
static void test_atomic_store(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 0, 5);
	p.b.c.mem.silent_from = 1;
	p.b.c.mem.silent = 1;
	side_fetch_add(&p.a, 0, 100000, 0, 1);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_REM_OP_ERR, UHCA_ABI_WC_FETCH_ADD);
	side_expect_u64(&p.b, 0, 5);
	pair_finish(&p);
}

static void test_datagram(void **state)
{
	struct pair p;
	uint32_t ah = 0;
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1};

	(void)state;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_UD});
	world_assert(p.w, vclient_create_ah(&p.a.c, p.b.c.host, 0, &ah) == 0);
	wr.ah = ah;
	wr.remote_qpn = p.b.qp.qpn;
	wr.remote_qkey = p.conn.qkey;
	sge = (struct uhca_abi_sge){p.a.mr.addr, 100, p.a.mr.lkey};
	side_recv(&p.b, 7, 300000, 200);
	p.b.c.mem.silent = 1;
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_wait(&p.a, 1);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.b.c.host->dev)->drops[CORE_DROP_NO_RECV] == 1);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_wait(&p.b, 1);
	side_expect(&p.b, 0, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_ignore(&p.b, 300000, 40);
	pair_expect_copy(&p.a, 0, &p.b, 300040, 100);
	side_wait(&p.a, 2);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_for_a_while), cmocka_unit_test(test_half_way),
		cmocka_unit_test(test_for_ever),    cmocka_unit_test(test_atomic_store),
		cmocka_unit_test(test_datagram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
