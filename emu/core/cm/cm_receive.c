/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the peer's messages do (IBTA vol. 1, 12.9.7 and 12.9.8): which end is meant, does the
 * message fit its state, what does its owner hear. A repeated message gets its answer again; what
 * makes no sense is dropped without an answer, so that two ends never argue.
 */
#include "cm.h"

#include "wire/bytes.h"
#include "wire/cm_msg.h"

#include <errno.h>
#include <string.h>

/* The end with this local id, when the message is from its peer. */
static struct cm *cm_end_find(struct device *dev, const struct roce_flow *from, uint32_t local_id,
			      uint32_t remote_id)
{
	struct cm *cm = table_find(&dev->cm->ids, local_id);

	if (!cm || memcmp(cm->path.remote_gid, from->src, 16) != 0)
		return NULL;
	if (cm->remote_id && cm->remote_id != remote_id)
		return NULL;
	return cm->state == CM_IDLE ? NULL : cm;
}

static void set_path(struct cm *cm, const struct roce_flow *from)
{
	memcpy(cm->path.local_gid, from->dst, 16);
	memcpy(cm->path.remote_gid, from->src, 16);
	cm->path.traffic_class = from->tclass;
}

/* ---- requests ---- */

static uint16_t refusal(int error)
{
	if (error == -ENOENT)
		return ROCE_CM_REJ_INVALID_SERVICE_ID;
	return error == -EINVAL ? ROCE_CM_REJ_INVALID_TRANSPORT : ROCE_CM_REJ_NO_RESOURCES;
}

/* Asks the shell. The cookie is the end's from then on. */
static int ask(struct cm *cm, struct core_cm_request *req)
{
	const struct cm_manager *m = cm->dev->cm;

	if (!m->ops)
		return -ENOENT;
	req->service_id = cm->service_id;
	memcpy(req->local_gid, cm->path.local_gid, 16);
	memcpy(req->remote_gid, cm->path.remote_gid, 16);
	return m->ops->request(m->user, cm, req, &cm->cookie);
}

/* The type of QP that can answer: RC with RC, the sending end of XRC with a receiving one. */
static uint8_t answering_type(const struct roce_cm_req *r)
{
	switch ((enum roce_cm_transport)r->transport) {
	case ROCE_CM_TRANSPORT_RC:
		return QPT_RC;
	case ROCE_CM_TRANSPORT_UC:
		return QPT_UC;
	case ROCE_CM_TRANSPORT_EXTENDED:
		return r->extended_transport == ROCE_CM_EXTENDED_XRC ? QPT_XRC_RECV : 0;
	case ROCE_CM_TRANSPORT_RD:
		break;
	}
	return 0;
}

static void load_request(struct cm *cm, const struct roce_flow *from, const struct roce_cm_msg *msg)
{
	const struct roce_cm_req *r = &msg->req;

	set_path(cm, from);
	cm->tid = msg->tid;
	cm->state = CM_REQ_RCVD;
	cm->remote_id = r->local_comm_id;
	cm->remote_guid = r->local_ca_guid;
	cm->service_id = r->service_id;
	cm->qp_type = answering_type(r);
	cm->remote_qpn = r->local_qpn;
	cm->sq_psn = r->starting_psn;
	cm->path_mtu = r->path_mtu;
	cm->path.ack_timeout = r->primary.local_ack_timeout;
	cm->path.traffic_class = r->primary.traffic_class;
	cm->path.flow_label = r->primary.flow_label; /* both ends send from one port */
	cm->responder_resources = r->initiator_depth;
	cm->initiator_depth = r->responder_resources;
	cm->retry_count = r->retry_count;
	cm->rnr_retry_count = r->rnr_retry_count;
	/* Of both ends: so long they take to answer us, so often a message is sent again. */
	cm_set_pace(cm, r->local_cm_response_timeout, r->max_cm_retries);
	cm_add_passive(cm);
}

static void repeated_request(struct cm *cm)
{
	if (cm->state == CM_REQ_RCVD)
		cm_send_mra(cm, ROCE_CM_ANSWERED_REQ);
	else if (cm->state == CM_REP_SENT || cm->state == CM_ANSWERED)
		cm_send_again(cm);
	if (cm->state == CM_ANSWERED)
		cm_keep_answer(cm, cm->dev->now);
}

/* Reasons that need no listener: 0, or enum roce_cm_reject_reason. */
static uint16_t unfit(const struct cm *cm)
{
	if (!cm->qp_type)
		return ROCE_CM_REJ_INVALID_TRANSPORT;
	if (cm->path_mtu < 1 || cm->path_mtu > cm->dev->cfg.active_mtu)
		return ROCE_CM_REJ_INVALID_MTU;
	return 0;
}

/*
 * 12.9.8.3.1: a QP of the peer has one connection. When we still hold one for it, then the peer has
 * lost or forgotten it: it is ended, and the request refused; the next one will do. Of that host
 * only: anybody can write a number and a GUID into a request.
 */
static bool is_stale(struct device *dev, const struct roce_flow *from, const struct roce_cm_req *r)
{
	struct cm *held = cm_find_connected(
		dev, &(struct cm_remote){r->local_qpn, r->local_ca_guid, from->src});

	if (!held)
		return false;
	if (held->state == CM_ESTABLISHED)
		cm_send_dreq(held, dev->now);
	return true;
}

static void receive_req(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg)
{
	const struct roce_cm_req *r = &msg->req;
	struct cm *cm = cm_find_passive(
		dev, &(struct cm_remote){r->local_comm_id, r->local_ca_guid, from->src});
	struct core_cm_request req = {.param = {
					      .qpn = r->local_qpn,
					      .responder_resources = r->initiator_depth,
					      .initiator_depth = r->responder_resources,
					      .flow_control = r->flow_control,
					      .retry_count = r->retry_count,
					      .rnr_retry_count = r->rnr_retry_count,
					      .srq = r->srq,
					      .ece_vendor = r->vendor_id,
					      .ece_options = msg->attr_mod,
					      .private_data = r->private_data,
					      .private_len = ROCE_CM_REQ_PRIVATE,
				      }};
	uint16_t reason;
	int error = 0;

	if (cm) {
		repeated_request(cm);
		return;
	}
	cm = cm_create(dev, NULL);
	if (!cm)
		return; /* it will be repeated */
	load_request(cm, from, msg);
	req.param.qp_type = cm->qp_type;
	reason = unfit(cm);
	if (!reason && is_stale(dev, from, r))
		reason = ROCE_CM_REJ_STALE_CONNECTION;
	if (!reason) {
		error = ask(cm, &req);
		if (!error)
			return;
		reason = refusal(error);
	}
	if (error != -ENOMEM) /* then it will be repeated */
		cm_send_rej(cm, reason, NULL, 0);
	cm_free(cm);
}

static void receive_sidr_req(struct device *dev, const struct roce_flow *from,
			     const struct roce_cm_msg *msg)
{
	const struct roce_cm_sidr_req *r = &msg->sidr_req;
	struct core_cm_request req = {.param = {
					      .qp_type = QPT_UD,
					      .private_data = r->private_data,
					      .private_len = ROCE_CM_SIDR_REQ_PRIVATE,
				      }};
	uint64_t who = 0; /* a SIDR_REQ names no GUID */
	struct cm *cm;
	int error;

	for (unsigned i = 0; i < 16; i++)
		who = who << 4 ^ who >> 60 ^ from->src[i];
	cm = cm_find_passive(dev, &(struct cm_remote){r->request_id, who, from->src});
	if (cm) {
		if (cm->state == CM_ANSWERED)
			repeated_request(cm);
		return;
	}
	cm = cm_create(dev, NULL);
	if (!cm)
		return;
	set_path(cm, from);
	cm->tid = msg->tid;
	cm->state = CM_SIDR_REQ_RCVD;
	cm->remote_id = r->request_id;
	cm->remote_guid = who;
	cm->service_id = r->service_id;
	cm->qp_type = QPT_UD;
	cm_add_passive(cm);
	error = ask(cm, &req);
	if (!error)
		return;
	struct roce_cm_msg answer = {.attr = ROCE_CM_SIDR_REP};
	answer.sidr_rep.request_id = cm->remote_id;
	answer.sidr_rep.service_id = cm->service_id;
	answer.sidr_rep.status =
		error == -ENOENT ? ROCE_CM_SIDR_UNSUPPORTED_SERVICE : ROCE_CM_SIDR_REJECT;
	cm_send(cm, &answer);
	cm_free(cm);
}

static void receive_sidr_rep(struct device *dev, const struct roce_flow *from,
			     const struct roce_cm_msg *msg)
{
	const struct roce_cm_sidr_rep *r = &msg->sidr_rep;
	struct cm *cm = cm_end_find(dev, from, r->request_id, 0);
	struct core_cm_event e = {.type = CORE_CM_ESTABLISHED,
				  .status = r->status,
				  .param = {
					  .qp_type = QPT_UD,
					  .qpn = r->qpn,
					  .qkey = r->qkey,
					  .private_data = r->private_data,
					  .private_len = ROCE_CM_SIDR_REP_PRIVATE,
				  }};

	if (!cm || cm->state != CM_SIDR_REQ_SENT)
		return;
	if (r->status != ROCE_CM_SIDR_VALID)
		e.type = CORE_CM_UNREACHABLE;
	cm_event(cm, &e);
	cm_close(cm);
}

/* ---- connections ---- */

static uint32_t rep_vendor(const struct roce_cm_rep *r)
{
	return (uint32_t)r->vendor_id_high << 16 | (uint32_t)r->vendor_id_middle << 8 |
	       r->vendor_id_low;
}

/*
 * 12.7.34: our QP waits for the way there and back and for as long as the peer may take to answer.
 * Both are codes of powers of two: what is much shorter does not count.
 */
static uint8_t add_ack_delay(uint8_t timeout, uint8_t delay)
{
	uint8_t more = timeout > delay ? timeout : delay;
	uint8_t less = timeout > delay ? delay : timeout;
	uint8_t sum = more + (less + 1 >= more);

	return sum < CM_LONGEST_TIMEOUT ? sum : CM_LONGEST_TIMEOUT;
}

static void receive_rep(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg)
{
	const struct roce_cm_rep *r = &msg->rep;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm || cm->state == CM_CLOSED) {
		cm_send_stray_rej(dev, from, msg);
		return;
	}
	if ((cm->state == CM_ESTABLISHED || cm->state == CM_ANSWERED) && !cm->passive)
		cm_send_again(cm); /* the RTU, or the REJ */
	if (cm->state == CM_REP_RCVD)
		cm_send_mra(cm, ROCE_CM_ANSWERED_REP);
	if (cm->state != CM_REQ_SENT)
		return;
	cm_stop(cm);
	cm->state = CM_REP_RCVD;
	cm->remote_id = r->local_comm_id;
	cm->remote_qpn = cm->qp_type == QPT_XRC_SEND ? r->local_eecn : r->local_qpn;
	cm->sq_psn = r->starting_psn;
	cm->responder_resources = r->initiator_depth;
	cm->initiator_depth = r->responder_resources;
	cm->rnr_retry_count = r->rnr_retry_count;
	cm->path.ack_timeout = add_ack_delay(cm->path.ack_timeout, r->target_ack_delay);
	cm_event(cm, &(struct core_cm_event){.type = CORE_CM_REPLIED,
					     .param = {
						     .qp_type = cm->qp_type,
						     .qpn = cm->remote_qpn,
						     .qkey = r->local_qkey,
						     .responder_resources = r->initiator_depth,
						     .initiator_depth = r->responder_resources,
						     .flow_control = r->flow_control,
						     .rnr_retry_count = r->rnr_retry_count,
						     .srq = r->srq,
						     .ece_vendor = rep_vendor(r),
						     .ece_options = msg->attr_mod,
						     .private_data = r->private_data,
						     .private_len = ROCE_CM_REP_PRIVATE,
					     }});
}

static void receive_rtu(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg, uint64_t now)
{
	const struct roce_cm_rtu *r = &msg->rtu;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm || cm->state != CM_REP_SENT)
		return;
	cm_stop(cm);
	cm->state = CM_ESTABLISHED;
	cm_event(cm, &(struct core_cm_event){.type = CORE_CM_ESTABLISHED,
					     .param = {
						     .qp_type = cm->qp_type,
						     .private_data = r->private_data,
						     .private_len = ROCE_CM_RTU_PRIVATE,
					     }});
	if (cm->disconnect)
		cm_send_dreq(cm, now);
}

static void receive_mra(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg, uint64_t now)
{
	const struct roce_cm_mra *r = &msg->mra;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm)
		return;
	if ((cm->state == CM_REQ_SENT && r->message_mraed == ROCE_CM_ANSWERED_REQ) ||
	    (cm->state == CM_REP_SENT && r->message_mraed == ROCE_CM_ANSWERED_REP))
		cm_wait_longer(cm, r->service_timeout, now);
}

static void raise_rejected(struct cm *cm, const struct roce_cm_rej *r)
{
	cm_event(cm, &(struct core_cm_event){.type = CORE_CM_REJECTED,
					     .status = r->reason,
					     .param = {
						     .qp_type = cm->qp_type,
						     .private_data = r->private_data,
						     .private_len = ROCE_CM_REJ_PRIVATE,
					     }});
}

static void receive_rej(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg, uint64_t now)
{
	const struct roce_cm_rej *r = &msg->rej;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm && r->reason == ROCE_CM_REJ_TIMEOUT)
		cm = cm_find_passive(dev, &(struct cm_remote){r->local_comm_id,
							      roce_load_be64(r->ari), from->src});
	if (!cm)
		return;
	switch (cm->state) {
	case CM_REQ_SENT:
	case CM_REQ_RCVD:
	case CM_REP_RCVD:
	case CM_REP_SENT:
		raise_rejected(cm, r);
		cm_close(cm);
		break;
	case CM_ESTABLISHED: /* our RTU never reached it */
		raise_rejected(cm, r);
		cm_enter_timewait(cm, now);
		break;
	case CM_DREQ_SENT: /* 12.9.7: there is no connection any more */
		cm_raise_event(cm, CORE_CM_DISCONNECTED, 0);
		cm_enter_timewait(cm, now);
		break;
	case CM_IDLE:
	case CM_DREQ_RCVD:
	case CM_TIMEWAIT:
	case CM_SIDR_REQ_SENT:
	case CM_SIDR_REQ_RCVD:
	case CM_ANSWERED:
	case CM_CLOSED:
		break;
	}
}

/*
 * The DREP is the owner's answer, so that the peer, when it has it, knows that the program here has
 * heard of the end: it may connect anew at once. A repeated DREQ hastens nothing (12.9.7: the state
 * "DREQ received"). Where both ends want to go neither waits for the other's program.
 */
static void receive_dreq(struct device *dev, const struct roce_flow *from,
			 const struct roce_cm_msg *msg, uint64_t now)
{
	const struct roce_cm_dreq *r = &msg->dreq;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm) {
		cm_send_stray_drep(dev, from, msg);
		return;
	}
	switch (cm->state) {
	case CM_REP_SENT: /* the RTU was lost, the connection was there */
		cm_raise_event(cm, CORE_CM_ESTABLISHED, 0);
		/* fall through */
	case CM_ESTABLISHED:
		cm_disconnected(cm, now);
		break;
	case CM_DREQ_SENT:
		cm_send_drep(cm);
		cm_raise_event(cm, CORE_CM_DISCONNECTED, 0);
		cm_enter_timewait(cm, now);
		break;
	case CM_TIMEWAIT:
	case CM_CLOSED:
		cm_send_drep(cm);
		break;
	case CM_IDLE:
	case CM_DREQ_RCVD:
	case CM_REQ_SENT:
	case CM_REQ_RCVD:
	case CM_REP_RCVD:
	case CM_SIDR_REQ_SENT:
	case CM_SIDR_REQ_RCVD:
	case CM_ANSWERED:
		break;
	}
}

static void receive_drep(struct device *dev, const struct roce_flow *from,
			 const struct roce_cm_msg *msg, uint64_t now)
{
	const struct roce_cm_drep *r = &msg->drep;
	struct cm *cm = cm_end_find(dev, from, r->remote_comm_id, r->local_comm_id);

	if (!cm || cm->state != CM_DREQ_SENT)
		return;
	cm_raise_event(cm, CORE_CM_DISCONNECTED, 0);
	cm_enter_timewait(cm, now);
}

void cm_receive(struct device *dev, const struct roce_flow *from, const struct roce_cm_msg *msg)
{
	switch (msg->attr) {
	case ROCE_CM_REQ:
		receive_req(dev, from, msg);
		break;
	case ROCE_CM_MRA:
		receive_mra(dev, from, msg, dev->now);
		break;
	case ROCE_CM_REJ:
		receive_rej(dev, from, msg, dev->now);
		break;
	case ROCE_CM_REP:
		receive_rep(dev, from, msg);
		break;
	case ROCE_CM_RTU:
		receive_rtu(dev, from, msg, dev->now);
		break;
	case ROCE_CM_DREQ:
		receive_dreq(dev, from, msg, dev->now);
		break;
	case ROCE_CM_DREP:
		receive_drep(dev, from, msg, dev->now);
		break;
	case ROCE_CM_SIDR_REQ:
		receive_sidr_req(dev, from, msg);
		break;
	case ROCE_CM_SIDR_REP:
		receive_sidr_rep(dev, from, msg);
		break;
	}
}
