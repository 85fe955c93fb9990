/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who a device is under which settings, and its end of the stack of boxes.
 */
#include "emu/io/base/log.h"
#include "emu/io/device/device.h"
#include "emu/io/ops.h"
#include "tests/support/io/io_fixture.h"
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
	io_device_destroy(&dev);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 1u << 30), 0);
	assert_in_range(dev.config.window_bytes, 4096, (1u << 30) - 1);
	io_device_destroy(&dev);
}

/* Nothing to send: it says so, and is not asked again until something happens. */
static void test_dirty(void **state)
{
	static uint8_t buf[65536];
	struct core_train t;
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
	struct core_train t = {.count = 1, .story.bad_icrc = true};
	struct io_identity id;
	struct io_device dev;

	assert_int_equal(io_identity_of(*state, 0, &id), 0);
	assert_int_equal(io_device_create(&dev, io_core_ops(), *state, &id, 0), 0);
	netif_receive(&dev.top, &t, 5);
	assert_int_equal(dev.bad_icrc, 1);
	assert_int_equal(core_counters(dev.core)->rx_packets, 0);
	io_device_destroy(&dev);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_default_identity), TEST(test_given_addresses), TEST(test_netdev),
		TEST(test_create),           TEST(test_window),          TEST(test_dirty),
		TEST(test_bad_icrc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
