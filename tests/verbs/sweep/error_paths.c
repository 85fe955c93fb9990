/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that can treat errors wrongly. It sends a message to itself.
 *
 *	error_paths WAY,...
 *
 * right: it names the call that failed, takes all down, and ends with 1
 * crash: without a memory region it deregisters what it does not have
 * leak: when a QP is refused it tries again with another CQ, and forgets the first
 * untidy: after an error it forgets to deregister
 * hang: it does not look at what ibv_post_send returns, and waits
 * blind: it does not look at the status of a completion
 * mute: it says nothing
 *
 * Each is right as long as nothing fails.
 */
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig {
	const char *mode;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char bytes[128];
};

static bool is(const struct rig *r, const char *mode)
{
	return strstr(r->mode, mode);
}

static bool mute;

static bool failed(const char *call)
{
	if (!mute)
		fprintf(stderr, "error_paths: %s failed\n", call);
	return false;
}

static bool open_device(struct rig *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	r->context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (list)
		ibv_free_device_list(list);
	return r->context || failed("ibv_open_device");
}

static bool make_memory(struct rig *r)
{
	r->pd = ibv_alloc_pd(r->context);
	if (!r->pd)
		return failed("ibv_alloc_pd");
	r->mr = ibv_reg_mr(r->pd, r->bytes, sizeof(r->bytes), IBV_ACCESS_LOCAL_WRITE);
	if (!r->mr && is(r, "crash"))
		ibv_dereg_mr(r->mr);
	return r->mr || failed("ibv_reg_mr");
}

static bool make_cq(struct rig *r)
{
	r->cq = ibv_create_cq(r->context, 8, NULL, NULL, 0);
	return r->cq || failed("ibv_create_cq");
}

static bool make_qp(struct rig *r)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};

	r->qp = ibv_create_qp(r->pd, &attr);
	return r->qp || failed("ibv_create_qp");
}

static bool make_queues(struct rig *r)
{
	if (!make_cq(r))
		return false;
	if (make_qp(r))
		return true;
	return is(r, "leak") && make_cq(r) && make_qp(r);
}

static bool connect_to_itself(struct rig *r)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (ibv_modify_qp(r->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return failed("ibv_modify_qp to INIT");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = r->qp->qp_num,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .ah_attr = {.is_global = 1, .port_num = 1}};
	if (ibv_query_gid(r->context, 1, 0, &attr.ah_attr.grh.dgid))
		return failed("ibv_query_gid");
	if (ibv_modify_qp(r->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return failed("ibv_modify_qp to RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 10,
				    .retry_cnt = 7,
				    .rnr_retry = 7,
				    .max_rd_atomic = 1};
	if (ibv_modify_qp(r->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		return failed("ibv_modify_qp to RTS");
	return true;
}

static bool post(struct rig *r)
{
	struct ibv_sge in = {(uintptr_t)r->bytes, 64, r->mr->lkey};
	struct ibv_sge out = {(uintptr_t)r->bytes + 64, 64, r->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &out,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad_send;

	if (ibv_post_recv(r->qp, &recv, &bad_recv))
		return failed("ibv_post_recv");
	if (ibv_post_send(r->qp, &send, &bad_send) && !is(r, "hang"))
		return failed("ibv_post_send");
	return true;
}

static bool wait_for_both(struct rig *r)
{
	struct ibv_wc wc;

	for (int n = 0; n < 2;) {
		int got = ibv_poll_cq(r->cq, 1, &wc);

		if (got < 0)
			return failed("ibv_poll_cq");
		if (got > 0 && wc.status != IBV_WC_SUCCESS && !is(r, "blind"))
			return failed(ibv_wc_status_str(wc.status));
		n += got;
	}
	return true;
}

static bool take_down(struct rig *r, bool good)
{
	const bool forgets = !good && is(r, "untidy");
	bool all = true;

	if (r->qp && ibv_destroy_qp(r->qp))
		all = failed("ibv_destroy_qp");
	if (r->cq && ibv_destroy_cq(r->cq))
		all = failed("ibv_destroy_cq");
	if (r->mr && !forgets && ibv_dereg_mr(r->mr))
		all = failed("ibv_dereg_mr");
	if (r->pd && !forgets && ibv_dealloc_pd(r->pd))
		all = failed("ibv_dealloc_pd");
	if (r->context && !forgets && ibv_close_device(r->context))
		all = failed("ibv_close_device");
	return all;
}

int main(int argc, char **argv)
{
	struct rig r = {.mode = argc > 1 ? argv[1] : "right"};
	bool good;

	mute = is(&r, "mute");
	good = open_device(&r) && make_memory(&r) && make_queues(&r) && connect_to_itself(&r) &&
	       post(&r) && wait_for_both(&r);

	return take_down(&r, good) && good ? 0 : 1;
}
