/* SPDX-License-Identifier: BSD-2-Clause */
/* A switch: queues, ECN marks, scheduling, the dynamic threshold. Numbers are computed by hand. */
#include "tests/support/fabric/net_stage.h"

#include <string.h>

static struct net_stage s;

static void burst(unsigned n, uint8_t class, uint8_t ecn, uint64_t now)
{
	for (unsigned i = 0; i < n; i++)
		stage_send(&s,
			   (struct stage_packet){.src = 0,
						 .dst = 1,
						 .bytes = 1000,
						 .psn = i,
						 .class = class,
						 .ecn = ecn},
			   now);
}

/* Two senders reach the switch at the same time: the second one waits for 81600 ps. */
static void test_queue(void **state)
{
	(void)state;
	stage_generate(&s, "one-switch:3");
	for (uint32_t src = 1; src < 3; src++)
		stage_send(&s,
			   (struct stage_packet){.src = src, .dst = 0, .bytes = 1000, .class = 3},
			   0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.got[0].time, 2 * 1081600);
	assert_int_equal(s.got[1].time, 2 * 1081600 + 81600);
	assert_int_equal(s.got[0].src, 1);
	stage_free(&s);
}

/*
 * The last link takes 8.16 us a packet, in which all 100 have arrived: packet i leaves 99 - i
 * behind it, the first none. Marked is what leaves more than 10 behind: 1 to 88.
 */
static void test_mark_step(void **state)
{
	(void)state;
	stage_make(&s, "class 3 kmin=10K kmax=10K pmax=100% per=0\nhost a b\nswitch s\n"
		       "link a s\nlink s b rate=1G\n");
	burst(100, 3, FABRIC_ECT, 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 100);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(s.got[i].ecn, i >= 1 && i <= 88 ? FABRIC_CE : FABRIC_ECT);
	assert_int_equal(stage_counters(&s).marked, 88);
	burst(100, 3, FABRIC_NOT_ECT, UINT64_C(10000000000));
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(stage_counters(&s).marked, 88);
	stage_free(&s);
}

/*
 * From 5 KB to 95 KB up to one half: queues of 98, 97, 96 KB are marked, and of those of 6 to 95 KB
 * 0.5 / 90 x (1 + ... + 90) = 22.75 on average; twenty times that is 515 +- 4 x 17.
 */
static void test_mark_linear(void **state)
{
	(void)state;
	stage_make(&s, "class 3 kmin=5K kmax=95K pmax=50% per=0\nhost a b\nswitch s\n"
		       "link a s\nlink s b rate=1G\n");
	for (uint64_t i = 0; i < 20; i++) {
		burst(100, 3, FABRIC_ECT, i * UINT64_C(2000000000));
		fabric_run(s.f, (i + 1) * UINT64_C(2000000000) - 1);
	}
	assert_int_equal(s.n, 2000);
	assert_in_range(stage_counters(&s).marked, 515 - 68, 515 + 68);
	stage_free(&s);
}

/* Thresholds belong to a rate: a port of half of it marks at half. */
static void test_mark_per_rate(void **state)
{
	(void)state;
	stage_make(&s, "class 3 kmin=20K kmax=20K pmax=100% per=2G\nhost a b\nswitch s\n"
		       "link a s\nlink s b rate=1G\n");
	burst(100, 3, FABRIC_ECT, 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(stage_counters(&s).marked, 88);
	stage_free(&s);
}

/* Weights of 3 and 1: of the first 400 packets 300 are of class 0, but for one round of 4200 B. */
static void test_weights(void **state)
{
	unsigned count[FABRIC_CLASSES] = {0};

	(void)state;
	stage_make(&s, "class 0 weight=3\nhost a b\nlink a b\n");
	burst(400, 0, 0, 0);
	burst(400, 1, 0, 0);
	burst(10, 6, 0, 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 810);
	/* The first one had begun when the strict class came. */
	assert_int_equal(s.got[0].class, 0);
	for (unsigned i = 1; i <= 10; i++)
		assert_int_equal(s.got[i].class, 6);
	for (unsigned i = 11; i < 411; i++)
		count[s.got[i].class]++;
	assert_in_range(count[0], 300 - 13, 300 + 13);
	stage_free(&s);
}

/*
 * T = alpha (B - Q) of a buffer of 100 KB. The first packet leaves at once. alpha 1: packet n + 1
 * waits if n + 1 <= 100 - n, so 50 do; 1/8: 9 n <= 92, so 11 do.
 */
static void test_threshold(void **state)
{
	static const struct {
		const char *text;
		unsigned delivered;
	} rows[] = {
		{"host a b\nswitch s buffer=100K reserve=0 headroom=0 alpha=1\n"
		 "link a s\nlink s b rate=1G\n",
		 51},
		{"host a b\nswitch s buffer=100K reserve=0 headroom=0 alpha=1/8\n"
		 "link a s\nlink s b rate=1G\n",
		 12},
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fabric_counters c;

		stage_make(&s, rows[i].text);
		burst(100, 0, 0, 0);
		fabric_run(s.f, FABRIC_NEVER);
		c = stage_counters(&s);
		assert_int_equal(s.n, rows[i].delivered);
		assert_int_equal(c.dropped[FABRIC_DROP_TAIL], 100 - rows[i].delivered);
		/* What has left is free again. */
		burst(10, 0, 0, UINT64_C(100000000000));
		fabric_run(s.f, FABRIC_NEVER);
		assert_int_equal(s.n, rows[i].delivered + 10);
		stage_free(&s);
	}
}

/* Reserves and headroom that do not fit in the buffer are said. */
static void test_small_buffer(void **state)
{
	struct fabric_start how = {.topology = &s.topology};
	struct fabric_error e;
	struct fabric *f;

	(void)state;
	fabric_topology_init(&s.topology);
	assert_int_equal(fabric_topology_generate(&s.topology, "one-switch:8,buffer=64K", &e), 0);
	assert_true(fabric_create(&f, &how, &e) < 0);
	assert_non_null(strstr(e.text, "switch switch: its buffer of 64000 bytes is smaller than"));
	fabric_topology_fini(&s.topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),        cmocka_unit_test(test_mark_step),
		cmocka_unit_test(test_mark_linear),  cmocka_unit_test(test_mark_per_rate),
		cmocka_unit_test(test_weights),      cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_small_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
