/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets get lost on the way, at any rate and in any pattern: RC delivers all the same. */
#include "tests/sim/world/mixed.h"

/* Drops every n-th packet, but no PSN more than twice: no QP runs out of retries. */
struct every {
	unsigned n, seen;
	uint8_t lost[2][256]; /* by sender and the PSN's low byte */
};

static enum world_verdict drop_every(void *arg, struct world_packet *p)
{
	struct every *e = arg;
	uint8_t *lost = &e->lost[p->from][p->pkt.bth.psn & 255];

	if (++e->seen % e->n != 0 || *lost == 2)
		return WORLD_PASS;
	++*lost;
	return WORLD_DROP;
}

static void test_every_nth_packet(void **state)
{
	(void)state;
	for (unsigned n = 3; n <= 12; n++) {
		struct every e = {.n = n};
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		p.w->filter = drop_every;
		p.w->filter_arg = &e;
		mixed_post(&p, 3);
		mixed_check(&p, 3);
		world_assert(p.w, p.w->lost > 0);
		pair_finish(&p);
	}
}

/* Each packet of the exchange lost once, all others pass. */
static void test_each_packet_once(void **state)
{
	bool fired = true;

	(void)state;
	for (unsigned n = 0; fired; n++) {
		struct every e = {.n = UINT32_MAX, .seen = UINT32_MAX - 1 - n};
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		p.w->filter = drop_every;
		p.w->filter_arg = &e;
		mixed_post(&p, 1);
		mixed_check(&p, 1);
		fired = p.w->lost == 1;
		pair_finish(&p);
	}
}

static void lose_at_random(uint32_t ppm, uint64_t seed)
{
	struct link link = link_default();
	struct pair p;

	pair_create(&p, &(struct pair_options){.seed = seed});
	rules_detach(&p.rules); /* bursts may stay whole */
	link.loss = ppm;
	link.max_losses = 2;
	world_set_links(p.w, &link);
	mixed_post(&p, 8);
	mixed_check(&p, 8);
	world_assert(p.w, ppm < 50000 || p.w->lost > 0);
	pair_finish(&p);
}

static void test_rates(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		lose_at_random(10000, seed);
		lose_at_random(50000, seed);
		lose_at_random(200000, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_nth_packet),
		cmocka_unit_test(test_each_packet_once),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
