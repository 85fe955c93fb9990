/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that act on the modelled network: at the very packet, on the link that they name, for as
 * long as they say in the network's time. The clock goes as the network asks for it.
 */
#include "emu/fabric/file/file.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct io_test_daemon t;
static struct fabric_topology topology;
static struct io_network *network;
static uint64_t now;

static void begin(const char *name)
{
	struct io_settings s;
	char error[600];

	fabric_topology_init(&topology);
	topology.link.mtu = IO_NETWORK_MTU;
	if (fabric_topology_load(&topology, name, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	io_test_settings(&s, topology.n_hosts);
	s.fabric = &topology;
	s.fabric_scale = 10;
	s.fault_seed = 7;
	io_test_daemon_start(&t, &s);
	network = t.d.network;
	now = io_clock_now();
}

static int setup(void **state)
{
	(void)state;
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	fabric_topology_fini(&topology);
	return 0;
}

static void add(const char *rule)
{
	struct fault_error error;

	if (io_faults_add(&t.d.faults, rule, now, &error) < 0)
		fail_msg("%s: %u: %s", rule, error.column, error.text);
	io_faults_changed(&t.d.faults);
}

static void refused(const char *rule, unsigned column, const char *text)
{
	struct fault_error error;

	assert_int_equal(io_faults_add(&t.d.faults, rule, now, &error), -EINVAL);
	assert_int_equal(error.column, column);
	if (!strstr(error.text, text))
		fail_msg("%s: %s", rule, error.text);
}

/* A WRITE of one packet leaves a device. */
static void send_one(unsigned from, unsigned to)
{
	static uint8_t payload[1024];
	struct roce_packet p = {.bth.opcode = {0x0a}, .payload = payload, .payload_len = 1024};
	struct roce_flow flow = burst_gen_flow(t.d.ports[from].dev.id.addresses.a[0].gid,
					       t.d.ports[to].dev.id.addresses.a[0].gid, 0xc123);
	struct core_burst b;

	core_burst_start(&b, &p, &flow);
	netif_send(&t.d.ports[from].fault.netif, &b, now);
}

/* The clock goes on for so long of the network's time, or until nothing is under way. */
static void pass(uint64_t ns)
{
	const uint64_t end = network->time + ns * 1000;

	while (network->time < end) {
		uint64_t next = io_network_next(network);
		const uint64_t most =
			network->base_wall + (end - network->base_time) * network->scale / 1000;

		next = next < most ? next : most;
		now = next > now ? next : now + 1000;
		io_network_run(network, now);
	}
}

static uint64_t dropped(enum fabric_drop why)
{
	struct fabric_counters c;

	fabric_count(network->fabric, network->time, &c);
	return c.dropped[why];
}

static uint64_t delivered(void)
{
	struct fabric_counters c;

	fabric_count(network->fabric, network->time, &c);
	return c.delivered;
}

static struct fabric_port_state port(const char *name)
{
	struct fabric_port_state s;
	const int64_t number = io_network_port(network, name);

	assert_true(number >= 0);
	fabric_port(network->fabric, (uint32_t)number, network->time, &s);
	return s;
}

static bool is_up(const char *name)
{
	return fabric_port_up(network->fabric, (uint32_t)io_network_port(network, name));
}

/* The third of five is lost, and those behind it, until the link is there again: 1 ms later. */
static void test_down_at_a_packet(void **state)
{
	(void)state;
	begin("one-switch:2");
	add("cut: link.down=1ms link=switch/port2 opcode=write nth=3");
	for (unsigned i = 0; i < 5; i++) {
		assert_true(is_up("switch/port2") == (i < 3));
		send_one(0, 1);
		pass(10000);
	}
	assert_int_equal(delivered(), 2);
	assert_int_equal(dropped(FABRIC_DROP_DOWN) + dropped(FABRIC_DROP_ROUTE), 3);
	/* It is the link of a device, which says so. */
	assert_true(core_port_is_down(t.d.ports[1].dev.core));
	assert_false(core_port_is_down(t.d.ports[0].dev.core));
	pass(900000);
	assert_false(is_up("switch/port2"));
	pass(100000);
	assert_true(is_up("switch/port2"));
	assert_false(core_port_is_down(t.d.ports[1].dev.core));
	send_one(0, 1);
	pass(10000);
	assert_int_equal(delivered(), 3);
	assert_int_equal(fault_plan_find(t.d.faults.plan, "cut")->hits, 1);
}

/* Down for 100 us and up for 50, three times; the other way to name it is by its ends. */
static void test_flap(void **state)
{
	(void)state;
	begin("leaf-spine:leaves=2,spines=2,hosts=1");
	add("link.flap=down:100us,up:50us,times:3 link=leaf0/spine1 nth=1");
	send_one(0, 1);
	for (unsigned i = 0; i < 3; i++) {
		pass(95000);
		assert_false(is_up("spine1/port1"));
		pass(10000);
		assert_true(is_up("spine1/port1"));
		assert_true(is_up("spine0/port1"));
		pass(45000);
	}
	assert_true(is_up("spine1/port1"));
	assert_int_equal(delivered(), 1); /* by the other spine */
}

/* Many links by one word; a second rule on the same link ends what the first has begun. */
static void test_rate_delay_loss(void **state)
{
	(void)state;
	begin("one-switch:3");
	add("link.rate=10gbit link=switch/port* time=1ms after=0s");
	add("link.delay=7us link=h0 after=0s");
	add("link.loss=100% link=h1/switch,switch/h1 time=200us after=0s");
	io_faults_tick(&t.d.faults, now);
	assert_int_equal(port("switch/port1").rate, UINT64_C(10000000000));
	assert_int_equal(port("h2").rate, UINT64_C(10000000000));
	assert_int_equal(port("h0").delay, 7000000);
	assert_int_equal(port("h1").delay, 1000000);
	assert_int_equal(port("h1").loss, FABRIC_RATIO_ONE);
	send_one(0, 1);
	pass(100000);
	assert_int_equal(dropped(FABRIC_DROP_LOSS), 1);
	pass(150000);
	assert_int_equal(port("h1").loss, 0);
	add("link.rate=5gbit link=h0 after=0s");
	io_faults_tick(&t.d.faults, now);
	pass(1000000);
	assert_int_equal(port("h0").rate, UINT64_C(5000000000)); /* it has no end */
	assert_int_equal(port("h1").rate, UINT64_C(100000000000));
}

/* A switch takes its hosts' links with it; a paused host holds its sender up. */
static void test_switch_and_host(void **state)
{
	(void)state;
	begin("leaf-spine:leaves=2,spines=1,hosts=1");
	add("switch.down=300us switch=leaf1 nth=2");
	send_one(0, 1);
	pass(20000);
	send_one(0, 1);
	pass(20000);
	assert_int_equal(delivered(), 1);
	assert_true(core_port_is_down(t.d.ports[1].dev.core));
	assert_false(core_port_is_down(t.d.ports[0].dev.core));
	pass(300000);
	assert_false(core_port_is_down(t.d.ports[1].dev.core));
	add("host.pause=1ms host=h1 after=0s");
	io_faults_tick(&t.d.faults, now);
	pass(10000);
	send_one(0, 1);
	pass(900000);
	assert_int_equal(delivered(), 1);
	pass(200000);
	assert_int_equal(delivered(), 2);
}

/* A rule of what a device receives fires while the model is at work: it follows at once. */
static void test_inside(void **state)
{
	(void)state;
	begin("one-switch:2");
	add("link.down=1ms link=h0 dir=rx dev=uhca1 nth=1");
	send_one(0, 1);
	pass(5000);
	assert_int_equal(delivered(), 1);
	assert_false(is_up("h0"));
	pass(1000000);
	assert_true(is_up("h0"));
}

/* The network was idle for long: what happens now lasts from now on. */
static void test_idle(void **state)
{
	struct fault_error error;

	(void)state;
	begin("one-switch:2");
	now += 5 * IO_SEC;
	assert_int_equal(io_faults_now(&t.d.faults, "link.down=1ms link=h*", now, &error), 2);
	assert_false(is_up("h1"));
	now += 9 * IO_MSEC; /* 0.9 ms of the network */
	io_network_run(network, now);
	assert_false(is_up("h1"));
	pass(200000);
	assert_true(is_up("h1"));
	assert_int_equal(network->behind, 0);
}

/* At a port of a switch: the second packet is lost there, the fourth is marked, and so on. */
static void test_at_a_port(void **state)
{
	(void)state;
	begin("leaf-spine:leaves=2,spines=1,hosts=1");
	add("lost: drop at=leaf1/port2 opcode=write nth=2 dev=uhca0");
	add("marked: ecn at=spine0/port2 nth=3");
	add("other: drop at=leaf1/port1"); /* towards the spine: the other way */
	add("all: count at=hop");
	add("dark: link.down link=h0 at=leaf0/port1 nth=4");
	for (unsigned i = 0; i < 4; i++) {
		send_one(0, 1);
		pass(20000);
	}
	assert_int_equal(delivered(), 3);
	assert_int_equal(dropped(FABRIC_DROP_LOSS), 1);
	assert_int_equal(port("leaf1/port2").dropped + port("leaf1/port1").dropped, 1);
	assert_int_equal(fault_plan_find(t.d.faults.plan, "lost")->hits, 1);
	assert_int_equal(fault_plan_find(t.d.faults.plan, "marked")->hits, 1);
	assert_int_equal(fault_plan_find(t.d.faults.plan, "other")->hits, 0);
	/* Three switches for each; it was not asked about the one that was lost before. */
	assert_in_range(fault_plan_find(t.d.faults.plan, "all")->hits, 11, 12);
	assert_int_equal(fault_plan_find(t.d.faults.plan, "dark")->hits, 1);
	assert_false(is_up("h0"));
	io_faults_clear(&t.d.faults, now);
	io_faults_changed(&t.d.faults);
	send_one(1, 0);
	pass(20000);
	assert_int_equal(delivered(), 3);
}

static void test_refused(void **state)
{
	(void)state;
	begin("leaf-spine:leaves=2,spines=2,hosts=1");
	refused("link.down link=leaf0/port9 nth=1", 16,
		"is no link of the network, as 'leaf0/port");
	refused("link.down link=spin0/leaf0 nth=1", 16, "did you mean 'spine0/leaf0'?");
	refused("switch.down switch=spine2", 20, "did you mean 'spine0'?");
	refused("host.pause host=h2", 17, "'h2' is no host");
	t.d.faults.env.network = NULL;
	refused("link.down link=h0 nth=1", 1, "needs a modelled network: uhca-run --fabric");
	t.d.faults.env.network = network;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_down_at_a_packet), TEST(test_flap),    TEST(test_rate_delay_loss),
		TEST(test_switch_and_host),  TEST(test_inside),  TEST(test_idle),
		TEST(test_at_a_port),        TEST(test_refused),
	};

	return cmocka_run_group_tests_name("fault_network", tests, NULL, NULL);
}
