/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of both sides that is pinned: it is used where it stands, at every place of a message, as
 * the source of WRITEs, SENDs and READ answers and as what they are stored to; also when packets
 * are lost and sent again.
 */
#include "tests/sim/world/pair.h"

#include <string.h>

#define SIZE (256u << 10)

static unsigned mapped; /* how often the source was used where it stands */
static bool may_map;

static const void *map(void *client, const struct core_span *at, const uint8_t dst[16])
{
	(void)client;
	(void)dst;
	assert_int_equal(at->space, CORE_SPACE_DEVICE);
	mapped += may_map;
	return may_map ? (const void *)(uintptr_t)at->addr : NULL;
}

/* The side's buffer, but for its first and last 100 bytes, is pinned; mr is the new region. */
static void pin(struct side *s, struct core_arena *arena)
{
	struct memory_area *area = memory_find(&s->c.mem, s->mr.addr, s->mr.length);
	/* All of the area: the device stores to it by itself, and may miss the buffer. */
	uint8_t *host = memory_at(&s->c.mem, area->va, area->size) + (s->mr.addr - area->va);
	struct uhca_cmd_reg_pinned_mr in = {
		.mr = {.pd = s->c.pd,
		       .addr = s->mr.addr,
		       .iova = s->mr.addr,
		       .length = s->mr.length,
		       .access = PAIR_ACCESS},
		.n_extents = 1,
		.extent = {{s->mr.addr + 100, s->mr.length - 200, 100}}};
	struct uhca_cmd_reg_mr_reply out;

	*arena = (struct core_arena){.size = s->mr.length, .window = {host}};
	assert_int_equal(core_attach_arena(s->c.core, arena), 0);
	assert_int_equal(core_reg_pinned_mr(s->c.core, &in, &out), 0);
	memory_grant_add(&s->c.mem, out.lkey, s->mr.addr, s->mr.length, true);
	memory_grant_device(&s->c.mem, out.lkey, host + 100, s->mr.length - 200, true);
	assert_int_equal(vclient_dereg_mr(&s->c, &s->mr), 0);
	s->mr.handle = out.handle;
	s->mr.lkey = out.lkey;
	s->mr.rkey = out.rkey;
}

static struct core_arena arenas[2];

static void start(struct pair *p, const struct core_config *cfg)
{
	pair_create(p, &(struct pair_options){.cfg = cfg, .buffer = SIZE});
	p->w->ops.mem_map = map;
	pin(&p->a, &arenas[0]);
	pin(&p->b, &arenas[1]);
	mapped = 0;
	may_map = true;
}

/* Edges that are borrowed, several bursts, and answers. */
static void test_all_ways(void **state)
{
	struct core_config cfg = world_config();
	struct pair p;

	(void)state;
	cfg.burst_bytes = 8192;
	start(&p, &cfg);
	side_write(&p.a, 1, 0, 0, 50000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 50000);
	side_recv(&p.b, 2, 60000, 30000);
	side_send(&p.a, 3, 100, 30000);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p.a, 1, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p.a, 100, &p.b, 60000, 30000);
	world_assert(p.w, mapped >= 8);
	mapped = 0;
	side_read(&p.a, 4, 100000, SIZE - 90000, 90000);
	side_expect(&p.a, 2, 4, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, SIZE - 90000, &p.a, 100000, 90000);
	world_assert(p.w, mapped >= 8);
	pair_finish(&p);
}

/* Where the shell wants a copy of the source, it gets one. */
static void test_copied(void **state)
{
	struct core_config cfg = world_config();
	struct pair p;

	(void)state;
	start(&p, &cfg);
	may_map = false;
	side_write(&p.a, 1, 0, 0, 50000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 50000);
	world_assert(p.w, mapped == 0);
	pair_finish(&p);
}

static void test_loss(void **state)
{
	static const struct link hurt = {
		.delay = 1000, .loss = 100000, .duplicate = 50000, .max_losses = 40};
	struct core_config cfg = world_config();
	struct pair p;

	(void)state;
	start(&p, &cfg);
	world_set_links(p.w, &hurt);
	side_write(&p.a, 1, 0, 0, 100000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 0, 100000);
	side_read(&p.a, 2, 150000, 50000, 100000);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_expect_copy(&p.b, 50000, &p.a, 150000, 100000);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests_name("pinned", tests, NULL, NULL);
}
