/* SPDX-License-Identifier: BSD-2-Clause */
/* Compare-and-swap and fetch-and-add: arithmetic, failed compares, several initiators. */
#include "tests/sim/world/pair.h"

static void expect_cas(struct pair *p, unsigned i, uint64_t compare, uint64_t swap,
		       uint64_t returned)
{
	side_cmp_swap(
		&p->a,
		&(struct op){.wr_id = i, .local = 100000, .compare_add = compare, .swap = swap});
	side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_COMP_SWAP);
	side_expect_len(&p->a, i, 8);
	assert_int_equal(side_load(&p->a, 100000), returned);
	side_expect_u64(&p->a, 100000, returned);
}

static void test_compare_and_swap(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 0, 5);
	expect_cas(&p, 0, 4, 100, 5); /* refused */
	assert_int_equal(side_load(&p.b, 0), 5);
	expect_cas(&p, 1, 5, 1ull << 63, 5);
	expect_cas(&p, 2, 5, 7, 1ull << 63); /* refused */
	expect_cas(&p, 3, 1ull << 63, UINT64_MAX, 1ull << 63);
	expect_cas(&p, 4, UINT64_MAX, 0, UINT64_MAX);
	side_expect_u64(&p.b, 0, 0);
	pair_finish(&p);
}

static void test_fetch_and_add(void **state)
{
	static const uint64_t add[] = {1, 0, 0xffffffff, 1ull << 63, UINT64_MAX};
	uint64_t value = UINT64_MAX - 1;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 8, value);
	for (unsigned i = 0; i < 5; i++) {
		side_fetch_add(&p.a, i, 100000 + 16 * i, 8, add[i]);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
		side_expect_u64(&p.a, 100000 + 16 * i, value);
		value += add[i];
	}
	side_expect_u64(&p.b, 8, value);
	pair_finish(&p);
}

/* The number goes to wherever the element is, aligned or not. */
static void test_unaligned_result(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 0, 41);
	side_fetch_add(&p.a, 0, 100003, 0, 1);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
	side_expect_u64(&p.a, 100003, 41);
	side_expect_u64(&p.b, 0, 42);
	pair_finish(&p);
}

/* Both ends add to one counter at once: the values returned are all different. */
static void test_two_initiators(void **state)
{
	bool seen[80] = {false};
	struct vmr mr;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	/* b's QP works on its own memory through a's connection: a loop within device 1. */
	struct vqp_init init = {.send_cq = &p.b.cq, .recv_cq = &p.b.cq};
	struct vqp_conn conn = vqp_conn_default();
	struct vqp loop;

	conn.rq_psn = conn.sq_psn;
	world_assert(p.w, vqp_create(&p.b.c, &init, &loop) == 0);
	vqp_connect(&loop, &loop, &conn);
	mr = p.b.mr;
	side_store(&p.b, 0, 0);
	for (unsigned i = 0; i < 40; i++) {
		struct uhca_abi_sge sge = {mr.addr + 8192 + 8 * i, 8, mr.lkey};
		struct vsend wr = {.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
				   .flags = UHCA_ABI_SEND_SIGNALED,
				   .sge = &sge,
				   .num_sge = 1,
				   .remote_addr = mr.addr,
				   .rkey = mr.rkey,
				   .compare_add = 1};

		world_assert(p.w, vqp_post_send(&loop, &wr) == 0);
		side_fetch_add(&p.a, i, 100000 + 8 * i, 0, 1);
	}
	side_wait(&p.a, 40);
	side_wait(&p.b, 40);
	for (unsigned i = 0; i < 80; i++) {
		uint64_t v = i < 40 ? side_load(&p.a, 100000 + 8 * i)
				    : side_load(&p.b, 8192 + 8 * (i - 40));

		world_assert(p.w, v < 80 && !seen[v]);
		seen[v] = true;
	}
	side_ignore(&p.a, 100000, 320);
	side_ignore(&p.b, 8192, 320);
	side_expect_u64(&p.b, 0, 80);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_and_swap),
		cmocka_unit_test(test_fetch_and_add),
		cmocka_unit_test(test_unaligned_result),
		cmocka_unit_test(test_two_initiators),
	};

	return cmocka_run_group_tests_name("atomics", tests, NULL, NULL);
}
