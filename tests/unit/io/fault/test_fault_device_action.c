/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules let happen to a device: to the object that the rule looked at or names, at a moment
 * that the core can bear; nothing where there is no such object.
 */
#include "emu/io/base/clock.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

static struct io_test_daemon t;
static struct io_test_client c;
static struct io_device *dev;
static uint32_t pd, srq;

static int setup(void **state)
{
	struct uhca_cmd_create_srq in = {.max_wr = 4, .max_sge = 1};

	(void)state;
	io_test_daemon_begin(&t, 1);
	io_test_hello(&c, &t.d, "uhca0");
	dev = &t.d.ports[0].dev;
	assert_int_equal(io_test_handle(&c, UHCA_CMD_ALLOC_PD, 0, &pd), 0);
	in.pd = pd;
	assert_int_equal(io_test_call(&c, UHCA_CMD_CREATE_SRQ, &in, sizeof(in)), 0);
	srq = ((const struct uhca_cmd_create_srq_reply *)(const void *)&c.reply)->handle;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_disconnect(&c);
	io_test_daemon_end(&t);
	return 0;
}

static void execute(enum fault_action action, uint64_t value, const struct core_event_of *of)
{
	const struct io_fault_pending p = {.dev = dev,
					   .action = action,
					   .value = {.number = value},
					   .rule = 1,
					   .qpn = of->qpn,
					   .srq = of->srq,
					   .cq = of->cq};

	io_fault_execute(&t.d.faults, &p, io_clock_now());
}

static bool heard(uint32_t type)
{
	struct uhca_abi_async_event e;

	return recv(c.async, &e, sizeof(e), MSG_DONTWAIT) == sizeof(e) && e.type == type;
}

static void test_events(void **state)
{
	const struct core_event_of none = {0}, ours = {.srq = srq};

	(void)state;
	execute(FAULT_EVENT, UHCA_ABI_EVENT_SRQ_ERR, &ours);
	assert_true(heard(UHCA_ABI_EVENT_SRQ_ERR));
	execute(FAULT_EVENT, UHCA_ABI_EVENT_LID_CHANGE, &ours);
	assert_true(heard(UHCA_ABI_EVENT_LID_CHANGE));
	execute(FAULT_GID_CHANGE, 0, &none);
	assert_true(heard(UHCA_ABI_EVENT_GID_CHANGE));
	for (uint32_t type = UHCA_ABI_EVENT_CQ_ERR; type <= UHCA_ABI_EVENT_PATH_MIG_ERR; type++)
		execute(FAULT_EVENT, type, &none);
	execute(FAULT_EVENT, 77, &ours);
	execute(FAULT_QP_ERROR, 0, &none);
	execute(FAULT_KEY_REVOKE, 0, &none);
	execute(FAULT_KEY_REVOKE, 12345, &none);
	execute(FAULT_DROP, 0, &ours); /* not a device action */
	assert_int_equal(recv(c.async, &(char){0}, 1, MSG_DONTWAIT), -1);
}

/* The daemon is gone at once, as by kill -9. */
static void test_dies(void **state)
{
	const struct core_event_of none = {0};
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		execute(FAULT_DEV_EXIT, 0, &none);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static uint32_t reg_mr(uint32_t *handle)
{
	struct uhca_cmd_reg_mr in = {.addr = (uintptr_t)&t, .length = 64, .pd = pd};
	const struct uhca_cmd_reg_mr_reply *reply = (const void *)&c.reply;

	assert_int_equal(io_test_call(&c, UHCA_CMD_REG_MR, &in, sizeof(in)), 0);
	*handle = reply->handle;
	return reply->lkey;
}

static void test_key_reuse(void **state)
{
	const struct core_event_of none = {0};
	uint32_t handle, key = reg_mr(&handle);

	(void)state;
	execute(FAULT_KEY_REUSE, 0, &none);
	execute(FAULT_KEY_REVOKE, key, &none);
	assert_int_equal(io_test_handle(&c, UHCA_CMD_DEREG_MR, handle, NULL), 0);
	assert_int_equal(reg_mr(&handle), key);
}

static void test_key_split(void **state)
{
	const struct core_event_of none = {0};
	const struct uhca_cmd_reg_mr_reply *reply = (const void *)&c.reply;
	uint32_t handle;

	(void)state;
	reg_mr(&handle);
	assert_int_equal(reply->rkey, reply->lkey);
	execute(FAULT_KEY_SPLIT, 0, &none);
	reg_mr(&handle);
	assert_int_not_equal(reply->rkey, reply->lkey);
	assert_int_equal(reply->rkey >> 8, reply->lkey >> 8);
}

/* Asked about by the core itself: it takes place when the core is done. */
static void test_later(void **state)
{
	struct fault_subject s = {.layer = FAULT_LAYER_MEMORY, .device = "uhca0"};
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct fault_error error;

	(void)state;
	assert_true(io_faults_add(&t.d.faults, "gid.change at=memory first=400", io_clock_now(),
				  &error) > 0);
	io_faults_changed(&t.d.faults);
	for (unsigned i = 0; i < IO_FAULT_PENDING_MAX + 1; i++)
		assert_int_equal(io_faults_decide(&t.d.faults, dev, &s, io_clock_now(), hit), 0);
	assert_false(heard(UHCA_ABI_EVENT_GID_CHANGE));
	assert_int_equal(t.d.faults.n_pending, IO_FAULT_PENDING_MAX);
	io_faults_tick(&t.d.faults, io_clock_now());
	assert_true(heard(UHCA_ABI_EVENT_GID_CHANGE));
	assert_int_equal(t.d.faults.n_pending, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_events),    TEST(test_dies),  TEST(test_key_reuse),
		TEST(test_key_split), TEST(test_later),
	};

	return cmocka_run_group_tests_name("fault_device_action", tests, NULL, NULL);
}
