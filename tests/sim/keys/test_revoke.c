/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A key that is taken away while a long message uses it: for either side, that access and all
 * later ones fail as those of a region that was deregistered do, and nothing of the memory changes
 * any more. What stands on the region, windows and descriptions, opens nothing either.
 */
#include "tests/sim/world/window.h"

#include <stdlib.h>

#define MIB    (1u << 20)
#define BUFFER (2 * MIB)
#define ALL    (PAIR_ACCESS | IBV_ACCESS_MW_BIND)

struct stage {
	struct pair p;
	struct side *of; /* whose key goes */
	uint8_t *before; /* what its buffer held then */
};

/* A window that does not grow: what is to be sent is not fetched long before. */
static void start(struct stage *s, uint64_t seed)
{
	struct core_config cfg = world_config();

	cfg.window_most = 0;
	pair_create(&s->p, &(struct pair_options){.cfg = &cfg, .buffer = BUFFER, .seed = seed});
	s->p.w->link[0][1].jitter = s->p.w->link[1][0].jitter = 500;
	s->before = malloc(BUFFER);
	assert_non_null(s->before);
}

static const uint8_t *bytes(struct side *s)
{
	return memory_at(&s->c.mem, s->mr.addr, BUFFER);
}

/* Until the device has so many packets. */
static void run_until(struct stage *s, unsigned device, unsigned packets)
{
	while (core_counters(s->p.w->device[device].host.dev)->rx_packets < packets)
		assert_true(world_step(s->p.w));
}

static void revoke(struct stage *s, struct side *of)
{
	struct device *dev = s->p.w->device[of == &s->p.b].host.dev;

	assert_int_equal(core_inject_revoke(dev, of->mr.rkey), 0);
	s->of = of;
	memcpy(s->before, bytes(of), BUFFER);
}

/* The request of a failed with this status, and nothing was written through the key any more. */
static void finish(struct stage *s, uint8_t status)
{
	side_wait(&s->p.a, 1);
	side_expect(&s->p.a, 0, 1, status, 0);
	pair_idle(&s->p);
	assert_memory_equal(s->before, bytes(s->of), BUFFER);
	assert_int_equal(vqp_state(&s->p.a.qp), IBV_QPS_ERR);
	free(s->before);
	pair_finish(&s->p);
}

static void write_then_revoke(unsigned packets, bool remote, uint8_t status)
{
	struct stage s = {0};

	start(&s, packets);
	side_ignore(&s.p.b, MIB, MIB);
	side_write(&s.p.a, 1, 0, MIB, MIB);
	run_until(&s, 1, packets);
	revoke(&s, remote ? &s.p.b : &s.p.a);
	finish(&s, status);
}

static void read_then_revoke(unsigned packets, bool remote, uint8_t status)
{
	struct stage s = {0};

	start(&s, packets);
	side_ignore(&s.p.a, MIB, MIB);
	side_read(&s.p.a, 1, MIB, 0, MIB);
	run_until(&s, 0, packets);
	revoke(&s, remote ? &s.p.b : &s.p.a);
	finish(&s, status);
}

static const unsigned moments[] = {1, 40, 333, 512, 700};

static void test_write(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		write_then_revoke(moments[i], true, UHCA_ABI_WC_REM_ACCESS_ERR);
		write_then_revoke(moments[i], false, UHCA_ABI_WC_LOC_PROT_ERR);
	}
}

static void test_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		read_then_revoke(moments[i], true, UHCA_ABI_WC_REM_ACCESS_ERR);
		read_then_revoke(moments[i], false, UHCA_ABI_WC_LOC_PROT_ERR);
	}
}

/* A receive whose region went: the receiver is told of its own fault, the sender of an error. */
static void test_receive(void **state)
{
	struct stage s = {0};

	(void)state;
	start(&s, 1);
	side_recv(&s.p.b, 5, MIB, 4096);
	revoke(&s, &s.p.b);
	side_send(&s.p.a, 1, 0, 4096);
	side_wait(&s.p.b, 1);
	side_expect(&s.p.b, 0, 5, UHCA_ABI_WC_LOC_PROT_ERR, 0);
	finish(&s, UHCA_ABI_WC_REM_OP_ERR);
}

static void write_to(struct stage *s, uint32_t key, uint64_t addr)
{
	window_use(&s->p.a,
		   &(struct vsend){.wr_id = 1,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .remote_addr = addr,
				   .rkey = key},
		   0, 100);
}

static void test_window(void **state)
{
	struct stage s = {0};
	struct vmr mr;
	struct vmw w;

	(void)state;
	start(&s, 2);
	window_region(&s.p.b, ALL, &mr);
	window_alloc(&s.p.b, 1, &w);
	assert_int_equal(window_bind_wait(&s.p.b, &w, &mr,
					  &(struct vsend){.bind = {.length = 4096,
								   .access = WINDOW_RIGHTS}}),
			 UHCA_ABI_WC_SUCCESS);
	s.p.b.mr.rkey = mr.rkey;
	revoke(&s, &s.p.b);
	write_to(&s, w.rkey, s.p.b.mr.addr);
	finish(&s, UHCA_ABI_WC_REM_ACCESS_ERR);
}

/* Two descriptions deep. */
static void test_indirect(void **state)
{
	struct stage s = {0};
	struct vclient *c = &s.p.b.c;
	struct vmr key[2];
	uint32_t below;

	(void)state;
	start(&s, 3);
	below = s.p.b.mr.lkey;
	for (unsigned i = 0; i < 2; i++) {
		struct uhca_abi_block block = {i ? 0 : s.p.b.mr.addr, 4096, below, 0};
		struct uhca_abi_layout how = {.access = PAIR_ACCESS, .n = 1};

		assert_int_equal(vclient_alloc_key(c, c->pd, 4, &key[i]), 0);
		how.key = below = key[i].rkey;
		assert_int_equal(
			vclient_describe_key(c, UHCA_ABI_SHAPE_SG, &how, &block, sizeof(block)), 0);
	}
	write_to(&s, key[1].rkey, 0);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, 100);
	side_wait(&s.p.a, 1);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	s.p.a.n_wc = 0;
	revoke(&s, &s.p.b);
	write_to(&s, key[1].rkey, 0);
	finish(&s, UHCA_ABI_WC_REM_ACCESS_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),    cmocka_unit_test(test_read),
		cmocka_unit_test(test_receive),  cmocka_unit_test(test_window),
		cmocka_unit_test(test_indirect),
	};

	return cmocka_run_group_tests_name("revoke", tests, NULL, NULL);
}
