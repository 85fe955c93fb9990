/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request occupies its queue until its completion is polled (IBTA vol. 1, 10.8.6): the send
 * queue and the receive queue of a QP, an SRQ, an XRC SRQ, a work queue. So a program that posts
 * until ENOMEM cannot overrun a CQ as large as its queues. Runs below uhca-run with two devices.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

static int send_one(struct ibv_qp *qp, unsigned flags)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = flags}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static int recv_one(void *qp)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

static int srq_recv_one(void *srq)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int wq_recv_one(void *wq)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad;

	return ibv_post_wq_recv(wq, &wr, &bad);
}

/* Posts until it is refused, which is by ENOMEM; how many were taken. */
static unsigned fill(int (*post)(void *), void *queue)
{
	unsigned n = 0;
	int err;

	while (n < 10 * WORLD_CQE && !(err = post(queue)))
		n++;
	assert_int_equal(err, ENOMEM);
	return n;
}

static void poll_n(struct ibv_cq *cq, unsigned n)
{
	struct ibv_wc wc;

	while (n--)
		world_poll(cq, &wc);
}

/* Waits until the device has completed something to the CQ, without polling it. */
static void wait_for_event(struct world *w)
{
	struct pollfd p = {.fd = w->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(poll(&p, 1, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static struct ibv_qp *make_qp(struct world *w, struct ibv_cq *send, struct ibv_cq *recv,
			      struct ibv_srq *srq, int all)
{
	struct ibv_qp_init_attr attr = {.send_cq = send,
					.recv_cq = recv,
					.srq = srq,
					.cap = {16, srq ? 0 : 16, 1, 1, 0},
					.qp_type = IBV_QPT_RC,
					.sq_sig_all = all};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &attr);

	assert_non_null(qp);
	assert_int_equal(attr.cap.max_send_wr, 16);
	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	return qp;
}

static struct ibv_cq *make_cq(struct world *w, int cqe)
{
	struct ibv_cq *cq = ibv_create_cq(w->ctx, cqe, NULL, w->channel, 0);

	assert_non_null(cq);
	return cq;
}

static int send_signaled(void *qp)
{
	return send_one(qp, IBV_SEND_SIGNALED);
}

static int send_unsignaled(void *qp)
{
	return send_one(qp, 0);
}

static void reconnect(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
}

/* The last of a full queue is done with, and nothing was polled: it is as full as before. */
static void test_send_queue(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = make_cq(w, 16), *other = make_cq(w, 64);
	struct ibv_qp *qp = make_qp(w, cq, other, NULL, 0);

	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(recv_one(qp), 0);
	assert_int_equal(fill(send_signaled, qp), 16);
	poll_n(other, 16); /* all messages have come */
	assert_int_equal(fill(send_signaled, qp), 0);
	poll_n(cq, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(recv_one(qp), 0);
	assert_int_equal(fill(send_signaled, qp), 5);
	poll_n(other, 5);
	poll_n(cq, 16);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* Unsignaled requests stay until a later signaled one is polled; for ever where none comes. */
static void test_unsignaled(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = make_cq(w, 16), *other = make_cq(w, 64);
	struct ibv_qp *qp = make_qp(w, cq, other, NULL, 0);

	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(recv_one(qp), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(send_unsignaled(qp), 0);
	assert_int_equal(send_signaled(qp), 0);
	poll_n(other, 7);
	assert_int_equal(fill(send_unsignaled, qp), 9);
	poll_n(other, 9);
	assert_int_equal(fill(send_unsignaled, qp), 0);
	poll_n(cq, 1); /* seven leave */
	for (unsigned i = 0; i < 16; i++)
		recv_one(qp);
	assert_int_equal(fill(send_unsignaled, qp), 7);
	poll_n(other, 7);
	/* Nothing will ever complete; a reset empties the queue. */
	assert_int_equal(fill(send_unsignaled, qp), 0);
	reconnect(qp);
	assert_int_equal(fill(send_unsignaled, qp), 16);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void test_recv_queue(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = make_cq(w, 16), *other = make_cq(w, 64);
	struct ibv_qp *qp = make_qp(w, other, cq, NULL, 1);

	assert_int_equal(fill(recv_one, qp), 16);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(send_unsignaled(qp), 0);
	poll_n(other, 16);
	assert_int_equal(fill(recv_one, qp), 0);
	poll_n(cq, 3);
	assert_int_equal(fill(recv_one, qp), 3);
	poll_n(cq, 13);
	assert_int_equal(fill(recv_one, qp), 13);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* An SRQ whose QPs complete to two CQs; one QP is destroyed with completions nobody polled. */
static void test_srq(void **state)
{
	struct world *w = *state;
	struct ibv_cq *first = make_cq(w, 64), *second = make_cq(w, 64), *sends = make_cq(w, 64);
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_qp *a, *b;

	assert_non_null(srq);
	a = make_qp(w, sends, first, srq, 1);
	b = make_qp(w, sends, second, srq, 1);
	assert_int_equal(fill(srq_recv_one, srq), 16);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(send_unsignaled(a), 0);
		assert_int_equal(send_unsignaled(b), 0);
	}
	poll_n(sends, 16);
	assert_int_equal(fill(srq_recv_one, srq), 0);
	poll_n(first, 2);
	poll_n(second, 3);
	assert_int_equal(fill(srq_recv_one, srq), 5);
	assert_int_equal(ibv_destroy_qp(b), 0); /* five were not polled */
	assert_int_equal(fill(srq_recv_one, srq), 5);
	reconnect(a); /* six more, by a reset */
	assert_int_equal(fill(srq_recv_one, srq), 6);
	assert_int_equal(ibv_destroy_qp(a), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_cq(sends), 0);
	assert_int_equal(ibv_destroy_cq(second), 0);
	assert_int_equal(ibv_destroy_cq(first), 0);
}

/* An RC QP's states, for one of type XRC. */
static void connect_xrc(struct ibv_qp *qp, struct ibv_qp *peer, struct ibv_context *ctx)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
		0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = peer->qp_num,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 1,
				    .ah_attr = world_own_address(ctx)};
	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = WORLD_TIMEOUT, .retry_cnt = 7, .rnr_retry = 7};
	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					       IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

struct xrc {
	struct ibv_xrcd *domain;
	struct ibv_cq *cq, *sends;
	struct ibv_srq *srq;
	struct ibv_qp *from, *to;
};

static struct ibv_srq *make_xrc_srq(struct world *w, const struct xrc *x)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 16, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = w->pd,
		.xrcd = x->domain,
		.cq = x->cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(w->ctx, &attr);

	assert_non_null(srq);
	return srq;
}

static void xrc_begin(struct world *w, struct xrc *x)
{
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_XRC_SEND,
					   .cap = {16, 0, 1, 0, 0},
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = w->pd};

	x->domain = ibv_open_xrcd(w->ctx, &domain);
	x->cq = make_cq(w, 64);
	x->sends = make_cq(w, 64);
	assert_non_null(x->domain);
	x->srq = make_xrc_srq(w, x);
	attr.send_cq = x->sends;
	x->from = ibv_create_qp_ex(w->ctx, &attr);
	attr = (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = x->domain};
	x->to = ibv_create_qp_ex(w->ctx, &attr);
	assert_true(x->from && x->to);
	connect_xrc(x->from, x->to, w->ctx);
	connect_xrc(x->to, x->from, w->ctx);
}

static void xrc_end(struct xrc *x)
{
	assert_int_equal(ibv_destroy_qp(x->from), 0);
	assert_int_equal(ibv_destroy_qp(x->to), 0);
	assert_int_equal(ibv_destroy_srq(x->srq), 0);
	assert_int_equal(ibv_destroy_cq(x->sends), 0);
	assert_int_equal(ibv_destroy_cq(x->cq), 0);
	assert_int_equal(ibv_close_xrcd(x->domain), 0);
}

static void xrc_send(struct xrc *x, unsigned n)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;

	assert_int_equal(ibv_get_srq_num(x->srq, &wr.qp_type.xrc.remote_srqn), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(ibv_post_send(x->from, &wr, &bad), 0);
	poll_n(x->sends, n);
}

static void test_xrc_srq(void **state)
{
	struct world *w = *state;
	struct xrc x;

	xrc_begin(w, &x);
	assert_int_equal(fill(srq_recv_one, x.srq), 16);
	xrc_send(&x, 10);
	assert_int_equal(fill(srq_recv_one, x.srq), 0);
	poll_n(x.cq, 4);
	assert_int_equal(fill(srq_recv_one, x.srq), 4);
	/* Completions of an SRQ that is gone are nothing to the next one of its number. */
	assert_int_equal(ibv_destroy_srq(x.srq), 0);
	x.srq = make_xrc_srq(w, &x);
	poll_n(x.cq, 6);
	assert_int_equal(fill(srq_recv_one, x.srq), 16);
	xrc_send(&x, 1);
	poll_n(x.cq, 1);
	assert_int_equal(fill(srq_recv_one, x.srq), 1);
	xrc_end(&x);
}

static int wq_to(struct ibv_wq *wq, enum ibv_wq_state to)
{
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = to};

	return ibv_modify_wq(wq, &attr);
}

/* In the error state what is posted completes at once. */
static void test_work_queue(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = make_cq(w, 64);
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1, .pd = w->pd, .cq = cq};
	struct ibv_wq *wq = ibv_create_wq(w->ctx, &init);

	assert_non_null(wq);
	assert_int_equal(wq_to(wq, IBV_WQS_RDY), 0);
	assert_int_equal(fill(wq_recv_one, wq), 16);
	assert_int_equal(wq_to(wq, IBV_WQS_ERR), 0);
	assert_int_equal(fill(wq_recv_one, wq), 0);
	poll_n(cq, 7);
	assert_int_equal(fill(wq_recv_one, wq), 7);
	assert_int_equal(wq_to(wq, IBV_WQS_RESET), 0);
	assert_int_equal(wq_to(wq, IBV_WQS_RDY), 0);
	assert_int_equal(fill(wq_recv_one, wq), 16);
	assert_int_equal(ibv_destroy_wq(wq), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* A CQ that ignores overruns may lose completions: there a request leaves when it is taken. */
static void test_ignored_overruns(void **state)
{
	struct world *w = *state;
	struct ibv_cq_init_attr_ex attr = {.cqe = 16,
					   .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					   .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN};
	struct ibv_cq *cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(w->ctx, &attr));
	struct ibv_cq *other = make_cq(w, 64);
	struct ibv_qp *qp;

	assert_non_null(cq);
	qp = make_qp(w, other, cq, NULL, 1);
	for (unsigned round = 0; round < 4; round++) {
		assert_int_equal(fill(recv_one, qp), 16);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(send_unsignaled(qp), 0);
		poll_n(other, 16);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* Flushed requests occupy their queue, too, until they are polled. */
static void test_flushed(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = make_cq(w, 64);
	struct ibv_qp *qp = make_qp(w, cq, cq, NULL, 1);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(fill(send_unsignaled, qp), 16);
	assert_int_equal(fill(recv_one, qp), 16);
	wait_for_event(w);
	assert_int_equal(fill(send_unsignaled, qp), 0);
	poll_n(cq, 32);
	assert_int_equal(fill(send_unsignaled, qp), 16);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_send_queue),       TEST(test_unsignaled),
		TEST(test_recv_queue),       TEST(test_srq),
		TEST(test_xrc_srq),          TEST(test_work_queue),
		TEST(test_ignored_overruns), TEST(test_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
