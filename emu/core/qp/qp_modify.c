/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modify Queue Pair (IBTA vol. 1, 10.3.1 and the table of chapter 11; ibv_modify_qp(3)): is the
 * transition legal with these attributes (qp_state.c), are their values possible, and only then:
 * store them and change the state. Nothing changes when anything is wrong.
 */
#include "emu/abi/region.h"
#include "emu/core/base/base.h"
#include "engine.h"
#include "qp_share.h"
#include "qp_state.h"
#include "wire/psn.h"

#include <errno.h>
#include <string.h>

#define PORT              1
#define MTU_256           1
#define MAX_TIMEOUT       31
#define MAX_RETRY         7
#define MAX_RNR_TIMER     31
#define QPN_MASK          0xffffffu
#define PATH_MIG_MIGRATED 0

#define ACCESS_KNOWN ((uint32_t)MR_OPTIONAL | 0x3ffu)

void qp_set_state(struct qp *qp, enum qp_state state)
{
	enum qp_state old = qp->state;
	qp->state = state;
	__atomic_store_n(&qp->page->recv_doorbell, state == QPS_ERR, __ATOMIC_RELEASE);
	/*
	 * Before anybody looks at the receive ring: a client that posted without seeing the flag
	 * has its request seen by the flush that follows.
	 */
	uhca_ring_fence();
	device_trace(qp->dev, CORE_TRACE_QP_STATE, qp->qpn, old, state);
}

/* ---- are the values possible? ---- */

static bool path_ok(const struct qp *qp, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	if (mask & QP_ATTR_AV && ah_attr_check(qp->dev, &a->ah))
		return false;
	if (mask & QP_ATTR_PATH_MTU &&
	    (a->path_mtu < MTU_256 || a->path_mtu > qp->dev->cfg.active_mtu))
		return false;
	if (mask & QP_ATTR_DEST_QPN && a->dest_qp_num > QPN_MASK)
		return false;
	if (mask & QP_ATTR_PKEY_INDEX && a->pkey_index != 0)
		return false;
	return !(mask & QP_ATTR_PORT) || a->port_num == PORT;
}

static bool reliability_ok(const struct qp *qp, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	uint32_t max_rd_atomic = qp->dev->cfg.limits.max_rd_atomic;
	if (mask & QP_ATTR_TIMEOUT && a->timeout > MAX_TIMEOUT)
		return false;
	if (mask & QP_ATTR_RETRY_CNT && a->retry_cnt > MAX_RETRY)
		return false;
	if (mask & QP_ATTR_RNR_RETRY && a->rnr_retry > MAX_RETRY)
		return false;
	if (mask & QP_ATTR_MIN_RNR_TIMER && a->min_rnr_timer > MAX_RNR_TIMER)
		return false;
	if (mask & QP_ATTR_MAX_QP_RD_ATOMIC && a->max_rd_atomic > max_rd_atomic)
		return false;
	return !(mask & QP_ATTR_MAX_DEST_RD_ATOMIC) || a->max_dest_rd_atomic <= max_rd_atomic;
}

/*
 * There is no second port to migrate to: the alternate path is refused, "migrated" is true. Nor is
 * there pacing.
 */
static int check_offered(const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	if (mask & (QP_ATTR_ALT_PATH | QP_ATTR_RATE_LIMIT))
		return -EOPNOTSUPP;
	if (mask & QP_ATTR_PATH_MIG_STATE && a->path_mig_state != PATH_MIG_MIGRATED)
		return -EOPNOTSUPP;
	return 0;
}

static int check_values(const struct qp *qp, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	if (!path_ok(qp, a, mask) || !reliability_ok(qp, a, mask))
		return -EINVAL;
	if (mask & QP_ATTR_ACCESS_FLAGS && a->qp_access_flags & ~ACCESS_KNOWN)
		return -EINVAL;
	return check_offered(a, mask);
}

/* ---- store them ---- */

static void store_path(struct uhca_abi_qp_attr *to, const struct uhca_abi_qp_attr *from,
		       uint32_t mask)
{
	if (mask & QP_ATTR_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & QP_ATTR_PORT)
		to->port_num = from->port_num;
	if (mask & QP_ATTR_AV)
		to->ah = from->ah;
	if (mask & QP_ATTR_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & QP_ATTR_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & QP_ATTR_RQ_PSN)
		to->rq_psn = from->rq_psn & ROCE_PSN_MASK;
	if (mask & QP_ATTR_SQ_PSN)
		to->sq_psn = from->sq_psn & ROCE_PSN_MASK;
}

static void store_reliability(struct uhca_abi_qp_attr *to, const struct uhca_abi_qp_attr *from,
			      uint32_t mask)
{
	if (mask & QP_ATTR_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & QP_ATTR_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & QP_ATTR_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & QP_ATTR_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & QP_ATTR_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & QP_ATTR_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
}

static void store(struct uhca_abi_qp_attr *to, const struct uhca_abi_qp_attr *from, uint32_t mask)
{
	store_path(to, from, mask);
	store_reliability(to, from, mask);
	if (mask & QP_ATTR_QKEY)
		to->qkey = from->qkey;
	if (mask & QP_ATTR_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & QP_ATTR_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify != 0;
}

/* ---- what follows from them ---- */

static void update_flow(struct qp *qp, uint32_t mask)
{
	const struct uhca_abi_qp_attr *a = &qp->attr;
	if (mask & QP_ATTR_AV)
		ah_attr_flow(qp->dev, &a->ah, &qp->flow);
	if (mask & (QP_ATTR_AV | QP_ATTR_DEST_QPN))
		qp->flow.sport =
			source_port_connected(qp->qpn, a->dest_qp_num, qp->flow.flow_label);
	if (mask & QP_ATTR_PATH_MTU)
		qp_set_mtu(qp, a->path_mtu);
}

/* Responder resources for as many READs and atomics as the peer may have outstanding. */
static int update_replay(struct qp *qp, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	struct replay fresh = {0};
	if (!(mask & QP_ATTR_MAX_DEST_RD_ATOMIC))
		return 0;
	if (qp->state == QPS_SQD && a->max_dest_rd_atomic == qp->attr.max_dest_rd_atomic)
		return 0; /* what is kept for duplicates stays */
	int err = replay_construct(&fresh, a->max_dest_rd_atomic);
	if (err)
		return err;
	replay_destruct(&qp->resp.replay);
	qp->resp.replay = fresh;
	return 0;
}

static void forget(struct qp *qp)
{
	engines_leave(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->flow = (struct roce_flow){
		.sport = source_port_datagram(qp->qpn),
		.dport = ROCE_UDP_PORT,
	};
	qp_set_mtu(qp, qp->dev->cfg.active_mtu);
	qp->comm_established = false;
	replay_destruct(&qp->resp.replay);
	qp->resp.replay = (struct replay){0};
}

static int apply(struct qp *qp, enum qp_state to, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	enum qp_state old = qp->state;
	int err = update_replay(qp, a, mask);
	if (err)
		return err;
	if (to == QPS_RESET)
		forget(qp);
	if (to == QPS_SQD && old != QPS_SQD)
		qp->attr.en_sqd_async_notify = 0;
	store(&qp->attr, a, mask);
	update_flow(qp, mask);
	qp_set_state(qp, to);
	qp_state_changed(qp, old);
	return 0;
}

/*
 * Programs set both halves of an XRC connection alike; what the other half has is ignored, as it
 * is by the kernel's verbs.
 */
static uint32_t own_half(enum qp_type type, uint32_t mask)
{
	if (type == QPT_XRC_SEND)
		return mask & ~(uint32_t)(QP_ATTR_MAX_DEST_RD_ATOMIC | QP_ATTR_MIN_RNR_TIMER);
	if (type == QPT_XRC_RECV)
		return mask & ~(uint32_t)(QP_ATTR_MAX_QP_RD_ATOMIC | QP_ATTR_RETRY_CNT |
					  QP_ATTR_RNR_RETRY);
	return mask;
}

int core_modify_qp(struct client *c, const struct uhca_cmd_modify_qp *in, uint64_t now)
{
	const struct uhca_abi_qp_attr *a = &in->attr;
	uint32_t mask;
	struct qp *qp;
	device_set_time(c->dev, now);
	int err = qp_find(c, in->handle, &qp);
	if (err)
		return err;
	mask = own_half(qp->type, in->attr_mask);
	if (qp->rss)
		return -EOPNOTSUPP; /* it has no queues, hence no states */
	/* "Current state" is what the program believes; a wrong belief is refused. */
	if (mask & QP_ATTR_CUR_STATE && a->cur_qp_state != qp->state)
		return -EINVAL;
	uint32_t to = mask & QP_ATTR_STATE ? a->qp_state : qp->state;
	/* In iWARP that closes the stream, and what is left is flushed (RFC 5040, 6.2): librdmacm.
	 */
	if (to == QPS_SQD && c->dev->cfg.node_type == CORE_NODE_RNIC) {
		to = QPS_ERR;
		mask = QP_ATTR_STATE;
	}
	if (to >= QPS_COUNT || !qp_state_legal(qp->type, qp->state, (enum qp_state)to, mask))
		return -EINVAL;
	err = check_values(qp, a, mask);
	return err ? err : apply(qp, (enum qp_state)to, a, mask);
}
