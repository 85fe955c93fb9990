/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that gives a freed key to the next region at once (core_inject_key_reuse): who uses the
 * stale key reaches what the new region allows and nothing else: errors, not corruption.
 */
#include "tests/sim/world/pair.h"

#define OFFSET 100000u
#define BYTES  200000u

/* b's buffer from OFFSET on is registered; a knows the key. */
static void give(struct pair *p, uint32_t offset, uint32_t access, struct vmr *out)
{
	assert_int_equal(vclient_reg_mr(&p->b.c, p->b.mr.addr + offset, BYTES, access, out), 0);
}

static void write_stale(struct pair *p, uint32_t key)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, BYTES, p->a.mr.lkey};
	struct vsend wr = {.wr_id = 1,
			   .opcode = UHCA_ABI_WR_RDMA_WRITE,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = p->b.mr.addr + OFFSET,
			   .rkey = key};

	assert_int_equal(vqp_post_send(&p->a.qp, &wr), 0);
}

/* The key's next tenant stands elsewhere, allows less, or is of another domain. */
static void stale(uint32_t offset, uint32_t access, bool other_pd)
{
	struct vmr old, new;
	struct pair p;
	uint32_t pd;

	pair_create(&p, &(struct pair_options){.buffer = 1u << 20});
	core_inject_key_reuse(p.w->device[1].host.dev, true);
	give(&p, OFFSET, PAIR_ACCESS, &old);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &old), 0);
	if (other_pd) {
		struct vmr range = {p.b.mr.addr + offset, BYTES, 0, 0, 0};

		assert_int_equal(core_alloc_pd(p.b.c.core, &pd), 0);
		assert_int_equal(vclient_reg_mr_pd(&p.b.c, pd, &range, access, &new), 0);
	} else {
		give(&p, offset, access, &new);
	}
	assert_int_equal(new.rkey, old.rkey);
	write_stale(&p, old.rkey);
	side_wait(&p.a, 1);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&p);
}

static void test_errors(void **state)
{
	(void)state;
	stale(OFFSET + 1, PAIR_ACCESS, false);
	stale(OFFSET - 1, PAIR_ACCESS, false);
	stale(OFFSET + 2 * BYTES, PAIR_ACCESS, false);
	stale(OFFSET, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, false);
	stale(OFFSET, PAIR_ACCESS, true);
}

/* While the message is on its way: what came before the change is there, the rest is refused. */
static void test_in_flight(void **state)
{
	(void)state;
	for (unsigned packets = 5; packets < 120; packets += 50) {
		struct vmr old, new;
		struct pair p;

		pair_create(&p, &(struct pair_options){.buffer = 1u << 20, .seed = packets});
		p.w->link[0][1].jitter = 500;
		core_inject_key_reuse(p.w->device[1].host.dev, true);
		give(&p, OFFSET, PAIR_ACCESS, &old);
		side_ignore(&p.b, OFFSET, BYTES);
		write_stale(&p, old.rkey);
		while (core_counters(p.w->device[1].host.dev)->rx_packets < packets)
			assert_true(world_step(p.w));
		assert_int_equal(vclient_dereg_mr(&p.b.c, &old), 0);
		give(&p, OFFSET + 2 * BYTES, PAIR_ACCESS, &new);
		assert_int_equal(new.rkey, old.rkey);
		side_wait(&p.a, 1);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_in_flight),
	};

	return cmocka_run_group_tests_name("key_reuse", tests, NULL, NULL);
}
