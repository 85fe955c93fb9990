/* SPDX-License-Identifier: BSD-2-Clause */
/* Workloads: how many messages, how many bytes, how long in an empty network. */
#include "tests/support/simulator/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NETWORK "sim --topology one-switch:hosts=8 "

static void counts(const char *workload, double flows, double bytes)
{
	char words[300];
	json_t *report;

	snprintf(words, sizeof(words), NETWORK "--cc window --drain 100ms --workload %s", workload);
	report = curve_run(words);
	print_message("# %s\n", workload);
	assert_true(curve_number(report, "flows.finished") == flows);
	assert_true(curve_number(report, "flows.unfinished") == 0);
	/* All that was sent arrived once. */
	curve_within("bytes",
		     curve_number(report, "throughput.goodput_gbps") *
			     curve_number(report, "run.end_us") / 8 * 1000,
		     bytes * 0.995, bytes * 1.005);
	json_decref(report);
}

/* 8 hosts: 7 senders, 8 pairs, 56 pairs; 14 steps of 8 ranks; 16 chunks over 2 x 7 edges. */
static void test_counts(void **state)
{
	(void)state;
	counts("incast:size=100K", 7, 700000);
	counts("incast:size=100K,senders=3,count=4,qps=2", 24, 2400000);
	counts("permutation:1M", 8, 8000000);
	counts("all-to-all:50K", 56, 2800000);
	counts("pair:from=3,to=0,size=2M,spread=50us", 1, 2000000);
	counts("ring:8M", 112, 112000000);
	counts("tree:size=8M,count=2", 448, 224000000);
}

/*
 * A ring sends 2 (n - 1) / n of the data over each link in 14 chunks, 1080114 B each with headers
 * and gaps: 86.41 us. A chunk has come after 2 us and a packet of 1106 B on the second link, 0.09
 * us. All but the last one wait for the ACK, too: 2 us and 2 x 6.88 ns.
 */
static void test_ring(void **state)
{
	(void)state;
	curve_within("ring",
		     curve_of(NETWORK "--workload ring:8M --drain 10ms --ack-every 1000",
			      "all_reduce.time_us.mean"),
		     14 * 86.409 + 14 * 2.08 + 13 * 2.014, 14 * 86.409 + 14 * 2.09 + 13 * 2.014);
}

/* One message alone takes its ideal time. */
static void test_alone(void **state)
{
	(void)state;
	curve_within("slowdown", curve_of(NETWORK "--workload pair:size=3M", "flows.slowdown.max"),
		     1, 1);
	/* A slower link on the way. */
	curve_within("slowdown over slow links",
		     curve_of("sim --topology dumbbell:2,uplink=10G --workload pair:to=3,size=300K",
			      "flows.slowdown.max"),
		     1, 1);
}

/* A message of 90.5 us is measured until it ends, whatever timers and failures are to come. */
static void test_measured_until(void **state)
{
	static const char *const more[] = {"", "--rto 100ms", "--at 9ms_down_h0_switch",
					   "--at 1ms_pause_h1"};

	(void)state;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		char words[200];
		json_t *report;

		snprintf(words, sizeof(words), NETWORK "--workload pair:size=1M %s", more[i]);
		report = curve_run(words);
		curve_within("end", curve_number(report, "run.end_us"), 90.4, 90.6);
		curve_within("Gb/s", curve_number(report, "throughput.goodput_gbps"), 88.3, 88.5);
		assert_true(curve_number(report, "queue.samples") == 9);
		json_decref(report);
	}
}

/* Of a message that began before measuring did, what had come then does not count. */
static void test_warmup(void **state)
{
	static const char *const how[] = {"go-back-n", "selective", "restart"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char words[200];

		snprintf(words, sizeof(words),
			 NETWORK "--workload pair:size=10M --warmup 700us --retransmit %s", how[i]);
		curve_within(how[i], curve_of(words, "throughput.goodput_gbps"), 90, 93);
		curve_within(how[i], curve_of(words, "throughput.most_gbps"), 90, 93);
	}
}

/* Equal shares are fair, however small: a byte in 60 us or so is 0.1 Mb/s. */
static void test_fair_bytes(void **state)
{
	(void)state;
	curve_within("Jain's fairness",
		     curve_of("sim --topology one-switch:hosts=8,delay=15us --workload "
			      "permutation:size=1",
			      "throughput.jain"),
		     0.999, 1);
}

/* Means of the published distributions, and arrivals: 30 % of 100 Gb/s are 31141 flows/s a host. */
static void test_arrivals(void **state)
{
	static const struct {
		const char *name;
		double mean, ms;
	} rows[] = {{"websearch", 1711250, 20}, {"hadoop", 120421, 20}, {"storage", 40870, 10}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char words[300];
		double expected, flows, unfinished;
		json_t *report;

		snprintf(words, sizeof(words),
			 NETWORK "--cc window --ack-every 16 --workload %s:10%% --duration %.0fms",
			 rows[i].name, rows[i].ms);
		report = curve_run(words);
		flows = curve_number(report, "flows.finished");
		unfinished = curve_number(report, "flows.unfinished");
		expected = 8 * rows[i].ms / 1000 * 0.1 * 100e9 / 8 / rows[i].mean;
		/* Of n arrivals the deviation is the root of n. */
		curve_within(rows[i].name, (flows + unfinished - expected) / sqrt(expected), -4, 4);
		json_decref(report);
	}
}

struct counted {
	struct load_set loads;
	unsigned flows[3]; /* of each host */
};

static void count_received(void *user, struct sim_connection *c, uint64_t now)
{
	load_received(&((struct counted *)user)->loads, c, now);
}

static void count_done(void *user, struct sim_connection *c, uint64_t now)
{
	load_done(&((struct counted *)user)->loads, c, now);
}

static void count_timer(void *user, uint32_t number, uint64_t now)
{
	load_timer(&((struct counted *)user)->loads, number, now);
}

static void count_finished(void *user, const struct sim_connection *c, uint64_t began, uint64_t now)
{
	(void)began;
	(void)now;
	((struct counted *)user)->flows[c->src]++;
}

/* A host with a tenth of the rate has a tenth of the flows. */
static void test_load_of_each_link(void **state)
{
	static const struct sim_ops ops = {count_received, count_done, count_timer};
	struct sim_settings set = {.mtu = 1000,
				   .header = 62,
				   .ack_bytes = 66,
				   .cnp_bytes = 78,
				   .ack_every = 1,
				   .data_class = 3,
				   .ack_class = 3,
				   .cnp_class = 6,
				   .rto = FABRIC_US * 1000};
	struct counted counted = {
		.loads = {.stop = 20000 * FABRIC_US, .finished = count_finished, .user = &counted}};
	struct fabric_topology t;
	struct fabric_error e;
	struct sim *s;

	(void)state;
	cc_settings_init(&set.cc, cc_at(1));
	fabric_topology_init(&t);
	assert_int_equal(fabric_topology_parse(&t,
					       "switch s\nhost a b c\nlink a s rate=10G\n"
					       "link b s rate=100G\nlink c s rate=100G\n",
					       &e),
			 0);
	assert_int_equal(sim_create(&s, &t, &set, 1, &e), 0);
	s->ops = &ops;
	s->user = &counted;
	counted.loads.sim = s;
	assert_int_equal(load_add(&counted.loads, "storage:10%", &e), 0);
	assert_int_equal(load_start(&counted.loads, &e), 0);
	fabric_run(s->fabric, 100000 * FABRIC_US);
	/* 10 % of the rate in payload, 20 ms, 40870 B each: 612 flows, and 61 of the slow link. */
	curve_within("slow", counted.flows[0], 61 - 4 * 7.8, 61 + 4 * 7.8);
	curve_within("fast", counted.flows[1], 612 - 4 * 24.7, 612 + 4 * 24.7);
	curve_within("fast", counted.flows[2], 612 - 4 * 24.7, 612 + 4 * 24.7);
	load_free(&counted.loads);
	sim_destroy(s);
	fabric_topology_fini(&t);
}

/* Each host's first flow, too, begins before the end or not at all. */
static void test_no_late_arrival(void **state)
{
	json_t *report;

	(void)state;
	report = curve_run(NETWORK "--workload storage:10% --duration 1ns --drain 100ms");
	assert_true(curve_number(report, "flows.finished") == 0);
	assert_true(curve_number(report, "flows.unfinished") == 0);
	json_decref(report);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"incst", "unknown workload 'incst': did you mean 'incast'?"},
		{"incast:sze=1", "unknown setting 'sze': did you mean 'size'?"},
		{"websearch:0", "is not in the range"},
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct load_set set = {0};
		struct fabric_error e;

		assert_true(load_add(&set, rows[i].text, &e) < 0);
		assert_non_null(strstr(e.text, rows[i].said));
		load_free(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),          cmocka_unit_test(test_ring),
		cmocka_unit_test(test_alone),           cmocka_unit_test(test_fair_bytes),
		cmocka_unit_test(test_measured_until),  cmocka_unit_test(test_warmup),
		cmocka_unit_test(test_arrivals),        cmocka_unit_test(test_load_of_each_link),
		cmocka_unit_test(test_no_late_arrival), cmocka_unit_test(test_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
