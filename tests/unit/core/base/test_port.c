/* SPDX-License-Identifier: BSD-2-Clause */
/* Link, GID table and the events of the port: each change is told once, to every client. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

/* The two newest events are of this type, one for each client. */
static void raised_on_both(const struct fixture *f, unsigned before, uint32_t type)
{
	assert_int_equal(f->async, before + 2);
	assert_ptr_not_equal(f->async_event[before].client, f->async_event[before + 1].client);
	for (unsigned i = before; i < before + 2; i++) {
		assert_int_equal(f->async_event[i].event.element, 1);
		assert_int_equal(f->async_event[i].event.type, type);
	}
}

static void expect_state(struct fixture *f, uint32_t state, uint32_t phys)
{
	struct uhca_cmd_port_attr p;

	assert_int_equal(core_query_port(f->client, 1, &p), 0);
	assert_int_equal(p.state, state);
	assert_int_equal(p.phys_state, phys);
}

static void test_link(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	core_port_set(f.dev, true);
	assert_int_equal(f.async, 0); /* no change, no event */
	core_port_set(f.dev, false);
	raised_on_both(&f, 0, UHCA_ABI_EVENT_PORT_ERR);
	expect_state(&f, IBV_PORT_DOWN, 3);
	core_port_set(f.dev, false);
	core_port_set(f.dev, true);
	raised_on_both(&f, 2, UHCA_ABI_EVENT_PORT_ACTIVE);
	expect_state(&f, IBV_PORT_ACTIVE, 5);
	fixture_stop(&f);
}

static void test_packets(void **state)
{
	static uint8_t buf[65536];
	struct core_burst burst = {.count = 1};
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, QPT_RC);
	fixture_connect(&f, &qp, QPT_RC);
	core_port_set(f.dev, false);
	burst.head.bth.dest_qp = qp.qpn;
	core_rx(f.dev, 0, &burst);
	assert_int_equal(core_counters(f.dev)->rx_packets, 0);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_PORT], 1);
	assert_string_equal(core_drop_name(CORE_DROP_PORT), "port_down");
	assert_false(core_tx_next(f.dev, 0, buf, sizeof(buf), &burst));
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

static void test_other_events(void **state)
{
	static const uint32_t good[] = {UHCA_ABI_EVENT_LID_CHANGE, UHCA_ABI_EVENT_PKEY_CHANGE,
					UHCA_ABI_EVENT_SM_CHANGE, UHCA_ABI_EVENT_CLIENT_REREGISTER,
					UHCA_ABI_EVENT_GID_CHANGE};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(core_port_event(f.dev, good[i]), 0);
		raised_on_both(&f, 2 * i, good[i]);
	}
	assert_int_equal(core_port_event(f.dev, UHCA_ABI_EVENT_PORT_ERR), -EINVAL);
	assert_int_equal(core_port_event(f.dev, UHCA_ABI_EVENT_QP_FATAL), -EINVAL);
	assert_int_equal(core_port_event(f.dev, UHCA_ABI_EVENT_DEVICE_FATAL), -EINVAL);
	assert_int_equal(f.async, 10);
	fixture_stop(&f);
}

/* What verbs and sysfs say of a speed; the port says no other until it is told to. */
static void test_speed(void **state)
{
	static const struct {
		uint32_t speed, width, code;
		const char *text;
	} rows[] = {
		{1, 1, 1, "2.5 Gb/sec (1X SDR)"},        {70, 1, 1, "2.5 Gb/sec (1X SDR)"},
		{100, 1, 4, "10 Gb/sec (1X QDR)"},       {400, 2, 4, "40 Gb/sec (4X QDR)"},
		{999, 16, 32, "50 Gb/sec (2X EDR)"},     {1000, 2, 32, "100 Gb/sec (4X EDR)"},
		{4000, 2, 128, "400 Gb/sec (4X NDR)"},   {8000, 2, 256, "800 Gb/sec (4X XDR)"},
		{16000, 4, 256, "1600 Gb/sec (8X XDR)"},
	};
	struct uhca_cmd_port_attr p;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		core_port_name_speed(f.dev, rows[i].speed);
		assert_string_equal(core_port_link(f.dev)->text, rows[i].text);
		assert_int_equal(core_query_port(f.client, 1, &p), 0);
		assert_int_equal(p.active_width, rows[i].width);
		assert_int_equal(p.active_speed, rows[i].code);
		assert_int_equal(p.speed, rows[i].speed);
	}
	assert_int_equal(f.async, 0);
	core_port_raise_speed_event(f.dev);
	assert_int_equal(f.async, 2);
	assert_int_equal(f.async_event[0].event.type, UHCA_ABI_EVENT_DEVICE_SPEED_CHANGE);
	assert_int_equal(f.async_event[0].event.element, 0); /* of no port */
	core_port_set(f.dev, false);
	f.async = 0;
	core_port_raise_speed_event(f.dev);
	assert_int_equal(f.async, 0);
	fixture_stop(&f);
}

static void test_pkey_and_mtu(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	core_port_set_pkey(f.dev, 0xffff);
	assert_int_equal(f.async, 0);
	core_port_set_pkey(f.dev, 0x8001);
	raised_on_both(&f, 0, UHCA_ABI_EVENT_PKEY_CHANGE);
	assert_int_equal(core_port_set_mtu(f.dev, 0), -ERANGE);
	assert_int_equal(core_port_set_mtu(f.dev, 6), -ERANGE);
	assert_int_equal(core_port_set_mtu(f.dev, IBV_MTU_512), 0);
	assert_int_equal(f.async, 2);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),         cmocka_unit_test(test_packets),
		cmocka_unit_test(test_speed),        cmocka_unit_test(test_pkey_and_mtu),
		cmocka_unit_test(test_other_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
