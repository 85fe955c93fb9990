/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of a real daemon through the real libibverbs: completion events are neither lost nor
 * made up, asynchronous events come with their cause and name their object, and objects whose
 * events nobody acknowledged wait with their end (ibv_get_cq_event(3), ibv_get_async_event(3)).
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OVERRUN_QPS 4
#define QUIET_MS    50 /* how long "nothing comes" is waited for */

static int readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms);
}

/* The next asynchronous event, which is of this type; the caller acknowledges it. */
static struct ibv_async_event expect_async(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct ibv_async_event event;

	assert_int_equal(readable(ctx->async_fd, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_async_event(ctx, &event), 0);
	assert_int_equal(event.event_type, type);
	return event;
}

static void expect_cq_event(struct world *w)
{
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(readable(w->channel->fd, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	assert_ptr_equal(cq, w->cq);
	assert_null(context);
	ibv_ack_cq_events(cq, 1);
}

static void expect_no_cq_event(struct world *w)
{
	assert_int_equal(readable(w->channel->fd, QUIET_MS), 0);
}

static void post_send(struct ibv_qp *qp, unsigned flags)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = flags}, *bad;

	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
}

static void post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad;

	assert_int_equal(ibv_post_recv(qp, &recv, &bad), 0);
}

static void post_srq_recv(struct ibv_srq *srq, unsigned n)
{
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad;

	while (n--)
		assert_int_equal(ibv_post_srq_recv(srq, &recv, &bad), 0);
}

static void drain(struct world *w, unsigned n)
{
	struct ibv_wc wc;

	while (n--)
		world_poll(w->cq, &wc);
}

/* ---- completion events ---- */

/* Arm, look, wait: whenever the completion comes, it is seen. */
static void test_none_lost(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	unsigned done = 0;
	struct ibv_wc wc;

	for (unsigned i = 0; i < 200; i++) {
		post_recv(qp);
		post_send(qp, 0);
		for (done = 0; done < 2;) {
			assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
			if (ibv_poll_cq(w->cq, 1, &wc) == 1)
				done++;
			else
				expect_cq_event(w);
		}
		/* What was armed for last was polled; its event may be there or not. */
		while (readable(w->channel->fd, 0) == 1)
			expect_cq_event(w);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Not armed, no event; armed, one event, however many completions come. */
static void test_one_for_each_arming(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);

	post_recv(qp);
	post_send(qp, 0);
	drain(w, 2);
	expect_no_cq_event(w);
	assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
	assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
	post_recv(qp);
	post_send(qp, 0);
	drain(w, 2);
	expect_cq_event(w);
	expect_no_cq_event(w);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_solicited_only(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	assert_int_equal(ibv_req_notify_cq(w->cq, 1), 0);
	post_recv(qp);
	post_send(qp, 0);
	drain(w, 2);
	expect_no_cq_event(w);
	post_recv(qp);
	post_send(qp, IBV_SEND_SOLICITED);
	drain(w, 2);
	expect_cq_event(w);
	/* An error counts as solicited. */
	assert_int_equal(ibv_req_notify_cq(w->cq, 1), 0);
	post_recv(qp);
	assert_int_equal(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
	drain(w, 1);
	expect_cq_event(w);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_nonblocking(void **state)
{
	struct world *w = *state;
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *context;

	fcntl(w->channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(w->ctx->async_fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(ibv_get_async_event(w->ctx, &event), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Nobody hears of a CQ that is gone. */
static void test_destroyed_with_event(void **state)
{
	struct world *w = *state;
	struct ibv_cq *mine = w->cq;
	struct ibv_qp *qp;

	w->cq = ibv_create_cq(w->ctx, 8, NULL, w->channel, 0);
	assert_non_null(w->cq);
	qp = world_qp(w, NULL);
	assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
	post_recv(qp);
	post_send(qp, 0);
	drain(w, 2);
	assert_int_equal(readable(w->channel->fd, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(w->cq), 0);
	w->cq = mine;
	expect_no_cq_event(w);
}

/* ---- asynchronous events ---- */

static void test_srq_limit(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_srq_attr limit = {.srq_limit = 3};
	struct ibv_async_event event;
	struct ibv_qp *qp;

	assert_non_null(srq);
	qp = world_qp(w, srq);
	post_srq_recv(srq, 6);
	assert_int_equal(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
	for (unsigned i = 0; i < 3; i++) {
		post_send(qp, 0);
		drain(w, 2);
	}
	assert_int_equal(readable(w->ctx->async_fd, QUIET_MS), 0);
	post_send(qp, 0);
	drain(w, 2);
	event = expect_async(w->ctx, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, srq);
	ibv_ack_async_event(&event);
	/* Once: the limit is off until it is set again. */
	assert_int_equal(ibv_query_srq(srq, &limit), 0);
	assert_int_equal(limit.srq_limit, 0);
	post_send(qp, 0);
	drain(w, 2);
	assert_int_equal(readable(w->ctx->async_fd, QUIET_MS), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_last_wqe(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct ibv_qp *qp;

	assert_non_null(srq);
	qp = world_qp(w, srq);
	assert_int_equal(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
	event = expect_async(w->ctx, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_comm_est(void **state)
{
	struct world *w = *state;
	struct ibv_async_event event;
	struct ibv_qp *qp[2];

	world_qp_pair(w, qp, IBV_QPS_RTR);
	post_recv(qp[1]);
	post_send(qp[0], 0);
	event = expect_async(w->ctx, IBV_EVENT_COMM_EST);
	assert_ptr_equal(event.element.qp, qp[1]);
	ibv_ack_async_event(&event);
	drain(w, 2);
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

static void test_drained(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;

	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event = expect_async(w->ctx, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	assert_int_equal(a.qp_state, IBV_QPS_SQD);
	assert_int_equal(a.sq_draining, 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Nobody takes completions out: the CQ overruns, and who could not complete there is in error. */
static void test_cq_overrun(void **state)
{
	struct world *w = *state;
	struct ibv_cq *mine = w->cq;
	struct ibv_async_event event;
	struct ibv_qp *qp[OVERRUN_QPS];

	w->cq = ibv_create_cq(w->ctx, 1, NULL, NULL, 0);
	assert_non_null(w->cq);
	assert_true(w->cq->cqe < (int)(OVERRUN_QPS * WORLD_WR * 2));
	for (unsigned i = 0; i < OVERRUN_QPS; i++) {
		qp[i] = world_qp(w, NULL);
		for (unsigned k = 0; k < WORLD_WR; k++)
			post_recv(qp[i]);
		for (unsigned k = 0; k < WORLD_WR; k++)
			post_send(qp[i], 0);
	}
	event = expect_async(w->ctx, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(event.element.cq, w->cq);
	ibv_ack_async_event(&event);
	event = expect_async(w->ctx, IBV_EVENT_QP_FATAL);
	ibv_ack_async_event(&event);
	for (unsigned i = 0; i < OVERRUN_QPS; i++)
		assert_int_equal(ibv_destroy_qp(qp[i]), 0);
	assert_int_equal(ibv_destroy_cq(w->cq), 0);
	w->cq = mine;
}

/* A WRITE that is not allowed: the responder hears of it, the requester by its completion. */
static void test_access_error(void **state)
{
	struct world *w = *state;
	struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};
	struct ibv_send_wr write = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad;
	struct ibv_async_event event;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	world_qp_pair(w, qp, IBV_QPS_RTS);
	write.wr.rdma.remote_addr = (uintptr_t)w->memory;
	write.wr.rdma.rkey = w->mr->rkey; /* without remote rights */
	assert_int_equal(ibv_post_send(qp[0], &write, &bad), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(wc.qp_num, qp[0]->qp_num);
	event = expect_async(w->ctx, IBV_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.element.qp, qp[1]);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

/* A READ of a QP that takes none: the responder hears of it. */
static void test_request_error(void **state)
{
	struct world *w = *state;
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .max_dest_rd_atomic = 0,
				  .min_rnr_timer = 1,
				  .ah_attr = world_own_address(w->ctx)};
	struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};
	struct ibv_send_wr read = {.opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr *bad;
	struct ibv_async_event event;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	world_qp_pair(w, qp, IBV_QPS_INIT);
	rtr.dest_qp_num = qp[0]->qp_num;
	assert_int_equal(ibv_modify_qp(qp[1], &rtr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	assert_int_equal(ibv_post_send(qp[0], &read, &bad), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_REM_INV_REQ_ERR);
	event = expect_async(w->ctx, IBV_EVENT_COMM_EST);
	ibv_ack_async_event(&event);
	event = expect_async(w->ctx, IBV_EVENT_QP_REQ_ERR);
	assert_ptr_equal(event.element.qp, qp[1]);
	ibv_ack_async_event(&event);
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

static void *destroy_qp(void *qp)
{
	return (void *)(intptr_t)ibv_destroy_qp(qp);
}

static struct timespec in_ms(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static void test_destroy_waits_for_ack(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	struct timespec soon, late;
	struct ibv_async_event event;
	pthread_t thread;
	void *result;

	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event = expect_async(w->ctx, IBV_EVENT_SQ_DRAINED);
	assert_int_equal(pthread_create(&thread, NULL, destroy_qp, qp), 0);
	soon = in_ms(QUIET_MS);
	assert_int_equal(pthread_timedjoin_np(thread, &result, &soon), ETIMEDOUT);
	ibv_ack_async_event(&event);
	late = in_ms(WORLD_LIMIT * 1000);
	assert_int_equal(pthread_timedjoin_np(thread, &result, &late), 0);
	assert_null(result);
}

/* ---- events of the port and of the device ---- */

static void order(const char *what)
{
	char command[4200];

	snprintf(command, sizeof(command), "\"$UHCA_BUILDDIR\"/uhcactl %s >/dev/null", what);
	assert_int_equal(system(command), 0);
}

static void expect_port(struct ibv_context *ctx, enum ibv_port_state state)
{
	struct ibv_port_attr attr;

	assert_int_equal(ibv_query_port(ctx, 1, &attr), 0);
	assert_int_equal(attr.state, state);
}

static void expect_port_event(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct ibv_async_event event = expect_async(ctx, type);

	assert_int_equal(event.element.port_num, 1);
	ibv_ack_async_event(&event);
}

/* While the port is down nothing is sent, not even to the device itself. */
static void test_port_down(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_wc wc;

	expect_port(w->ctx, IBV_PORT_ACTIVE);
	order("port down uhca0");
	expect_port_event(w->ctx, IBV_EVENT_PORT_ERR);
	expect_port_event(w->same, IBV_EVENT_PORT_ERR);
	expect_port(w->ctx, IBV_PORT_DOWN);
	expect_port(w->other, IBV_PORT_ACTIVE);
	post_recv(qp);
	post_send(qp, 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_RETRY_EXC_ERR);
	drain(w, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	order("port up uhca0");
	expect_port_event(w->ctx, IBV_EVENT_PORT_ACTIVE);
	expect_port(w->ctx, IBV_PORT_ACTIVE);
	qp = world_qp(w, NULL);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(readable(w->other->async_fd, 0), 0);
}

/* A link that comes back in time is only a delay. */
static void test_port_flaps(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_wc wc;

	order("port down uhca0");
	post_recv(qp);
	post_send(qp, 0);
	order("port up uhca0");
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_fabric_events(void **state)
{
	static const struct {
		const char *order;
		enum ibv_event_type type;
	} all[] = {
		{"event uhca0 LID_CHANGE", IBV_EVENT_LID_CHANGE},
		{"event uhca0 PKEY_CHANGE", IBV_EVENT_PKEY_CHANGE},
		{"event uhca0 SM_CHANGE", IBV_EVENT_SM_CHANGE},
		{"event uhca0 CLIENT_REREGISTER", IBV_EVENT_CLIENT_REREGISTER},
		{"event uhca0 GID_CHANGE", IBV_EVENT_GID_CHANGE},
	};
	struct world *w = *state;

	for (unsigned i = 0; i < 5; i++) {
		order(all[i].order);
		expect_port_event(w->ctx, all[i].type);
		expect_port_event(w->same, all[i].type);
	}
	assert_int_equal(readable(w->other->async_fd, QUIET_MS), 0);
}

/* All contexts of the device are dead, all others live, and the device can be opened again. */
static void test_device_fatal(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_async_event event;
	struct ibv_context *again;
	struct ibv_wc wc;

	post_recv(qp);
	order("device fatal uhca0");
	event = expect_async(w->ctx, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	event = expect_async(w->same, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_null(ibv_alloc_pd(w->ctx));
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	expect_port(w->other, IBV_PORT_ACTIVE);
	again = world_open("uhca0");
	expect_port(again, IBV_PORT_ACTIVE);
	assert_int_equal(ibv_close_device(again), 0);
	/* Told once. */
	assert_int_equal(readable(w->ctx->async_fd, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_none_lost),
		TEST(test_one_for_each_arming),
		TEST(test_solicited_only),
		TEST(test_nonblocking),
		TEST(test_destroyed_with_event),
		TEST(test_srq_limit),
		TEST(test_last_wqe),
		TEST(test_comm_est),
		TEST(test_drained),
		TEST(test_cq_overrun),
		TEST(test_access_error),
		TEST(test_request_error),
		TEST(test_destroy_waits_for_ack),
		TEST(test_port_down),
		TEST(test_port_flaps),
		TEST(test_fabric_events),
		TEST(test_device_fatal),
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
