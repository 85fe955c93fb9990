/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules at the work of programs: each selector of objects and programs finds what it names, at each
 * layer, and nothing else; what a rule lets happen, happens to the object of the work at which it
 * hit. The syntax is tests/unit/fault's.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 100u

static struct io_test_daemon t;
static struct io_user u[2]; /* client 1 at uhca0 sends to client 2 at uhca1 */
static struct io_user_qp q[2];

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	for (unsigned i = 0; i < 2; i++) {
		io_user_open(&u[i], &t.d, t.d.ports[i].dev.id.name);
		io_user_qp_create(&q[i], &u[i], IBV_QPT_RC);
	}
	for (unsigned i = 0; i < 2; i++)
		io_user_qp_connect(&q[i], u[1 - i].dev, q[1 - i].qpn);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		io_user_close(&u[i]);
	io_test_daemon_end(&t);
	return 0;
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	struct fault_error error;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (io_faults_add(&t.d.faults, text, io_clock_now(), &error) <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	io_faults_changed(&t.d.faults);
}

static void clear(void)
{
	fault_plan_clear(t.d.faults.plan);
	io_faults_changed(&t.d.faults);
}

static void loop_pass(void)
{
	io_user_loop_pass(&t.d);
	io_faults_tick(&t.d.faults, io_clock_now());
}

/* The next completion; status 0xff: there is none however often the daemon works. */
static struct uhca_abi_cqe next(struct io_user_qp *of)
{
	struct uhca_abi_cqe e = {.status = 0xff};

	for (unsigned i = 0; i < 100 && !io_user_poll(of, &e); i++)
		loop_pass();
	return e;
}

static void post_send(void)
{
	io_user_send(&q[0], (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND}, LENGTH);
	io_user_ring(&q[0]);
}

/* One message; what completes at each end. */
static void message(struct uhca_abi_cqe e[2])
{
	io_user_recv(&q[1], 1, 8192, 4096);
	post_send();
	for (unsigned i = 0; i < 2; i++) {
		e[i] = next(&q[i]);
		assert_int_equal(e[i].status, UHCA_ABI_WC_SUCCESS);
	}
}

struct row {
	const char *format; /* of a selector with one number */
	uint32_t number;
	bool hit[2]; /* at the sender's end, at the receiver's */
};

/* Which completions a selector finds. */
static void test_completions(void **state)
{
	const struct row rows[] = {
		{"qp=%u", q[0].qpn, {true, false}},
		{"qp=%u", q[1].qpn, {q[1].qpn == q[0].qpn, true}},
		{"qp=%u", 0x7fffff, {false, false}},
		{"pd=%u dev=uhca0", u[0].pd, {true, false}},
		{"pd=%u", 0xfffff, {false, false}},
		{"cq=%u dev=uhca1", q[1].cq, {false, true}},
		{"cq=%u", 0xfffff, {false, false}},
		{"client=%u", 1, {true, false}},
		{"client=%u", 2, {false, true}},
		{"client=%u", 3, {false, false}},
		{"program=test length=%u", LENGTH, {true, true}},
		{"program=other first=%u", 9, {false, false}},
		{"length=%u", LENGTH + 1, {false, false}},
		{"wc=SUCCESS wc.opcode=RECV first=%u", 9, {false, true}},
		{"wc=SUCCESS wc.opcode=SEND first=%u", 9, {true, false}},
		{"wc=WR_FLUSH_ERR first=%u", 9, {false, false}},
		{"srq=%u", 1, {false, false}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uhca_abi_cqe e[2];
		char selector[128];

		snprintf(selector, sizeof(selector), rows[i].format, rows[i].number);
		add("cqe.set=vendor:77 %s", selector);
		message(e);
		for (unsigned k = 0; k < 2; k++)
			if ((e[k].vendor_err == 77) != rows[i].hit[k])
				fail_msg("%s: end %u", selector, k);
		clear();
	}
}

/* Which packets: the request at the sender's, or the receiver's, end. */
static void test_packets(void **state)
{
	const struct row rows[] = {
		{"qp=%u dev=uhca0", q[0].qpn, {true}},
		{"qp=%u", 0x7fffff, {false}},
		{"peer_qp=%u dev=uhca0", q[1].qpn, {true}},
		{"peer_qp=%u", 0x7fffff, {false}},
		{"pd=%u dev=uhca0", u[0].pd, {true}},
		{"pd=%u", 0xfffff, {false}},
		{"client=%u", 1, {true}},
		{"client=%u dir=rx", 2, {true}},
		{"client=%u", 3, {false}},
		{"program=test first=%u", 9, {true}},
		{"program=other first=%u", 9, {false}},
		{"srq=%u", 1, {false}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uhca_abi_cqe e[2];
		char selector[128];

		snprintf(selector, sizeof(selector), rows[i].format, rows[i].number);
		add("ecn opcode=rc.send %s", selector);
		message(e);
		if ((fault_plan_entry(t.d.faults.plan, 0)->hits > 0) != rows[i].hit[0])
			fail_msg("%s", selector);
		clear();
	}
}

static int create_qp(void)
{
	struct uhca_cmd_create_qp in = {.pd = u[0].pd,
					.qp_type = IBV_QPT_RC,
					.send_cq = q[0].cq,
					.recv_cq = q[0].cq,
					.max_send_wr = 1,
					.max_recv_wr = 1};

	return io_test_call(&u[0].c, UHCA_CMD_CREATE_QP, &in, sizeof(in));
}

static int rereg(uint64_t length)
{
	struct uhca_cmd_rereg_mr in = {.handle = u[0].mr,
				       .flags = IBV_REREG_MR_CHANGE_TRANSLATION,
				       .addr = (uintptr_t)u[0].memory,
				       .length = length,
				       .iova = (uintptr_t)u[0].memory};

	return io_test_call(&u[0].c, UHCA_CMD_REREG_MR, &in, sizeof(in));
}

/* Which calls, by what they are about. */
static void test_calls(void **state)
{
	const struct row rows[] = {
		{"pd=%u", u[0].pd, {true}},
		{"pd=%u", 0xfffff, {false}},
		{"cq=%u", q[0].cq, {true}},
		{"cq=%u", 0xfffff, {false}},
		{"srq=%u", 7, {false}},
		{"client=%u", 1, {true}},
		{"client=%u", 2, {false}},
		{"program=test dev=uhca0 first=%u", 9, {true}},
		{"dev=uhca1 first=%u", 9, {false}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char selector[128];

		snprintf(selector, sizeof(selector), rows[i].format, rows[i].number);
		add("call.fail=EMFILE call=create_qp %s", selector);
		if ((create_qp() == -EMFILE) != rows[i].hit[0])
			fail_msg("%s", selector);
		clear();
	}
	add("call.fail=EMFILE call=rereg_mr length=4096");
	assert_int_equal(rereg(8192), 0);
	assert_int_equal(rereg(4096), -EMFILE);
	clear();
	add("call.fail=EMFILE call=rereg_mr address=%#llx",
	    (unsigned long long)(uintptr_t)u[0].memory);
	assert_int_equal(rereg(8192), -EMFILE);
	clear();
	add("call.fail=EMFILE call=rereg_mr address=16");
	assert_int_equal(rereg(8192), 0);
}

/* Which memory cannot be reached: the sender's, or the receiver's. */
static void test_memory(void **state)
{
	static const struct {
		const char *selector;
		uint8_t status;
	} rows[] = {
		{"client=2", UHCA_ABI_WC_REM_OP_ERR},
		{"client=1", UHCA_ABI_WC_LOC_PROT_ERR},
	};

	(void)state;
	add("mem.fail client=3");
	add("mem.fail length=%u", LENGTH + 1);
	message((struct uhca_abi_cqe[2]){{0}});
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uhca_abi_cqe e;

		clear();
		add("mem.fail %s", rows[i].selector);
		io_user_recv(&q[1], 1, 8192, 4096);
		post_send();
		e = next(&q[0]);
		if (e.status != rows[i].status)
			fail_msg("%s: status %u", rows[i].selector, e.status);
		teardown(NULL);
		setup(NULL);
	}
}

/* What happened to the programs since: types of events, as bits. */
static uint32_t events(unsigned user)
{
	struct uhca_abi_async_event e;
	uint32_t types = 0;

	while (recv(u[user].c.async, &e, sizeof(e), MSG_DONTWAIT) == sizeof(e))
		types |= 1u << e.type;
	return types;
}

static uint32_t state_of(unsigned i)
{
	struct uhca_cmd_query_qp_reply reply;

	assert_int_equal(io_test_handle(&u[i].c, UHCA_CMD_QUERY_QP, q[i].handle, NULL), 0);
	memcpy(&reply, &u[i].c.reply, sizeof(reply));
	return reply.attr.qp_state;
}

/* The QP of the packet fails, at the end where it was seen. */
static void test_qp_error(void **state)
{
	(void)state;
	add("qp.error opcode=rc.send dir=rx nth=1");
	io_user_recv(&q[1], 1, 8192, 4096);
	post_send();
	assert_int_equal(next(&q[1]).status, UHCA_ABI_WC_WR_FLUSH_ERR);
	assert_int_equal(state_of(1), IBV_QPS_ERR);
	assert_int_equal(state_of(0), IBV_QPS_RTS);
}

/* Of the QP, and of the CQ that belongs to it though the rule saw only a packet. */
static void test_events(void **state)
{
	struct uhca_abi_cqe e[2];

	(void)state;
	message(e);
	events(0);
	events(1);
	add("event=CQ_ERR opcode=rc.send dir=tx nth=1");
	message(e);
	loop_pass();
	assert_int_equal(events(0), 1u << UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(events(1), 0);
	clear();
	add("event=PATH_MIG opcode=rc.send dir=rx nth=1");
	add("event=LID_CHANGE opcode=rc.send dir=rx nth=1");
	message(e);
	loop_pass();
	assert_int_equal(events(0), 0);
	assert_int_equal(events(1),
			 1u << UHCA_ABI_EVENT_PATH_MIG | 1u << UHCA_ABI_EVENT_LID_CHANGE);
}

/* The CQ of the completion that finds no room, with its QP. */
static void test_overrun(void **state)
{
	(void)state;
	add("cqe.overrun wc.opcode=RECV nth=1");
	io_user_recv(&q[1], 1, 8192, 4096);
	post_send();
	next(&q[0]);
	loop_pass();
	assert_true(events(1) & 1u << UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(events(0) & 1u << UHCA_ABI_EVENT_CQ_ERR, 0);
	assert_int_equal(state_of(1), IBV_QPS_ERR);
}

/* A late completion comes by itself, and what stands behind it in its CQ does, too. */
static void test_late(void **state)
{
	const uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct uhca_abi_cqe e = {.status = 0xff};

	(void)state;
	add("cqe.delay=30ms wc.opcode=RECV nth=1");
	for (unsigned i = 0; i < 3; i++) {
		io_user_recv(&q[1], 7 + i, 8192, 4096);
		post_send();
		assert_int_equal(next(&q[0]).status, UHCA_ABI_WC_SUCCESS);
	}
	for (unsigned i = 0; i < 3; i++) {
		while (!io_user_poll(&q[1], &e) && io_clock_now() < end)
			loop_pass();
		assert_int_equal(e.wr_id, 7 + i);
		assert_int_equal(e.status, UHCA_ABI_WC_SUCCESS);
	}
	assert_int_equal(t.d.faults.n_cqes, 0);
}

/* Completions of two CQs that are late wait each for its own time, which chance may lengthen. */
static void test_late_apart(void **state)
{
	uint64_t first, second;

	(void)state;
	add("cqe.delay=100s jitter=50s wc.opcode=RECV");
	add("cqe.delay=300s wc.opcode=SEND");
	io_user_recv(&q[1], 1, 8192, 4096);
	post_send();
	for (unsigned i = 0; i < 5 && t.d.faults.n_cqes < 2; i++)
		loop_pass();
	assert_int_equal(t.d.faults.n_cqes, 2);
	first = io_fault_cqe_deadline(&t.d.faults);
	io_fault_cqe_tick(&t.d.faults, first - 1);
	assert_int_equal(t.d.faults.n_cqes, 2);
	io_fault_cqe_tick(&t.d.faults, first);
	assert_int_equal(t.d.faults.n_cqes, 1);
	assert_int_equal(next(&q[1]).status, UHCA_ABI_WC_SUCCESS);
	second = io_fault_cqe_deadline(&t.d.faults);
	assert_in_range(second - first, 150 * IO_SEC - IO_SEC, 200 * IO_SEC + IO_SEC);
	io_fault_cqe_tick(&t.d.faults, second);
	assert_int_equal(next(&q[0]).status, UHCA_ABI_WC_SUCCESS);
}

/* The port goes down for a time, and the programs of that device hear of both. */
static void test_port(void **state)
{
	const uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	uint32_t seen = 0;

	(void)state;
	add("port.down=20ms opcode=rc.send dir=tx nth=1");
	io_user_recv(&q[1], 1, 8192, 4096);
	post_send();
	for (unsigned i = 0; i < 3; i++)
		loop_pass();
	seen = events(0);
	assert_true(seen & 1u << UHCA_ABI_EVENT_PORT_ERR);
	while (!(seen & 1u << UHCA_ABI_EVENT_PORT_ACTIVE) && io_clock_now() < end) {
		loop_pass();
		seen |= events(0);
	}
	assert_true(seen & 1u << UHCA_ABI_EVENT_PORT_ACTIVE);
	assert_int_equal(events(1) & 1u << UHCA_ABI_EVENT_PORT_ERR, 0);
}

/* The key of the WRITE that is arriving: the region is gone under it. */
static void test_revoke(void **state)
{
	struct uhca_abi_send_wqe e = {
		.opcode = UHCA_ABI_WR_RDMA_WRITE,
		.rdma = {.remote_addr = (uintptr_t)u[1].memory + 8192, .rkey = u[1].rkey}};

	(void)state;
	add("key.revoke opcode=rc.write dir=rx nth=2");
	io_user_send(&q[0], e, 4096);
	io_user_ring(&q[0]);
	assert_int_equal(next(&q[0]).status, UHCA_ABI_WC_REM_ACCESS_ERR);
}

/* What happens by the clock happens to the device that is named. */
static void test_by_time(void **state)
{
	const uint64_t end = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	uint32_t seen = 0;

	(void)state;
	add("gid.change after=1ms dev=uhca1");
	while (!(seen & 1u << UHCA_ABI_EVENT_GID_CHANGE) && io_clock_now() < end) {
		loop_pass();
		seen |= events(1);
	}
	assert_true(seen & 1u << UHCA_ABI_EVENT_GID_CHANGE);
	assert_int_equal(events(0) & 1u << UHCA_ABI_EVENT_GID_CHANGE, 0);
}

/* A device with a fatal error: its programs are cut off, the other's are not. */
static void test_fatal(void **state)
{
	char byte;

	(void)state;
	add("dev.fatal opcode=rc.send dir=tx nth=1");
	post_send();
	for (unsigned i = 0; i < 3; i++)
		loop_pass();
	assert_int_equal(recv(u[0].c.sock, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(state_of(1), IBV_QPS_RTS);
	assert_int_equal(t.d.clients.n, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_completions), TEST(test_packets),    TEST(test_memory),
		TEST(test_qp_error),    TEST(test_events),     TEST(test_overrun),
		TEST(test_late),        TEST(test_late_apart), TEST(test_calls),
		TEST(test_port),        TEST(test_revoke),     TEST(test_fatal),
		TEST(test_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
