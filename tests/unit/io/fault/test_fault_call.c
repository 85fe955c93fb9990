/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules about calls, in the daemon: which fields of a message they see, the answer that they give,
 * when programs must ask before they post, calls that wait and clients that do not.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_daemon *d;
	struct io_test_client c;
	unsigned fds;
	uint32_t pd;
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 2);
	f.d = &f.t.d;
	f.fds = io_test_open_fds();
	io_test_hello(&f.c, f.d, "uhca0");
	assert_int_equal(io_test_handle(&f.c, UHCA_CMD_ALLOC_PD, 0, &f.pd), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->c.sock >= 0)
		io_test_disconnect(&f->c);
	assert_int_equal(f->d->clients.n, 0);
	assert_int_equal(io_test_open_fds(), f->fds);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		assert_int_equal(
			core_object_count(f->d->ports[0].dev.core, (enum core_object_type)i), 0);
	io_test_daemon_end(&f->t);
	return 0;
}

static int add(struct fixture *f, const char *text)
{
	struct fault_error error;
	int number = io_faults_add(&f->d->faults, text, io_clock_now(), &error);

	if (number <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	io_faults_changed(&f->d->faults);
	return number;
}

static void end(struct fixture *f, int number, unsigned hits)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", number);
	assert_int_equal(fault_plan_find(f->d->faults.plan, name)->hits, hits);
	assert_int_equal(fault_plan_remove(f->d->faults.plan, (uint32_t)number), 0);
	io_faults_changed(&f->d->faults);
}

static int reg_mr(struct fixture *f, uint64_t addr, uint64_t length)
{
	struct uhca_cmd_reg_mr in = {.addr = addr, .iova = addr, .length = length, .pd = f->pd};

	return io_test_call(&f->c, UHCA_CMD_REG_MR, &in, sizeof(in));
}

/* As the library does when pages are pinned: of them there are none. */
static int reg_pinned(struct fixture *f, uint64_t addr, uint64_t length)
{
	struct uhca_cmd_reg_pinned_mr in = {
		.mr = {.addr = addr, .iova = addr, .length = length, .pd = f->pd}};

	return io_test_call(&f->c, UHCA_CMD_REG_PINNED_MR, &in, sizeof(in));
}

#define REPLY(type) ((const struct type *)(const void *)&f->c.reply)

/* What a message names is what selectors see. */
static void test_selectors(void **state)
{
	static uint8_t memory[8192];
	uint64_t at = (uintptr_t)memory;
	struct fixture *f = *state;
	char text[100];
	uint32_t mr;
	int rule;

	snprintf(text, sizeof(text), "call.fail=EPERM call=reg_mr pd=%u address=0x%lx length>4096",
		 f->pd, (unsigned long)at);
	rule = add(f, text);
	assert_int_equal(reg_mr(f, at, 4096), 0);
	mr = REPLY(uhca_cmd_reg_mr_reply)->handle;
	assert_int_equal(reg_mr(f, at, 4097), -EPERM);
	assert_int_equal(reg_mr(f, at + 1, 8000), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEREG_MR,
					REPLY(uhca_cmd_reg_mr_reply)->handle, NULL),
			 0);
	assert_int_equal(reg_pinned(f, at, 4097), -EPERM);
	end(f, rule, 2);
	snprintf(text, sizeof(text), "call.fail=EBUSY call=dereg_mr key=%u",
		 core_key_of(f->d->clients.at[0]->core, mr));
	rule = add(f, text);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEREG_MR, mr, NULL), -EBUSY);
	end(f, rule, 1);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEREG_MR, mr, NULL), 0);
	snprintf(text, sizeof(text), "call.fail=EBUSY call=dealloc_pd pd=%u", f->pd);
	rule = add(f, text);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, f->pd, NULL), -EBUSY);
	end(f, rule, 1);
	rule = add(f, "call.fail=EBUSY call=* dev=uhca1");
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, f->pd, NULL), 0);
	end(f, rule, 0);
}

/* What is wrong with a message is told first, and no rule counts it. */
static void test_malformed(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle in = {.handle = 1};
	int rule = add(f, "call.fail=EPERM call=*");

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_ALLOC_PD, &in, sizeof(in) - 4), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_COUNT, &in, sizeof(in)), -EOPNOTSUPP);
	end(f, rule, 0);
}

static bool asks(const struct fixture *f)
{
	return ((const struct uhca_abi_status *)f->d->status.base)->post_faults;
}

/* Only while there are rules for it, of which one can still hit. */
static void test_who_must_ask(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_fault_check in = {.verb = UHCA_FAULT_POST_SEND, .qpn = 5, .requests = 4};
	int rule = add(f, "call.fail=EPERM call=create_*");

	assert_false(asks(f));
	end(f, rule, 0);
	rule = add(f, "call.fail=ENOMEM call=post_send qp=5 bad_wr=2 times=1");
	assert_true(asks(f));
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &in, sizeof(in)), 0);
	assert_int_equal(REPLY(uhca_cmd_fault_check_reply)->error, ENOMEM);
	assert_int_equal(REPLY(uhca_cmd_fault_check_reply)->first, 2);
	io_faults_tick(&f->d->faults, io_clock_now());
	assert_false(asks(f));
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &in, sizeof(in)), 0);
	assert_int_equal(REPLY(uhca_cmd_fault_check_reply)->error, 0);
	end(f, rule, 1);
	rule = add(f, "call.slow=1us call=create_qp,req_*");
	assert_true(asks(f));
	end(f, rule, 0);
	assert_false(asks(f));
}

static void test_asking(void **state)
{
	static const struct {
		uint32_t verb;
		const char *rule;
	} verbs[] = {
		{UHCA_FAULT_POST_SEND, "call.fail=EPERM call=post_send"},
		{UHCA_FAULT_POST_RECV, "call.fail=EPERM call=post_recv"},
		{UHCA_FAULT_POST_SRQ_RECV, "call.fail=EPERM call=post_srq_recv srq=9"},
		{UHCA_FAULT_WR_COMPLETE, "call.fail=EPERM call=post_send"},
		{UHCA_FAULT_REQ_NOTIFY_CQ, "call.fail=EPERM call=req_notify cq=7"},
		{UHCA_FAULT_BIND_MW, "call.fail=EPERM call=bind_mw"},
		{UHCA_FAULT_POST_WQ_RECV, "call.fail=EPERM call=post_wq_recv"},
	};
	struct fixture *f = *state;
	struct uhca_cmd_fault_check in = {.srq = 9, .cq = 7, .requests = 0};

	for (unsigned i = 0; i < UHCA_FAULT_VERBS; i++) {
		int rule = add(f, verbs[i].rule);

		in.verb = verbs[i].verb;
		assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &in, sizeof(in)), 0);
		assert_int_equal(REPLY(uhca_cmd_fault_check_reply)->error, EPERM);
		assert_int_equal(REPLY(uhca_cmd_fault_check_reply)->first, 0);
		end(f, rule, 1);
	}
	in.verb = UHCA_FAULT_VERBS;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &in, sizeof(in)), -EINVAL);
	in = (struct uhca_cmd_fault_check){.reserved = 1};
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &in, sizeof(in)), -EINVAL);
}

/* ---- calls that wait ---- */

static void send_alloc(struct fixture *f)
{
	struct uhca_cmd_handle in = {{UHCA_CMD_ALLOC_PD, sizeof(in), 77, 0}, 0, 0};

	assert_int_equal(send(f->c.sock, &in, sizeof(in), 0), sizeof(in));
	io_test_loop_pass(f->d->loop);
}

static bool answered(void *sock)
{
	char byte;

	return recv(*(int *)sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* It is answered in the end; another request of an impatient client waits its turn. */
static void test_wait(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle_reply reply;
	int rule = add(f, "call.slow=20ms call=alloc_pd nth=1");

	send_alloc(f);
	assert_false(answered(&f->c.sock));
	send_alloc(f);
	assert_int_equal(core_object_count(f->d->ports[0].dev.core, CORE_OBJECT_PD), 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(io_test_run(f->d->loop, answered, &f->c.sock));
		assert_int_equal(recv(f->c.sock, &reply, sizeof(reply), 0), sizeof(reply));
		assert_int_equal(reply.h.status, 0);
	}
	end(f, rule, 1);
}

static bool alone(void *arg)
{
	return ((struct io_daemon *)arg)->clients.n == 0;
}

/* A client that goes meanwhile is noticed at once, whether it had asked for more or not. */
static void test_gone(void **state)
{
	struct fixture *f = *state;
	int rule = add(f, "call.slow=3600s call=alloc_pd");

	send_alloc(f);
	assert_false(LIST_EMPTY(&f->d->clients.at[0]->slow));
	io_test_disconnect(&f->c);
	f->c.sock = -1;
	assert_true(io_test_run(f->d->loop, alone, f->d));
	end(f, rule, 1);
}

/* So does the daemon. */
static void test_daemon_ends(void **state)
{
	struct fixture *f = *state;

	add(f, "call.slow=3600s call=alloc_pd");
	send_alloc(f);
	io_clients_remove(&f->d->clients, f->d->clients.at[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_selectors),   TEST(test_malformed), TEST(test_who_must_ask),
		TEST(test_asking),      TEST(test_wait),      TEST(test_gone),
		TEST(test_daemon_ends),
	};

	return cmocka_run_group_tests_name("fault_call", tests, NULL, NULL);
}
