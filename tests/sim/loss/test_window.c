/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows on a wire that loses, doubles and reorders: what a bound window opens, what a
 * rebind or an unbind takes away, and in what order binds and sends of a queue are seen.
 */
#include "tests/sim/world/window.h"

#include <errno.h>

#define ALL (IBV_ACCESS_LOCAL_WRITE | WINDOW_RIGHTS)

/* A WRITE through the key at [remote, remote + length) of b's buffer. */
static void write_through(struct pair *p, uint64_t wr_id, uint32_t key, uint32_t remote,
			  uint32_t length)
{
	window_use(&p->a,
		   &(struct vsend){.wr_id = wr_id,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .remote_addr = p->b.mr.addr + remote,
				   .rkey = key},
		   0, length);
}

static const struct vsend middle = {
	.bind = {.addr = 4096, .length = 4096, .access = WINDOW_RIGHTS}};

static void test_type_1(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;
	uint32_t old;

	(void)state;
	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.b, ALL, &mr);
	window_alloc(&p.b, 1, &w);
	assert_int_equal(window_bind_wait(&p.b, &w, &mr, &middle), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(p.b.wc[0].opcode, UHCA_ABI_WC_BIND_MW);
	write_through(&p, 1, w.rkey, 4096, 4096);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 4096, 4096);
	old = w.rkey;
	/* Bound again, elsewhere: the old key opens nothing, the new one the new place. */
	assert_int_equal(
		window_bind_wait(&p.b, &w, &mr,
				 &(struct vsend){.bind = {.length = 100, .access = WINDOW_RIGHTS}}),
		UHCA_ABI_WC_SUCCESS);
	write_through(&p, 2, w.rkey, 0, 100);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 100);
	write_through(&p, 3, old, 4096, 1);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&p);
}

/* A bind of no length takes the window away, and the region may go. */
static void test_unbind(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;

	(void)state;
	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.b, ALL, &mr);
	window_alloc(&p.b, 1, &w);
	assert_int_equal(window_bind_wait(&p.b, &w, &mr, &middle), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), -EBUSY);
	assert_int_equal(window_bind_wait(&p.b, &w, &mr, &(struct vsend){0}), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), 0);
	write_through(&p, 1, w.rkey, 4096, 1);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	assert_int_equal(vclient_dealloc_mw(&p.b.c, &w), 0);
	pair_finish(&p);
}

/* An address in a zero based window counts from its start. */
static void test_zero_based(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;

	(void)state;
	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.b, ALL, &mr);
	window_alloc(&p.b, 2, &w);
	assert_int_equal(
		window_bind_wait(
			&p.b, &w, &mr,
			&(struct vsend){.bind = {.addr = 5000,
						 .length = 1000,
						 .access = WINDOW_RIGHTS | IBV_ACCESS_ZERO_BASED}}),
		UHCA_ABI_WC_SUCCESS);
	window_use(&p.a,
		   &(struct vsend){.wr_id = 1,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .remote_addr = 10,
				   .rkey = w.rkey},
		   0, 990);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 5010, 990);
	window_use(&p.a,
		   &(struct vsend){.wr_id = 2,
				   .opcode = UHCA_ABI_WR_RDMA_READ,
				   .remote_addr = 990,
				   .rkey = w.rkey},
		   2000, 11);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&p);
}

/* What a window goes away with: its own end, its region's, its QP's. */
static void test_uses(void **state)
{
	(void)state;
	for (unsigned type_2a = 0; type_2a < 2; type_2a++) {
		struct pair p;
		struct vmr mr;
		struct vmw w;

		window_pair(&p, type_2a, PAIR_ACCESS, 0);
		window_region(&p.b, ALL, &mr);
		window_alloc(&p.b, 2, &w);
		assert_int_equal(window_bind_wait(&p.b, &w, &mr, &middle), UHCA_ABI_WC_SUCCESS);
		assert_int_equal(core_dealloc_pd(p.b.c.core, p.b.c.pd), -EBUSY);
		assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), -EBUSY);
		/* The QP number is all that guards a 2A window: it may not change hands. */
		assert_int_equal(vqp_destroy(&p.b.qp), type_2a ? -EBUSY : 0);
		assert_int_equal(vclient_dealloc_mw(&p.b.c, &w), 0);
		assert_int_equal(vclient_dealloc_mw(&p.b.c, &w), -ENOENT);
		assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), 0);
		if (type_2a)
			assert_int_equal(vqp_destroy(&p.b.qp), 0);
		pair_finish(&p);
	}
}

/* A WRITE of many packets whose window goes away meanwhile stops there. */
static void test_taken_away_meanwhile(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;

	(void)state;
	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.b, ALL, &mr);
	window_alloc(&p.b, 1, &w);
	assert_int_equal(window_bind_wait(&p.b, &w, &mr,
					  &(struct vsend){.bind = {.length = 16384,
								   .access = WINDOW_RIGHTS}}),
			 UHCA_ABI_WC_SUCCESS);
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .positions = 1u << ROCE_POS_LAST,
					   .count = 1,
					   .verdict = WORLD_DROP});
	side_ignore(&p.b, 0, 16384);
	write_through(&p, 1, w.rkey, 0, 16384);
	world_run(p.w, p.w->now + 20000); /* all but the last packet have arrived */
	assert_int_equal(vclient_dealloc_mw(&p.b.c, &w), 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&p);
}

/*
 * Rounds of: b binds, tells a the key by a SEND behind the bind, a writes through it and tells b,
 * b invalidates or rebinds. The bind is done before its key can be known, whatever gets lost.
 */
static void rounds(uint64_t seed, uint32_t type)
{
	static const struct link hurt = {.delay = 1000,
					 .jitter = 2000,
					 .reorder_delay = 5000,
					 .loss = 60000,
					 .duplicate = 60000,
					 .reorder = 60000,
					 .split = 500000,
					 .wire = 100000,
					 .max_losses = 4};
	struct pair p;
	struct vmr mr;
	struct vmw w;

	window_pair(&p, seed & 1, PAIR_ACCESS, seed);
	world_set_links(p.w, &hurt);
	window_region(&p.b, ALL, &mr);
	window_alloc(&p.b, type, &w);
	for (uint32_t i = 0; i < 12; i++) {
		struct vsend range = {
			.bind = {.addr = 1000 * i, .length = 1000, .access = WINDOW_RIGHTS}};
		unsigned a = p.a.n_wc, b = p.b.n_wc;

		side_recv(&p.a, 100 + i, 15000, 64);
		window_bind(&p.b, 200 + i, &w, &mr, &range);
		side_send(&p.b, 300 + i, 16000, 64);
		pair_expect_copy(&p.b, 16000, &p.a, 15000, 64);
		side_expect(&p.a, a, 100 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		write_through(&p, 400 + i, w.rkey, 1000 * i, 1000);
		pair_expect_copy(&p.a, 0, &p.b, 1000 * i, 1000);
		side_expect(&p.a, a + 1, 400 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		side_expect(&p.b, b, 200 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_BIND_MW);
		side_expect(&p.b, b + 1, 300 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		if (type == 2) {
			window_invalidate(&p.b, 500 + i, w.rkey, 0);
			side_expect(&p.b, b + 2, 500 + i, UHCA_ABI_WC_SUCCESS,
				    UHCA_ABI_WC_LOCAL_INV);
		}
	}
	pair_finish(&p);
}

static void test_hurt(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		for (uint32_t type = 1; type <= 2; type++)
			rounds(seed, type);
}

/* Completions of local operations stand in the order of the queue, behind what is outstanding. */
static void test_completion_order(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w[2];

	(void)state;
	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.a, ALL, &mr);
	window_alloc(&p.a, 2, &w[0]);
	window_alloc(&p.a, 1, &w[1]);
	rules_add(
		&p.rules,
		&(struct rule){.from = 0, .op = ROCE_OP_WRITE, .count = 2, .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 0, 3000);
	window_bind(&p.a, 2, &w[0], &mr, &middle);
	window_bind(&p.a, 3, &w[1], &mr, &middle);
	side_read(&p.a, 4, 9000, 0, 5000);
	window_invalidate(&p.a, 5, w[0].rkey, 0);
	window_bind(&p.a, 6, &w[0], &mr, &middle);
	side_write(&p.a, 7, 0, 8000, 64);
	window_invalidate(&p.a, 8, w[0].rkey, UHCA_ABI_SEND_FENCE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 3000);
	pair_expect_copy(&p.b, 0, &p.a, 9000, 5000);
	pair_expect_copy(&p.a, 0, &p.b, 8000, 64);
	for (unsigned i = 0; i < 8; i++) {
		static const uint8_t opcode[] = {UHCA_ABI_WC_RDMA_WRITE, UHCA_ABI_WC_BIND_MW,
						 UHCA_ABI_WC_BIND_MW,    UHCA_ABI_WC_RDMA_READ,
						 UHCA_ABI_WC_LOCAL_INV,  UHCA_ABI_WC_BIND_MW,
						 UHCA_ABI_WC_RDMA_WRITE, UHCA_ABI_WC_LOCAL_INV};
		side_expect(&p.a, i, i + 1, UHCA_ABI_WC_SUCCESS, opcode[i]);
	}
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_1),
		cmocka_unit_test(test_unbind),
		cmocka_unit_test(test_zero_based),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_taken_away_meanwhile),
		cmocka_unit_test(test_hurt),
		cmocka_unit_test(test_completion_order),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
