/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Life of the ends of connections and what their owners do with them. Not here: what the peer's
 * messages do (cm_receive.c).
 */
#include "cm.h"

#include "emu/core/base/base.h"
#include "emu/core/qp/queue_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_BITS     32
#define PSN_MASK    0xffffffu
#define TIMEWAIT    UINT64_C(1000000000)  /* longer than a packet lives here */
#define ANSWER_KEPT UINT64_C(15000000000) /* several response timeouts: Linux waits up to 6.4 s */

void cm_manager_construct(struct cm_manager *m, uint32_t salt)
{
	memset(m, 0, sizeof(*m));
	m->salt = salt;
	table_construct_bits(&m->ids, CM_MAX_IDS, ID_BITS, salt);
	timer_heap_construct(&m->timers);
	for (unsigned i = 0; i < CM_BUCKETS; i++) {
		list_init(&m->passive[i]);
		list_init(&m->by_qpn[i]);
	}
	for (unsigned i = 0; i < CM_ACCOUNT_BUCKETS; i++)
		list_init(&m->accounts[i]);
}

void cm_manager_destruct(struct cm_manager *m)
{
	uint32_t cursor = 0;
	for (struct cm *cm; (cm = table_next(&m->ids, &cursor));) {
		cm_discharge(cm);
		free(cm);
	}
	table_destruct(&m->ids);
	timer_heap_destruct(&m->timers);
}

void core_cm_set_ops(struct device *dev, const struct core_cm_ops *ops, void *user)
{
	dev->cm->ops = ops;
	dev->cm->user = user;
}

uint32_t core_cm_count(const struct device *dev)
{
	return dev->cm->ids.used;
}

uint64_t core_cm_bytes(void)
{
	return sizeof(struct cm);
}

/* A stranger chooses both: where they lead to depends on what he does not know. */
static struct list *bucket(const struct cm_manager *m, struct list buckets[CM_BUCKETS],
			   uint32_t number, uint64_t remote_guid)
{
	uint64_t h = (number ^ (uint64_t)m->salt << 32) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 29 ^ remote_guid) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 32 ^ m->salt) * UINT64_C(0x94d049bb133111eb);
	return &buckets[(h >> 32) % CM_BUCKETS];
}

static bool is_from(const struct cm *cm, const uint8_t gid[16])
{
	return memcmp(cm->path.remote_gid, gid, 16) == 0;
}

struct cm *cm_find_passive(struct device *dev, const struct cm_remote *r)
{
	struct list *head = bucket(dev->cm, dev->cm->passive, r->number, r->guid);
	for (struct list *l = head->next; l != head; l = l->next) {
		struct cm *cm = list_entry(l, struct cm, hash);
		if (cm->remote_id == r->number && cm->remote_guid == r->guid && is_from(cm, r->gid))
			return cm;
	}
	return NULL;
}

struct cm *cm_find_connected(struct device *dev, const struct cm_remote *r)
{
	struct list *head = bucket(dev->cm, dev->cm->by_qpn, r->number, r->guid);

	for (struct list *l = head->next; l != head; l = l->next) {
		struct cm *cm = list_entry(l, struct cm, qpn_hash);
		if (cm->remote_qpn == r->number && cm->remote_guid == r->guid &&
		    is_from(cm, r->gid) &&
		    (cm->state == CM_REP_SENT || cm->state == CM_ESTABLISHED))
			return cm;
	}
	return NULL;
}

void cm_add_passive(struct cm *cm)
{
	struct cm_manager *m = cm->dev->cm;

	cm->passive = true;
	list_append(bucket(m, m->passive, cm->remote_id, cm->remote_guid), &cm->hash);
	if (cm->remote_qpn)
		list_append(bucket(m, m->by_qpn, cm->remote_qpn, cm->remote_guid), &cm->qpn_hash);
}

static void remove_passive(struct cm *cm)
{
	list_remove(&cm->hash);
	list_remove(&cm->qpn_hash);
}

static void on_timer(struct timer *t, uint64_t now)
{
	struct cm *cm = list_entry(t, struct cm, timer);
	if (cm->retries > 0) {
		cm->retries--;
		cm_send_again(cm);
		cm_wait(cm, now, cm->interval);
	} else {
		cm_expired(cm, now);
	}
}

struct cm *cm_create(struct device *dev, void *cookie)
{
	uint8_t random[8];
	struct cm *cm = calloc(1, sizeof(*cm));
	if (!cm)
		return NULL;
	if (timer_heap_reserve(&dev->cm->timers, dev->cm->ids.used + 1) ||
	    table_add(&dev->cm->ids, cm, &cm->local_id)) {
		free(cm);
		return NULL;
	}
	cm->dev = dev;
	cm->cookie = cookie;
	cm->timer.fire = on_timer;
	list_init(&cm->hash);
	list_init(&cm->qpn_hash);
	cm_set_pace(cm, CM_RESPONSE_TIMEOUT, CM_MAX_RETRIES);
	dev->ops->random(dev->user, random, sizeof(random));
	memcpy(&cm->tid, random, sizeof(cm->tid));
	memcpy(&cm->rq_psn, random, sizeof(cm->rq_psn));
	cm->rq_psn &= PSN_MASK;
	return cm;
}

struct cm *core_cm_create(struct device *dev, void *cookie)
{
	return cm_create(dev, cookie);
}

void cm_free(struct cm *cm)
{
	timer_cancel(&cm->dev->cm->timers, &cm->timer);
	remove_passive(cm);
	table_remove(&cm->dev->cm->ids, cm->local_id);
	cm_discharge(cm);
	free(cm);
}

void cm_event(struct cm *cm, const struct core_cm_event *e)
{
	if (!cm->orphan && cm->dev->cm->ops)
		cm->dev->cm->ops->event(cm->cookie, e);
}

void cm_raise_event(struct cm *cm, enum core_cm_event_type type, int32_t status)
{
	cm_event(cm, &(struct core_cm_event){.type = type, .status = status});
}

void cm_close(struct cm *cm)
{
	cm_stop(cm);
	cm->state = CM_CLOSED;
	remove_passive(cm);
	if (cm->orphan)
		cm_free(cm);
}

/* 12.9.8.4: the QP's number and the ids are not used again while old packets may be around. */
void cm_enter_timewait(struct cm *cm, uint64_t now)
{
	cm_stop(cm);
	cm->state = CM_TIMEWAIT;
	cm_wait(cm, now, TIMEWAIT);
}

static void give_up(struct cm *cm)
{
	cm_send_rej(cm, ROCE_CM_REJ_TIMEOUT, NULL, 0);
	cm_raise_event(cm, CORE_CM_UNREACHABLE, -ETIMEDOUT);
	cm_close(cm);
}

void cm_expired(struct cm *cm, uint64_t now)
{
	switch (cm->state) {
	case CM_REQ_SENT:
	case CM_REP_SENT:
		give_up(cm);
		break;
	case CM_SIDR_REQ_SENT:
		cm_raise_event(cm, CORE_CM_UNREACHABLE, -ETIMEDOUT);
		cm_close(cm);
		break;
	case CM_DREQ_SENT:
		cm_raise_event(cm, CORE_CM_DISCONNECTED, -ETIMEDOUT);
		cm_enter_timewait(cm, now);
		break;
	case CM_DREQ_RCVD:
		cm_reader_look(cm, now);
		break;
	case CM_TIMEWAIT:
		cm_raise_event(cm, CORE_CM_TIMEWAIT_EXIT, 0);
		cm_close(cm);
		break;
	case CM_ANSWERED:
		cm_close(cm);
		break;
	case CM_IDLE:
	case CM_REP_RCVD:
	case CM_REQ_RCVD:
	case CM_ESTABLISHED:
	case CM_SIDR_REQ_RCVD:
	case CM_CLOSED:
		break;
	}
}

/* ---- what the owner asks for ---- */

void cm_keep_answer(struct cm *cm, uint64_t now)
{
	cm_stop(cm);
	cm->state = CM_ANSWERED;
	cm_wait(cm, now, ANSWER_KEPT);
}

/* The owner answers the peer's DREQ. */
static void answer_dreq(struct cm *cm, uint64_t now)
{
	cm_release(cm);
	cm_send_drep(cm);
	cm_enter_timewait(cm, now);
}

static void refuse(struct cm *cm, uint16_t reason, const struct core_cm_param *param, uint64_t now)
{
	cm_send_rej(cm, reason, param->private_data, param->private_len);
	cm_keep_answer(cm, now);
}

void core_cm_destroy(struct cm *cm, uint64_t now)
{
	cm->orphan = true;
	switch (cm->state) {
	case CM_ESTABLISHED:
		cm_send_dreq(cm, now);
		break;
	case CM_REQ_SENT:
		cm_send_rej(cm, ROCE_CM_REJ_TIMEOUT, NULL, 0);
		cm_close(cm);
		break;
	case CM_REP_RCVD:
	case CM_REQ_RCVD:
	case CM_REP_SENT:
		refuse(cm, ROCE_CM_REJ_CONSUMER, &(struct core_cm_param){0}, now);
		break;
	case CM_SIDR_REQ_RCVD:
		core_cm_reject(cm, ROCE_CM_REJ_CONSUMER, &(struct core_cm_param){0}, now);
		break;
	case CM_IDLE:
	case CM_SIDR_REQ_SENT:
	case CM_CLOSED:
		cm_close(cm);
		break;
	case CM_DREQ_RCVD:
		answer_dreq(cm, now);
		break;
	case CM_DREQ_SENT:
	case CM_TIMEWAIT:
	case CM_ANSWERED:
		break; /* until its timer ends it */
	}
}

void core_cm_forget(struct cm *cm, uint64_t now)
{
	if (cm->state != CM_REQ_RCVD) {
		core_cm_destroy(cm, now);
		return;
	}
	cm->orphan = true;
	cm_close(cm);
}

static void copy_private(uint8_t *to, const struct core_cm_param *param)
{
	if (param->private_len)
		memcpy(to, param->private_data, param->private_len);
}

static bool fits(const struct core_cm_param *param, size_t room)
{
	return param->private_len <= room;
}

static int refuse_data(struct cm *cm, const struct core_cm_param *param, size_t room)
{
	return device_refuse(cm->dev, -EINVAL, "private_data_len %u exceeds the message's %u bytes",
			     param->private_len, (unsigned)room);
}

static int refuse_state(struct cm *cm, const char *what)
{
	static const char *const is[] = {
		[CM_IDLE] = "not begun",
		[CM_REQ_SENT] = "requested; the peer has not answered",
		[CM_REQ_RCVD] = "requested by the peer",
		[CM_REP_SENT] = "accepted; the peer is not ready",
		[CM_REP_RCVD] = "accepted by the peer",
		[CM_ESTABLISHED] = "established",
		[CM_DREQ_SENT] = "being disconnected",
		[CM_DREQ_RCVD] = "being disconnected by the peer",
		[CM_TIMEWAIT] = "over",
		[CM_SIDR_REQ_SENT] = "requested; the peer has not answered",
		[CM_SIDR_REQ_RCVD] = "requested by the peer",
		[CM_ANSWERED] = "answered",
		[CM_CLOSED] = "over",
	};

	return device_refuse(cm->dev, -EINVAL, "the connection is %s and cannot be %s",
			     is[cm->state], what);
}

static void connect_sidr(struct cm *cm, const struct core_cm_param *param, uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_SIDR_REQ};
	struct roce_cm_sidr_req *r = &msg.sidr_req;

	r->request_id = cm->local_id;
	r->pkey = 0xffff;
	r->service_id = cm->service_id;
	copy_private(r->private_data, param);
	cm->state = CM_SIDR_REQ_SENT;
	cm_send_repeated(cm, &msg, now);
}

static void fill_primary(const struct cm *cm, struct roce_cm_path *p)
{
	p->local_lid = p->remote_lid = 0xffff; /* permissive: RoCE has none (annex A16) */
	memcpy(p->local_gid, cm->path.local_gid, sizeof(p->local_gid));
	memcpy(p->remote_gid, cm->path.remote_gid, sizeof(p->remote_gid));
	p->flow_label = cm->path.flow_label;
	p->traffic_class = cm->path.traffic_class;
	p->hop_limit = 64;
	/* The packet rate stays 0: the port's own, as Linux asks on RoCE; 2 holds adapters back. */
	p->local_ack_timeout = cm->path.ack_timeout;
}

static void connect_rc(struct cm *cm, const struct core_cm_param *param, uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_REQ, .attr_mod = param->ece_options};
	struct roce_cm_req *r = &msg.req;

	r->local_comm_id = cm->local_id;
	r->vendor_id = param->ece_vendor;
	r->service_id = cm->service_id;
	r->local_ca_guid = cm->dev->cfg.node_guid;
	r->local_qpn = param->qpn;
	r->responder_resources = param->responder_resources;
	r->initiator_depth = param->initiator_depth;
	r->remote_cm_response_timeout = r->local_cm_response_timeout = CM_RESPONSE_TIMEOUT;
	r->transport =
		param->qp_type == QPT_XRC_SEND ? ROCE_CM_TRANSPORT_EXTENDED : ROCE_CM_TRANSPORT_RC;
	r->extended_transport = param->qp_type == QPT_XRC_SEND ? ROCE_CM_EXTENDED_XRC : 0;
	if (param->qp_type == QPT_UC)
		r->transport = ROCE_CM_TRANSPORT_UC;
	r->flow_control = param->flow_control != 0;
	r->starting_psn = cm->rq_psn;
	r->retry_count = param->retry_count;
	r->pkey = 0xffff;
	r->path_mtu = cm->path_mtu;
	r->rnr_retry_count = param->rnr_retry_count;
	r->max_cm_retries = CM_MAX_RETRIES;
	r->srq = param->srq != 0;
	fill_primary(cm, &r->primary);
	copy_private(r->private_data, param);
	cm->state = CM_REQ_SENT;
	cm_send_repeated(cm, &msg, now);
}

int core_cm_connect(struct cm *cm, const struct core_cm_path *path, uint64_t service_id,
		    const struct core_cm_param *param, uint64_t now)
{
	bool ud = param->qp_type == QPT_UD;

	size_t room = ud ? ROCE_CM_SIDR_REQ_PRIVATE : ROCE_CM_REQ_PRIVATE;

	if (cm->state != CM_IDLE)
		return refuse_state(cm, "requested again");
	if (device_find_gid(cm->dev, path->local_gid) < 0)
		return device_refuse(
			cm->dev, -EINVAL,
			"the device no longer has the address that the id is bound to");
	if (!fits(param, room))
		return refuse_data(cm, param, room);
	cm->path = *path;
	if (!cm->path.ack_timeout)
		cm->path.ack_timeout = CM_ACK_TIMEOUT;
	cm->service_id = service_id;
	cm->qp_type = param->qp_type;
	cm->path_mtu = (uint8_t)cm->dev->cfg.active_mtu;
	cm->local_qpn = param->qpn;
	cm->responder_resources = param->responder_resources;
	cm->initiator_depth = param->initiator_depth;
	cm->retry_count = param->retry_count;
	cm->rnr_retry_count = param->rnr_retry_count;
	if (ud)
		connect_sidr(cm, param, now);
	else
		connect_rc(cm, param, now);
	return 0;
}

static void accept_sidr(struct cm *cm, uint8_t status, const struct core_cm_param *param,
			uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_SIDR_REP};
	struct roce_cm_sidr_rep *r = &msg.sidr_rep;

	r->request_id = cm->remote_id;
	r->status = status;
	r->qpn = param->qpn;
	r->service_id = cm->service_id;
	r->qkey = param->qkey;
	copy_private(r->private_data, param);
	cm_send_repeated(cm, &msg, now); /* keeps it; repeated on request only */
	cm_keep_answer(cm, now);
}

static void accept_rc(struct cm *cm, const struct core_cm_param *param, uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_REP, .attr_mod = param->ece_options};
	struct roce_cm_rep *r = &msg.rep;

	r->local_comm_id = cm->local_id;
	r->remote_comm_id = cm->remote_id;
	r->starting_psn = cm->rq_psn;
	r->vendor_id_high = (uint8_t)(param->ece_vendor >> 16);
	r->vendor_id_middle = (uint8_t)(param->ece_vendor >> 8);
	r->vendor_id_low = (uint8_t)param->ece_vendor;
	r->local_ca_guid = cm->dev->cfg.node_guid;
	r->target_ack_delay = DEVICE_ACK_DELAY;
	r->rnr_retry_count = param->rnr_retry_count;
	r->responder_resources = param->responder_resources;
	r->initiator_depth = param->initiator_depth;
	r->flow_control = param->flow_control != 0;
	r->srq = param->srq != 0;
	if (cm->qp_type == QPT_XRC_RECV) { /* named where end-to-end contexts are (annex A14) */
		r->local_eecn = param->qpn;
		r->srq = true;
	} else {
		r->local_qpn = param->qpn;
	}
	copy_private(r->private_data, param);
	cm->local_qpn = param->qpn;
	cm->responder_resources = param->responder_resources;
	cm->initiator_depth = param->initiator_depth;
	cm->state = CM_REP_SENT;
	cm_send_repeated(cm, &msg, now);
}

int core_cm_accept(struct cm *cm, const struct core_cm_param *param, uint64_t now)
{
	bool ud = cm->state == CM_SIDR_REQ_RCVD;
	size_t room = ud ? ROCE_CM_SIDR_REP_PRIVATE : ROCE_CM_REP_PRIVATE;

	if (!ud && cm->state != CM_REQ_RCVD)
		return refuse_state(cm, "accepted");
	if (!fits(param, room))
		return refuse_data(cm, param, room);
	if (ud)
		accept_sidr(cm, ROCE_CM_SIDR_VALID, param, now);
	else
		accept_rc(cm, param, now);
	return 0;
}

int core_cm_ready(struct cm *cm, const struct core_cm_param *param, uint64_t now)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_RTU};

	if (cm->state != CM_REP_RCVD)
		return refuse_state(cm, "accepted");
	if (!fits(param, ROCE_CM_RTU_PRIVATE))
		return refuse_data(cm, param, ROCE_CM_RTU_PRIVATE);
	msg.rtu.local_comm_id = cm->local_id;
	msg.rtu.remote_comm_id = cm->remote_id;
	copy_private(msg.rtu.private_data, param);
	cm_stop(cm);
	cm_send_repeated(cm, &msg, now); /* kept for a repeated REP */
	cm_stop(cm);
	cm->state = CM_ESTABLISHED;
	return 0;
}

int core_cm_reject(struct cm *cm, uint16_t reason, const struct core_cm_param *param, uint64_t now)
{
	switch (cm->state) {
	case CM_SIDR_REQ_RCVD:
		if (!fits(param, ROCE_CM_SIDR_REP_PRIVATE))
			return refuse_data(cm, param, ROCE_CM_SIDR_REP_PRIVATE);
		accept_sidr(cm, ROCE_CM_SIDR_REJECT, param, now);
		return 0;
	case CM_REQ_RCVD:
	case CM_REP_RCVD:
	case CM_REP_SENT:
		if (!fits(param, ROCE_CM_REJ_PRIVATE))
			return refuse_data(cm, param, ROCE_CM_REJ_PRIVATE);
		refuse(cm, reason, param, now);
		return 0;
	case CM_IDLE:
	case CM_REQ_SENT:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
	case CM_DREQ_RCVD:
	case CM_TIMEWAIT:
	case CM_SIDR_REQ_SENT:
	case CM_ANSWERED:
	case CM_CLOSED:
		break;
	}
	return refuse_state(cm, "rejected");
}

int core_cm_disconnect(struct cm *cm, uint64_t now)
{
	switch (cm->state) {
	case CM_ESTABLISHED:
		cm_send_dreq(cm, now);
		return 0;
	case CM_REP_SENT:
		cm->disconnect = true;
		return 0;
	case CM_REP_RCVD:
		refuse(cm, ROCE_CM_REJ_CONSUMER, &(struct core_cm_param){0}, now);
		return 0;
	case CM_DREQ_RCVD:
		answer_dreq(cm, now);
		return 0;
	case CM_DREQ_SENT:
	case CM_TIMEWAIT:
	case CM_ANSWERED:
	case CM_CLOSED:
		return 0;
	case CM_REQ_SENT: /* nothing is there yet, and nobody minds (rdma_disconnect of the kernel)
			   */
	case CM_REQ_RCVD:
	case CM_SIDR_REQ_SENT:
	case CM_SIDR_REQ_RCVD:
		return 0;
	case CM_IDLE:
		break;
	}
	return refuse_state(cm, "disconnected");
}

int core_cm_established(struct cm *cm, uint64_t now)
{
	if (cm->state == CM_ESTABLISHED)
		return 0;
	if (cm->state != CM_REP_SENT)
		return refuse_state(cm, "established");
	cm_stop(cm);
	cm->state = CM_ESTABLISHED;
	cm_raise_event(cm, CORE_CM_ESTABLISHED, 0);
	if (cm->disconnect)
		cm_send_dreq(cm, now);
	return 0;
}
