/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state table. One row per legal transition, one column per transport type. Absent rows are
 * illegal transitions; RESET and ERR are reached from everywhere with no attribute at all, and
 * SQE is entered by the device alone.
 */
#include "qp_state.h"

#include "emu/core/base/base.h"

#include <errno.h>
#include <stddef.h>

enum column { COL_RC, COL_UC, COL_UD, COL_XRC_SEND, COL_XRC_RECV, COL_RAW, COL_COUNT };

struct attributes {
	uint32_t required, optional;
};

struct transition {
	uint32_t not_for; /* 1 << column of the types that do not have it */
	struct attributes type[COL_COUNT];
};

/* Sets of attributes that stand together in the table. */
#define INIT_CONNECTED (QP_ATTR_PKEY_INDEX | QP_ATTR_PORT | QP_ATTR_ACCESS_FLAGS)
#define INIT_DATAGRAM  (QP_ATTR_PKEY_INDEX | QP_ATTR_PORT | QP_ATTR_QKEY)
#define PATH           (QP_ATTR_AV | QP_ATTR_PATH_MTU | QP_ATTR_DEST_QPN | QP_ATTR_RQ_PSN)
#define RESPONDER      (QP_ATTR_MAX_DEST_RD_ATOMIC | QP_ATTR_MIN_RNR_TIMER)
#define RETRY          (QP_ATTR_TIMEOUT | QP_ATTR_RETRY_CNT | QP_ATTR_RNR_RETRY)
#define REQUESTER      (RETRY | QP_ATTR_MAX_QP_RD_ATOMIC)
#define MIGRATION      (QP_ATTR_ALT_PATH | QP_ATTR_PATH_MIG_STATE)
#define RTR_OPTIONAL   (QP_ATTR_ALT_PATH | QP_ATTR_ACCESS_FLAGS | QP_ATTR_PKEY_INDEX)
/* The kernel has the rate limit for raw packets only; adapters take it for what they pace. */
#define RTS_UC         (RTS_RAW | QP_ATTR_ACCESS_FLAGS | MIGRATION)
#define RTS_RC         (RTS_UC | QP_ATTR_MIN_RNR_TIMER)
#define RTS_UD         (RTS_RAW | QP_ATTR_QKEY)
#define RTS_RAW        (QP_ATTR_CUR_STATE | QP_ATTR_RATE_LIMIT)
#define SQD_CONNECTED  (QP_ATTR_AV | QP_ATTR_ACCESS_FLAGS | QP_ATTR_PKEY_INDEX | MIGRATION)

/* RTS to RTS and SQD to RTS allow the same. */
static const struct transition stay_or_resume = {
	.type =
		{
			[COL_RC] = {0, RTS_RC},
			[COL_UC] = {0, RTS_UC},
			[COL_UD] = {0, RTS_UD},
			[COL_XRC_SEND] = {0, RTS_UC},
			[COL_XRC_RECV] = {0, RTS_RC},
			[COL_RAW] = {0, RTS_RAW},
		},
};

static const struct transition reset_to_init = {
	.type =
		{
			[COL_RC] = {INIT_CONNECTED, 0},
			[COL_UC] = {INIT_CONNECTED, 0},
			[COL_UD] = {INIT_DATAGRAM, 0},
			[COL_XRC_SEND] = {INIT_CONNECTED, 0},
			[COL_XRC_RECV] = {INIT_CONNECTED, 0},
			[COL_RAW] = {QP_ATTR_PORT, 0},
		},
};

static const struct transition init_to_init = {
	.type =
		{
			[COL_RC] = {0, INIT_CONNECTED},
			[COL_UC] = {0, INIT_CONNECTED},
			[COL_UD] = {0, INIT_DATAGRAM},
			[COL_XRC_SEND] = {0, INIT_CONNECTED},
			[COL_XRC_RECV] = {0, INIT_CONNECTED},
			[COL_RAW] = {0, QP_ATTR_PORT},
		},
};

static const struct transition init_to_rtr = {
	.type =
		{
			[COL_RC] = {PATH | RESPONDER, RTR_OPTIONAL},
			[COL_UC] = {PATH, RTR_OPTIONAL},
			[COL_UD] = {0, QP_ATTR_PKEY_INDEX | QP_ATTR_QKEY},
			[COL_XRC_SEND] = {PATH, RTR_OPTIONAL},
			[COL_XRC_RECV] = {PATH | RESPONDER, RTR_OPTIONAL},
			[COL_RAW] = {0, 0},
		},
};

static const struct transition rtr_to_rts = {
	.type =
		{
			[COL_RC] = {QP_ATTR_SQ_PSN | REQUESTER, RTS_RC},
			[COL_UC] = {QP_ATTR_SQ_PSN, RTS_UC},
			[COL_UD] = {QP_ATTR_SQ_PSN, RTS_UD},
			[COL_XRC_SEND] = {QP_ATTR_SQ_PSN | REQUESTER, RTS_UC},
			[COL_XRC_RECV] = {QP_ATTR_SQ_PSN | QP_ATTR_TIMEOUT, RTS_RC},
			[COL_RAW] = {0, RTS_RAW},
		},
};

static const struct transition rts_to_sqd = {
	.type =
		{
			[COL_RC] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
			[COL_UC] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
			[COL_UD] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
			[COL_XRC_SEND] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
			[COL_XRC_RECV] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
			[COL_RAW] = {0, QP_ATTR_EN_SQD_ASYNC_NOTIFY},
		},
};

static const struct transition sqd_to_sqd = {
	.type =
		{
			[COL_RC] = {0, SQD_CONNECTED | QP_ATTR_PORT | REQUESTER | RESPONDER},
			[COL_UC] = {0, SQD_CONNECTED},
			[COL_UD] = {0, QP_ATTR_PKEY_INDEX | QP_ATTR_QKEY},
			[COL_XRC_SEND] = {0, SQD_CONNECTED | QP_ATTR_PORT | REQUESTER},
			[COL_XRC_RECV] = {0, SQD_CONNECTED | QP_ATTR_PORT | QP_ATTR_TIMEOUT |
						     RESPONDER},
			[COL_RAW] = {0, 0},
		},
};

/* RC and XRC never enter SQE: their send errors go to ERR (10.3.1.6). */
static const struct transition sqe_to_rts = {
	.not_for = 1u << COL_RC | 1u << COL_XRC_SEND | 1u << COL_XRC_RECV,
	.type =
		{
			[COL_UC] = {0, QP_ATTR_CUR_STATE | QP_ATTR_ACCESS_FLAGS},
			[COL_UD] = {0, QP_ATTR_CUR_STATE | QP_ATTR_QKEY},
			[COL_RAW] = {0, QP_ATTR_CUR_STATE},
		},
};

static const struct transition to_reset_or_error = {0};

static const struct transition *const table[QPS_COUNT][QPS_COUNT] = {
	[QPS_RESET] = {[QPS_INIT] = &reset_to_init},
	[QPS_INIT] = {[QPS_INIT] = &init_to_init, [QPS_RTR] = &init_to_rtr},
	[QPS_RTR] = {[QPS_RTS] = &rtr_to_rts},
	[QPS_RTS] = {[QPS_RTS] = &stay_or_resume, [QPS_SQD] = &rts_to_sqd},
	[QPS_SQD] = {[QPS_RTS] = &stay_or_resume, [QPS_SQD] = &sqd_to_sqd},
	[QPS_SQE] = {[QPS_RTS] = &sqe_to_rts},
};

static const struct transition *find_transition(enum qp_state from, enum qp_state to)
{
	if (to == QPS_RESET || to == QPS_ERR)
		return &to_reset_or_error;
	return table[from][to];
}

static bool find_column(enum qp_type type, enum column *out)
{
	switch (type) {
	case QPT_RC:
		*out = COL_RC;
		return true;
	case QPT_UC:
		*out = COL_UC;
		return true;
	case QPT_UD:
		*out = COL_UD;
		return true;
	case QPT_XRC_SEND:
		*out = COL_XRC_SEND;
		return true;
	case QPT_XRC_RECV:
		*out = COL_XRC_RECV;
		return true;
	case QPT_RAW_PACKET:
		*out = COL_RAW;
		return true;
	}
	return false;
}

/* NULL: there is no such transition. */
static const struct attributes *find_attributes(enum qp_type type, enum qp_state from,
						enum qp_state to)
{
	enum column column;
	const struct transition *t = find_transition(from, to);

	if (!t || !find_column(type, &column) || t->not_for & 1u << column)
		return NULL;
	return &t->type[column];
}

/* The lowest bit that is set, as ibv_modify_qp(3) calls it; NULL: it has no name. */
static const char *attribute_name(uint32_t mask)
{
	static const char *const name[] = {
		"IBV_QP_STATE",
		"IBV_QP_CUR_STATE",
		"IBV_QP_EN_SQD_ASYNC_NOTIFY",
		"IBV_QP_ACCESS_FLAGS",
		"IBV_QP_PKEY_INDEX",
		"IBV_QP_PORT",
		"IBV_QP_QKEY",
		"IBV_QP_AV",
		"IBV_QP_PATH_MTU",
		"IBV_QP_TIMEOUT",
		"IBV_QP_RETRY_CNT",
		"IBV_QP_RNR_RETRY",
		"IBV_QP_RQ_PSN",
		"IBV_QP_MAX_QP_RD_ATOMIC",
		"IBV_QP_ALT_PATH",
		"IBV_QP_MIN_RNR_TIMER",
		"IBV_QP_SQ_PSN",
		"IBV_QP_MAX_DEST_RD_ATOMIC",
		"IBV_QP_PATH_MIG_STATE",
		"IBV_QP_CAP",
		"IBV_QP_DEST_QPN",
		[25] = "IBV_QP_RATE_LIMIT",
	};
	unsigned bit = 0;

	while (!(mask & 1u << bit))
		bit++;
	return bit < sizeof(name) / sizeof(name[0]) && name[bit] ? name[bit] : "an unknown bit";
}

int qp_state_check(struct device *dev, enum qp_type type, enum qp_state from, enum qp_state to,
		   uint32_t mask)
{
	const struct attributes *a = find_attributes(type, from, to);
	uint32_t missing, excess;

	if (!a)
		return device_refuse(dev, -EINVAL, "no transition from %s to %s (%s)",
				     qp_state_name(from), qp_state_name(to), qp_type_name(type));
	mask &= ~(uint32_t)QP_ATTR_STATE;
	missing = a->required & ~mask;
	excess = mask & ~(a->required | a->optional);
	if (missing)
		return device_refuse(
			dev, -EINVAL, "%s to %s (%s): attr_mask 0x%x lacks %s; required: 0x%x",
			qp_state_name(from), qp_state_name(to), qp_type_name(type),
			mask | QP_ATTR_STATE, attribute_name(missing), a->required | QP_ATTR_STATE);
	if (excess)
		return device_refuse(
			dev, -EINVAL,
			"%s to %s (%s): attr_mask 0x%x has %s, which cannot change here",
			qp_state_name(from), qp_state_name(to), qp_type_name(type),
			mask | QP_ATTR_STATE, attribute_name(excess));
	return 0;
}

const char *qp_state_name(enum qp_state state)
{
	static const char *const name[] = {
		[QPS_RESET] = "RESET", [QPS_INIT] = "INIT", [QPS_RTR] = "RTR", [QPS_RTS] = "RTS",
		[QPS_SQD] = "SQD",     [QPS_SQE] = "SQE",   [QPS_ERR] = "ERR",
	};
	_Static_assert(sizeof(name) / sizeof(name[0]) == QPS_COUNT, "a name for each");
	return (unsigned)state < QPS_COUNT ? name[state] : "unknown";
}

const char *qp_type_name(enum qp_type type)
{
	switch (type) {
	case QPT_RC:
		return "RC";
	case QPT_UC:
		return "UC";
	case QPT_UD:
		return "UD";
	case QPT_RAW_PACKET:
		return "RAW_PACKET";
	case QPT_XRC_SEND:
		return "XRC_SEND";
	case QPT_XRC_RECV:
		return "XRC_RECV";
	}
	return "unknown";
}
