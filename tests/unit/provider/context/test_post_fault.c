/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting and arming while rules say how far it gets: what is asked, what is posted, what fails. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/context/post_fault.h"
#include "provider/dv/dv.h"
#include "provider/poll/arm_cq.h"
#include "provider/post/post_recv.h"
#include "provider/post/post_send.h"
#include "provider/post/qp_ex.h"
#include "provider/queues/srq.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIST 5u

static struct fixture *f;
static int peer; /* the daemon's end */

static int setup(void **state)
{
	int pair[2];

	(void)state;
	f = fixture_create(IBV_QPT_RC);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	f->ctx.rpc = (struct uhcav_rpc){.sock = pair[0], .timeout_ms = 5000};
	f->status.post_faults = 1;
	f->qp.qp.qp_num = FIXTURE_QPN;
	f->cq.cq.handle = 99;
	peer = pair[1];
	return pthread_mutex_init(&f->ctx.rpc.lock, NULL);
}

static int teardown(void **state)
{
	(void)state;
	uhcav_rpc_close(&f->ctx.rpc);
	if (peer >= 0)
		close(peer);
	fixture_destroy(f);
	return 0;
}

/* Put into the socket before the question. */
static void answer(uint32_t error, uint32_t first)
{
	struct uhca_cmd_fault_check_reply r = {
		{UHCA_CMD_FAULT_CHECK, sizeof(r), f->ctx.rpc.sequence + 1, 0}, error, first};

	assert_int_equal(send(peer, &r, sizeof(r), 0), sizeof(r));
}

static void expect_question(uint32_t verb, uint32_t requests)
{
	struct uhca_cmd_fault_check ask;
	bool of_cq = verb == UHCA_FAULT_REQ_NOTIFY_CQ;

	assert_int_equal(recv(peer, &ask, sizeof(ask), MSG_DONTWAIT), sizeof(ask));
	assert_int_equal(ask.h.cmd, UHCA_CMD_FAULT_CHECK);
	assert_int_equal(ask.verb, verb);
	assert_int_equal(ask.requests, requests);
	assert_int_equal(ask.qpn, of_cq ? 0 : FIXTURE_QPN);
	assert_int_equal(ask.cq, of_cq ? 99 : 0);
	assert_int_equal(ask.reserved, 0);
}

static void test_send(void **state)
{
	struct ibv_send_wr wr[LIST] = {0}, *bad = NULL;

	(void)state;
	for (unsigned i = 0; i < LIST; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i,
					     .opcode = IBV_WR_SEND,
					     .next = i + 1 < LIST ? &wr[i + 1] : NULL};
	answer(EPERM, 0);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), EPERM);
	expect_question(UHCA_FAULT_POST_SEND, LIST);
	assert_ptr_equal(bad, wr);
	assert_int_equal(f->queue.send.producer, 0);
	answer(ENOMEM, 3);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	expect_question(UHCA_FAULT_POST_SEND, LIST);
	assert_ptr_equal(bad, &wr[3]);
	assert_int_equal(f->queue.send.producer, 3);
	assert_int_equal(fixture_sent(f, 2)->wr_id, 2);
	assert_true(fixture_rung(f));
	answer(0, 0);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), 0);
	assert_int_equal(f->queue.send.producer, 3 + LIST);
	f->status.post_faults = 0; /* nobody is asked: it is full */
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, wr);
}

/* An error of its own comes first: it is told with its own request. */
static void test_own_error(void **state)
{
	struct ibv_send_wr wr[2] = {{.opcode = 31, .next = &wr[1]}, {.opcode = IBV_WR_SEND}};
	struct ibv_send_wr *bad = NULL;

	(void)state;
	answer(EPERM, 1);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, wr);
	assert_int_equal(f->queue.send.producer, 0);
}

static void test_recv(void **state)
{
	struct ibv_recv_wr wr[LIST] = {0}, *bad = NULL;

	(void)state;
	for (unsigned i = 0; i + 1 < LIST; i++)
		wr[i].next = &wr[i + 1];
	answer(EPERM, 2);
	assert_int_equal(uhcav_post_recv(&f->qp.qp, wr, &bad), EPERM);
	expect_question(UHCA_FAULT_POST_RECV, LIST);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(f->queue.recv.producer, 2);
	answer(0, 0);
	assert_int_equal(uhcav_post_recv(&f->qp.qp, bad, &bad), 0);
	assert_int_equal(f->queue.recv.producer, LIST);
}

static void test_srq_recv(void **state)
{
	struct uhcav_srq srq = {.srq.handle = 55, .ctx = &f->ctx, .rq = f->qp.rq};
	struct ibv_recv_wr wr[LIST] = {0}, *bad = NULL;
	struct uhca_cmd_fault_check ask;

	(void)state;
	for (unsigned i = 0; i + 1 < LIST; i++)
		wr[i].next = &wr[i + 1];
	answer(EPERM, 2);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, wr, &bad), EPERM);
	assert_int_equal(recv(peer, &ask, sizeof(ask), MSG_DONTWAIT), sizeof(ask));
	assert_int_equal(ask.verb, UHCA_FAULT_POST_SRQ_RECV);
	assert_int_equal(ask.srq, 55);
	assert_int_equal(ask.requests, LIST);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(f->queue.recv.producer, 2);
	answer(0, 0);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), 0);
	assert_int_equal(f->queue.recv.producer, LIST);
}

/* A batch is posted as a whole or not at all. */
static void test_batch(void **state)
{
	struct ibv_qp_ex *q = &f->qp.qpx;

	(void)state;
	uhcav_qp_ex_enable(&f->qp, IBV_QP_EX_WITH_SEND);
	answer(ENOMEM, 0);
	ibv_wr_start(q);
	ibv_wr_send(q);
	ibv_wr_send(q);
	assert_int_equal(ibv_wr_complete(q), ENOMEM);
	expect_question(UHCA_FAULT_WR_COMPLETE, 2);
	assert_int_equal(f->queue.send.producer, 0);
	assert_false(fixture_rung(f));
	answer(0, 0);
	ibv_wr_start(q);
	ibv_wr_send(q);
	assert_int_equal(ibv_wr_complete(q), 0);
	expect_question(UHCA_FAULT_WR_COMPLETE, 1);
	assert_int_equal(f->queue.send.producer, 1);
}

/* As test_send, by the extended call. */
static void test_dv_send(void **state)
{
	struct ibv_mr mr = {.lkey = 0x12345600, .rkey = 0x12345600};
	struct uhcadv_send_wr wr[LIST], *bad = NULL;
	uint64_t page = 0x10000;

	(void)state;
	f->ctx.features = UHCAV_FEATURES_KNOWN | UINT32_MAX;
	for (unsigned i = 0; i < LIST; i++) {
		wr[i] = (struct uhcadv_send_wr){.wr_id = i,
						.opcode = UHCADV_WR_REG_MR_PAGES,
						.next = i + 1 < LIST ? &wr[i + 1] : NULL};
		wr[i].reg.mr = &mr;
		wr[i].reg.pages.page = &page;
		wr[i].reg.pages.n = 1;
		wr[i].reg.pages.page_shift = 12;
		wr[i].reg.pages.length = 4096;
	}
	answer(EPERM, 0);
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), EPERM);
	expect_question(UHCA_FAULT_POST_SEND, LIST);
	assert_ptr_equal(bad, wr);
	assert_int_equal(f->queue.send.producer, 0);
	answer(ENOMEM, 3);
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	expect_question(UHCA_FAULT_POST_SEND, LIST);
	assert_ptr_equal(bad, &wr[3]);
	assert_int_equal(f->queue.send.producer, 3);
	assert_int_equal(fixture_sent(f, 2)->wr_id, 2);
	answer(0, 0);
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), 0);
	assert_int_equal(f->queue.send.producer, 3 + LIST);
	answer(EPERM, 2); /* it is full: an error of its own comes first */
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, wr);
}

static void test_notify(void **state)
{
	(void)state;
	answer(EAGAIN, 0);
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 0), EAGAIN);
	expect_question(UHCA_FAULT_REQ_NOTIFY_CQ, 0);
	assert_int_equal(f->cq_page.arm, 0);
	answer(0, 0);
	assert_int_equal(uhcav_req_notify_cq(&f->cq.cq, 0), 0);
	assert_int_equal(f->cq_page.arm, UHCA_ABI_ARM_NEXT);
}

/* The daemon goes while we ask: an error, in errno as well, no lock is left taken. */
static void test_daemon_gone(void **state)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad = NULL;

	(void)state;
	close(peer);
	peer = -1;
	errno = 77;
	assert_int_equal(uhcav_post_send(&f->qp.qp, &wr, &bad), EIO);
	assert_int_equal(errno, EIO);
	f->status.post_faults = 0;
	assert_int_equal(uhcav_post_send(&f->qp.qp, &wr, &bad), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_send, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recv, setup, teardown),
		cmocka_unit_test_setup_teardown(test_srq_recv, setup, teardown),
		cmocka_unit_test_setup_teardown(test_batch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dv_send, setup, teardown),
		cmocka_unit_test_setup_teardown(test_notify, setup, teardown),
		cmocka_unit_test_setup_teardown(test_daemon_gone, setup, teardown),
	};

	return cmocka_run_group_tests_name("post_fault", tests, NULL, NULL);
}
