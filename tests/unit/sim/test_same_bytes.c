/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run is the same, byte by byte, with every compiler and on every machine: a hash of reports of
 * runs in which everything happens. Whoever changes the model on purpose changes the hashes.
 */
#include "tests/support/simulator/curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NETWORK                                                                                    \
	"sim --topology fat-tree:k=4,rate=25G,uplink=40G,jitter=100ns,buffer=2M --seed 7 "         \
	"--duration 1ms --drain 20ms "

static uint64_t hash_of(const char *words)
{
	json_t *report = curve_run(words);
	char *text = json_dumps(report, JSON_REAL_PRECISION(12));
	uint64_t h = UINT64_C(14695981039346656037);

	assert_non_null(text);
	for (const char *c = text; *c; c++)
		h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
	free(text);
	json_decref(report);
	return h;
}

static void test_hashes(void **state)
{
	static const struct {
		const char *words;
		uint64_t hash;
	} rows[] = {
		{NETWORK "--workload hadoop:60% --workload incast:size=100K --cc dcqcn",
		 UINT64_C(0x748aa29c30d44c0a)},
		{NETWORK "--workload storage:60% --cc dcqcn-mlx5:window=1",
		 UINT64_C(0x7c6d77681f573f08)},
		{NETWORK "--workload websearch:60% --cc swift --no-pfc --retransmit selective "
			 "--set default_link_loss=0.1%",
		 UINT64_C(0x94de5df9702269ea)},
		{NETWORK "--workload all-to-all:100K --cc timely", UINT64_C(0x680317b8904a1fde)},
		{NETWORK "--workload tree:4M --cc dctcp --echo --at 200us_down_core0",
		 UINT64_C(0x894da4cb70fe859f)},
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t h = hash_of(rows[i].words);

		print_message("# 0x%llx %s\n", (unsigned long long)h, rows[i].words);
		wrong += h != rows[i].hash;
	}
	assert_int_equal(wrong, 0);
}

/* Another seed is another run. */
static void test_seed(void **state)
{
	(void)state;
	assert_true(hash_of(NETWORK "--workload hadoop:30%") ==
		    hash_of(NETWORK "--workload hadoop:30%"));
	assert_true(hash_of(NETWORK "--workload hadoop:30%") !=
		    hash_of(NETWORK "--workload hadoop:30% --seed 8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
