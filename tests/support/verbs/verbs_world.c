/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_world.h"

#include "tests/support/wire/cmocka_all.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ibv_context *world_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	assert_non_null(list);
	for (struct ibv_device **d = list; *d && !ctx; d++)
		if (!strcmp(ibv_get_device_name(*d), name))
			ctx = ibv_open_device(*d);
	ibv_free_device_list(list);
	assert_non_null(ctx);
	return ctx;
}

int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->ctx = world_open("uhca0");
	w->same = world_open("uhca0");
	w->other = world_open("uhca1");
	assert_int_equal(posix_memalign((void **)&w->memory, WORLD_SIZE, WORLD_SIZE), 0);
	memset(w->memory, 0, WORLD_SIZE);
	w->channel = ibv_create_comp_channel(w->ctx);
	w->pd = ibv_alloc_pd(w->ctx);
	assert_non_null(w->pd);
	w->mr = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, IBV_ACCESS_LOCAL_WRITE);
	w->cq = ibv_create_cq(w->ctx, WORLD_CQE, NULL, w->channel, 0);
	assert_true(w->channel && w->mr && w->cq);
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;

	assert_int_equal(ibv_destroy_cq(w->cq), 0);
	assert_int_equal(ibv_dereg_mr(w->mr), 0);
	assert_int_equal(ibv_dealloc_pd(w->pd), 0);
	assert_int_equal(ibv_destroy_comp_channel(w->channel), 0);
	assert_int_equal(ibv_close_device(w->ctx), 0);
	assert_int_equal(ibv_close_device(w->same), 0);
	assert_int_equal(ibv_close_device(w->other), 0);
	free(w->memory);
	free(w);
	return 0;
}

struct ibv_qp_init_attr world_init_attr(struct world *w, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){.send_cq = w->cq,
					 .recv_cq = w->cq,
					 .qp_type = type,
					 .sq_sig_all = 1,
					 .cap = {WORLD_WR, WORLD_WR, 2, 2, 64}};
}

struct ibv_ah_attr world_own_address(struct ibv_context *ctx)
{
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1};

	assert_int_equal(ibv_query_gid(ctx, 1, 0, &ah.grh.dgid), 0);
	ah.grh.hop_limit = 1;
	return ah;
}

static void to_init(struct ibv_qp *qp)
{
	const int all = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned)all};

	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
}

static void to_rtr(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 1,
				.ah_attr = world_own_address(qp->context)};

	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
				.timeout = WORLD_TIMEOUT,
				.retry_cnt = 7,
				.rnr_retry = 7,
				.max_rd_atomic = 1};

	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

void world_connect(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_state to)
{
	to_init(qp);
	if (to == IBV_QPS_INIT)
		return;
	to_rtr(qp, peer);
	if (to == IBV_QPS_RTR)
		return;
	to_rts(qp);
}

static struct ibv_qp *make_qp(struct world *w, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp;

	attr.srq = srq;
	qp = ibv_create_qp(w->pd, &attr);
	assert_non_null(qp);
	return qp;
}

struct ibv_qp *world_qp(struct world *w, struct ibv_srq *srq)
{
	struct ibv_qp *qp = make_qp(w, srq);

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	return qp;
}

void world_qp_pair(struct world *w, struct ibv_qp *qp[2], enum ibv_qp_state second)
{
	qp[0] = make_qp(w, NULL);
	qp[1] = make_qp(w, NULL);
	world_connect(qp[1], qp[0]->qp_num, second);
	world_connect(qp[0], qp[1]->qp_num, IBV_QPS_RTS);
}

void world_poll(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + WORLD_LIMIT;
	int n;

	/* What does not come soon comes late, and others need the processor. */
	for (unsigned empty = 0; !(n = ibv_poll_cq(cq, 1, wc)); empty++) {
		assert_true(time(NULL) < end);
		if (empty > 1000)
			poll(NULL, 0, 1);
	}
	assert_int_equal(n, 1);
}

void world_assert_works(struct world *w, struct ibv_qp *qp)
{
	static uint8_t pattern;
	uint8_t *from = w->memory, *to = w->memory + WORLD_SIZE / 2;
	struct ibv_sge out = {(uintptr_t)from, WORLD_SIZE / 2, w->mr->lkey};
	struct ibv_sge in = {(uintptr_t)to, WORLD_SIZE / 2, w->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1}, *bad_recv;
	struct ibv_wc wc;

	memset(from, ++pattern, WORLD_SIZE / 2);
	if (qp->srq)
		assert_int_equal(ibv_post_srq_recv(qp->srq, &recv, &bad_recv), 0);
	else
		assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
	}
	assert_memory_equal(from, to, WORLD_SIZE / 2);
}

struct ibv_qp *world_datagram_qp(struct world *w)
{
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_UD);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = WORLD_QKEY};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &attr);

	assert_non_null(qp);
	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	return qp;
}
