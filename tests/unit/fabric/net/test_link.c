/* SPDX-License-Identifier: BSD-2-Clause */
/* A link: when a packet arrives, what is lost. Times are computed by hand, in picoseconds. */
#include "tests/support/fabric/net_stage.h"

static struct net_stage s;

/* 1000 B + 20 B gap at 100 Gb/s are 1020 x 80 ps = 81600 ps; 1 us of delay. */
static void test_one_link(void **state)
{
	(void)state;
	stage_make(&s, "host a b\nlink a b\n");
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3}, 0);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 64, .class = 3}, 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.got[0].time, 81600 + 1000000);
	/* It begins when the first has left: 84 x 80 ps more. */
	assert_int_equal(s.got[1].time, 81600 + 6720 + 1000000);
	stage_free(&s);
}

/* Stored and forwarded: each link takes its own time. 3 Gb/s: 1020 x 8000 / 3 = 2720000 ps. */
static void test_rates(void **state)
{
	(void)state;
	stage_make(&s,
		   "host a b\nswitch s\nlink a s rate=40G delay=2us\nlink s b rate=3G delay=0\n");
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3}, 500);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.got[0].time, 500 + 1020 * 200 + 2000000 + 2720000);
	stage_free(&s);
}

static void test_loss(void **state)
{
	struct fabric_counters c;

	(void)state;
	stage_make(&s, "host a b\nswitch s\nlink a s lose-every=256\nlink b s loss=10% mtu=2000\n");
	for (unsigned i = 0; i < 10240; i++)
		stage_send(&s,
			   (struct stage_packet){
				   .src = 0, .dst = 1, .bytes = 100, .psn = i, .class = 3},
			   0);
	fabric_run(s.f, FABRIC_NEVER);
	c = stage_counters(&s);
	/* 40 on the first link; on the second 10 % of 10200: 1020 +- 4 x 30.3. */
	assert_int_equal(s.n + c.dropped[FABRIC_DROP_LOSS], 10240);
	assert_in_range(c.dropped[FABRIC_DROP_LOSS], 40 + 900, 40 + 1140);
	for (unsigned i = 0; i < s.n; i++)
		assert_int_not_equal(s.got[i].psn % 256, 255);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 2001, .class = 3},
		   fabric_next(s.f) == FABRIC_NEVER ? 20000000000 : 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(stage_counters(&s).dropped[FABRIC_DROP_MTU], 1);
	stage_free(&s);
}

/* Jitter delays, and keeps the order. */
static void test_jitter(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	stage_make(&s, "host a b\nlink a b jitter=3us\n");
	for (unsigned i = 0; i < 1000; i++)
		stage_send(&s,
			   (struct stage_packet){
				   .src = 0, .dst = 1, .bytes = 1230, .psn = i, .class = 3},
			   0);
	fabric_run(s.f, FABRIC_NEVER);
	for (unsigned i = 0; i < 1000; i++) {
		const uint64_t late = s.got[i].time - (i + 1) * 100000 - 1000000;

		assert_int_equal(s.got[i].psn, i);
		least = late < least ? late : least;
		most = late > most ? late : most;
	}
	assert_in_range(most, 2900000, 3000000);
	/* Of 30 packets in 3 us the latest is seldom early: the least is far from 0. */
	assert_in_range(least, 1, 2900000);
	stage_free(&s);
}

/* A link that is down loses what is on it and what is sent to it. */
static void test_down(void **state)
{
	struct fabric_counters c;

	(void)state;
	stage_make(&s, "host a b\nswitch s\nlink a s\nlink s b\n");
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3}, 0);
	fabric_run(s.f, 500000);
	fabric_link_up(s.f, 0, false, 500000);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3},
		   600000);
	fabric_run(s.f, 5000000);
	assert_int_equal(s.n, 0);
	fabric_link_up(s.f, 0, true, 6000000);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3},
		   6000000);
	fabric_run(s.f, 6000000 + 81600);
	/* It is in the switch when that goes down. */
	fabric_run(s.f, 6000000 + 81600 + 1000000);
	fabric_node_up(s.f, 2, false, 7100000);
	fabric_run(s.f, FABRIC_NEVER);
	c = stage_counters(&s);
	assert_int_equal(s.n, 0);
	assert_int_equal(c.dropped[FABRIC_DROP_DOWN], 3);
	stage_free(&s);
}

static bool is_up(void)
{
	return fabric_port_up(s.f, fabric_link_port(0, 0)) &&
	       fabric_port_up(s.f, fabric_link_port(0, 1));
}

/* A link is up while it is itself and the nodes at both ends are, whichever comes back first. */
static void test_down_twice(void **state)
{
	(void)state;
	stage_make(&s, "host a b\nswitch s\nlink a s\nlink s b\n");
	assert_true(is_up());
	fabric_node_up(s.f, 2, false, 1);
	fabric_link_up(s.f, 0, false, 2);
	fabric_link_up(s.f, 0, true, 3);
	assert_false(is_up());
	fabric_node_up(s.f, 2, true, 4);
	assert_true(is_up());
	fabric_link_up(s.f, 0, false, 5);
	fabric_node_up(s.f, 2, false, 6);
	fabric_node_up(s.f, 2, true, 7);
	assert_false(is_up());
	assert_true(fabric_port_up(s.f, fabric_link_port(1, 0)));
	fabric_link_up(s.f, 0, true, 8);
	assert_true(is_up());
	stage_free(&s);
}

/*
 * At a tenth of the rate a packet takes ten times as long; that before it keeps its time. Marks are
 * those of the rate, where a class says of which.
 */
static void test_another_rate(void **state)
{
	struct fabric_port_state port;

	(void)state;
	stage_make(&s, "host a b\nlink a b\n");
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3}, 0);
	fabric_link_rate(s.f, 0, UINT64_C(10000000000));
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .class = 3}, 0);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.got[0].time, 81600 + 1000000);
	assert_int_equal(s.got[1].time, 81600 + 816000 + 1000000);
	fabric_port(s.f, 0, 0, &port);
	assert_int_equal(port.rate, UINT64_C(10000000000));
	/* 3 Gb/s have no whole number of ps for a byte. */
	fabric_link_rate(s.f, 0, UINT64_C(3000000000));
	stage_send(&s, (struct stage_packet){.src = 1, .dst = 0, .bytes = 1000, .class = 3},
		   10000000);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.got[2].time, 10000000 + 2720000 + 1000000);
	stage_free(&s);
}

/* A shorter delay lets no packet overtake those that are on the link; a longer one adds up. */
static void test_another_delay(void **state)
{
	struct fabric_port_state port;

	(void)state;
	stage_make(&s, "host a b\nlink a b delay=5us\n");
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .psn = 0}, 0);
	fabric_run(s.f, 81600);
	fabric_link_delay(s.f, 0, 1000000);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .psn = 1}, 81600);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.got[0].psn, 0);
	assert_int_equal(s.got[0].time, 81600 + 5000000);
	assert_int_equal(s.got[1].psn, 1);
	assert_int_equal(s.got[1].time, 81600 + 5000000);
	fabric_link_delay(s.f, 0, 7000000);
	stage_send(&s, (struct stage_packet){.src = 0, .dst = 1, .bytes = 1000, .psn = 2}, 6000000);
	fabric_run(s.f, FABRIC_NEVER);
	assert_int_equal(s.got[2].time, 6000000 + 81600 + 7000000);
	fabric_port(s.f, 1, 0, &port);
	assert_int_equal(port.delay, 7000000);
	stage_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_link),     cmocka_unit_test(test_rates),
		cmocka_unit_test(test_loss),         cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_down),         cmocka_unit_test(test_down_twice),
		cmocka_unit_test(test_another_rate), cmocka_unit_test(test_another_delay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
