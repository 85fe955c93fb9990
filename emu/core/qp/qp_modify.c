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

#define MTU_256           1
#define MTU_4096          5
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

/* The range of an attribute, where it has one. */
static int check_range(struct device *dev, const char *name, uint32_t value, uint32_t least,
		       uint32_t most)
{
	if (value >= least && value <= most)
		return 0;
	return device_refuse(dev, -EINVAL, "%s %u is not from %u to %u", name, value, least, most);
}

/* The last index of the table of the port that is meant. */
static uint32_t most_pkey(const struct device *dev, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	return dev->cfg.look.port[mask & QP_ATTR_PORT && a->port_num == 2].n_pkeys - 1;
}

static int check_ranges(struct device *dev, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	const uint32_t rd_atomic = dev->cfg.limits.max_rd_atomic;
	const struct {
		uint32_t attribute;
		const char *name;
		uint32_t value, least, most;
	} range[] = {
		{QP_ATTR_DEST_QPN, "dest_qp_num", a->dest_qp_num, 0, QPN_MASK},
		{QP_ATTR_PKEY_INDEX, "pkey_index", a->pkey_index, 0, most_pkey(dev, a, mask)},
		{QP_ATTR_PORT, "port_num", a->port_num, 1, dev->cfg.look.n_ports},
		{QP_ATTR_TIMEOUT, "timeout", a->timeout, 0, MAX_TIMEOUT},
		{QP_ATTR_RETRY_CNT, "retry_cnt", a->retry_cnt, 0, MAX_RETRY},
		{QP_ATTR_RNR_RETRY, "rnr_retry", a->rnr_retry, 0, MAX_RETRY},
		{QP_ATTR_MIN_RNR_TIMER, "min_rnr_timer", a->min_rnr_timer, 0, MAX_RNR_TIMER},
	};

	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		if (mask & range[i].attribute &&
		    check_range(dev, range[i].name, range[i].value, range[i].least, range[i].most))
			return -EINVAL; /* as was said */
	if (mask & QP_ATTR_MAX_QP_RD_ATOMIC &&
	    device_check_limit(dev, "max_rd_atomic", a->max_rd_atomic, "max_qp_init_rd_atom",
			       rd_atomic))
		return -EINVAL; /* as was said */
	if (mask & QP_ATTR_RATE_LIMIT && device_check_limit(dev, "rate_limit", a->rate_limit,
							    "qp_rate_limit_max", QP_RATE_LIMIT_MAX))
		return -EINVAL; /* as was said */
	if (mask & QP_ATTR_MAX_DEST_RD_ATOMIC)
		return device_check_limit(dev, "max_dest_rd_atomic", a->max_dest_rd_atomic,
					  "max_qp_rd_atom", rd_atomic);
	return 0;
}

static int check_path(struct device *dev, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	int err = mask & QP_ATTR_AV ? ah_attr_check(dev, &a->ah) : 0;

	if (err || !(mask & QP_ATTR_PATH_MTU))
		return err;
	if (a->path_mtu < MTU_256 || a->path_mtu > MTU_4096)
		return device_refuse(dev, -EINVAL, "path_mtu %u is not from 1 (256) to 5 (4096)",
				     a->path_mtu);
	if (a->path_mtu > dev->cfg.active_mtu)
		return device_refuse(
			dev, -EINVAL,
			"path_mtu %u (%u bytes) exceeds the port's active_mtu, %u (%u)",
			a->path_mtu, 128u << a->path_mtu, dev->cfg.active_mtu,
			128u << dev->cfg.active_mtu);
	return 0;
}

/*
 * There is no second port to migrate to: the alternate path is refused, "migrated" is true.
 */
static int check_offered(struct device *dev, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	if (mask & QP_ATTR_RATE_LIMIT && dev->cfg.no_pacing)
		return device_refuse(
			dev, -EOPNOTSUPP,
			"IBV_QP_RATE_LIMIT: the device's profile has no packet pacing");
	if (mask & QP_ATTR_ALT_PATH)
		return device_refuse(dev, -EOPNOTSUPP,
				     "IBV_QP_ALT_PATH: path migration is not supported");
	if (mask & QP_ATTR_PATH_MIG_STATE && a->path_mig_state != PATH_MIG_MIGRATED)
		return device_refuse(
			dev, -EOPNOTSUPP,
			"path_mig_state %u: path migration is not supported, only MIGRATED (0)",
			a->path_mig_state);
	return 0;
}

static int check_values(struct device *dev, const struct uhca_abi_qp_attr *a, uint32_t mask)
{
	int err = check_path(dev, a, mask);

	if (!err)
		err = check_ranges(dev, a, mask);
	if (!err && mask & QP_ATTR_ACCESS_FLAGS && a->qp_access_flags & ~ACCESS_KNOWN)
		err = device_refuse(dev, -EINVAL, "qp_access_flags 0x%x has unknown bits",
				    a->qp_access_flags);
	return err ? err : check_offered(dev, a, mask);
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
	if (mask & QP_ATTR_RATE_LIMIT) {
		to->rate_limit = from->rate_limit;
		to->max_burst_sz = from->max_burst_sz;
	}
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

/* What has left stays paid for, at the old rate. */
static void update_rate(struct qp *qp)
{
	struct send_rate *r = &qp->req.rate;

	r->kbps = qp->attr.rate_limit;
	r->max_burst = qp->attr.max_burst_sz;
	if (!r->kbps)
		r->next = 0;
	timer_cancel(&qp->dev->rates, &r->timer);
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
	if (mask & QP_ATTR_RATE_LIMIT || to == QPS_RESET)
		update_rate(qp);
	qp_set_state(qp, to);
	qp_state_changed(qp, old);
	if (mask & QP_ATTR_RATE_LIMIT)
		qp_kick(qp);
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
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "a QP with rwq_ind_tbl has no state to modify");
	/* "Current state" is what the program believes; a wrong belief is refused. */
	if (mask & QP_ATTR_CUR_STATE && a->cur_qp_state != qp->state)
		return device_refuse(c->dev, -EINVAL,
				     "cur_qp_state %u is not the QP's state, %s (%u)",
				     a->cur_qp_state, qp_state_name(qp->state), qp->state);
	uint32_t to = mask & QP_ATTR_STATE ? a->qp_state : qp->state;
	/*
	 * In iWARP that closes the stream, and what is left is flushed (RFC 5040, 6.2): librdmacm.
	 */
	if (to == QPS_SQD && c->dev->cfg.node_type == CORE_NODE_RNIC) {
		to = QPS_ERR;
		mask = QP_ATTR_STATE;
	}
	if (to >= QPS_COUNT)
		return device_refuse(c->dev, -EINVAL, "qp_state %u is unknown", to);
	err = qp_state_check(c->dev, qp->type, qp->state, (enum qp_state)to, mask);
	if (!err)
		err = check_values(c->dev, a, mask);
	return err ? err : apply(qp, (enum qp_state)to, a, mask);
}
