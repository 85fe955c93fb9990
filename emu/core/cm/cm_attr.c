/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes with which a QP goes from state to state, as the exchanged messages fix them
 * (IBTA vol. 1, 12.7; the tables of 11.2.4.2 say which belong to which transition).
 */
#include "cm.h"

#include "emu/abi/cmd.h"
#include "emu/core/base/base.h"
#include "emu/core/qp/queue_pair.h"

#include <errno.h>
#include <string.h>

#define ACCESS_WRITE 2u
#define ACCESS_READ  (4u | 8u) /* and atomics */
#define ACCESS_FLUSH (1u << 8 | 1u << 9)
#define HOP_LIMIT    64

/* What takes a responder resource is let in where the parties agreed on some: FLUSH (A19), too. */
static uint32_t access_of(const struct cm *cm)
{
	if (!cm->responder_resources)
		return ACCESS_WRITE;
	return ACCESS_WRITE | ACCESS_READ |
	       (cm->dev->cfg.features & UHCA_ABI_HAS_FLUSH ? ACCESS_FLUSH : 0);
}

static void to_init(const struct cm *cm, struct uhca_abi_qp_attr *a, uint32_t *mask)
{
	*mask = QP_ATTR_STATE | QP_ATTR_PKEY_INDEX | QP_ATTR_PORT | QP_ATTR_ACCESS_FLAGS;
	a->qp_access_flags = access_of(cm);
	unsigned port;
	device_find_gid_of(cm->dev, cm->path.local_gid, &port);
	a->port_num = (uint8_t)port;
}

static bool is_peer_known(const struct cm *cm)
{
	switch (cm->state) {
	case CM_REQ_RCVD:
	case CM_REP_SENT:
	case CM_REP_RCVD:
	case CM_ESTABLISHED:
		return true;
	case CM_IDLE:
	case CM_REQ_SENT:
	case CM_DREQ_SENT:
	case CM_DREQ_RCVD:
	case CM_TIMEWAIT:
	case CM_SIDR_REQ_SENT:
	case CM_SIDR_REQ_RCVD:
	case CM_ANSWERED:
	case CM_CLOSED:
		break;
	}
	return false;
}

static bool has_not_ended(const struct cm *cm)
{
	return cm->state == CM_IDLE || cm->state == CM_REQ_SENT || is_peer_known(cm);
}

static void to_rtr(const struct cm *cm, struct uhca_abi_qp_attr *a, uint32_t *mask)
{
	*mask = QP_ATTR_STATE | QP_ATTR_AV | QP_ATTR_PATH_MTU | QP_ATTR_DEST_QPN | QP_ATTR_RQ_PSN;
	core_path_address(cm->dev, cm->path.local_gid, cm->path.remote_gid, &a->ah);
	a->ah.hop_limit = HOP_LIMIT;
	a->ah.traffic_class = cm->path.traffic_class;
	a->ah.flow_label = cm->path.flow_label;
	a->path_mtu = cm->path_mtu;
	a->dest_qp_num = cm->remote_qpn;
	a->rq_psn = cm->rq_psn;
	if (cm->qp_type == QPT_UC || cm->qp_type == QPT_XRC_SEND)
		return;
	*mask |= QP_ATTR_MAX_DEST_RD_ATOMIC | QP_ATTR_MIN_RNR_TIMER;
	a->max_dest_rd_atomic = cm->responder_resources;
}

static void to_rts(const struct cm *cm, struct uhca_abi_qp_attr *a, uint32_t *mask)
{
	*mask = QP_ATTR_STATE | QP_ATTR_SQ_PSN;
	a->sq_psn = cm->sq_psn;
	if (cm->qp_type == QPT_UC)
		return;
	*mask |= QP_ATTR_TIMEOUT | QP_ATTR_RETRY_CNT | QP_ATTR_RNR_RETRY | QP_ATTR_MAX_QP_RD_ATOMIC;
	a->timeout = cm->path.ack_timeout;
	a->retry_cnt = cm->retry_count;
	a->rnr_retry = cm->rnr_retry_count;
	a->max_rd_atomic = cm->initiator_depth;
}

int core_cm_qp_attr(struct cm *cm, uint32_t state, struct uhca_abi_qp_attr *attr, uint32_t *mask)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	if (state == QPS_INIT && has_not_ended(cm))
		to_init(cm, attr, mask);
	else if (state == QPS_RTR && is_peer_known(cm))
		to_rtr(cm, attr, mask);
	else if (state == QPS_RTS && is_peer_known(cm))
		to_rts(cm, attr, mask);
	else
		return device_refuse(cm->dev, -EINVAL,
				     "qp_state %u: the peer's attributes are unknown, or the "
				     "connection has ended",
				     state);
	return 0;
}
