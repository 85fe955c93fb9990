/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes: lengths, ECMP, what happens when links go down; and the same run twice. */
#include "tests/support/fabric/net_stage.h"

#include <string.h>

static struct net_stage s;

static unsigned path(uint32_t from, uint32_t to, uint16_t sport, uint32_t *links)
{
	return fabric_path(s.f, (uint32_t[]){from, to}, fabric_flow_key(from, to, sport), links,
			   16);
}

/* A fat tree: 2 links below an edge switch, 4 within a pod, 6 between pods. */
static void test_lengths(void **state)
{
	uint32_t links[16];

	(void)state;
	stage_generate(&s, "fat-tree:4");
	for (uint32_t to = 1; to < 16; to++)
		for (uint16_t sport = 0; sport < 20; sport++)
			assert_int_equal(path(0, to, sport, links), to < 2 ? 2 : to < 4 ? 4 : 6);
	stage_free(&s);
}

/* 800 flows on 8 paths: 100 +- 4 x 9.4 each. A flow has one path. */
static void test_spread(void **state)
{
	unsigned used[64] = {0};
	uint32_t links[16], again[16];

	(void)state;
	stage_generate(&s, "leaf-spine:leaves=2,spines=8,hosts=1");
	for (uint16_t sport = 0; sport < 800; sport++) {
		assert_int_equal(path(0, 1, sport, links), 4);
		assert_int_equal(path(0, 1, sport, again), 4);
		assert_memory_equal(links, again, 4 * sizeof(links[0]));
		used[links[1]]++;
	}
	for (unsigned spine = 0; spine < 8; spine++)
		assert_in_range(used[spine], 62, 138);
	stage_free(&s);
}

static unsigned cores_used(const char *text)
{
	bool core[2048] = {false};
	uint32_t links[16];
	unsigned n = 0;

	stage_generate(&s, text);
	for (uint16_t sport = 0; sport < 500; sport++) {
		assert_int_equal(path(0, 127, sport, links), 6);
		n += !core[links[2]];
		core[links[2]] = true;
	}
	stage_free(&s);
	return n;
}

/* Switches that hash alike choose alike: of 4 x 4 paths up, 4 are used. */
static void test_polarised(void **state)
{
	(void)state;
	assert_int_equal(cores_used("fat-tree:8"), 16);
	assert_int_equal(cores_used("fat-tree:8,salt=7"), 4);
}

static void test_reroute(void **state)
{
	uint32_t links[16], first;

	(void)state;
	stage_generate(&s, "leaf-spine:leaves=2,spines=2,hosts=1");
	path(0, 1, 5, links);
	first = links[1];
	fabric_link_up(s.f, first, false, 0);
	stage_send(&s,
		   (struct stage_packet){.src = 0, .dst = 1, .bytes = 100, .class = 3, .sport = 5},
		   0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(stage_counters(&s).dropped[FABRIC_DROP_DOWN], 1);
	assert_int_equal(fabric_reroute(s.f), 0);
	assert_int_equal(path(0, 1, 5, links), 4);
	assert_int_not_equal(links[1], first);
	/* And without the other spine there is no way. */
	fabric_node_up(s.f, links[1] < 2 ? 0 : 1, false, 0);
	fabric_link_up(s.f, links[1], false, 0);
	assert_int_equal(fabric_reroute(s.f), 0);
	assert_int_equal(path(0, 1, 5, links), 0);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 100, .class = 3},
		   1000000000);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(stage_counters(&s).dropped[FABRIC_DROP_ROUTE], 1);
	stage_free(&s);
}

/* With loss, marks, pauses and jitter: what arrives, and when, is the same each time. */
static void test_same_again(void **state)
{
	static struct stage_delivery first[STAGE_MAX];
	unsigned n = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		stage_generate(&s, "fat-tree:4,loss=1%,jitter=300ns,buffer=500K");
		for (uint32_t h = 0; h < 16; h++)
			stage_stream(&s, h, h < 8 ? 15 : h / 2, 500, h);
		fabric_run(s.f, FABRIC_NEVER);
		assert_true(s.n > 7000);
		if (run) {
			assert_int_equal(s.n, n);
			assert_memory_equal(first, s.got, n * sizeof(first[0]));
		}
		n = s.n;
		memcpy(first, s.got, n * sizeof(first[0]));
		stage_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),    cmocka_unit_test(test_spread),
		cmocka_unit_test(test_polarised),  cmocka_unit_test(test_reroute),
		cmocka_unit_test(test_same_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
