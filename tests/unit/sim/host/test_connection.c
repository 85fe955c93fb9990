/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections over one switch, 100 Gb/s and 1 us a link: times, packets sent again, timeouts,
 * pacing. Computed by hand: a packet of 1000 B takes (1000 + 62 + 20) x 80 ps = 86560 ps a link,
 * an ACK (66 + 20) x 80 ps = 6880 ps.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/sim/host/host.h"

#include <string.h>

#define US     FABRIC_US
#define PACKET UINT64_C(86560)
#define WAY    (2 * US)                  /* the links' delay */
#define BACK   (WAY + 2 * 6880)          /* of an ACK */
#define ALONE  (2 * PACKET + WAY + BACK) /* one packet and its ACK */

static struct fabric_topology topology;
static struct sim *s;
static uint64_t received_at, done_at;
static unsigned n_done, n_received;

static void received(void *user, struct sim_connection *c, uint64_t now)
{
	(void)user;
	(void)c;
	received_at = now;
	n_received++;
}

static void done(void *user, struct sim_connection *c, uint64_t now)
{
	(void)user;
	(void)c;
	done_at = now;
	n_done++;
}

static void timer(void *user, uint32_t number, uint64_t now)
{
	(void)user;
	(void)number;
	(void)now;
}

static struct sim_settings usual(void)
{
	struct sim_settings set = {.mtu = 1000,
				   .header = 62,
				   .ack_bytes = 66,
				   .cnp_bytes = 78,
				   .ack_every = 1000,
				   .data_class = 3,
				   .ack_class = 3,
				   .cnp_class = 6,
				   .cnp_interval = 50 * US,
				   .rto = 100 * US};

	cc_settings_init(&set.cc, cc_at(0));
	return set;
}

static void make(const char *network, const struct sim_settings *set)
{
	static const struct sim_ops ops = {received, done, timer};
	struct fabric_error e;

	fabric_topology_init(&topology);
	if (fabric_topology_parse(&topology, network, &e) < 0 ||
	    sim_create(&s, &topology, set, 1, &e) < 0)
		fail_msg("%s", e.text);
	s->ops = &ops;
	n_done = n_received = 0;
	done_at = received_at = 0;
}

static void end(void)
{
	sim_destroy(s);
	fabric_topology_fini(&topology);
}

#define PLAIN "host a b\nswitch s\nlink a s\nlink b s\n"
#define LOSSY "host a b\nswitch s\nlink a s lose-every=11\nlink b s\n"

/* A message of 3500 B: four packets behind each other, the last one of 500 B. */
static void test_times(void **state)
{
	const struct sim_settings set = usual();
	struct sim_connection *c;

	(void)state;
	make(PLAIN, &set);
	c = sim_open(s, 0, 1, 1, 0);
	sim_message(s, c, 1000, 0);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(done_at, ALONE);
	assert_int_equal(received_at, 2 * PACKET + WAY);
	assert_int_equal(sim_ideal(s, c, 1000), ALONE);
	assert_int_equal(c->cc.base_rtt, ALONE / 1000);
	sim_message(s, c, 3500, 10 * US);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	/* On the second link the short one waits for the one before it. */
	assert_int_equal(done_at, 10 * US + 4 * PACKET + 582 * 80 + WAY + BACK);
	assert_int_equal(sim_ideal(s, c, 3500), done_at - 10 * US);
	assert_int_equal(s->counters.data, 5);
	assert_int_equal(s->counters.delivered, 4500);
	end();
}

/* 21 links, and 20 switches that take numbers from a range. */
static void test_long_path(void **state)
{
	const struct sim_settings set = usual();
	const uint64_t alone = 21 * (PACKET + US) + 21 * (6880 + US);
	char text[1000] = "host a b\nswitch s[0-19]\nlink a s0\nlink s19 b\n";
	struct sim_connection *c;

	(void)state;
	for (unsigned i = 0; i < 19; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "link s%u s%u\n", i,
			 i + 1);
	make(text, &set);
	c = sim_open(s, 0, 1, 1, 0);
	sim_message(s, c, 1000, 0);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(done_at, alone);
	assert_int_equal(sim_ideal(s, c, 1000), alone);
	assert_int_equal(c->cc.base_rtt, alone / 1000);
	end();
}

static void send_20(enum sim_retransmit how)
{
	struct sim_settings set = usual();

	set.retransmit = how;
	make(LOSSY, &set);
	sim_message(s, sim_open(s, 0, 1, 1, 0), 20000, 0);
	fabric_run(s->fabric, 1000 * US);
}

/*
 * Packets 11, 22, 33, 44 of a are lost. PSNs 0 to 19; 10 is lost. From 10 again: 11 is lost. From
 * 11 again: 13. From 13 again: 17. From 17: none. 20 + 10 + 9 + 7 + 3 packets, four NAKs.
 */
static void test_go_back_n(void **state)
{
	(void)state;
	send_20(SIM_GO_BACK_N);
	assert_int_equal(n_done, 1);
	assert_int_equal(s->counters.data, 49);
	assert_int_equal(s->counters.retransmits, 29);
	assert_int_equal(s->counters.naks, 4);
	assert_int_equal(s->counters.timeouts, 0);
	assert_int_equal(s->counters.delivered, 20000);
	end();
}

/* Only PSN 10 is sent again. */
static void test_selective(void **state)
{
	(void)state;
	send_20(SIM_SELECTIVE);
	assert_int_equal(n_done, 1);
	assert_int_equal(s->counters.data, 21);
	assert_int_equal(s->counters.retransmits, 1);
	assert_int_equal(s->counters.timeouts, 0);
	assert_int_equal(s->counters.delivered, 20000);
	end();
}

/* Each try of 20 packets loses one of them (Guo et al., SIGCOMM 2016): nothing ever arrives. */
static void test_restart(void **state)
{
	(void)state;
	send_20(SIM_RESTART);
	assert_int_equal(n_done, 0);
	assert_true(s->counters.data > 1000);
	assert_int_equal(s->counters.delivered, sim_unsure(s, sim_at(s, 0)));
	end();
}

/*
 * Messages of a packet each: the eleventh packet is lost, and the eleventh ACK. Its message has
 * arrived all the same, and does not arrive again.
 */
static void test_restart_of_all(void **state)
{
	struct sim_settings set = usual();
	struct sim_connection *c;

	(void)state;
	set.retransmit = SIM_RESTART;
	make(LOSSY, &set);
	c = sim_open(s, 0, 1, 1, 0);
	for (unsigned i = 0; i < 11; i++) {
		sim_message(s, c, 1000, i * 500 * US);
		fabric_run(s->fabric, (i + 1) * 500 * US - 1);
	}
	assert_int_equal(s->counters.timeouts, 2);
	assert_int_equal(n_done, 11);
	assert_int_equal(n_received, 11);
	assert_int_equal(s->counters.delivered, 11000);
	end();
}

/*
 * The last of 11 packets is lost, and nobody sees a gap: 100 us after the last progress, which
 * was the ACK of packet 10, it is sent again. Its ACK is the eleventh, and lost; 100 us later
 * once more.
 */
static void test_timeout(void **state)
{
	struct sim_settings set = usual();

	(void)state;
	set.ack_every = 1;
	make(LOSSY, &set);
	sim_message(s, sim_open(s, 0, 1, 1, 0), 11000, 0);
	fabric_run(s->fabric, 1000 * US);
	assert_int_equal(s->counters.timeouts, 2);
	assert_int_equal(s->counters.data, 13);
	assert_int_equal(received_at, 9 * PACKET + ALONE + 100 * US + 2 * PACKET + WAY);
	assert_int_equal(done_at, 9 * PACKET + ALONE + 200 * US + ALONE);
	end();
}

/* At a quarter of the rate 1062 B take 339.84 ns; the 100th packet begins 99 of them later. */
static void test_pacing(void **state)
{
	const struct sim_settings set = usual();
	struct sim_connection *c;

	(void)state;
	make(PLAIN, &set);
	c = sim_open(s, 0, 1, 1, 0);
	c->cc.rate /= 4;
	sim_message(s, c, 100000, 0);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(done_at, 99 * 339840 + ALONE);
	end();
}

/* Ten packets of 1062 B fit the window. */
static void send_in_window(uint32_t ack_every)
{
	struct sim_settings set = usual();
	struct sim_connection *c;

	set.ack_every = ack_every;
	make(PLAIN, &set);
	c = sim_open(s, 0, 1, 1, 0);
	c->cc.window = 10 * 1062 + 100;
	sim_message(s, c, 20000, 0);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
}

/* The eleventh waits for the ACK of the first. */
static void test_window(void **state)
{
	(void)state;
	send_in_window(1);
	/* Packet 11 leaves at ALONE, the last one nine packets later. */
	assert_int_equal(done_at, ALONE + 9 * PACKET + ALONE);
	end();
}

/* At a packet each 60 us an ACK for 16 of them would come behind the timeout. */
static void test_slow(void **state)
{
	struct sim_settings set = usual();
	struct sim_connection *c;

	(void)state;
	set.ack_every = 16;
	make(PLAIN, &set);
	c = sim_open(s, 0, 1, 1, 0);
	c->cc.rate = UINT64_C(1062) * 8 * 1000000 / 60;
	sim_message(s, c, 20000, 0);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(n_done, 1);
	assert_int_equal(s->counters.timeouts, 0);
	assert_int_equal(s->counters.data, 20);
	end();
}

/* The tenth packet fills the window, and asks for an ACK that would come with the 16th one. */
static void test_window_of_few(void **state)
{
	(void)state;
	send_in_window(16);
	assert_int_equal(done_at, 2 * (9 * PACKET + ALONE));
	assert_int_equal(s->counters.timeouts, 0);
	end();
}

/* Eight packets are in flight, of which none asks, when the window shrinks: one more is sent. */
static void test_window_cut(void **state)
{
	struct sim_settings set = usual();
	struct sim_connection *c;

	(void)state;
	set.ack_every = 16;
	make(PLAIN, &set);
	c = sim_open(s, 0, 1, 1, 0);
	sim_message(s, c, 20000, 0);
	fabric_run(s->fabric, 7 * PACKET);
	assert_int_equal(c->next, 8);
	c->cc.window = 3 * 1062;
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(n_done, 1);
	assert_int_equal(s->counters.timeouts, 0);
	end();
}

/* Two connections of a host take turns, and end within a packet of each other. */
static void test_round_robin(void **state)
{
	const struct sim_settings set = usual();
	struct sim_connection *a, *b;

	(void)state;
	make(PLAIN, &set);
	a = sim_open(s, 0, 1, 1, 0);
	b = sim_open(s, 0, 1, 2, 0);
	sim_message(s, a, 1000000, 0);
	sim_message(s, b, 1000000, 0);
	fabric_run(s->fabric, 1000 * PACKET);
	assert_in_range(a->next - b->next + 1, 0, 2);
	fabric_run(s->fabric, FABRIC_NEVER - 1);
	assert_int_equal(n_done, 2);
	end();
}

/*
 * Two senders of 100 Gb/s into one: all that leaves more than 10 KB behind is marked. CNPs leave at
 * once, and then each 50 us: one connection gets at most one more than the time has intervals.
 */
static void test_cnp(void **state)
{
	struct sim_settings set = usual();

	(void)state;
	make("class 3 kmin=10K kmax=10K pmax=100% per=0\nhost a b c\nswitch s\nlink a s\n"
	     "link b s\nlink c s\n",
	     &set);
	sim_message(s, sim_open(s, 0, 2, 1, 0), 10000000, 0);
	sim_message(s, sim_open(s, 1, 2, 1, 0), 10000000, 0);
	fabric_run(s->fabric, 500 * US);
	assert_true(s->counters.ce > 5000);
	assert_int_equal(s->counters.cnps, 2 * 10);
	end();
	/* With echoes there are none. */
	set.echo = true;
	make("class 3 kmin=10K kmax=10K pmax=100% per=0\nhost a b c\nswitch s\nlink a s\n"
	     "link b s\nlink c s\n",
	     &set);
	sim_message(s, sim_open(s, 0, 2, 1, 0), 10000000, 0);
	sim_message(s, sim_open(s, 1, 2, 1, 0), 10000000, 0);
	fabric_run(s->fabric, 500 * US);
	assert_int_equal(s->counters.cnps, 0);
	assert_true(s->counters.ce > 5000);
	end();
	/* But the reaction point of DCQCN takes each ACK with an echo for one. */
	cc_settings_init(&set.cc, cc_at(2));
	set.ack_every = 1;
	make("class 3 kmin=10K kmax=10K pmax=100% per=0\nhost a b c\nswitch s\nlink a s\n"
	     "link b s\nlink c s\n",
	     &set);
	sim_message(s, sim_open(s, 0, 2, 1, 0), 10000000, 0);
	sim_message(s, sim_open(s, 1, 2, 1, 0), 10000000, 0);
	fabric_run(s->fabric, 500 * US);
	assert_true(s->counters.cnps > 100);
	assert_true(sim_at(s, 0)->cc.rate < sim_at(s, 0)->cc.line_rate / 2);
	end();
}

/* Places of closed connections are used again; what was under way for them harms nobody. */
static void test_reuse(void **state)
{
	const struct sim_settings set = usual();

	(void)state;
	make(LOSSY, &set);
	for (unsigned i = 0; i < 200; i++) {
		struct sim_connection *c = sim_open(s, i % 2, 1 - i % 2, (uint16_t)i, i * 500 * US);

		assert_non_null(c);
		sim_message(s, c, 5000, i * 500 * US);
		fabric_run(s->fabric, (i + 1) * 500 * US - 1);
		assert_int_equal(n_done, i + 1);
		sim_close(s, c);
	}
	assert_int_equal(s->n, 1);
	assert_int_equal(s->counters.delivered, 1000000);
	end();
}

static void too_long(const char *network, const struct sim_settings *set, const char *said)
{
	struct fabric_error e;

	fabric_topology_init(&topology);
	assert_int_equal(fabric_topology_parse(&topology, network, &e), 0);
	assert_true(sim_create(&s, &topology, set, 1, &e) < 0);
	assert_string_equal(e.text, said);
	fabric_topology_fini(&topology);
}

/* Of a connection whose ACKs or CNPs no link takes nothing would come. */
static void test_too_long(void **state)
{
	struct sim_settings set = usual();

	(void)state;
	set.mtu = 9000;
	too_long(PLAIN, &set,
		 "packets of 9000 + 62 bytes are longer than the link a s takes, 4200");
	set.mtu = 64;
	set.header = 0;
	too_long("default link mtu=77\n" PLAIN, &set,
		 "CNPs of 78 bytes are longer than the link a s takes, 77");
	set.echo = true;
	too_long("default link mtu=65\n" PLAIN, &set,
		 "ACKs of 66 bytes are longer than the link a s takes, 65");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),       cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_go_back_n),   cmocka_unit_test(test_selective),
		cmocka_unit_test(test_restart),     cmocka_unit_test(test_restart_of_all),
		cmocka_unit_test(test_timeout),     cmocka_unit_test(test_pacing),
		cmocka_unit_test(test_window),      cmocka_unit_test(test_window_of_few),
		cmocka_unit_test(test_slow),        cmocka_unit_test(test_window_cut),
		cmocka_unit_test(test_round_robin), cmocka_unit_test(test_cnp),
		cmocka_unit_test(test_reuse),       cmocka_unit_test(test_too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
