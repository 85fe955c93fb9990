/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the communication manager on their way out, and their repetition (IBTA vol. 1,
 * 12.9.8.5): what expects an answer is sent again each response timeout, so often.
 */
#include "cm.h"

#include "gsi.h"
#include "wire/bytes.h"

#include <string.h>

#define CODE_UNIT   4096u /* ns; timeouts are this times a power of two */
/* "I am at it" gives the program more than a minute. */
#define MRA_TIMEOUT 24

static void send_mad(struct cm *cm, const uint8_t *mad)
{
	struct roce_flow flow = {.tclass = cm->path.traffic_class};

	memcpy(flow.src, cm->path.local_gid, sizeof(flow.src));
	memcpy(flow.dst, cm->path.remote_gid, sizeof(flow.dst));
	gsi_send(cm->dev, &flow, mad);
}

void cm_send(struct cm *cm, struct roce_cm_msg *msg)
{
	uint8_t mad[ROCE_MAD_LENGTH];

	msg->tid = cm->tid;
	if (roce_cm_emit(msg, mad))
		send_mad(cm, mad);
}

void cm_send_repeated(struct cm *cm, struct roce_cm_msg *msg, uint64_t now)
{
	msg->tid = cm->tid;
	if (!roce_cm_emit(msg, cm->mad))
		return;
	send_mad(cm, cm->mad);
	cm->retries = cm->max_retries;
	cm_wait(cm, now, cm->interval);
}

void cm_send_again(struct cm *cm)
{
	send_mad(cm, cm->mad);
}

void cm_wait(struct cm *cm, uint64_t now, uint64_t time)
{
	struct timer_heap *timers = &cm->dev->cm->timers;

	timer_set(timers, &cm->timer, timer_heap_time(timers, now) + time);
}

void cm_stop(struct cm *cm)
{
	timer_cancel(&cm->dev->cm->timers, &cm->timer);
	cm->retries = 0;
}

/* Within reason, else anybody could hold an end for hours. */
static uint64_t timeout_ns(uint8_t code)
{
	return (uint64_t)CODE_UNIT << (code < MRA_TIMEOUT ? code : MRA_TIMEOUT);
}

void cm_set_pace(struct cm *cm, uint8_t code, uint8_t retries)
{
	cm->interval = timeout_ns(code > CM_RESPONSE_TIMEOUT ? code : CM_RESPONSE_TIMEOUT);
	cm->max_retries = retries;
}

/* An MRA of the peer (12.9.8.5): no repetition for so long. */
void cm_wait_longer(struct cm *cm, uint8_t code, uint64_t now)
{
	cm_wait(cm, now, cm->interval + timeout_ns(code));
}

void cm_send_dreq(struct cm *cm, uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_DREQ};

	msg.dreq.local_comm_id = cm->local_id;
	msg.dreq.remote_comm_id = cm->remote_id;
	msg.dreq.remote_qpn = cm->remote_qpn;
	cm->state = CM_DREQ_SENT;
	cm_send_repeated(cm, &msg, now);
}

void cm_send_drep(struct cm *cm)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_DREP};

	msg.drep.local_comm_id = cm->local_id;
	msg.drep.remote_comm_id = cm->remote_id;
	cm_send(cm, &msg);
}

void cm_send_mra(struct cm *cm, enum roce_cm_answered answered)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_MRA};

	msg.mra.local_comm_id = cm->local_id;
	msg.mra.remote_comm_id = cm->remote_id;
	msg.mra.message_mraed = (uint8_t)answered;
	msg.mra.service_timeout = MRA_TIMEOUT;
	cm_send(cm, &msg);
}

/* Which message a REJ from this state is about. */
static enum roce_cm_answered rejected(const struct cm *cm)
{
	if (cm->state == CM_REQ_RCVD)
		return ROCE_CM_ANSWERED_REQ;
	return cm->state == CM_REP_RCVD ? ROCE_CM_ANSWERED_REP : ROCE_CM_ANSWERED_OTHER;
}

void cm_send_rej(struct cm *cm, uint16_t reason, const uint8_t *private_data, uint32_t len)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_REJ};

	msg.rej.local_comm_id = cm->local_id;
	msg.rej.remote_comm_id = cm->remote_id;
	msg.rej.message_rejected = (uint8_t)rejected(cm);
	msg.rej.reason = reason;
	if (reason == ROCE_CM_REJ_TIMEOUT) { /* with our GUID the peer finds us without its id */
		msg.rej.info_length = 8;
		roce_store_be64(msg.rej.ari, cm->dev->cfg.node_guid);
	}
	if (len)
		memcpy(msg.rej.private_data, private_data, len);
	msg.tid = cm->tid;
	if (roce_cm_emit(&msg, cm->mad))
		send_mad(cm, cm->mad);
}

static void send_back(struct device *dev, const struct roce_flow *from, struct roce_cm_msg *msg)
{
	struct roce_flow flow = {.tclass = from->tclass};
	uint8_t mad[ROCE_MAD_LENGTH];

	memcpy(flow.src, from->dst, sizeof(flow.src));
	memcpy(flow.dst, from->src, sizeof(flow.dst));
	if (roce_cm_emit(msg, mad))
		gsi_send(dev, &flow, mad);
}

void cm_send_stray_rej(struct device *dev, const struct roce_flow *from,
		       const struct roce_cm_msg *msg)
{
	struct roce_cm_msg answer = {.attr = ROCE_CM_REJ, .tid = msg->tid};

	answer.rej.local_comm_id = msg->rep.remote_comm_id;
	answer.rej.remote_comm_id = msg->rep.local_comm_id;
	answer.rej.message_rejected = ROCE_CM_ANSWERED_REP;
	answer.rej.reason = ROCE_CM_REJ_INVALID_COMM_ID;
	send_back(dev, from, &answer);
}

void cm_send_stray_drep(struct device *dev, const struct roce_flow *from,
			const struct roce_cm_msg *msg)
{
	struct roce_cm_msg answer = {.attr = ROCE_CM_DREP, .tid = msg->tid};

	answer.drep.local_comm_id = msg->dreq.remote_comm_id;
	answer.drep.remote_comm_id = msg->dreq.local_comm_id;
	send_back(dev, from, &answer);
}
