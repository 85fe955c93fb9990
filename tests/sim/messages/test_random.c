/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random workloads over RC, UC, UD and XRC on links that lose up to a fifth of all packets,
 * duplicate and reorder, held against the model byte for byte and completion for completion: with
 * windows that are bound, used, invalidated and misused, receives that later requests read and
 * store to, limits of SRQs, requests that must fail, and connections that end while data flows and
 * begin anew. SIM_SEEDS=N for more, SIM_SEED=N for one (seeds.h).
 */
#include "tests/sim/workload/workload.h"
#include "tests/sim/world/seeds.h"
#include "tests/support/wire/cmocka_all.h"

static void run(uint64_t seed)
{
	struct workload_limits limits = workload_default();

	workload_run(seed, &limits);
}

static void run_give_up(uint64_t seed)
{
	struct workload_limits limits = workload_default();

	limits.may_give_up = true;
	workload_run(seed, &limits);
}

static void test_random(void **state)
{
	(void)state;
	seeds_each("random", 400, run);
}

/* Without a bound on losses some QPs run out of retries: what completes is still right. */
static void test_random_give_up(void **state)
{
	(void)state;
	seeds_each("random, may give up", 100, run_give_up);
}

/* Seeds that were wrong once: see their commits. */
static void test_found(void **state)
{
	static const uint64_t seed[] = {6818, 8527, 15100, 16886, 28215, 663086};

	(void)state;
	for (unsigned i = 0; i < sizeof(seed) / sizeof(seed[0]); i++) {
		run(seed[i]);
		run_give_up(seed[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_give_up),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
