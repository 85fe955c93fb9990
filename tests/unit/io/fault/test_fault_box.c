/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The box of fault rules in a device's stack: out of the way while no rule looks at packets, and
 * packet by packet through the plan while one does, in both directions; late packets leave in
 * their time; a frozen box keeps all.
 */
#include "emu/io/base/log.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static struct io_test_daemon t;
static struct io_fault_box *box;

struct end {
	struct netif netif;
	unsigned packets;
	unsigned flushes;
	const struct core_burst *last;
	uint32_t psn;
};

static struct end above, below;

static void take_burst(struct netif *n, const struct core_burst *burst, uint64_t now)
{
	struct end *e = (struct end *)n;

	(void)now;
	e->packets += burst->count;
	e->last = burst;
	e->psn = burst->head.bth.psn;
}

static void flush(struct netif *n)
{
	((struct end *)n)->flushes++;
}

static const struct netif_ops end_ops = {.send = take_burst, .receive = take_burst, .flush = flush};

static int setup(void **state)
{
	struct io_settings s;

	(void)state;
	io_log_echo_errors(false);
	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 1);
	s.has_fault_seed = true;
	io_test_daemon_start(&t, &s);
	box = &t.d.ports[0].fault;
	above = below = (struct end){.netif.ops = &end_ops};
	box->netif.above = &above.netif;
	box->netif.below = &below.netif;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_stop(&t);
	io_log_close();
	return 0;
}

static int add(const char *text)
{
	struct fault_error error;
	int number = io_faults_add(&t.d.faults, text, 0, &error);

	assert_true(number > 0);
	io_faults_changed(&t.d.faults);
	return number;
}

static const struct core_burst *write_burst(void)
{
	static struct core_burst burst;
	static uint8_t payload[4096];
	struct prng rng = prng_start("fault_box");

	for (unsigned i = 0; i < burst_gen_messages_count; i++)
		if (burst_gen_messages[i].first == ROCE_RC_WRITE_FIRST)
			burst_gen_message(&rng, &burst_gen_messages[i], 1024, 4096, payload,
					  &burst);
	assert_int_equal(burst.count, 4);
	return &burst;
}

/* The very same burst, whole: nobody looked at it. */
static void test_out_of_the_way(void **state)
{
	const struct core_burst *burst = write_burst();
	int number;

	(void)state;
	netif_send(&box->netif, burst, 1);
	assert_ptr_equal(below.last, burst);
	netif_receive(&box->netif, burst, 1);
	assert_ptr_equal(above.last, burst);
	number = add("call.fail=ENOMEM call=create_qp");
	assert_false(box->active);
	add("port.down after=3600s");
	assert_false(box->active);
	netif_send(&box->netif, burst, 1);
	assert_ptr_equal(below.last, burst);
	io_faults_remove(&t.d.faults, (uint32_t)number, 1);
	io_faults_changed(&t.d.faults);
	assert_false(box->active);
	assert_int_equal(below.packets, 8);
}

static void test_drop(void **state)
{
	const struct core_burst *burst = write_burst();

	(void)state;
	add("drop dir=tx nth=2,4");
	assert_true(box->active);
	netif_send(&box->netif, burst, 1);
	assert_int_equal(below.packets, 2);
	netif_receive(&box->netif, burst, 1);
	assert_int_equal(above.packets, 4);
	assert_int_equal(fault_net_counters(box->net)->dropped, 2);
	/* It has done what it can do: out of the way again. */
	io_faults_tick(&t.d.faults, 2);
	assert_false(box->active);
	netif_send(&box->netif, burst, 2);
	assert_ptr_equal(below.last, burst);
}

static void test_delay(void **state)
{
	const struct core_burst *burst = write_burst();
	unsigned flushes;

	(void)state;
	add("delay=100ns dir=tx first=2");
	netif_send(&box->netif, burst, 1000);
	assert_int_equal(below.packets, 2);
	assert_int_equal(io_fault_box_deadline(box), 1100);
	io_faults_tick(&t.d.faults, 1001);
	assert_int_equal(below.packets, 2);
	assert_int_equal(io_faults_deadline(&t.d.faults), 1100);
	flushes = below.flushes;
	io_faults_tick(&t.d.faults, 1100);
	assert_int_equal(below.packets, 4);
	assert_true(below.flushes > flushes);
	assert_int_equal(io_fault_box_deadline(box), UINT64_MAX);
}

static void test_frozen(void **state)
{
	const struct core_burst *burst = write_burst();
	struct fault_waiting w[16];

	(void)state;
	fault_net_freeze(box->net, true, 1);
	io_faults_changed(&t.d.faults);
	assert_true(box->active);
	netif_send(&box->netif, burst, 1);
	netif_receive(&box->netif, burst, 2);
	assert_int_equal(below.packets + above.packets, 0);
	assert_int_equal(fault_net_waiting(box->net, w, 16), 8);
	assert_int_equal(fault_net_release(box->net, w[1].number, 3), 0);
	assert_int_equal(below.packets, 1);
	assert_int_equal(below.psn, (burst->head.bth.psn + 1) & 0xffffff);
	fault_net_freeze(box->net, false, 4);
	io_faults_changed(&t.d.faults);
	assert_int_equal(below.packets, 4);
	assert_int_equal(above.packets, 4);
	assert_false(box->active);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_out_of_the_way, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_delay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frozen, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
