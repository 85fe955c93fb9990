/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate limit of a QP, in virtual time: what leaves in a while is what the limit has, headers
 * included; a burst after a rest is as long as was asked for; others beside it go on; no limit, no
 * timer.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/send/send.h"

#define SIZE    65536u
#define PACKETS (SIZE / 1024) /* of pair's MTU */
#define BYTES   (SIZE + 58u * PACKETS)

static void set_rate(struct side *s, uint32_t kbps, uint32_t burst)
{
	struct uhca_cmd_modify_qp in = {.handle = s->qp.handle, .attr_mask = IBV_QP_RATE_LIMIT};

	in.attr.rate_limit = kbps;
	in.attr.max_burst_sz = burst;
	assert_int_equal(core_modify_qp(s->c.core, &in, s->pair->w->now), 0);
	s->c.host->dirty = true;
}

static uint64_t time_of(uint64_t bytes, uint32_t kbps)
{
	return bytes * 8 * 1000000 / kbps;
}

/* n WRITEs of SIZE bytes: how long until the last has completed. */
static uint64_t write_all(struct pair *p, unsigned n)
{
	uint64_t start = p->w->now;
	unsigned before = p->a.n_wc;

	for (uint32_t i = 0; i < n; i++)
		side_write(&p->a, i, 0, i % 4 * SIZE, SIZE);
	side_wait(&p->a, before + n);
	for (unsigned i = 0; i < n; i++)
		side_expect(&p->a, before + i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	for (uint32_t i = 0; i < n && i < 4; i++)
		pair_expect_copy(&p->a, 0, &p->b, i * SIZE, SIZE);
	return p->w->now - start;
}

static void test_rates(void **state)
{
	const uint32_t kbps[] = {10000, 1000000, 20000000};
	const enum ibv_qp_type type[] = {IBV_QPT_RC, IBV_QPT_UC};

	(void)state;
	for (unsigned t = 0; t < 2; t++) {
		for (unsigned i = 0; i < 3; i++) {
			uint64_t all = time_of(8ull * BYTES, kbps[i]), took, free;
			struct pair p;

			pair_create(&p,
				    &(struct pair_options){.type = type[t], .buffer = 4 * SIZE});
			set_rate(&p.a, kbps[i], 0);
			took = write_all(&p, 8);
			/* A burst is free, and the last one has left when it begins to count. */
			free = 2 * (time_of(1024 + 58, kbps[i]) + 500000);
			assert_in_range(took, all > free ? all - free : 0, all + 1000000);
			set_rate(&p.a, 0, 0);
			assert_true(write_all(&p, 8) < 1000000);
			pair_finish(&p);
		}
	}
}

/* What leaves at once: max_burst_sz, in whole packets. */
static void test_burst(void **state)
{
	struct pair p;
	uint64_t took;

	(void)state;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_UC, .buffer = 4 * SIZE});
	world_run(p.w, 10 * PAIR_SECONDS); /* it has rested */
	set_rate(&p.a, 1000, 3 * BYTES);   /* 1 Mbit/s: half a second for each */
	took = write_all(&p, 3);
	assert_true(took < time_of(BYTES, 1000) / 10);
	took = write_all(&p, 2);
	assert_in_range(took, time_of(BYTES, 1000) * 3 / 2, time_of(BYTES, 1000) * 5 / 2);
	set_rate(&p.a, 1000000, 1);
	took = write_all(&p, 2); /* one packet at a time */
	assert_in_range(took, time_of(2 * BYTES, 1000000) * 9 / 10,
			time_of(3 * BYTES, 1000) + time_of(2 * BYTES, 1000000));
	pair_finish(&p);
}

/* The other side, which has none, does not wait. */
static void test_beside(void **state)
{
	struct pair p;
	uint64_t start;

	(void)state;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_RC, .buffer = 4 * SIZE});
	set_rate(&p.a, 1000, 0);
	side_write(&p.a, 1, 0, SIZE, SIZE);
	world_pump(p.w);
	start = p.w->now;
	side_write(&p.b, 2, 2 * SIZE, 2 * SIZE, SIZE);
	side_wait(&p.b, 1);
	assert_true(p.w->now - start < 100000);
	pair_expect_copy(&p.b, 2 * SIZE, &p.a, 2 * SIZE, SIZE);
	side_wait(&p.a, 1);
	pair_expect_copy(&p.a, 0, &p.b, SIZE, SIZE);
	pair_finish(&p);
}

/* One that waits is destroyed, or reset: nothing of its timer is left. */
static void test_ends(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.type = IBV_QPT_UC, .buffer = 4 * SIZE});
	set_rate(&p.a, 1, 0);
	side_write(&p.a, 1, 0, SIZE, SIZE);
	world_pump(p.w);
	assert_true(core_next_deadline(p.w->device[0].host.dev) != UINT64_MAX);
	side_ignore(&p.b, SIZE, SIZE);
	assert_int_equal(core_destroy_qp(p.a.c.core, p.a.qp.handle), 0);
	assert_true(core_next_deadline(p.w->device[0].host.dev) == UINT64_MAX);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
