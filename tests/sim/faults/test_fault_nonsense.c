/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that make nonsense of packets, with the ICRC right: any field of any packet, any value, any
 * length, answers to anything. What programs see then is not asked here; but the devices go on, no
 * byte is written outside what is registered, everything ends, and all can be freed.
 */
#include "tests/sim/world/mixed.h"
#include "tests/sim/world/seeds.h"
#include "tests/sim/world/world_faults.h"

#include <stdio.h>

#define SEEDS  400u
#define ROUNDS 2u
#define LONG   (100 * PAIR_SECONDS)

static const char *const kinds[] = {
	"nak=%u p=0.1 times=10",     "rnr=%u p=0.2 times=10",
	"forge=nak:%u p=0.05",       "forge=rnr:%u p=0.1",
	"forge=ack p=0.3 stream=%u", "ghost p=0.1 stream=%u times=10",
	"truncate=%u p=0.1",         "corrupt=bit p=0.1 stream=%u",
	"cnp p=0.5 stream=%u",       "dup=%u time=1us p=0.05",
	"reorder=%u p=0.1",
};

static void random_rule(struct pair *p, struct prng *rng)
{
	enum fault_field f = (enum fault_field)prng_below(rng, FAULT_FIELD_CM_PRIVATE);
	const char *sign = prng_below(rng, 2) ? "+" : "";
	unsigned places = 1 + prng_below(rng, 4);
	char text[120];

	if (prng_below(rng, 3) == 0)
		snprintf(text, sizeof text, kinds[prng_below(rng, sizeof kinds / sizeof *kinds)],
			 1 + prng_below(rng, 31));
	else if (f == FAULT_FIELD_PAYLOAD)
		snprintf(text, sizeof text, "set=payload:%u:%u p=0.3", prng_below(rng, 1024),
			 prng_below(rng, 256));
	else
		snprintf(text, sizeof text, "set=%s:%s%u p=0.%u dir=both",
			 fault_field_words[f].name, sign,
			 1 + prng_below(rng, 1u << (places < 4 ? places : 1)), places);
	/* Values that are too wide for the field are refused, which is right as well. */
	if (!world_try_rule(p->w, text))
		world_rule(p->w, "dup p=0.1");
}

static uint64_t hits;
static unsigned runs;

static void count_hits(struct pair *p)
{
	for (unsigned i = 0; i < fault_plan_count(world_plan(p->w)); i++)
		hits += fault_plan_entry(world_plan(p->w), i)->hits;
}

static void any_bytes(struct side *s)
{
	side_ignore(s, 0, PAIR_BUFFER);
}

static void run(uint64_t seed)
{
	struct prng rng = {seed};
	struct pair p;

	runs++;
	pair_create(&p, &(struct pair_options){.seed = seed});
	world_faults(p.w, seed);
	for (unsigned i = 0; i < 3; i++)
		random_rule(&p, &rng);
	any_bytes(&p.a);
	any_bytes(&p.b);
	mixed_post(&p, ROUNDS);
	world_run_idle(p.w, LONG);
	count_hits(&p);
	fault_plan_clear(world_plan(p.w));
	pair_finish(&p);
}

static void test_nonsense(void **state)
{
	(void)state;
	seeds_each("nonsense", SEEDS, run);
	/* Of one seed, or a few, one cannot say how often its rules find something. */
	assert_true(runs < SEEDS || hits > runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nonsense)};

	return cmocka_run_group_tests_name("fault_nonsense", tests, NULL, NULL);
}
