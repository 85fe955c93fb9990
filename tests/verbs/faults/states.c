/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States of a QP through the real libibverbs (IBTA vol. 1, 10.3.1; ibv_modify_qp(3),
 * ibv_query_qp(3)): draining, changes and posts in SQD, what each state takes and refuses, and
 * that a query tells what was set. The whole table is tests/unit/core/qp/test_qp_modify.c's
 * business.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MS 50 /* how long "nothing comes" is waited for */

static void post_send(struct ibv_qp *qp, uint64_t id)
{
	struct ibv_send_wr send = {.wr_id = id, .opcode = IBV_WR_SEND}, *bad;

	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
}

static void post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr recv = {.wr_id = 100}, *bad;

	assert_int_equal(ibv_post_recv(qp, &recv, &bad), 0);
}

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0xee, sizeof(attr));
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
	return attr;
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = {.qp_state = state};

	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

static int drain(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};

	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static int event_waits(struct ibv_context *ctx, int ms)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};

	return poll(&p, 1, ms);
}

static void expect_drained(struct world *w, struct ibv_qp *qp)
{
	struct ibv_async_event event;

	assert_int_equal(event_waits(w->ctx, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_async_event(w->ctx, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
}

static void expect_success(struct world *w, unsigned n)
{
	struct ibv_wc wc;

	while (n--) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
}

/*
 * What has begun ends before the event: the peer is not ready, so the request is under way until
 * a receive is posted.
 */
static void test_draining(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp[2];

	world_qp_pair(w, qp, IBV_QPS_RTS);
	post_send(qp[0], 1);
	while (query(qp[0]).sq_psn == 0) /* until it has been sent once */
		continue;
	assert_int_equal(drain(qp[0]), 0);
	assert_int_equal(event_waits(w->ctx, QUIET_MS), 0);
	assert_int_equal(query(qp[0]).qp_state, IBV_QPS_SQD);
	assert_int_equal(query(qp[0]).sq_draining, 1);
	post_recv(qp[1]);
	expect_success(w, 2);
	expect_drained(w, qp[0]);
	assert_int_equal(query(qp[0]).sq_draining, 0);
	assert_int_equal(event_waits(w->ctx, QUIET_MS), 0); /* once */
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

/* Requests posted in SQD wait for RTS; receiving goes on. */
static void test_posts_wait(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;
	uint32_t psn;

	world_qp_pair(w, qp, IBV_QPS_RTS);
	assert_int_equal(drain(qp[0]), 0);
	expect_drained(w, qp[0]);
	psn = query(qp[0]).sq_psn;
	post_recv(qp[1]);
	post_send(qp[0], 1);
	post_recv(qp[0]);
	post_send(qp[1], 2);
	expect_success(w, 2); /* the other direction */
	usleep(QUIET_MS * 1000);
	assert_int_equal(ibv_poll_cq(w->cq, 1, &wc), 0);
	assert_int_equal(query(qp[0]).sq_psn, psn);
	assert_int_equal(to_state(qp[0], IBV_QPS_RTS), 0);
	expect_success(w, 2);
	assert_int_equal(ibv_destroy_qp(qp[0]), 0);
	assert_int_equal(ibv_destroy_qp(qp[1]), 0);
}

/* Attributes that only SQD lets change, and some that nothing does. */
static void test_changes_in_sqd(void **state)
{
	const int all = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS | IBV_QP_AV;
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD,
				.timeout = 17,
				.retry_cnt = 3,
				.rnr_retry = 2,
				.min_rnr_timer = 9,
				.qp_access_flags = IBV_ACCESS_REMOTE_READ,
				.ah_attr = world_own_address(w->ctx)};
	struct ibv_qp_attr now;

	a.ah_attr.grh.traffic_class = 0x20;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_TIMEOUT), EINVAL); /* in RTS */
	assert_int_equal(drain(qp), 0);
	expect_drained(w, qp);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | all), 0);
	now = query(qp);
	assert_int_equal(now.qp_state, IBV_QPS_SQD);
	assert_int_equal(now.timeout, 17);
	assert_int_equal(now.retry_cnt, 3);
	assert_int_equal(now.rnr_retry, 2);
	assert_int_equal(now.min_rnr_timer, 9);
	assert_int_equal(now.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	assert_int_equal(now.ah_attr.grh.traffic_class, 0x20);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_SQ_PSN), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_DEST_QPN), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_PATH_MTU), EINVAL);
	assert_int_equal(to_state(qp, IBV_QPS_RTS), 0);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* What is set, and what was asked for at creation, comes back. */
static void test_query(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_init_attr asked = world_init_attr(w, IBV_QPT_RC), init;
	struct ibv_qp_attr a;

	memset(&init, 0xee, sizeof(init));
	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	assert_int_equal(a.qp_state, IBV_QPS_RTS);
	assert_int_equal(a.cur_qp_state, IBV_QPS_RTS);
	assert_int_equal(a.path_mtu, IBV_MTU_1024);
	assert_int_equal(a.dest_qp_num, qp->qp_num);
	assert_int_equal(a.path_mig_state, IBV_MIG_MIGRATED);
	assert_int_equal(a.port_num, 1);
	assert_int_equal(a.timeout, WORLD_TIMEOUT);
	assert_int_equal(a.retry_cnt, 7);
	assert_int_equal(a.rnr_retry, 7);
	assert_int_equal(a.max_rd_atomic, 1);
	assert_int_equal(a.max_dest_rd_atomic, 1);
	assert_int_equal(a.sq_draining, 0);
	assert_true(a.cap.max_send_wr >= asked.cap.max_send_wr);
	assert_true(a.cap.max_recv_wr >= asked.cap.max_recv_wr);
	assert_true(a.cap.max_send_sge >= asked.cap.max_send_sge);
	assert_true(a.cap.max_recv_sge >= asked.cap.max_recv_sge);
	assert_true(a.cap.max_inline_data >= asked.cap.max_inline_data);
	assert_memory_equal(&a.cap, &init.cap, sizeof(a.cap));
	assert_ptr_equal(init.send_cq, w->cq);
	assert_ptr_equal(init.recv_cq, w->cq);
	assert_null(init.srq);
	assert_int_equal(init.qp_type, IBV_QPT_RC);
	assert_int_equal(init.sq_sig_all, 1);
	assert_int_equal(to_state(qp, IBV_QPS_RESET), 0);
	a = query(qp);
	assert_int_equal(a.qp_state, IBV_QPS_RESET);
	assert_int_equal(a.dest_qp_num, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* What the program believes the state to be must be true. */
static void test_current_state(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD};

	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	a.cur_qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* There is no second path (EOPNOTSUPP), and the QP goes on as it was. */
static void test_no_migration(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr a = {.path_mig_state = IBV_MIG_REARM, .alt_port_num = 1};

	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_PATH_MIG_STATE), EOPNOTSUPP);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_ALT_PATH), EOPNOTSUPP);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* From every state to every other with no attribute but the state: RESET and ERR always. */
static void test_bare_transitions(void **state)
{
	static const enum ibv_qp_state path[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						 IBV_QPS_RTS};
	struct world *w = *state;
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	assert_non_null(qp);
	for (unsigned i = 0; i < 4; i++) {
		for (int to = IBV_QPS_INIT; to <= IBV_QPS_SQE; to++) {
			/* Attributes may stay as they are in INIT, RTS and, from RTS, SQD. */
			bool legal = (path[i] == IBV_QPS_INIT && to == IBV_QPS_INIT) ||
				     (path[i] == IBV_QPS_RTS && to == IBV_QPS_RTS) ||
				     (path[i] == IBV_QPS_RTS && to == IBV_QPS_SQD);

			if (path[i] != IBV_QPS_RESET)
				world_connect(qp, qp->qp_num, path[i]);
			assert_int_equal(to_state(qp, (enum ibv_qp_state)to), legal ? 0 : EINVAL);
			assert_int_equal(to_state(qp, IBV_QPS_ERR), 0);
			assert_int_equal(to_state(qp, IBV_QPS_RTS), EINVAL);
			assert_int_equal(to_state(qp, IBV_QPS_RESET), 0);
		}
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_draining),         TEST(test_posts_wait),
		TEST(test_changes_in_sqd),   TEST(test_query),
		TEST(test_current_state),    TEST(test_no_migration),
		TEST(test_bare_transitions),
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
