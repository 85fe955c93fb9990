/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modelled network between devices: when packets come, which are marked and which are lost, and
 * what time does when the daemon is behind. The clock is an argument here; numbers are computed by
 * hand from rate and delay.
 */
#include "emu/core/base/device.h"
#include "emu/fabric/file/file.h"
#include "emu/io/base/log.h"
#include "emu/io/network/network.h"
#include "emu/io/ops.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES 8
#define BEGIN   (7 * IO_SEC)

/* The box above, which counts and keeps the last packet. */
struct top {
	struct netif netif;
	unsigned received, lost, ce;
	uint64_t received_at;
	uint32_t psn;
	uint8_t last_byte;
	const char *why;
};

struct fixture {
	struct io_settings settings;
	struct fabric_topology topology;
	struct io_fabric addresses;
	struct io_devices devices;
	struct io_device dev[DEVICES];
	struct io_network_box box[DEVICES];
	struct top top[DEVICES];
	struct top wire[DEVICES]; /* below: what is not for a device of the daemon */
	struct io_network *network;
	uint64_t now;
};

static void get(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct top *top = (struct top *)n;

	assert_int_equal(t->count, 1);
	top->received++;
	top->received_at = now;
	top->psn = t->head.bth.psn;
	top->ce += (t->flow.tclass & 3) == 3;
	if (t->length)
		top->last_byte = ((const uint8_t *)t->iov[0].iov_base)[t->length - 1];
}

static void hear_lost(struct netif *n, const struct netif_lost *l)
{
	((struct top *)n)->lost++;
	((struct top *)n)->why = l->why;
}

static void count_sent(struct netif *n, const struct core_burst *t, uint64_t now)
{
	(void)now;
	((struct top *)n)->received += t->count;
}

static const struct netif_ops top_ops = {.receive = get, .lost = hear_lost};
static const struct netif_ops wire_ops = {.send = count_sent};

static void make_device(struct fixture *f, unsigned i)
{
	struct io_identity id;

	assert_int_equal(io_identity_of(&f->settings, i, &id), 0);
	assert_int_equal(io_device_create(&f->dev[i], io_core_ops(), &f->settings, &id, 0), 0);
	assert_int_equal(io_fabric_add(&f->addresses, &f->dev[i]), 0);
	f->devices.at[f->devices.n++] = &f->dev[i];
	f->top[i].netif.ops = &top_ops;
	f->wire[i].netif.ops = &wire_ops;
	io_network_join(f->network, &f->box[i], &f->dev[i]);
	netif_stack(&f->top[i].netif, &f->box[i].netif);
	netif_stack(&f->box[i].netif, &f->wire[i].netif);
}

/* The network of this name, with a device at each of its hosts. */
static void make(struct fixture *f, const char *name, unsigned scale)
{
	char error[600];

	fabric_topology_init(&f->topology);
	if (fabric_topology_load(&f->topology, name, error, sizeof(error)) < 0)
		fail_msg("%s", error);
	assert_in_range(f->topology.n_hosts, 1, DEVICES);
	f->settings.fabric = &f->topology;
	f->settings.fabric_scale = scale;
	f->now = BEGIN;
	assert_int_equal(
		io_network_create(&f->network, &f->settings, &f->addresses, &f->devices, f->now),
		0);
	for (unsigned i = 0; i < f->topology.n_hosts; i++)
		make_device(f, i);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	*state = f;
	io_log_echo_errors(false);
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_network_destroy(f->network);
	for (unsigned i = 0; i < f->devices.n; i++)
		io_device_destroy(&f->dev[i]);
	io_fabric_destroy(&f->addresses);
	fabric_topology_fini(&f->topology);
	free(f);
	io_log_close();
	return 0;
}

/* A WRITE of one packet of 4096 bytes. */
static void put_packet(struct fixture *f, unsigned from, const uint8_t to[16], uint8_t tclass)
{
	static uint8_t payload[4096];
	struct core_burst t;
	struct roce_packet p = {.payload = payload, .payload_len = sizeof(payload)};
	struct roce_flow flow = burst_gen_flow(f->dev[from].id.addresses.a[0].gid, to, 0xc123);

	payload[4095] = 0x5a;
	p.bth.opcode = (roce_opcode){0x0a}; /* RC_WRITE_ONLY */
	flow.tclass = tclass;
	core_burst_start(&t, &p, &flow);
	netif_send(&f->box[from].netif, &t, f->now);
}

static void send_to(struct fixture *f, unsigned from, unsigned to, uint8_t tclass)
{
	put_packet(f, from, f->dev[to].id.addresses.a[0].gid, tclass);
}

/* Until nothing is under way, as a loop that is always in time. Returns when. */
static uint64_t run_out(struct fixture *f)
{
	for (unsigned i = 0; io_network_next(f->network) != UINT64_MAX; i++) {
		assert_in_range(i, 0, 1000000);
		if (io_network_next(f->network) > f->now)
			f->now = io_network_next(f->network);
		io_network_run(f->network, f->now);
	}
	return f->now;
}

static void count(struct fixture *f, struct fabric_counters *c)
{
	fabric_count(f->network->fabric, f->network->time, c);
}

/* The device's clock, from the beginning. */
static uint64_t network_time(const struct fixture *f, unsigned i)
{
	return device_network_now(f->dev[i].core) - BEGIN / f->settings.fabric_scale;
}

/*
 * 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 16 RETH + 4096 + 4 ICRC + 4 FCS = 4174 bytes, with the
 * gap of 20 335.52 ns at 100 Gb/s. Twice, and two links of 1 us: 2671.04 ns, at scale 100 267104 ns
 * of the clock.
 */
static void test_time(void **state)
{
	struct fixture *f = *state;

	make(f, "one-switch:2", 100);
	assert_int_equal(io_network_next(f->network), UINT64_MAX);
	send_to(f, 0, 1, 0);
	assert_int_equal(f->dev[0].blocked, IO_BLOCK_NETWORK);
	/* The port is free when the packet has left, and the device is asked for more. */
	f->now = BEGIN + 33551;
	assert_false(io_network_run(f->network, f->now));
	assert_int_equal(f->dev[0].blocked, IO_BLOCK_NETWORK);
	f->now++;
	f->dev[0].dirty = true;
	assert_true(io_network_run(f->network, f->now));
	assert_int_equal(f->dev[0].blocked, 0);
	f->now = BEGIN + 267103;
	assert_false(io_network_run(f->network, f->now));
	assert_int_equal(f->top[1].received, 0);
	assert_int_equal(io_network_next(f->network), BEGIN + 267104);
	f->now++;
	assert_true(io_network_run(f->network, f->now));
	assert_int_equal(f->top[1].received, 1);
	assert_int_equal(f->top[1].last_byte, 0x5a);
	assert_int_equal(f->network->time, 2671040);
	/* Devices' clocks are as far as the network's. */
	assert_int_equal(network_time(f, 1), 2671);
	assert_int_equal(network_time(f, 0), 2671);
}

/* To itself by its switch, to everybody in a group, to others by the wire. */
static void test_where(void **state)
{
	static const uint8_t group[16] = {0xff, 0x0e, [15] = 1};
	struct fixture *f = *state;

	make(f, "one-switch:3", 1);
	send_to(f, 2, 2, 0);
	run_out(f);
	assert_int_equal(f->top[2].received, 1);
	put_packet(f, 0, io_test_address(200).gid, 0);
	assert_int_equal(f->wire[0].received, 1);
	put_packet(f, 0, group, 0);
	assert_int_equal(f->wire[0].received, 2);
	run_out(f);
	assert_int_equal(f->top[0].received, 1);
	assert_int_equal(f->top[1].received, 1);
	assert_int_equal(f->top[2].received, 2);
}

/* Seven senders of 100 packets each into one, which takes a seventh: 2.9 MB in 1 MB of buffer. */
static void incast(struct fixture *f, uint8_t tclass)
{
	for (unsigned k = 0; k < 100; k++)
		for (unsigned i = 1; i < DEVICES; i++)
			send_to(f, i, 0, tclass);
	run_out(f);
}

/* No traffic class is that of data: PFC holds the senders, and nothing is lost. */
static void test_lossless(void **state)
{
	struct fixture *f = *state;
	struct fabric_counters c;

	make(f, "one-switch:8,buffer=1M,delay=100ns", 100);
	incast(f, 0);
	count(f, &c);
	assert_int_equal(f->top[0].received, 700);
	assert_true(c.xoff > 0);
	assert_int_equal(c.xoff, c.xon);
	assert_int_equal(c.marked, 0); /* the packets say that they cannot be */
	for (unsigned i = 0; i < FABRIC_DROPS; i++)
		assert_int_equal(c.dropped[i], 0);
}

/* DSCP 8 is class 1, in which a full queue drops. The senders hear of each. */
static void test_lossy(void **state)
{
	struct fixture *f = *state;
	struct fabric_counters c;
	unsigned lost = 0;

	make(f, "one-switch:8,buffer=1M,delay=100ns", 100);
	incast(f, 8 << 2);
	count(f, &c);
	for (unsigned i = 0; i < DEVICES; i++)
		lost += f->top[i].lost;
	assert_int_equal(c.dropped[FABRIC_DROP_TAIL], lost);
	assert_int_equal(f->top[0].received + lost, 700);
	assert_in_range(lost, 100, 690);
	assert_string_equal(f->top[1].why, "tail");
	assert_int_equal(c.xoff, 0);
	assert_int_equal(f->network->flights.n_free, f->network->flights.n);
}

/* Those that say that they can be are marked, and the receiver sees it. */
static void test_marks(void **state)
{
	struct fixture *f = *state;
	struct fabric_counters c;

	make(f, "one-switch:8", 100);
	incast(f, 2);
	count(f, &c);
	assert_int_equal(f->top[0].received, 700);
	assert_in_range(f->top[0].ce, 100, 700);
	assert_int_equal(f->top[0].ce, c.marked);
}

/*
 * The daemon was away for 50 ms while a packet waited: the network's time has gone on for one, and
 * what comes of the packet is as far behind it as ever.
 */
static void test_behind(void **state)
{
	struct fixture *f = *state;

	make(f, "one-switch:2", 100);
	send_to(f, 0, 1, 0);
	f->now += 50 * IO_MSEC;
	assert_true(io_network_run(f->network, f->now));
	/* The first thing that was due was at 33552 ns: the port is free. */
	assert_int_equal(f->network->behind, 50 * IO_MSEC - 1 * IO_MSEC - 33552);
	assert_true(run_out(f) == f->now);
	assert_int_equal(f->top[1].received, 1);
	assert_int_equal(f->network->time, 2671040);
	/* The devices' clocks stood still with it. */
	assert_int_equal(network_time(f, 0), 2671);
	assert_int_equal(network_time(f, 1), 2671);
	/* With nothing under way nothing is late. */
	f->now += 50 * IO_MSEC;
	assert_false(io_network_run(f->network, f->now));
	assert_int_equal(f->network->behind, 50 * IO_MSEC - 1 * IO_MSEC - 33552);
}

static void go_wrong(struct fixture *f, const char *text)
{
	struct io_network_change c = {.last = 0};
	struct fabric_error e;

	if (fabric_failure_read(&c.failure, text, text, &f->topology, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	assert_int_equal(io_network_change(f->network, &c, f->now), 0);
}

/* A spine goes: the next packet takes the other. */
static void test_reroute(void **state)
{
	struct fixture *f = *state;
	struct roce_flow flow;
	uint32_t links[8], spine;

	make(f, "leaf-spine:leaves=2,spines=2,hosts=1", 100);
	flow = burst_gen_flow(f->dev[0].id.addresses.a[0].gid, f->dev[1].id.addresses.a[0].gid,
			      0xc123);
	assert_int_equal(io_network_path(f->network, &flow, links, 8), 4);
	spine = f->topology.links[links[1]].end[1];
	spine = f->topology.nodes[spine].name[0] == 's' ? spine
							: f->topology.links[links[1]].end[0];
	go_wrong(f, spine == fabric_topology_find(&f->topology, "spine0", 6) ? "down spine0"
									     : "down spine1");
	send_to(f, 0, 1, 0);
	run_out(f);
	assert_int_equal(f->top[1].received, 1);
	go_wrong(f, "down leaf1 h1");
	assert_int_equal(io_network_path(f->network, &flow, links, 8), 0);
	send_to(f, 0, 1, 0);
	run_out(f);
	assert_int_equal(f->top[1].received, 1);
	assert_string_equal(f->top[0].why, "down");
	/* A host that is cut off keeps what it has. */
	send_to(f, 1, 0, 0);
	assert_string_equal(f->top[1].why, "down");
	assert_int_equal(f->dev[1].blocked, IO_BLOCK_NETWORK);
	go_wrong(f, "up leaf1 h1");
	assert_int_equal(f->dev[1].blocked, 0);
}

/* When the end of a failure is due by the clock, however long that is. */
static void test_far_ends(void **state)
{
	struct fixture *f = *state;
	struct io_network_change c = {.last = UINT64_C(18500000000)};
	struct fabric_error e;

	make(f, "one-switch:2", 1000000);
	assert_int_equal(fabric_failure_read(&c.failure, "down h0 switch", "down h0 switch",
					     &f->topology, &e),
			 0);
	assert_int_equal(io_network_change(f->network, &c, f->now), 0);
	assert_int_equal(io_network_next(f->network), BEGIN + c.last * 1000000);
	c.last = UINT64_C(1000000000000000000);
	assert_int_equal(io_network_change(f->network, &c, f->now), 0);
	assert_int_equal(io_network_next(f->network), UINT64_MAX);
}

static void test_loss(void **state)
{
	struct fixture *f = *state;

	make(f, "one-switch:2", 100);
	go_wrong(f, "loss h1 switch 100%");
	send_to(f, 0, 1, 0);
	run_out(f);
	assert_int_equal(f->top[1].received, 0);
	assert_string_equal(f->top[0].why, "loss");
}

static unsigned seen[2];

static bool see(const struct io_network_tap *tap, const struct core_burst *t, bool out)
{
	assert_ptr_equal(tap->user, seen);
	assert_int_equal(t->length, 4096);
	seen[out]++;
	return seen[0] + seen[1] < 3;
}

/* What leaves by a port and what comes in, up to the third. */
static void test_tap(void **state)
{
	struct fixture *f = *state;
	struct io_network_tap tap = {.seen = see, .user = seen};
	char name[IO_NETWORK_PORT_NAME];

	make(f, "one-switch:2", 100);
	assert_int_equal(io_network_port(f->network, "switch/port3"), -ENOENT);
	tap.port = (uint32_t)io_network_port(f->network, "switch/port2");
	io_network_port_name(f->network, tap.port, name);
	assert_string_equal(name, "switch/port2");
	io_network_port_name(f->network, tap.port ^ 1u, name);
	assert_string_equal(name, "h1");
	io_network_look(f->network, &tap);
	send_to(f, 0, 1, 0);
	run_out(f);
	send_to(f, 1, 0, 0);
	send_to(f, 1, 0, 0);
	run_out(f);
	assert_int_equal(seen[1], 1);
	assert_int_equal(seen[0], 2);
	send_to(f, 0, 1, 0);
	run_out(f);
	assert_int_equal(seen[1], 1);
	assert_int_equal(f->top[1].received, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_time),  TEST(test_where),  TEST(test_lossless), TEST(test_lossy),
		TEST(test_marks), TEST(test_behind), TEST(test_reroute),  TEST(test_far_ends),
		TEST(test_loss),  TEST(test_tap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
