/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups by the network: a device hears the groups that it has joined and no other, once
 * each datagram, until it leaves; what cannot be joined is not.
 */
#include "emu/io/base/log.h"
#include "emu/io/net/udp.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 3

struct world {
	struct io_test_daemon t;
	struct io_user u[DEVICES];
	struct io_user_qp q[DEVICES];
	uint8_t group[2][16];
};

static struct world w;

static void start(enum io_wire_mode wire)
{
	struct io_settings s;

	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, DEVICES);
	s.wire = wire;
	io_test_daemon_start(&w.t, &s);
	for (unsigned i = 0; i < 2; i++) { /* of this process alone */
		memcpy(w.group[i], io_test_address(100 + i).gid, 16);
		w.group[i][12] = 239;
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		io_user_open(&w.u[i], &w.t.d, w.t.d.ports[i].dev.id.name);
		io_user_qp_create(&w.q[i], &w.u[i], IBV_QPT_UD);
		io_user_qp_connect(&w.q[i], NULL, 0);
		for (unsigned k = 0; k < 16; k++)
			io_user_recv(&w.q[i], k, 8192, 4096);
	}
}

static int setup(void **state)
{
	(void)state;
	start(IO_WIRE_AUTO);
	return 0;
}

static int setup_wire(void **state)
{
	(void)state;
	start(IO_WIRE_ALWAYS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DEVICES; i++)
		io_user_close(&w.u[i]);
	io_test_daemon_stop(&w.t);
	io_log_close();
	return 0;
}

static int attach(unsigned device, unsigned group, uint32_t cmd)
{
	struct uhca_cmd_mcast in = {.qp = w.q[device].handle};

	memcpy(in.gid, w.group[group], 16);
	return io_test_call(&w.u[device].c, cmd, &in, sizeof(in));
}

/* From the first device; then a datagram to each device itself. */
static void send_to(unsigned group)
{
	struct uhca_cmd_create_ah in = {.pd = w.u[0].pd,
					.attr = {.is_global = 1, .port_num = 1, .hop_limit = 1}};
	struct uhca_cmd_handle_reply reply;
	struct uhca_abi_send_wqe e = {.opcode = UHCA_ABI_WR_SEND, .ud.remote_qpn = 0xffffff};

	memcpy(in.attr.dgid, w.group[group], 16);
	assert_int_equal(io_test_call(&w.u[0].c, UHCA_CMD_CREATE_AH, &in, sizeof(in)), 0);
	memcpy(&reply, &w.u[0].c.reply, sizeof(reply));
	e.ud.ah = reply.handle;
	io_user_send(&w.q[0], e, 100);
	for (unsigned i = 0; i < DEVICES; i++) {
		e.ud.ah = io_user_ah(&w.u[0], w.u[i].dev->id.addresses.a[0].gid);
		e.ud.remote_qpn = w.q[i].qpn;
		io_user_send(&w.q[0], e, 1);
	}
	io_user_ring(&w.q[0]);
}

struct heard {
	unsigned own, group;
};

static void poll_device(unsigned device, struct heard *h)
{
	struct uhca_abi_cqe e;

	while (io_user_poll(&w.q[device], &e)) {
		assert_int_equal(e.status, UHCA_ABI_WC_SUCCESS);
		if (e.opcode & UHCA_ABI_WC_RECV) {
			h->own += e.byte_len == 41;
			h->group += e.byte_len == 140;
		}
	}
}

/*
 * How many came to the device by a group. Each has sockets of its own, which are looked at when
 * that of the device has what was sent later.
 */
static unsigned heard(unsigned device)
{
	struct heard h = {0};

	for (unsigned passes = 0; passes < 10000 && h.own == 0; passes++) {
		io_user_loop_pass(&w.t.d);
		poll_device(device, &h);
	}
	assert_int_equal(h.own, 1);
	for (unsigned i = 0; i < 3; i++)
		io_user_loop_pass(&w.t.d);
	poll_device(device, &h);
	assert_int_equal(h.own, 1);
	return h.group;
}

static void expect(unsigned group, unsigned a, unsigned b, unsigned c)
{
	send_to(group);
	assert_int_equal(heard(0), a);
	assert_int_equal(heard(1), b);
	assert_int_equal(heard(2), c);
}

static void test_members(void **state)
{
	unsigned fds;

	(void)state;
	expect(0, 0, 0, 0);
	fds = io_test_open_fds();
	assert_int_equal(attach(0, 0, UHCA_CMD_ATTACH_MCAST), 0);
	assert_int_equal(attach(1, 0, UHCA_CMD_ATTACH_MCAST), 0);
	assert_int_equal(attach(1, 1, UHCA_CMD_ATTACH_MCAST), 0);
	assert_int_equal(io_test_open_fds(), fds + 3);
	expect(0, 1, 1, 0);
	expect(1, 0, 1, 0);
	assert_int_equal(attach(1, 0, UHCA_CMD_DETACH_MCAST), 0);
	assert_int_equal(io_test_open_fds(), fds + 2);
	expect(0, 1, 0, 0);
	expect(1, 0, 1, 0);
	assert_int_equal(attach(1, 1, UHCA_CMD_DETACH_MCAST), 0);
	assert_int_equal(attach(0, 0, UHCA_CMD_DETACH_MCAST), 0);
	assert_int_equal(io_test_open_fds(), fds);
	expect(0, 0, 0, 0);
}

/* Of a family in which the device has no address there is nothing to join; what is none fails. */
static void test_refused(void **state)
{
	const unsigned fds = io_test_open_fds();
	struct io_udp *udp = &w.t.d.ports[0].udp;
	const uint8_t v6[16] = {0xff, 0x0e, [15] = 1};

	(void)state;
	assert_int_equal(io_udp_join(udp, v6), 0);
	assert_int_equal(io_udp_join(udp, io_test_address(200).gid), -EINVAL);
	io_udp_leave(udp, w.group[0]); /* it never joined */
	assert_int_equal(io_test_open_fds(), fds);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define WIRE(name) cmocka_unit_test_setup_teardown(name, setup_wire, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_members),
		WIRE(test_members),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
