/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who a device is under which settings, and its end of the stack of boxes.
 */
#include "emu/io/base/log.h"
#include "emu/io/device/device.h"
#include "emu/io/ops.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
	struct io_settings *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*state = s;
	io_log_echo_errors(false);
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	free(*state);
	io_log_close();
	return 0;
}

static void test_default_identity(void **state)
{
	struct io_identity id[2];
	char text[IO_ADDRESS_TEXT];

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(io_identity_of(*state, i, &id[i]), 0);
	assert_string_equal(id[0].name, "uhca0");
	assert_string_equal(id[1].name, "uhca1");
	assert_string_equal(id[0].netdev, "lo");
	assert_string_equal(io_address_format(id[1].addresses.a[0].gid, text), "127.0.0.2");
	assert_int_not_equal(id[0].guid, id[1].guid);
}

static void test_given_addresses(void **state)
{
	struct io_settings *s = *state;
	struct io_identity id;

	s->addresses[1].count = 1;
	s->addresses[1].a[0] = io_test_address(5);
	strcpy(s->netdev, "lo"); /* an address that is given goes first */
	assert_int_equal(io_identity_of(s, 1, &id), 0);
	assert_int_equal(id.addresses.count, 1);
	assert_memory_equal(id.addresses.a[0].gid, io_test_address(5).gid, 16);
	assert_int_equal(id.guid, io_address_guid(&s->addresses[1].a[0]));
}

static void test_netdev(void **state)
{
	struct io_settings *s = *state;
	struct io_identity id;
	char text[IO_ADDRESS_TEXT];

	strcpy(s->netdev, "lo");
	assert_int_equal(io_identity_of(s, 0, &id), 0);
	assert_string_equal(io_address_format(id.addresses.a[0].gid, text), "127.0.0.1");
	assert_int_equal(io_identity_of(s, 1, &id), -EINVAL);
	strcpy(s->netdev, "nosuchif");
	assert_int_equal(io_identity_of(s, 0, &id), -ENODEV);
}

static void test_create(void **state)
{
	struct io_identity id;
	struct core_config defaults;
	struct io_device dev;

	core_config_default(&defaults);
	assert_int_equal(io_identity_of(*state, 0, &id), 0);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 0), 0);
	assert_int_equal(dev.config.node_guid, id.guid);
	assert_memory_equal(dev.config.gid[0], id.addresses.a[0].gid, 16);
	assert_int_equal(dev.config.window_bytes, defaults.window_bytes);
	assert_int_equal(id.active_mtu, io_address_path_mtu(io_address_mtu("lo")));
	assert_int_equal(dev.config.active_mtu, id.active_mtu);
	assert_ptr_equal(dev.bottom, &dev.top);
	io_device_destroy(&dev);
	io_device_destroy(&dev);
}

static void test_window(void **state)
{
	struct io_identity id;
	struct io_device dev;

	assert_int_equal(io_identity_of(*state, 0, &id), 0);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 20000), 0);
	assert_int_equal(dev.config.window_bytes, 20000);
	assert_int_equal(dev.config.window_most, 40000);
	io_device_destroy(&dev);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 1u << 30), 0);
	assert_in_range(dev.config.window_bytes, 4096, (1u << 30) - 1);
	io_device_destroy(&dev);
}

/* Nothing to send: it says so, and is not asked again until something happens. */
static void test_dirty(void **state)
{
	static uint8_t buf[65536];
	struct core_burst t;
	struct io_identity id;
	struct io_device dev;

	assert_int_equal(io_identity_of(*state, 0, &id), 0);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 0), 0);
	dev.dirty = true;
	assert_int_equal(io_device_send(&dev, 1, buf, sizeof(buf), 16), 0);
	assert_false(dev.dirty);
	memset(&t, 0, sizeof(t));
	t.count = 1;
	t.head.bth.opcode.v = ROCE_RC_ACKNOWLEDGE;
	netif_receive(&dev.top, &t, 5); /* for a QP that is not there */
	assert_true(dev.dirty);
	assert_int_equal(core_counters(dev.core)->rx_packets, 1);
	dev.blocked = true;
	assert_int_equal(io_device_send(&dev, 1, buf, sizeof(buf), 16), 0);
	assert_true(dev.dirty);
	io_device_destroy(&dev);
}

/* No device ever sees a packet whose ICRC is wrong. */
static void test_bad_icrc(void **state)
{
	struct core_burst t = {.count = 1, .model.bad_icrc = true};
	struct io_identity id;
	struct io_device dev;

	assert_int_equal(io_identity_of(*state, 0, &id), 0);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 0), 0);
	netif_receive(&dev.top, &t, 5);
	assert_int_equal(dev.bad_icrc, 1);
	assert_int_equal(core_counters(dev.core)->rx_packets, 0);
	io_device_destroy(&dev);
}

/* A daemon, and a QP of its first device that sends to one of its second. */
struct pair {
	struct io_test_daemon t;
	struct io_user u[2];
	struct io_user_qp q[2];
};

static void open_pair(struct pair *p)
{
	struct io_settings s;

	io_test_settings(&s, 2);
	io_test_daemon_start(&p->t, &s);
	for (unsigned i = 0; i < 2; i++) {
		io_user_open(&p->u[i], &p->t.d, p->t.d.ports[i].dev.id.name);
		io_user_qp_create(&p->q[i], &p->u[i], IBV_QPT_RC);
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_qp_connect(&p->q[i], p->u[1 - i].dev, p->q[1 - i].qpn);
}

static void close_pair(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++)
		io_user_close(&p->u[i]);
	io_test_daemon_stop(&p->t);
}

/* WRITEs of so many bytes, which the device knows of. */
static void write_to(struct pair *p, unsigned n, uint32_t length)
{
	struct uhca_abi_send_wqe e = {
		.opcode = UHCA_ABI_WR_RDMA_WRITE,
		.rdma = {.remote_addr = (uintptr_t)p->u[1].memory, .rkey = p->u[1].rkey}};

	for (unsigned i = 0; i < n; i++)
		io_user_send(&p->q[0], e, length);
	io_user_ring(&p->q[0]);
	io_client_doorbells(p->t.d.clients.at[0], 1);
}

/* So many bursts at a time; behind a long one the loop may look at doorbells. */
static void test_bursts(void **state)
{
	static struct pair p;
	struct io_device *dev;

	(void)state;
	open_pair(&p);
	dev = p.u[0].dev;
	write_to(&p, 5, 10);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 2), 2);
	assert_true(dev->dirty);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 2), 2);
	assert_true(dev->dirty);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 2), 1);
	assert_false(dev->dirty);
	write_to(&p, 2, 8192); /* not long yet */
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 16), 2);
	assert_false(dev->dirty);
	write_to(&p, 2, 8193);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 16), 1);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 16), 1);
	assert_true(dev->dirty);
	close_pair(&p);
}

/* What a burst of one client costs; none while the wire is full. */
static void test_cost(void **state)
{
	static struct pair p;
	struct client *of;
	struct io_device *dev;

	(void)state;
	open_pair(&p);
	dev = p.u[0].dev;
	of = p.t.d.clients.at[0]->core;
	write_to(&p, 1, 4095);
	write_to(&p, 1, 4096);
	write_to(&p, 1, 12288);
	dev->blocked = true;
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 0);
	dev->blocked = false;
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, p.t.d.clients.at[1]->core, 1), 0);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 1);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 2);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 4);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 0);
	close_pair(&p);
}

/* A datagram to a group may be copied often: the loop looks at the clock behind each. */
static void test_group(void **state)
{
	static const uint8_t group[16] = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1};
	static struct pair p;
	static struct io_user_qp q, member[16];
	struct uhca_abi_send_wqe e = {.opcode = UHCA_ABI_WR_SEND, .ud = {.remote_qpn = 0xffffff}};
	struct uhca_cmd_mcast join = {0};
	struct io_device *dev;
	struct client *of;

	(void)state;
	open_pair(&p);
	dev = p.u[0].dev;
	of = p.t.d.clients.at[0]->core;
	io_user_qp_create(&q, &p.u[0], IBV_QPT_UD);
	io_user_qp_connect(&q, NULL, 0);
	e.ud.ah = io_user_ah(&p.u[0], group);
	for (unsigned i = 0; i < 2; i++)
		io_user_send(&q, e, 10);
	io_user_ring(&q);
	io_client_doorbells(p.t.d.clients.at[0], 1);
	assert_int_equal(io_device_send(dev, 1, p.t.d.devices.buf, p.t.d.devices.cap, 16), 1);
	assert_true(dev->dirty);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 1); /* nobody is there */
	memcpy(join.gid, group, sizeof(group));
	for (unsigned i = 0; i < 16; i++) {
		struct io_user *u = &p.u[i % 2]; /* of both devices */

		io_user_qp_create(&member[i], u, IBV_QPT_UD);
		join.qp = member[i].handle;
		assert_int_equal(core_attach_mcast(p.t.d.clients.at[i % 2]->core, &join), 0);
	}
	io_user_send(&q, e, 10);
	io_user_ring(&q);
	io_client_doorbells(p.t.d.clients.at[0], 1);
	assert_int_equal(io_device_send_of(&p.t.d.devices, dev, of, 1), 3);
	close_pair(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_default_identity),
		TEST(test_given_addresses),
		TEST(test_netdev),
		TEST(test_create),
		TEST(test_window),
		TEST(test_dirty),
		TEST(test_bad_icrc),
		TEST(test_bursts),
		TEST(test_cost),
		TEST(test_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
