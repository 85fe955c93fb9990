/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs and their further handles as objects, and what others ask about a QP. */
#include "emu/core/queues/queues.h"
#include "qp.h"
#include "qp_share.h"
#include "qp_state.h"

#include <string.h>

static uint32_t sends_outstanding(const struct qp *qp)
{
	uint32_t waiting = uhca_ring_observe(&qp->page->send.producer) - qp->req.una;
	return waiting <= qp->req.sq.entries ? waiting : 0;
}

static void describe_connection(const struct qp *qp, struct facts *f)
{
	const struct uhca_abi_qp_attr *a = &qp->attr;
	facts_hex(f, "dest_qpn", a->dest_qp_num);
	facts_number(f, "rq_psn", qp->resp.epsn);
	facts_number(f, "sq_psn", qp->req.next_psn);
	facts_number(f, "una_psn", qp->req.una_psn);
	facts_number(f, "mtu", qp->mtu);
	facts_number(f, "timeout", a->timeout);
	facts_number(f, "retry_cnt", a->retry_cnt);
	facts_number(f, "rnr_retry", a->rnr_retry);
	facts_number(f, "max_rd_atomic", a->max_rd_atomic);
	facts_number(f, "max_dest_rd_atomic", a->max_dest_rd_atomic);
	facts_text(f, "path_mig_state", "MIGRATED");
	facts_number(f, "rate_limit", a->rate_limit);
	facts_number(f, "traffic_class", qp->flow.tclass);
	facts_number(f, "priority", roce_flow_priority(&qp->flow));
}

/* What its control allows: kbit/s as rate_limit, bytes; 0: all. */
static void describe_congestion(const struct qp *qp, struct facts *f)
{
	const struct congestion *c = qp->congestion;
	const struct cc_flow *flow = &c->flow;
	const bool limited = flow->rate < flow->line_rate;

	facts_text(f, "cc", qp->dev->cfg.congestion.control.ops->name);
	facts_number(f, "cc_rate", limited ? flow->rate / 1000 : 0);
	facts_number(f, "cc_window",
		     flow->settings && flow->window != CC_NO_WINDOW ? flow->window : 0);
	facts_number(f, "cc_rtt", c->rtt);
	facts_number(f, "cnps_handled", c->cnps_handled);
}

static void describe_counters(const struct qp_counters *c, struct facts *f)
{
	facts_number(f, "tx_packets", c->tx_packets);
	facts_number(f, "tx_bytes", c->tx_bytes);
	facts_number(f, "rx_packets", c->rx_packets);
	facts_number(f, "rx_bytes", c->rx_bytes);
	facts_number(f, "retries", c->retries);
	facts_number(f, "rnr", c->rnr);
	facts_number(f, "errors", c->errors);
}

/* What keeps its send queue; "": nothing, or there is nothing to send. */
static const char *waits_for(const struct qp *qp)
{
	static const char *const name[BLOCKED_COUNT] = {
		[BLOCKED_NOT] = "",
		[BLOCKED_STATE] = "state",
		[BLOCKED_PSN_WINDOW] = "answer",
		[BLOCKED_FENCE] = "fence",
		[BLOCKED_RD_ATOMIC] = "reads",
		[BLOCKED_CREDIT] = "credit",
		[BLOCKED_RNR] = "rnr",
		[BLOCKED_PACE] = "pace",
		[BLOCKED_RATE] = "rate",
		[BLOCKED_CONGESTION] = "congestion",
		[BLOCKED_ORDER] = "order",
	};

	if (!sends_outstanding(qp))
		return "";
	if (requester_outstanding(&qp->req) && qp->req.blocked == BLOCKED_NOT)
		return "answer";
	return name[qp->req.blocked];
}

static void describe_qp(const void *object, struct facts *f)
{
	const struct qp *qp = object;
	facts_hex(f, "qpn", qp->qpn);
	facts_text(f, "type", qp_type_name(qp->type));
	facts_text(f, "state", qp_state_name(qp->state));
	if (qp->pd)
		facts_number(f, "pd", qp->pd->obj.handle);
	if (qp->send_cq)
		facts_number(f, "send_cq", qp->send_cq->obj.handle);
	if (qp->recv_cq)
		facts_number(f, "recv_cq", qp->recv_cq->obj.handle);
	if (qp->srq)
		facts_number(f, "srq", qp->srq->obj.handle);
	describe_connection(qp, f);
	facts_number(f, "max_send_wr", qp->max_send_wr);
	facts_number(f, "max_recv_wr", qp->max_recv_wr);
	facts_number(f, "max_inline_data", qp->max_inline_data);
	facts_number(f, "doorbell", qp->doorbell);
	describe_counters(&qp->counters, f);
	facts_number(f, "sends", sends_outstanding(qp));
	facts_number(f, "recvs", recv_available(&qp->rq));
	facts_number(f, "silent", qp->counters.silent);
	facts_text(f, "waits", waits_for(qp));
	if (qp->congestion)
		describe_congestion(qp, f);
}

static void destroy_qp(void *object)
{
	qp_destroy(object);
}

const struct object_type object_qp = {
	.type = CORE_OBJECT_QP,
	.name = "qp",
	.table = offsetof(struct device, qps),
	.destroy = destroy_qp,
	.describe = describe_qp,
};

static void destroy_qp_share(void *object)
{
	qp_share_destroy(object);
}

const struct object_type object_qp_share = {
	.type = CORE_OBJECT_TYPES,
	.table = offsetof(struct device, qp_shares),
	.destroy = destroy_qp_share,
};

bool core_look_at_qp(const struct device *dev, uint32_t qpn, struct core_qp_look *out)
{
	const struct qp *qp = device_find_qp(dev, qpn);

	if (!qp)
		return false;
	*out = (struct core_qp_look){
		.peer_qpn = qp->type == QPT_UD ? 0 : qp->attr.dest_qp_num,
		.pd = qp->pd ? qp->pd->obj.handle : 0,
		.srq = qp->srq ? qp->srq->obj.handle : 0,
		.send_cq = qp->send_cq ? qp->send_cq->obj.handle : 0,
		.recv_cq = qp->recv_cq ? qp->recv_cq->obj.handle : 0,
		.write_key = qp->resp.message == MESSAGE_WRITE ? qp->resp.write_rkey : 0,
		.responds = qp->type == QPT_RC || qp->type == QPT_XRC_RECV,
		.expected_psn = qp->resp.epsn,
		.type = qp->type,
		.recvs = recv_available(qp->srq ? &qp->srq->rq : &qp->rq),
		.heard = qp->counters.rx_packets,
		.attr = &qp->attr,
		.flow = &qp->flow,
		.state = qp->state,
		.client = qp->obj.client ? qp->obj.client->cookie : NULL,
	};
	return true;
}

#define PARTNER_PLACES 256u /* of the table, looked at in one part */

static bool is_connected_to(const struct qp *qp, uint32_t qpn, const uint8_t address[16])
{
	return qp->state != QPS_RESET && qp->state != QPS_INIT && qp->type != QPT_UD &&
	       qp->type != QPT_RAW_PACKET && qp->attr.dest_qp_num == qpn &&
	       memcmp(qp->attr.ah.dgid, address, sizeof(qp->attr.ah.dgid)) == 0;
}

uint32_t core_find_partner(const struct device *dev, uint32_t peer_qpn, const uint8_t peer[16],
			   uint32_t *next)
{
	const struct table *t = &dev->qps;
	uint32_t from = *next, found = 0;

	for (*next = from; !found && *next < t->size && *next - from < PARTNER_PLACES; ++*next) {
		const struct qp *qp = table_at(t, *next);

		if (qp && is_connected_to(qp, peer_qpn, peer))
			found = qp->qpn;
	}
	if (*next >= t->size)
		*next = UINT32_MAX;
	return found;
}

uint32_t core_qp_number(const struct client *c, uint32_t handle)
{
	const struct qp *qp = table_find(&c->dev->qps, handle);

	return qp && qp->obj.client == c ? qp->qpn : 0;
}
