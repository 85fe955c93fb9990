/* SPDX-License-Identifier: BSD-2-Clause */
/* PFC: thresholds, headroom, frames that are repeated, the watchdog, deadlock. */
#include "tests/support/fabric/net_stage.h"

#include <stdio.h>

#define MS UINT64_C(1000000000)

static struct net_stage s;

/*
 * Host b takes nothing. Shared are 142 KB - 2 x 26 KB of headroom = 90 KB. Packet n + 1 is within
 * the threshold if 8 (n + 1) <= 90 - n: 10 are. The next one is in headroom, and XOFF leaves. Its
 * frame is at a after 84 B x 80 ps + 1 us = 1006720 ps. A packet that arrives k packets later began
 * k x 81600 - 1081600 ps after XOFF left: 25 more of them had begun by then. So 26 are in headroom.
 */
static void fill(const char *headroom)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "host a b\nswitch s buffer=%s reserve=0 alpha=1/8 headroom=%s\n"
		 "link a s\nlink s b\n",
		 headroom[4] == '0' ? "142000" : "141998", headroom);
	stage_make(&s, text);
	fabric_host_pause(s.f, 1, 1u << 3, 0);
	fabric_run(s.f, 2 * FABRIC_US);
	stage_stream(&s, 0, 1, 1000, 2 * FABRIC_US);
	fabric_run(s.f, 100 * FABRIC_US);
}

static void test_headroom(void **state)
{
	struct fabric_counters c;

	(void)state;
	fill("26000");
	c = stage_counters(&s);
	assert_int_equal(s.n, 0);
	assert_int_equal(fabric_queued(s.f, fabric_link_port(1, 0), 3), 36000);
	assert_int_equal(c.dropped[FABRIC_DROP_HEADROOM], 0);
	assert_int_equal(c.xoff, 2); /* one is b's */
	fabric_host_pause(s.f, 1, 0, 100 * FABRIC_US);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 1000);
	c = stage_counters(&s);
	assert_int_equal(c.xoff, c.xon);
	stage_free(&s);
}

/* One byte less, and the last packet is lost. */
static void test_headroom_too_small(void **state)
{
	(void)state;
	fill("25999");
	assert_int_equal(fabric_queued(s.f, fabric_link_port(1, 0), 3), 35000);
	assert_int_equal(stage_counters(&s).dropped[FABRIC_DROP_HEADROOM], 1);
	stage_free(&s);
}

/*
 * The headroom that is computed is enough, beside packets of the longest kind in both directions,
 * also where packets are late by chance.
 */
static void test_headroom_computed(void **state)
{
	struct fabric_counters c;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "one-switch:5,buffer=2M,alpha=1/8,delay=%uus,jitter=%uus,mtu=1000", i % 4,
			 i / 4 * 10);
		stage_generate(&s, text);
		for (uint32_t h = 1; h < 5; h++)
			stage_stream(&s, h, 0, 3000, h * 12345);
		stage_stream(&s, 0, 1, 3000, 0);
		fabric_run(s.f, FABRIC_NEVER);
		c = stage_counters(&s);
		assert_int_equal(s.n, 15000);
		assert_true(c.xoff > 0 && c.xon == c.xoff);
		stage_free(&s);
	}
}

/* A pause outlasts its frame because it is repeated; 100 quanta are 512 ns here. */
static void test_repeated(void **state)
{
	(void)state;
	stage_make(&s, "pause quanta=100\nhost a b\nlink a b\n");
	fabric_host_pause(s.f, 1, 1u << 3, 0);
	fabric_run(s.f, 2 * FABRIC_US);
	stage_stream(&s, 0, 1, 10, 2 * FABRIC_US);
	fabric_run(s.f, 1000 * FABRIC_US);
	assert_int_equal(s.n, 0);
	/* Class 4 is not paused. */
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 100, .class = 4},
		   1000 * FABRIC_US);
	fabric_run(s.f, 1002 * FABRIC_US);
	assert_int_equal(s.n, 1);
	fabric_host_pause(s.f, 1, 0, 1002 * FABRIC_US);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 11);
	stage_free(&s);
}

/* A quantum of 5.12 ns is over before the next frame, of 6.72 ns, has come. */
static void test_runs_out(void **state)
{
	(void)state;
	stage_make(&s, "pause quanta=1\nhost a b\nlink a b\n");
	fabric_host_pause(s.f, 1, 1u << 3, 0);
	fabric_run(s.f, 2 * FABRIC_US);
	stage_stream(&s, 0, 1, 10, 2 * FABRIC_US);
	fabric_run(s.f, 10 * FABRIC_US);
	assert_int_equal(s.n, 10);
	stage_free(&s);
}

/* Pauses of the ports together; a pause counts while it goes on. */
static uint64_t pause_time(uint64_t now)
{
	struct fabric_port_state p;
	uint64_t all = 0;

	for (uint32_t i = 0; i < fabric_ports(s.f); i++) {
		fabric_port(s.f, i, now, &p);
		all += p.pause_time;
	}
	return all;
}

/* Host 1 takes nothing, so host 0 is paused, and host 2 gets nothing from it; until 1 ms. */
static void test_watchdog(void **state)
{
	struct fabric_counters c;

	(void)state;
	stage_generate(&s, "one-switch:3,watchdog=1ms,restore=2ms,buffer=1M");
	fabric_host_pause(s.f, 1, 1u << 3, 0);
	fabric_run(s.f, 2 * FABRIC_US);
	stage_stream(&s, 0, 1, 1000, 2 * FABRIC_US);
	fabric_run(s.f, MS / 2);
	fabric_count(s.f, MS / 2, &c);
	assert_true(c.paused > MS / 4);
	assert_true(pause_time(MS / 2) == c.paused);
	stage_stream(&s, 0, 2, 10, MS / 2);
	fabric_run(s.f, MS);
	assert_int_equal(stage_got(&s, 2, UINT32_MAX), 0);
	fabric_run(s.f, MS + 100 * FABRIC_US);
	c = stage_counters(&s);
	assert_int_equal(stage_got(&s, 2, UINT32_MAX), 10);
	assert_int_equal(c.storms, 1);
	assert_int_equal(c.deadlocks, 0);
	assert_true(c.dropped[FABRIC_DROP_STORM] > 50);
	fabric_host_pause(s.f, 1, 0, 2 * MS);
	fabric_run(s.f, 5 * MS);
	stage_stream(&s, 0, 1, 10, 5 * MS);
	fabric_run(s.f, 6 * MS);
	assert_int_equal(stage_got(&s, 1, UINT32_MAX), 10);
	stage_free(&s);
}

/*
 * Five switches in a ring; each host sends to the second next one, so that each queue between
 * switches waits for the next one. While no host takes anything they fill. Then hosts take again,
 * but what goes on around the ring alone is more than XON needs: nothing moves any more.
 */
static void test_deadlock(void **state)
{
	uint32_t ports[16];
	unsigned before;

	(void)state;
	stage_make(&s, "default switch buffer=400K alpha=1/8 reserve=0\nswitch s[0-4]\n"
		       "host h[0-4]\nlink h0 s0\nlink h1 s1\nlink h2 s2\nlink h3 s3\nlink h4 s4\n"
		       "link s0 s1\nlink s1 s2\nlink s2 s3\nlink s3 s4\nlink s4 s0\n");
	for (uint32_t h = 0; h < 5; h++)
		fabric_host_pause(s.f, h, 1u << 3, 0);
	fabric_run(s.f, 2 * FABRIC_US);
	for (uint32_t h = 0; h < 5; h++)
		stage_stream(&s, h, (h + 2) % 5, 1000, 2 * FABRIC_US);
	fabric_run(s.f, MS);
	for (uint32_t h = 0; h < 5; h++)
		fabric_host_pause(s.f, h, 0, MS);
	fabric_run(s.f, 5 * MS);
	before = s.n;
	assert_in_range(before, 1, 4999);
	assert_int_equal(fabric_deadlock(s.f, 5 * MS, MS, ports, 16), 5);
	for (unsigned i = 0; i < 5; i++)
		assert_in_range(ports[i] / 2, 5, 9); /* links between switches */
	fabric_run(s.f, 20 * MS);
	assert_int_equal(s.n, before);
	stage_free(&s);
}

/* Up and down a tree no circle exists, whatever is paused. */
static void test_no_deadlock(void **state)
{
	uint32_t ports[16];

	(void)state;
	stage_generate(&s, "leaf-spine:leaves=4,spines=2,hosts=2,buffer=600K");
	for (uint32_t h = 0; h < 8; h++)
		fabric_host_pause(s.f, h, 1u << 3, 0);
	for (uint32_t h = 0; h < 8; h++)
		stage_stream(&s, h, (h + 3) % 8, 1000, 2 * FABRIC_US);
	fabric_run(s.f, 5 * MS);
	assert_true(stage_counters(&s).xoff > 16);
	assert_int_equal(fabric_deadlock(s.f, 5 * MS, MS, ports, 16), 0);
	stage_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headroom),          cmocka_unit_test(test_headroom_too_small),
		cmocka_unit_test(test_headroom_computed), cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_runs_out),          cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_deadlock),          cmocka_unit_test(test_no_deadlock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
