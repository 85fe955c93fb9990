/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules about completions: what is changed, what waits in which order, what never comes. */
#include "emu/io/base/clock.h"
#include "emu/io/fault/fault_cqe.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define CQS 2u

static struct fixture {
	struct io_test_daemon t;
	struct io_test_client c;
	struct io_device *dev;
	struct io_faults *faults;
	uint32_t cq[CQS], qp[CQS], qpn[CQS]; /* each QP completes to its CQ */
} f;

static void make_qp(unsigned i, uint32_t pd)
{
	struct uhca_cmd_create_cq cq = {.cqe = 16};
	struct uhca_cmd_create_qp qp = {.pd = pd,
					.qp_type = IBV_QPT_RC,
					.max_send_wr = 1,
					.max_recv_wr = 1,
					.max_send_sge = 1,
					.max_recv_sge = 1};

	assert_int_equal(io_test_call(&f.c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq)), 0);
	f.cq[i] = ((const struct uhca_cmd_create_cq_reply *)(const void *)&f.c.reply)->handle;
	qp.send_cq = qp.recv_cq = f.cq[i];
	assert_int_equal(io_test_call(&f.c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 0);
	f.qp[i] = ((const struct uhca_cmd_create_qp_reply *)(const void *)&f.c.reply)->handle;
	f.qpn[i] = core_qp_number(f.t.d.clients.at[0]->core, f.qp[i]);
}

static int setup(void **state)
{
	uint32_t pd;

	(void)state;
	io_test_daemon_begin(&f.t, 1);
	io_test_hello(&f.c, &f.t.d, "uhca0");
	f.dev = &f.t.d.ports[0].dev;
	f.faults = &f.t.d.faults;
	assert_int_equal(io_test_handle(&f.c, UHCA_CMD_ALLOC_PD, 0, &pd), 0);
	for (unsigned i = 0; i < CQS; i++)
		make_qp(i, pd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_disconnect(&f.c);
	io_test_daemon_end(&f.t);
	return 0;
}

static void add(const char *text)
{
	struct fault_error error;

	if (io_faults_add(f.faults, text, io_clock_now(), &error) <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	io_faults_changed(&f.t.d.faults);
}

/* As the core asks. */
static bool complete(unsigned i, struct uhca_abi_cqe *e)
{
	e->qpn = f.qpn[i];
	return io_fault_cqe(f.dev, f.cq[i], e);
}

static bool enters(unsigned i, uint64_t wr_id)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id, .opcode = UHCA_ABI_WC_SEND};

	return complete(i, &e);
}

static uint64_t completions(void)
{
	return core_counters(f.dev->core)->completions;
}

static void test_set(void **state)
{
	struct uhca_abi_cqe e = {.byte_len = 5, .flags = UHCA_ABI_WC_WITH_IMM};

	(void)state;
	add("cqe.set=status:RETRY_EXC_ERR length=5 nth=1");
	add("cqe.set=vendor:9 nth=2");
	add("cqe.set=length:6 nth=1");
	add("cqe.set=imm:0x01020304");
	assert_true(complete(0, &e));
	assert_int_equal(e.status, UHCA_ABI_WC_RETRY_EXC_ERR);
	assert_int_equal(e.vendor_err, 0);
	assert_int_equal(e.byte_len, 6);
	assert_int_equal(ntohl(e.imm), 0x01020304);
	e = (struct uhca_abi_cqe){.imm = 5};
	assert_true(complete(0, &e));
	assert_int_equal(e.vendor_err, 9);
	assert_int_equal(e.imm, 5); /* it has none */
}

/* Behind one that is late its CQ waits, the other one does not. */
static void test_delay(void **state)
{
	uint64_t before = completions(), due;

	(void)state;
	add("cqe.delay=1s nth=1");
	assert_false(enters(0, 1));
	assert_false(enters(0, 2));
	assert_true(enters(1, 3));
	due = io_fault_cqe_deadline(f.faults);
	assert_true(due != UINT64_MAX);
	assert_true(io_faults_deadline(&f.t.d.faults) <= due);
	io_fault_cqe_tick(&f.t.d.faults, due - 1);
	assert_int_equal(completions(), before);
	io_fault_cqe_tick(&f.t.d.faults, due);
	assert_int_equal(completions(), before + 2);
	assert_int_equal(io_fault_cqe_deadline(f.faults), UINT64_MAX);
	assert_true(enters(0, 4));
}

static bool queue_enters(unsigned i, uint8_t opcode, uint64_t wr_id)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id, .opcode = opcode};

	return complete(i, &e);
}

/* Only what is of the same queue waits: the QP's other queue does not. */
static void test_order_of_queue(void **state)
{
	uint64_t before = completions();

	(void)state;
	add("cqe.delay=1s order=queue nth=1");
	assert_false(queue_enters(0, UHCA_ABI_WC_SEND, 1));
	assert_true(queue_enters(0, UHCA_ABI_WC_RECV, 2));
	assert_false(queue_enters(0, UHCA_ABI_WC_RDMA_WRITE, 3));
	io_fault_cqe_tick(f.faults, UINT64_MAX - 1);
	assert_int_equal(completions(), before + 2);
	/* Two rules: the one that holds up all of the CQ is the stricter one. */
	fault_plan_clear(f.faults->plan);
	add("cqe.delay=1s order=queue nth=1");
	add("cqe.delay=1ms order=cq nth=1");
	assert_false(queue_enters(0, UHCA_ABI_WC_SEND, 1));
	assert_false(queue_enters(0, UHCA_ABI_WC_RECV, 2));
}

/* The queue is known by what the opcode was, and the library learns it, too. */
static void test_garbage(void **state)
{
	bool turned = false, other = false;

	(void)state;
	add("cqe.garbage");
	for (unsigned i = 0; i < 64; i++) {
		struct uhca_abi_cqe e = {.wr_id = 7,
					 .status = UHCA_ABI_WC_WR_FLUSH_ERR,
					 .opcode = UHCA_ABI_WC_RECV,
					 .vendor_err = 3,
					 .wqe_index = 9};

		assert_true(complete(0, &e));
		assert_true(uhca_cqe_is_receive(&e));
		assert_int_equal(e.wr_id, 7);
		assert_int_equal(e.status, UHCA_ABI_WC_WR_FLUSH_ERR);
		assert_int_equal(e.vendor_err, 3);
		assert_int_equal(e.wqe_index, 9);
		assert_int_equal(e.qpn, f.qpn[0]);
		turned |= !(e.opcode & UHCA_ABI_WC_RECV);
		other |= e.byte_len != 0;
	}
	assert_true(turned && other);
	assert_true(enters(0, 1)); /* a successful completion has no undefined fields */
}

/* The rule is gone, but not what it did: the CQ's order is kept. */
static void test_rule_goes(void **state)
{
	(void)state;
	add("cqe.delay=1s");
	assert_false(enters(0, 1));
	fault_plan_clear(f.faults->plan);
	io_faults_changed(&f.t.d.faults);
	assert_true(f.dev->hooks & CORE_HOOK_COMPLETION);
	assert_false(enters(0, 2));
	io_fault_cqe_tick(&f.t.d.faults, UINT64_MAX - 1);
	io_faults_tick(&f.t.d.faults, io_clock_now());
	assert_false(f.dev->hooks & CORE_HOOK_COMPLETION);
}

/* Of a QP that was reset or destroyed, of a CQ that was destroyed: they never come. */
static void test_objects_go(void **state)
{
	struct uhca_cmd_modify_qp reset = {.handle = f.qp[0], .attr_mask = IBV_QP_STATE};
	uint64_t before = completions();

	(void)state;
	add("cqe.delay=1s");
	assert_false(enters(0, 1));
	assert_false(enters(1, 1));
	assert_int_equal(f.faults->n_cqes, 2);
	assert_int_equal(io_test_call(&f.c, UHCA_CMD_MODIFY_QP, &reset, sizeof(reset)), 0);
	assert_int_equal(f.faults->n_cqes, 1);
	assert_false(enters(0, 1));
	assert_int_equal(io_test_handle(&f.c, UHCA_CMD_DESTROY_QP, f.qp[0], NULL), 0);
	assert_int_equal(io_test_handle(&f.c, UHCA_CMD_DESTROY_QP, f.qp[1], NULL), 0);
	assert_int_equal(io_test_handle(&f.c, UHCA_CMD_DESTROY_CQ, f.cq[1], NULL), 0);
	io_fault_cqe_tick(&f.t.d.faults, UINT64_MAX - 1);
	assert_int_equal(f.faults->n_cqes, 0);
	assert_int_equal(completions(), before);
}

static void test_gone(void **state)
{
	struct uhca_abi_async_event event;

	(void)state;
	add("cqe.withhold wc.opcode=SEND nth=1");
	add("cqe.overrun wc.opcode=SEND nth=2");
	assert_false(enters(0, 1));
	assert_int_equal(f.faults->n_cqes, 0);
	assert_true(enters(0, 2));
	assert_false(enters(0, 3));
	assert_false(enters(0, 4)); /* it is full already, if only the tick knows it */
	assert_true(enters(1, 5));
	assert_int_equal(recv(f.c.async, &event, sizeof(event), MSG_DONTWAIT), -1);
	io_faults_tick(&f.t.d.faults, io_clock_now());
	assert_int_equal(recv(f.c.async, &event, sizeof(event), MSG_DONTWAIT), sizeof(event));
	assert_int_equal(event.type, UHCA_ABI_EVENT_CQ_ERR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_set),        TEST(test_delay), TEST(test_rule_goes),
		TEST(test_objects_go), TEST(test_gone),  TEST(test_order_of_queue),
		TEST(test_garbage),
	};

	return cmocka_run_group_tests_name("fault_cqe", tests, NULL, NULL);
}
