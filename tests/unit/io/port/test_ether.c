/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Ethernet segment of a daemon: a frame reaches every device, its sender's too, once; so many
 * go at a time; nothing to send is nothing done.
 */
#include "emu/io/local/privilege.h"
#include "emu/io/port/ether.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 3
#define FRAME   100u

static struct io_test_daemon t;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, DEVICES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	return 0;
}

static void test_idle(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DEVICES; i++) {
		t.d.ports[i].dev.dirty = false;
		assert_int_equal(io_ether_send(&t.d.devices, &t.d.ports[i].dev, 1, 16), 0);
		assert_false(t.d.ports[i].dev.dirty);
	}
}

/* A QP of the device that is given every frame, with room for so many. */
static void open_end(struct io_user *u, struct io_user_qp *q, unsigned device, unsigned room)
{
	io_user_open(u, &t.d, t.d.ports[device].dev.id.name);
	io_user_qp_create(q, u, IBV_QPT_RAW_PACKET);
	io_user_take_frames(q);
	for (unsigned i = 0; i < room; i++)
		io_user_recv(q, 100 + i, 1024, 1024);
}

static unsigned receive(struct io_user_qp *q)
{
	struct uhca_abi_cqe e;
	unsigned n = 0;

	while (io_user_poll(q, &e)) {
		assert_int_equal(e.status, UHCA_ABI_WC_SUCCESS);
		if (!(e.opcode & UHCA_ABI_WC_RECV))
			continue;
		assert_int_equal(e.byte_len, FRAME);
		assert_memory_equal(q->u->memory + 1024, "frame", 5);
		n++;
	}
	return n;
}

static void test_frames(void **state)
{
	static struct io_user u[DEVICES];
	struct io_user_qp q[DEVICES];
	static const unsigned sent[] = {2, 2, 1, 0};

	(void)state;
	if (!io_user_may_raw()) {
		puts("raw packet queue pairs need CAP_NET_RAW");
		skip();
	}
	for (unsigned i = 0; i < DEVICES; i++)
		open_end(&u[i], &q[i], i, 8);
	memcpy(u[1].memory, "frame", 5);
	for (unsigned i = 0; i < 5; i++)
		io_user_send(&q[1], (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND}, FRAME);
	io_user_ring(&q[1]);
	assert_true(io_client_doorbells(t.d.clients.at[1], 1) > 0);
	for (unsigned k = 0; k < sizeof(sent) / sizeof(sent[0]); k++) {
		for (unsigned i = 0; i < DEVICES; i++)
			t.d.ports[i].dev.dirty = false;
		assert_int_equal(io_ether_send(&t.d.devices, u[1].dev, 1, 2), sent[k]);
		for (unsigned i = 0; i < DEVICES; i++) {
			assert_int_equal(t.d.ports[i].dev.dirty, sent[k] > 0);
			assert_int_equal(receive(&q[i]), sent[k]);
		}
	}
	for (unsigned i = 0; i < DEVICES; i++)
		io_user_close(&u[i]);
}

/* Each frame is held against 130 rules here, and costs three times as much. */
static void test_rules(void **state)
{
	static struct io_user u;
	struct io_user_qp q;

	(void)state;
	if (!io_user_may_raw()) {
		puts("raw packet queue pairs need CAP_NET_RAW");
		skip();
	}
	open_end(&u, &q, 0, 8);
	for (unsigned i = 1; i < 130; i++)
		io_user_add_rule(&q);
	memcpy(u.memory, "frame", 5);
	for (unsigned i = 0; i < 5; i++)
		io_user_send(&q, (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND}, FRAME);
	io_user_ring(&q);
	assert_true(io_client_doorbells(t.d.clients.at[0], 1) > 0);
	assert_int_equal(io_ether_send(&t.d.devices, u.dev, 1, 2), 3);
	assert_int_equal(receive(&q), 1);
	assert_int_equal(io_ether_send(&t.d.devices, u.dev, 1, 12), 12);
	assert_int_equal(receive(&q), 4);
	assert_int_equal(io_ether_send(&t.d.devices, u.dev, 1, 12), 0);
	io_user_close(&u);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_idle), TEST(test_frames), TEST(test_rules)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
