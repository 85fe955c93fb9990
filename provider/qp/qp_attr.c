/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields that the mask does not name may be uninitialised in the caller's struct, so they are not
 * looked at; the daemon gets zeros.
 */
#include "qp_attr.h"

#include "ah.h"

#include <string.h>

#define PLAIN_FIELDS(F)                                                                            \
	F(STATE, qp_state)                                                                         \
	F(CUR_STATE, cur_qp_state)                                                                 \
	F(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)                                                \
	F(ACCESS_FLAGS, qp_access_flags)                                                           \
	F(PKEY_INDEX, pkey_index)                                                                  \
	F(PORT, port_num)                                                                          \
	F(QKEY, qkey)                                                                              \
	F(RATE_LIMIT, rate_limit)                                                                  \
	F(PATH_MTU, path_mtu)                                                                      \
	F(DEST_QPN, dest_qp_num)                                                                   \
	F(PATH_MIG_STATE, path_mig_state)                                                          \
	F(TIMEOUT, timeout)                                                                        \
	F(RETRY_CNT, retry_cnt)                                                                    \
	F(RNR_RETRY, rnr_retry)                                                                    \
	F(RQ_PSN, rq_psn)                                                                          \
	F(SQ_PSN, sq_psn)                                                                          \
	F(MAX_QP_RD_ATOMIC, max_rd_atomic)                                                         \
	F(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)                                                  \
	F(MIN_RNR_TIMER, min_rnr_timer)                                                            \
	F(ALT_PATH, alt_pkey_index)                                                                \
	F(ALT_PATH, alt_port_num)                                                                  \
	F(ALT_PATH, alt_timeout)

#define TO_ABI(bit, field)                                                                         \
	if (attr_mask & IBV_QP_##bit)                                                              \
		to->field = from->field;
#define FROM_ABI(bit, field) to->field = from->field;

void uhcav_qp_attr_to_abi(const struct ibv_qp_attr *from, int attr_mask,
			  struct uhca_abi_qp_attr *to)
{
	memset(to, 0, sizeof(*to));
	PLAIN_FIELDS(TO_ABI)
	if (attr_mask & IBV_QP_AV)
		uhcav_ah_attr_to_abi(&from->ah_attr, &to->ah);
	if (attr_mask & IBV_QP_ALT_PATH)
		uhcav_ah_attr_to_abi(&from->alt_ah_attr, &to->alt_ah);
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
	PLAIN_FIELDS(FROM_ABI)
	to->cap.max_send_wr = from->max_send_wr;
	to->cap.max_recv_wr = from->max_recv_wr;
	to->cap.max_send_sge = from->max_send_sge;
	to->cap.max_recv_sge = from->max_recv_sge;
	to->cap.max_inline_data = from->max_inline_data;
	uhcav_ah_attr_from_abi(&from->ah, &to->ah_attr);
	uhcav_ah_attr_from_abi(&from->alt_ah, &to->alt_ah_attr);
	to->sq_draining = from->sq_draining;
}
