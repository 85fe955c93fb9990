/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reaction point of a QP, by numbers computed by hand: its port has 2.5 Gb/s, so a packet of
 * 1082 bytes takes 3462.4 ns at line rate.
 */
#include "tests/sim/world/marks.h"

#include "emu/core/qp/queue_pair.h"

#define SIZE 65536u

static struct marks m;

static void begin(const char *control)
{
	m = (struct marks){0};
	marks_config(&m, control);
}

static void start(void)
{
	marks_start(&m, &(struct pair_options){.buffer = 4 * SIZE});
}

static uint64_t rate(void)
{
	return marks_qp(&m.p.a)->congestion->flow.rate;
}

/* n WRITEs of SIZE bytes that arrive as they left. */
static void write_all(unsigned n)
{
	const unsigned before = m.p.a.n_wc;

	for (uint32_t i = 0; i < n; i++)
		side_write(&m.p.a, i, 0, i % 4 * SIZE, SIZE);
	side_wait(&m.p.a, before + n);
	for (unsigned i = 0; i < n; i++)
		side_expect(&m.p.a, before + i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	for (uint32_t i = 0; i < n && i < 4; i++)
		pair_expect_copy(&m.p.a, 0, &m.p.b, i * SIZE, SIZE);
}

/* The first CNP halves the rate, the second halves it again: alpha is still 1. */
static void test_cuts(void **state)
{
	(void)state;
	begin("dcqcn");
	start();
	assert_int_equal(rate(), MARKS_LINE);
	marks_notify(&m, &m.p.a);
	assert_int_equal(rate(), MARKS_LINE / 2);
	marks_notify(&m, &m.p.a);
	assert_int_equal(rate(), MARKS_LINE / 4);
	assert_int_equal(marks_counters(&m.p.a)->cnps_received, 2);
	assert_int_equal(marks_counters(&m.p.a)->cnps_handled, 2);
	/* Half way back to 1.25 Gb/s in 55 us: nothing asks before it sends. */
	world_run(m.p.w, m.p.w->now + 55000);
	write_all(1);
	assert_true(rate() >= 937500000);
	pair_finish(&m.p);
}

/*
 * At 1.25 Gb/s a tenth of a millisecond has 15625 bytes: bursts of 15 packets, 16230 bytes, each
 * 103872 ns behind the one before.
 */
static void test_spacing(void **state)
{
	const struct marks_packet *first;

	(void)state;
	begin("dcqcn");
	marks_set(&m, "timer", 1000000000);
	start();
	marks_notify(&m, &m.p.a);
	write_all(2);
	first = marks_nth(&m, 0, ROCE_OP_WRITE, 0);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, i)->time - first->time,
				 i / 15 * 103872);
	/* The message ends with 4 packets; 4328 bytes take 27699.2 ns. */
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 63)->time - first->time, 4 * 103872);
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 64)->time - first->time,
			 4 * 103872 + 27700);
	pair_finish(&m.p);
}

/* What waits is paid for at the rate of its time: a cut in the middle doubles the rest. */
static void test_rate_changes(void **state)
{
	uint64_t start_at;

	(void)state;
	begin("dcqcn");
	marks_set(&m, "timer", 1000000000);
	start();
	marks_notify(&m, &m.p.a);
	side_write(&m.p.a, 1, 0, SIZE, SIZE);
	world_pump(m.p.w);
	start_at = marks_nth(&m, 0, ROCE_OP_WRITE, 0)->time;
	world_run(m.p.w, start_at + 51936);
	marks_notify(&m, &m.p.a);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, SIZE);
	/* 51936 ns at 1.25 Gb/s were half of it; the other half takes 103872 at 0.625. */
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 15)->time - start_at, 51936 + 103872);
	pair_finish(&m.p);
}

/* At line rate nothing waits and no timer runs. */
static void test_line_rate(void **state)
{
	(void)state;
	begin("dcqcn");
	start();
	side_write(&m.p.a, 1, 0, SIZE, SIZE);
	world_pump(m.p.w);
	assert_int_equal(marks_count(&m, 0, ROCE_OP_WRITE), 64);
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 63)->time,
			 marks_nth(&m, 0, ROCE_OP_WRITE, 0)->time);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, SIZE);
	pair_finish(&m.p);
}

/* One that had nothing to send has no more than a burst at once afterwards. */
static void test_rest_earns_nothing(void **state)
{
	uint64_t from;

	(void)state;
	begin("dcqcn");
	marks_set(&m, "timer", 1000000000);
	start();
	marks_notify(&m, &m.p.a);
	write_all(1);
	world_run(m.p.w, m.p.w->now + 10 * 1000000);
	m.n = 0;
	write_all(1);
	from = marks_nth(&m, 0, ROCE_OP_WRITE, 0)->time;
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 15)->time - from, 103872);
	pair_finish(&m.p);
}

/* READ responses keep to the responder's rate. */
static void test_read_responses(void **state)
{
	const struct marks_packet *first;

	(void)state;
	begin("dcqcn");
	marks_set(&m, "timer", 1000000000);
	start();
	marks_notify(&m, &m.p.b);
	side_read(&m.p.a, 1, 0, SIZE, SIZE);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.b, SIZE, &m.p.a, 0, SIZE);
	first = marks_nth(&m, 1, ROCE_OP_READ_RESP, 0);
	assert_int_equal(first->tclass, ROCE_ECT0);
	for (unsigned i = 0; i < 45; i++)
		assert_int_equal(marks_nth(&m, 1, ROCE_OP_READ_RESP, i)->time - first->time,
				 i / 15 * 103872);
	pair_finish(&m.p);
}

/* 2.5 Gb/s x 100 us are 31250 bytes: 28 packets of 1082 until the first ACK, 2 ms later. */
static void test_window(void **state)
{
	struct link link = link_default();
	uint64_t from;
	unsigned n;

	(void)state;
	begin("window");
	m.cfg.congestion.base_rtt = 100000;
	start();
	link.delay = 1000000;
	world_set_links(m.p.w, &link);
	side_write(&m.p.a, 1, 0, SIZE, SIZE);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, SIZE);
	from = marks_nth(&m, 0, ROCE_OP_WRITE, 0)->time;
	for (n = 0; marks_nth(&m, 0, ROCE_OP_WRITE, n)->time == from; n++)
		;
	assert_int_equal(n, 28);
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 28)->time - from, 2000000);
	pair_finish(&m.p);
}

/* There and back is 2 us; with the network ten times slower than the clock, 200 ns. */
static void test_round_trip(void **state)
{
	(void)state;
	for (uint32_t scale = 1; scale <= 10; scale += 9) {
		begin("swift");
		m.cfg.congestion.scale = scale;
		start();
		write_all(1);
		assert_int_equal(marks_qp(&m.p.a)->congestion->rtt, 2000 / scale);
		pair_finish(&m.p);
	}
}

/* A network ten times slower: the rate on the wire is a tenth. */
static void test_scale(void **state)
{
	const struct marks_packet *first;

	(void)state;
	begin("dcqcn");
	marks_set(&m, "timer", 1000000000);
	m.cfg.congestion.scale = 10;
	start();
	marks_notify(&m, &m.p.a);
	assert_int_equal(rate(), MARKS_LINE / 2);
	write_all(1);
	/*
	 * 125 Mb/s have 1562 bytes in a tenth of a millisecond: a packet, each 69248 ns, or up to
	 * one of the network's ns later.
	 */
	first = marks_nth(&m, 0, ROCE_OP_WRITE, 0);
	for (unsigned i = 0; i < 64; i++)
		assert_in_range(marks_nth(&m, 0, ROCE_OP_WRITE, i)->time - first->time,
				(uint64_t)i * 69248, (uint64_t)i * 69248 + 10);
	pair_finish(&m.p);
}

/* What time does for the sender, in world and device: the network's goes on by so much. */
static void pass(uint64_t clock, uint64_t network)
{
	struct device *dev = marks_qp(&m.p.a)->dev;

	m.p.w->now += clock;
	core_network_passed(dev, m.p.w->now, network);
	world_run(m.p.w, m.p.w->now);
}

/*
 * A network that stands still: neither does a burst leave nor does DCQCN's timer (55 us) raise the
 * rate, however long it takes here; when it goes on both do.
 */
static void test_standing_network(void **state)
{
	unsigned sent;

	(void)state;
	begin("dcqcn");
	m.cfg.congestion.scale = 10;
	start();
	marks_notify(&m, &m.p.a);
	pass(0, m.p.w->now / 10);
	side_write(&m.p.a, 1, 0, SIZE, SIZE);
	world_pump(m.p.w);
	sent = marks_count(&m, 0, ROCE_OP_WRITE);
	for (unsigned i = 0; i < 10; i++)
		pass(1000000, 0);
	assert_int_equal(rate(), MARKS_LINE / 2);
	assert_int_equal(marks_count(&m, 0, ROCE_OP_WRITE), sent);
	/* 1082 bytes take 6924.8 ns at 1.25 Gb/s. */
	pass(0, 6924);
	assert_int_equal(marks_count(&m, 0, ROCE_OP_WRITE), sent);
	pass(0, 1);
	assert_int_equal(marks_count(&m, 0, ROCE_OP_WRITE), sent + 1);
	pass(0, 55000);
	assert_int_equal(rate(), MARKS_LINE * 3 / 4);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, SIZE);
	pair_finish(&m.p);
}

/* The timer of DCQCN raises the rate while a burst waits: 55 us, half way back. */
static void test_timer_wakes(void **state)
{
	uint64_t from;

	(void)state;
	begin("dcqcn");
	start();
	marks_notify(&m, &m.p.a);
	side_write(&m.p.a, 1, 0, SIZE, SIZE);
	world_pump(m.p.w);
	from = m.p.w->now;
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, SIZE);
	/*
	 * 16230 bytes: 55 us at 1.25 Gb/s pay 8593.75 of them, the other 7636.25 take 32581.3 ns at
	 * 1.875.
	 */
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 15)->time - from, 55000 + 32582);
	pair_finish(&m.p);
}

static void test_losses(void **state)
{
	struct link link = link_default();
	uint64_t window;

	(void)state;
	begin("dctcp");
	start();
	window = marks_qp(&m.p.a)->congestion->flow.window;
	link.loss = 1000000;
	world_set_links(m.p.w, &link);
	side_write(&m.p.a, 1, 0, SIZE, 1000);
	world_run(m.p.w, m.p.w->now + PAIR_SECONDS / 10); /* one timeout */
	assert_int_equal(marks_qp(&m.p.a)->congestion->flow.window, window / 2);
	link.loss = 0;
	world_set_links(m.p.w, &link);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, SIZE, 1000);
	pair_finish(&m.p);
}

/* Controls that look at delays have no use for CNPs. */
static void test_ignored(void **state)
{
	static const char *const controls[] = {"swift", "timely", "window", "none", NULL};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		begin(controls[i]);
		start();
		marks_notify(&m, &m.p.a);
		assert_int_equal(marks_counters(&m.p.a)->cnps_received, 1);
		assert_int_equal(marks_counters(&m.p.a)->cnps_handled, 0);
		pair_finish(&m.p);
	}
}

/* One that waits is destroyed or fails: nothing of its timer is left. */
static void test_ends(void **state)
{
	struct uhca_cmd_modify_qp error = {.attr_mask = IBV_QP_STATE, .attr.qp_state = IBV_QPS_ERR};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin("dcqcn");
		marks_set(&m, "timer", 1000000000);
		start();
		marks_notify(&m, &m.p.a);
		side_write(&m.p.a, 1, 0, SIZE, SIZE);
		world_pump(m.p.w);
		assert_non_null(marks_qp(&m.p.a)->congestion->timer.position);
		side_ignore(&m.p.b, SIZE, SIZE);
		error.handle = m.p.a.qp.handle;
		if (i)
			assert_int_equal(core_modify_qp(m.p.a.c.core, &error, m.p.w->now), 0);
		else
			assert_int_equal(core_destroy_qp(m.p.a.c.core, m.p.a.qp.handle), 0);
		assert_true(core_next_deadline(m.p.w->device[0].host.dev) == UINT64_MAX);
		pair_finish(&m.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_spacing),
		cmocka_unit_test(test_rate_changes),
		cmocka_unit_test(test_line_rate),
		cmocka_unit_test(test_rest_earns_nothing),
		cmocka_unit_test(test_read_responses),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_standing_network),
		cmocka_unit_test(test_timer_wakes),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests_name("reaction", tests, NULL, NULL);
}
