/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state table of a queue pair: which transitions exist, and which attributes each needs and
 * allows per transport type (IBTA vol. 1, 10.3.1 and the table of chapter 11; ibv_modify_qp(3)).
 * Pure: knows no QP and no values.
 */
#ifndef CORE_QP_STATE_H
#define CORE_QP_STATE_H

#include "qp.h"

/* The values of enum ibv_qp_attr_mask. */
enum {
	QP_ATTR_STATE = 1 << 0,
	QP_ATTR_CUR_STATE = 1 << 1,
	QP_ATTR_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	QP_ATTR_ACCESS_FLAGS = 1 << 3,
	QP_ATTR_PKEY_INDEX = 1 << 4,
	QP_ATTR_PORT = 1 << 5,
	QP_ATTR_QKEY = 1 << 6,
	QP_ATTR_AV = 1 << 7,
	QP_ATTR_PATH_MTU = 1 << 8,
	QP_ATTR_TIMEOUT = 1 << 9,
	QP_ATTR_RETRY_CNT = 1 << 10,
	QP_ATTR_RNR_RETRY = 1 << 11,
	QP_ATTR_RQ_PSN = 1 << 12,
	QP_ATTR_MAX_QP_RD_ATOMIC = 1 << 13,
	QP_ATTR_ALT_PATH = 1 << 14,
	QP_ATTR_MIN_RNR_TIMER = 1 << 15,
	QP_ATTR_SQ_PSN = 1 << 16,
	QP_ATTR_MAX_DEST_RD_ATOMIC = 1 << 17,
	QP_ATTR_PATH_MIG_STATE = 1 << 18,
	QP_ATTR_CAP = 1 << 19,
	QP_ATTR_DEST_QPN = 1 << 20,
	QP_ATTR_RATE_LIMIT = 1 << 25,
};

/*
 * 0 when a QP of this type may go from one state to the other with exactly the attributes of mask,
 * QP_ATTR_STATE itself being neither needed nor counted; or -EINVAL, the reason said
 * (device_refuse). From a state to itself means "change attributes".
 */
int qp_state_check(struct device *dev, enum qp_type type, enum qp_state from, enum qp_state to,
		   uint32_t mask);

/* "RESET", "INIT", ...: static text. */
const char *qp_state_name(enum qp_state state);

/* "RC", "UC", "UD", ...: static text. */
const char *qp_type_name(enum qp_type type);

#endif
