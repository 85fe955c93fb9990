/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way in for packets: which QP, may it receive, is it from its peer (IBTA vol. 1, 9.6.1,
 * "packet validation"); then to the engine that the opcode names.
 */
#include "receive.h"
#include "emu/core/cm/management.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/receive/receive.h"
#include "emu/core/send/send.h"
#include "mcast.h"

#include <string.h>

static bool is_response(const struct core_burst *t)
{
	switch (roce_opcode_info(t->head.bth.opcode)->operation) {
	case ROCE_OP_READ_RESP:
	case ROCE_OP_ACK:
	case ROCE_OP_ATOMIC_ACK:
		return true;
	case ROCE_OP_SEND:
	case ROCE_OP_WRITE:
	case ROCE_OP_READ_REQ:
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
	case ROCE_OP_MASKED_CMP_SWAP:
	case ROCE_OP_MASKED_FETCH_ADD:
	case ROCE_OP_ATOMIC_WRITE:
	case ROCE_OP_FLUSH:
	case ROCE_OP_CNP:
	case ROCE_OP_COUNT:
		break;
	}
	return false;
}

static bool is_cnp(const struct core_burst *t)
{
	return roce_opcode_info(t->head.bth.opcode)->service == ROCE_SVC_CNP;
}

static bool service_matches(const struct qp *qp, const struct core_burst *t)
{
	enum roce_service svc = roce_opcode_info(t->head.bth.opcode)->service;

	/* A congestion notification goes to a QP of any service (annex A17.9.3). */
	if (is_cnp(t))
		return qp->type != QPT_RAW_PACKET;
	if (qp->type == QPT_RAW_PACKET || svc != qp_service(qp))
		return false;
	/* One half of an XRC connection sends requests only, the other responses (annex A14). */
	return qp->type == QPT_XRC_SEND ? is_response(t)
					: qp->type != QPT_XRC_RECV || !is_response(t);
}

/* Table 91 of 10.3.1: which states take requests, which take responses. */
static bool state_receives(const struct qp *qp, bool response)
{
	if (qp->state == QPS_RTS || qp->state == QPS_SQD)
		return true;
	return !response && (qp->state == QPS_RTR || qp->state == QPS_SQE);
}

/* 9.6.1.5: a connected QP hears its peer only. */
static bool from_peer(const struct qp *qp, const struct core_burst *t)
{
	return qp->type == QPT_UD || (memcmp(t->flow.src, qp->flow.dst, sizeof t->flow.src) == 0 &&
				      memcmp(t->flow.dst, qp->flow.src, sizeof t->flow.dst) == 0);
}

/* The same partition, of which at most one of the two may be a limited member (10.9.3). */
static bool pkey_matches(const struct qp *qp, const struct core_burst *t)
{
	uint16_t own = qp_pkey(qp), its = t->head.bth.pkey;

	return ((own ^ its) & 0x7fffu) == 0 && ((own | its) & 0x8000u);
}

static void refuse(const struct qp *qp, const struct core_burst *t, enum core_drop why,
		   struct uhca_abi_cause cause)
{
	device_because(qp->dev, &cause);
	device_drop(qp->dev, qp->qpn, t, why);
}

bool receive_admit(struct qp *qp, const struct core_burst *t)
{
	if (!service_matches(qp, t))
		refuse(qp, t, CORE_DROP_SERVICE, CAUSE(SERVICE, .got = 0));
	else if (!state_receives(qp, is_response(t)))
		refuse(qp, t, CORE_DROP_STATE, CAUSE(STATE, .got = qp->state));
	else if (!pkey_matches(qp, t))
		refuse(qp, t, CORE_DROP_PKEY,
		       CAUSE(PKEY, .expected = qp_pkey(qp), .got = t->head.bth.pkey));
	else if (!from_peer(qp, t))
		refuse(qp, t, CORE_DROP_ADDRESS, CAUSE(ADDRESS, .got = 0));
	else
		return true;
	return false;
}

/* The first request in RTR tells the passive side that the peer is there. */
static void note_established(struct qp *qp)
{
	if (qp->state != QPS_RTR || qp->comm_established || qp->type == QPT_UD)
		return;
	qp->comm_established = true;
	qp_event(qp, UHCA_ABI_EVENT_COMM_EST);
}

void core_rx(struct device *dev, uint64_t now, const struct core_burst *t)
{
	struct qp *qp;

	device_set_time(dev, now);
	if (dev->port_checks && port_refuses(dev, t, t->flow.dst))
		return;
	dev->counters.rx_packets += t->count;
	dev->counters.rx_bytes += t->length;
	device_trace(dev, CORE_TRACE_RX, t->head.bth.dest_qp, t->head.bth.psn, t->count);
	if (t->head.bth.dest_qp == MCAST_QPN) {
		mcast_receive(dev, t);
		return;
	}
	if (t->head.bth.dest_qp == ROCE_GSI_QPN) {
		gsi_receive(dev, t);
		return;
	}
	qp = device_find_qp(dev, t->head.bth.dest_qp);
	if (!qp) {
		device_because(dev, &CAUSE(NO_QP, .got = t->head.bth.dest_qp));
		device_drop(dev, t->head.bth.dest_qp, t, CORE_DROP_NO_QP);
		return;
	}
	if (!receive_admit(qp, t))
		return;
	qp->counters.rx_packets += t->count;
	qp->counters.rx_bytes += t->length;
	if (is_cnp(t)) {
		dev->counters.cnps_received += t->count;
		congestion_notified(qp, t->count);
		return;
	}
	if (roce_flow_ecn(&t->flow) == ROCE_CE)
		congestion_marked(qp, t);
	if (is_response(t)) {
		completer_receive(qp, t);
		return;
	}
	note_established(qp);
	if (qp->type == QPT_UD)
		responder_receive_ud(qp, t);
	else
		responder_receive(qp, t);
}
