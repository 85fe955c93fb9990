/* SPDX-License-Identifier: BSD-2-Clause */
/* How a context ends: with its daemon, by a daemon that makes no sense, in a fork's child. */
#include "tests/support/provider/quiet_fork.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_MS 120000

/* Something to read before the deadline. */
static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
}

static void post(struct verbs_fixture *f, unsigned sends, unsigned recvs)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 8, f->mr->lkey};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr *bad_send;

	for (unsigned i = 0; i < sends; i++, send.wr_id++)
		assert_int_equal(ibv_post_send(f->qp, &send, &bad_send), 0);
	for (unsigned i = 0; i < recvs; i++, recv.wr_id++)
		assert_int_equal(ibv_post_recv(f->qp, &recv, &bad_recv), 0);
}

static void expect_fatal_event(struct verbs_fixture *f)
{
	struct ibv_async_event event;

	wait_readable(f->context->async_fd);
	assert_int_equal(ibv_get_async_event(f->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
}

static void expect_comp_event(struct verbs_fixture *f)
{
	struct ibv_cq *cq;
	void *context;

	wait_readable(f->channel->fd);
	assert_int_equal(ibv_get_cq_event(f->channel, &cq, &context), 0);
	assert_ptr_equal(cq, f->cq);
	assert_ptr_equal(context, f);
	ibv_ack_cq_events(cq, 1);
}

/* Everything that was posted is flushed, once. */
static unsigned expect_flushed(struct ibv_cq *cq)
{
	struct ibv_wc wc[4];
	unsigned got = 0;
	int n;

	while ((n = ibv_poll_cq(cq, 4, wc)) > 0)
		for (int i = 0; i < n; i++, got++)
			assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(n, 0);
	return got;
}

static void test_daemon_dies(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_port_attr port;

	post(f, 3, 4);
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	fake_daemon_die(&f->daemon);
	expect_fatal_event(f);
	expect_comp_event(f);
	/* Armed again while there is something to poll: told again. */
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	expect_comp_event(f);
	assert_int_equal(expect_flushed(f->cq), 7);
	assert_int_equal(ibv_post_send(f->qp, &wr, &bad), EIO);
	assert_int_equal(ibv_query_port(f->context, 1, &port), EIO);
	assert_null(ibv_alloc_pd(f->context));
	assert_int_equal(errno, EIO);
	assert_int_equal(expect_flushed(f->cq), 0);
	/* Nothing left: arming is silent. */
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(poll(&(struct pollfd){.fd = f->channel->fd, .events = POLLIN}, 1, 0), 0);
	/* QPs still point to it. */
	assert_int_equal(ibv_destroy_cq(f->cq), EBUSY);
	/* The teardown destroys everything, locally. */
}

/* A new daemon serves new opens beside the dead context. */
static void test_new_daemon(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_daemon other;
	struct ibv_context *c;

	fake_daemon_die(&f->daemon);
	expect_fatal_event(f);
	fake_daemon_start(&other);
	c = verbs_fixture_open();
	assert_non_null(c);
	assert_int_equal(ibv_close_device(c), 0);
	fake_daemon_stop(&other);
}

/* Replies that are not what was asked end the context, not the program. */
static void test_nonsense(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.mood = FAKE_WRONG_NUMBER;
	assert_null(ibv_alloc_pd(f->context));
	assert_int_equal(errno, EIO);
	expect_fatal_event(f);
	f->daemon.mood = FAKE_ANSWERS;
	assert_null(ibv_alloc_pd(f->context));
	assert_int_equal(errno, EIO);
}

/* A refused command is only that. */
static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.fail[UHCA_CMD_ALLOC_PD] = -ENOMEM;
	assert_null(ibv_alloc_pd(f->context));
	assert_int_equal(errno, ENOMEM);
	f->daemon.fail[UHCA_CMD_DEALLOC_PD] = -EBUSY;
	assert_int_equal(ibv_dealloc_pd(f->pd), EBUSY);
	f->daemon.fail[UHCA_CMD_DESTROY_QP] = -EBUSY;
	assert_int_equal(ibv_destroy_qp(f->qp), EBUSY);
	f->daemon.fail[UHCA_CMD_DEREG_MR] = -EBUSY;
	assert_int_equal(ibv_dereg_mr(f->mr), EBUSY);
	/* And all of it still lives: */
	post(f, 1, 1);
	f->daemon.fail[UHCA_CMD_DEALLOC_PD] = 0;
	f->daemon.fail[UHCA_CMD_DESTROY_QP] = 0;
	f->daemon.fail[UHCA_CMD_DEREG_MR] = 0;
}

/* Two contexts on one daemon, one channel each; the first to close leaves the other alone. */
static void test_two_contexts(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_context *c = verbs_fixture_open();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(c);
	struct ibv_cq *cq = ibv_create_cq(c, 1, NULL, channel, 0);

	assert_non_null(cq);
	/* A channel belongs to the device it was made on. */
	assert_null(ibv_create_cq(c, 1, NULL, f->channel, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	assert_int_equal(ibv_close_device(c), 0);
	post(f, 1, 1);
	cq = ibv_create_cq(f->context, 1, NULL, f->channel, 0);
	assert_non_null(cq);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* ---- fork ---- */

#define CHILD_SAYS(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "child: %s fails\n", #condition);                          \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void child(struct verbs_fixture *f)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv;
	struct ibv_wc wc;
#ifndef __SANITIZE_THREAD__
	struct ibv_context *c;
#endif

	CHILD_SAYS(ibv_post_send(f->qp, &wr, &bad) == EIO);
	CHILD_SAYS(ibv_post_recv(f->qp, &recv, &bad_recv) == EIO);
	CHILD_SAYS(ibv_poll_cq(f->cq, 1, &wc) < 0);
	CHILD_SAYS(ibv_req_notify_cq(f->cq, 0) == EIO);
	CHILD_SAYS(ibv_modify_qp(f->qp, &attr, IBV_QP_STATE) == EIO);
	CHILD_SAYS(!ibv_alloc_pd(f->context) && errno == EIO);
	/* Destroying frees the child's copies. */
	CHILD_SAYS(ibv_destroy_qp(f->qp) == 0);
	CHILD_SAYS(ibv_destroy_cq(f->cq) == 0);
	CHILD_SAYS(ibv_dereg_mr(f->mr) == 0);
	CHILD_SAYS(ibv_dealloc_pd(f->pd) == 0);
	CHILD_SAYS(ibv_destroy_comp_channel(f->channel) == 0);
	CHILD_SAYS(ibv_close_device(f->context) == 0);
#ifndef __SANITIZE_THREAD__ /* which knows no threads after a fork */
	/* And it may have a device of its own. */
	c = verbs_fixture_open();
	CHILD_SAYS(c);
	CHILD_SAYS(ibv_close_device(c) == 0);
#endif
	_exit(0);
}

static void test_fork(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *cq = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct uhca_abi_cqe e = {.wr_id = 5, .qpn = f->qp->qp_num};
	unsigned calls[UHCA_CMD_COUNT];
	struct ibv_wc wc;
	int status;
	pid_t pid;

	post(f, 1, 0);
	fake_complete(cq, &e);
	memcpy(calls, f->daemon.calls, sizeof(calls));
	pid = quiet_fork();
	if (pid == 0)
		child(f);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/*
	 * The daemon has heard of nothing but the child's own device, and our completion is here.
	 */
#ifndef __SANITIZE_THREAD__
	calls[UHCA_CMD_HELLO]++;
	calls[UHCA_CMD_EXPORT]++;
#endif
	assert_memory_equal(f->daemon.calls, calls, sizeof(calls));
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	post(f, 1, 1);
}

/* The daemon sees its client's end although a child lives on. */
static void test_fork_closes_socket(void **state)
{
	struct verbs_fixture *f = *state;
	int go[2], status;
	char c;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = quiet_fork();
	if (pid == 0) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	close(go[0]);
	assert_int_equal(ibv_destroy_qp(f->qp), 0);
	assert_int_equal(ibv_destroy_cq(f->cq), 0);
	assert_int_equal(ibv_dereg_mr(f->mr), 0);
	assert_int_equal(ibv_dealloc_pd(f->pd), 0);
	assert_int_equal(ibv_destroy_comp_channel(f->channel), 0);
	assert_int_equal(ibv_close_device(f->context), 0);
	f->qp = NULL;
	f->cq = NULL;
	f->mr = NULL;
	f->pd = NULL;
	f->channel = NULL;
	f->context = NULL;
	for (int i = 0;
	     i < DEADLINE_MS && __atomic_load_n(&f->daemon.client[0], __ATOMIC_ACQUIRE) >= 0; i++)
		poll(NULL, 0, 1);
	assert_int_equal(f->daemon.client[0], -1);
	close(go[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_daemon_dies),        TEST(test_new_daemon),
		TEST(test_nonsense),           TEST(test_refused),
		TEST(test_two_contexts),       TEST(test_fork),
		TEST(test_fork_closes_socket),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
