/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_pair.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ACCESS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define QKEY 0x11223344u

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c;

	assert_non_null(list);
	assert_non_null(list[0]);
	c = ibv_open_device(list[0]);
	assert_non_null(c);
	ibv_free_device_list(list);
	return c;
}

static void make_side(struct verbs_pair *p, struct verbs_side *s, enum ibv_qp_type type,
		      struct ibv_comp_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = type, .cap = {PAIR_WR, PAIR_WR, 2, 2, 64}};

	s->memory = aligned_alloc(4096, PAIR_MEMORY);
	assert_non_null(s->memory);
	memset(s->memory, 0, PAIR_MEMORY);
	s->mr = ibv_reg_mr(p->pd, s->memory, PAIR_MEMORY, ACCESS);
	assert_non_null(s->mr);
	s->cq = ibv_create_cq(p->context, 4 * PAIR_WR, NULL, channel, 0);
	assert_non_null(s->cq);
	attr.send_cq = attr.recv_cq = s->cq;
	attr.srq = channel ? p->srq : NULL;
	s->qp = ibv_create_qp(p->pd, &attr);
	assert_non_null(s->qp);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_access_flags = ACCESS;
	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);
}

static void to_rtr(struct verbs_pair *p, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = 1,
				   .ah_attr = {.is_global = 1,
					       .port_num = 1,
					       .grh = {.dgid = p->gid, .hop_limit = 1}}};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = 4};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);
}

void verbs_pair_connect(struct verbs_pair *p, struct ibv_qp *qp, uint32_t peer)
{
	to_init(qp);
	to_rtr(p, qp, peer);
	to_rts(qp);
}

struct verbs_pair *verbs_pair_create(enum ibv_qp_type type, int with_srq)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = PAIR_WR, .max_sge = 2}};
	struct verbs_pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->context = open_device();
	assert_int_equal(ibv_query_gid(p->context, 1, 0, &p->gid), 0);
	p->pd = ibv_alloc_pd(p->context);
	assert_non_null(p->pd);
	p->channel = ibv_create_comp_channel(p->context);
	assert_non_null(p->channel);
	if (with_srq) {
		p->srq = ibv_create_srq(p->pd, &srq);
		assert_non_null(p->srq);
	}
	make_side(p, &p->a, type, NULL);
	make_side(p, &p->b, type, p->channel);
	verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
	verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
	return p;
}

static void destroy_side(struct verbs_side *s)
{
	if (s->qp)
		assert_int_equal(ibv_destroy_qp(s->qp), 0);
	if (s->cq)
		assert_int_equal(ibv_destroy_cq(s->cq), 0);
	if (s->mr)
		assert_int_equal(ibv_dereg_mr(s->mr), 0);
	free(s->memory);
}

void verbs_pair_destroy(struct verbs_pair *p)
{
	destroy_side(&p->a);
	destroy_side(&p->b);
	if (p->srq)
		assert_int_equal(ibv_destroy_srq(p->srq), 0);
	assert_int_equal(ibv_destroy_comp_channel(p->channel), 0);
	assert_int_equal(ibv_dealloc_pd(p->pd), 0);
	assert_int_equal(ibv_close_device(p->context), 0);
	free(p);
}

struct ibv_wc verbs_pair_poll(struct ibv_cq *cq)
{
	time_t deadline = time(NULL) + PAIR_DEADLINE_S;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(cq, 1, &wc);
		assert_true(n >= 0);
	} while (n == 0 && time(NULL) < deadline);
	assert_int_equal(n, 1);
	return wc;
}

void verbs_pair_recv(struct verbs_side *s, uint64_t wr_id, size_t offset, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)s->memory + offset, length, s->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	if (s->qp->srq)
		assert_int_equal(ibv_post_srq_recv(s->qp->srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(s->qp, &wr, &bad), 0);
}

void verbs_pair_send(struct verbs_side *s, struct ibv_send_wr *wr, size_t offset, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)s->memory + offset, length, s->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	assert_int_equal(ibv_post_send(s->qp, wr, &bad), 0);
}
