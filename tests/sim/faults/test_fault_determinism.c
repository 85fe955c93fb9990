/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same seed and the same rules give the same trace, byte for byte: packets, what the devices
 * did, hits, drops, packets made up. Another seed of the plan, or of the world, gives another one.
 */
#include "tests/sim/world/mixed.h"
#include "tests/sim/world/world_faults.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 4u

static const char *const rules[] = {
	"drop p=0.05",
	"dup=2 time=30us p=0.1",
	"corrupt=bit p=0.03",
	"corrupt=payload opcode=write p=0.1",
	"reorder=2 p=0.1",
	"delay=5us jitter=40us p=0.5 dir=rx",
	"burst=0.02/0.5 opcode=response",
	"rnr=1 opcode=send p=0.3 times=3",
	"rate=1gbit",
	NULL,
};

struct trace {
	char *text;
	size_t size;
};

static void read_back(FILE *f, struct trace *out)
{
	out->size = (size_t)ftell(f);
	out->text = calloc(1, out->size + 1);
	assert_non_null(out->text);
	rewind(f);
	assert_int_equal(fread(out->text, 1, out->size, f), out->size);
	fclose(f);
}

static void run(uint64_t world_seed, uint64_t plan_seed, bool whole, struct trace *out)
{
	struct link l = link_default();
	FILE *f = tmpfile();
	struct pair p;

	assert_non_null(f);
	pair_create(&p, &(struct pair_options){.seed = world_seed});
	if (whole) {
		p.w->filter = NULL;
		world_set_links(p.w, &l);
	}
	world_faults(p.w, plan_seed);
	for (unsigned i = 0; rules[i]; i++)
		world_rule(p.w, rules[i]);
	world_trace(p.w, f);
	mixed_post(&p, ROUNDS);
	mixed_check(&p, ROUNDS);
	world_run_idle(p.w, PAIR_SECONDS);
	for (unsigned i = 0; rules[i]; i++)
		fprintf(f, "%s: %lu of %lu\n", rules[i],
			(unsigned long)fault_plan_entry(world_plan(p.w), i)->hits,
			(unsigned long)fault_plan_entry(world_plan(p.w), i)->matched);
	world_trace(p.w, NULL);
	fault_plan_clear(world_plan(p.w)); /* some may not have fired */
	pair_finish(&p);
	read_back(f, out);
}

static bool same(const struct trace *a, const struct trace *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static void test_same_and_other(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct trace first, again, other_plan;
		bool whole = seed % 2;

		run(seed, 100 + seed, whole, &first);
		run(seed, 100 + seed, whole, &again);
		run(seed, 200 + seed, whole, &other_plan);
		assert_true(first.size > 5000);
		assert_non_null(strstr(first.text, " hit rule="));
		assert_true(same(&first, &again));
		assert_false(same(&first, &other_plan));
		free(first.text);
		free(again.text);
		free(other_plan.text);
	}
}

/* What a rule decides depends on what it matched, not on the rules around it. */
static void test_own_streams(void **state)
{
	uint64_t hits[2];

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct pair p;

		pair_create(&p, &(struct pair_options){.seed = 3});
		world_faults(p.w, 7);
		world_rule(p.w, "set=bth.fecn:1 p=0.5");
		if (more)
			world_rule(p.w, "set=bth.becn:1 p=0.5");
		mixed_post(&p, 1);
		mixed_check(&p, 1);
		hits[more] = world_rule_entry(p.w, "1")->hits;
		pair_finish(&p);
	}
	assert_int_equal(hits[0], hits[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_and_other),
		cmocka_unit_test(test_own_streams),
	};

	return cmocka_run_group_tests_name("fault_determinism", tests, NULL, NULL);
}
