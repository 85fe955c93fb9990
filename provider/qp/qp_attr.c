/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields that the mask does not name may be uninitialised in the caller's struct, so they are not
 * looked at; the daemon gets zeros.
 */
#include "qp_attr.h"

#include "ah.h"

#include <string.h>

static void state_to_abi(const struct ibv_qp_attr *from, int mask, struct uhca_abi_qp_attr *to)
{
	if (mask & IBV_QP_STATE)
		to->qp_state = from->qp_state;
	if (mask & IBV_QP_CUR_STATE)
		to->cur_qp_state = from->cur_qp_state;
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify;
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IBV_QP_RATE_LIMIT)
		to->rate_limit = from->rate_limit;
}

static void path_to_abi(const struct ibv_qp_attr *from, int mask, struct uhca_abi_qp_attr *to)
{
	if (mask & IBV_QP_AV)
		uhcav_ah_attr_to_abi(&from->ah_attr, &to->ah);
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_PATH_MIG_STATE)
		to->path_mig_state = from->path_mig_state;
	if (!(mask & IBV_QP_ALT_PATH))
		return;
	uhcav_ah_attr_to_abi(&from->alt_ah_attr, &to->alt_ah);
	to->alt_pkey_index = from->alt_pkey_index;
	to->alt_port_num = from->alt_port_num;
	to->alt_timeout = from->alt_timeout;
}

static void reliability_to_abi(const struct ibv_qp_attr *from, int mask,
			       struct uhca_abi_qp_attr *to)
{
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
}

void uhcav_qp_attr_to_abi(const struct ibv_qp_attr *from, int attr_mask,
			  struct uhca_abi_qp_attr *to)
{
	memset(to, 0, sizeof(*to));
	state_to_abi(from, attr_mask, to);
	path_to_abi(from, attr_mask, to);
	reliability_to_abi(from, attr_mask, to);
	if (!(attr_mask & IBV_QP_CAP))
		return;
	to->max_send_wr = from->cap.max_send_wr;
	to->max_recv_wr = from->cap.max_recv_wr;
	to->max_send_sge = from->cap.max_send_sge;
	to->max_recv_sge = from->cap.max_recv_sge;
	to->max_inline_data = from->cap.max_inline_data;
}

void uhcav_qp_attr_from_abi(const struct uhca_abi_qp_attr *from, struct ibv_qp_attr *to)
{
	memset(to, 0, sizeof(*to));
	to->qp_state = from->qp_state;
	to->cur_qp_state = from->cur_qp_state;
	to->path_mtu = from->path_mtu;
	to->path_mig_state = from->path_mig_state;
	to->qkey = from->qkey;
	to->rq_psn = from->rq_psn;
	to->sq_psn = from->sq_psn;
	to->dest_qp_num = from->dest_qp_num;
	to->qp_access_flags = from->qp_access_flags;
	to->cap.max_send_wr = from->max_send_wr;
	to->cap.max_recv_wr = from->max_recv_wr;
	to->cap.max_send_sge = from->max_send_sge;
	to->cap.max_recv_sge = from->max_recv_sge;
	to->cap.max_inline_data = from->max_inline_data;
	uhcav_ah_attr_from_abi(&from->ah, &to->ah_attr);
	uhcav_ah_attr_from_abi(&from->alt_ah, &to->alt_ah_attr);
	to->pkey_index = from->pkey_index;
	to->alt_pkey_index = from->alt_pkey_index;
	to->en_sqd_async_notify = from->en_sqd_async_notify;
	to->sq_draining = from->sq_draining;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->port_num = from->port_num;
	to->timeout = from->timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
	to->alt_port_num = from->alt_port_num;
	to->alt_timeout = from->alt_timeout;
	to->rate_limit = from->rate_limit;
}
