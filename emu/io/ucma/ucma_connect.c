/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections: connect, listen, accept, reject, disconnect, notify, and the attributes for the
 * QP. The protocol is the core's; here are the program's parameters.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"
#include "wire/cm_msg.h"
#include "wire/cma_hdr.h"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#define MAX_RETRY      7
#define MAX_BACKLOG    1024
#define EVENT_COMM_EST 4         /* enum ibv_event_type */
#define MASK_QKEY      (1u << 6) /* enum ibv_qp_attr_mask */
#define MASK_TIMEOUT   (1u << 9)
#define MASK_INIT      (1u << 0 | 1u << 4 | 1u << 5)
#define STATE_INIT     1

static uint8_t at_most(uint8_t value, uint8_t max)
{
	return value < max ? value : max;
}

static void load_param(const struct ucma_id *id, const struct rdma_ucm_conn_param *in,
		       const struct rdma_ucm_ece *ece, struct core_cm_param *p)
{
	*p = (struct core_cm_param){
		.qpn = in->qp_num & 0xffffff,
		.qkey = in->qkey ? in->qkey : UDP_QKEY,
		.qp_type = id->qp_type,
		.responder_resources = in->responder_resources,
		.initiator_depth = in->initiator_depth,
		.flow_control = in->flow_control,
		.retry_count = at_most(in->retry_count, MAX_RETRY),
		.rnr_retry_count = at_most(in->rnr_retry_count, MAX_RETRY),
		.srq = in->srq,
		.ece_vendor = ece->vendor_id & 0xffffff,
		.ece_options = ece->attr_mod,
		.private_len = in->private_data_len,
		.private_data = in->private_data,
	};
}

/* Puts the IP header in front of the program's data. */
static int add_header(const struct ucma_id *id, struct core_cm_param *p, uint8_t *room, size_t cap)
{
	struct roce_cma_hdr hdr = {.ip_version = id->src.family == AF_INET ? 4 : 6,
				   .sport = id->src.port};
	size_t front = id->src.family == AF_IB ? 0 : ROCE_CMA_HDR_LENGTH;

	if (front + p->private_len > cap)
		return io_refuse(-EINVAL, "private_data_len %u exceeds %zu", p->private_len,
				 cap - front);
	memcpy(hdr.src, id->src.gid, 16);
	memcpy(hdr.dst, id->dst.gid, 16);
	if (front)
		roce_cma_hdr_emit(&hdr, room);
	memcpy(room + front, p->private_data, p->private_len);
	p->private_data = room;
	p->private_len = (uint8_t)(front + p->private_len);
	return 0;
}

int ucma_connect(struct ucma_command *c)
{
	const struct rdma_ucm_connect *in = c->in;
	struct ucma_id *id = c->id;
	uint8_t room[ROCE_CM_SIDR_REQ_PRIVATE] = {0};
	struct core_cm_param p;
	struct core_cm_path path = {0};
	int error;

	if (!in->conn_param.valid)
		return io_refuse(-EINVAL, "conn_param is not valid");
	if (id->state != UCMA_ROUTE_RESOLVED)
		return ucma_wrong_state(id, "rdma_connect needs a resolved route");
	load_param(id, &in->conn_param, &in->ece, &p);
	error = add_header(id, &p, room,
			   id->qp_type == QPT_UD ? ROCE_CM_SIDR_REQ_PRIVATE : ROCE_CM_REQ_PRIVATE);
	if (error < 0)
		return error;
	if (!id->cm)
		id->cm = core_cm_create(id->dev->core, id);
	if (!id->cm)
		return -ENOMEM; /* of the system */
	/* Refused, the idle end goes with the id. */
	if (core_cm_charge(id->cm, (uint32_t)id->owner->pid) < 0)
		return io_refuse(-ENOMEM,
				 "the process has reached its share of the device's connections");
	ucma_find_peer(id); /* who listens at localhost may do so only since it was resolved */
	memcpy(path.local_gid, id->local_gid, 16);
	memcpy(path.remote_gid, id->remote_gid, 16);
	path.traffic_class = id->tos;
	path.ack_timeout = id->ack_timeout;
	error = core_cm_connect(id->cm, &path, ucma_service_id(id, &id->dst), &p, io_clock_now());
	if (error == 0)
		id->state = UCMA_CONNECTING;
	return error;
}

int ucma_listen(struct ucma_command *c)
{
	const struct rdma_ucm_listen *in = c->in;
	struct ucma_id *id = c->id;
	int error;

	if (id->state == UCMA_IDLE) { /* any address, any port */
		id->src = (struct ucma_addr){.family = AF_INET};
		memset(id->src.gid + 10, 0xff, 2);
		error = ucma_port_bind(id);
		if (error < 0)
			return error;
		id->state = UCMA_BOUND;
	}
	if (id->state != UCMA_BOUND)
		return ucma_wrong_state(id, "rdma_listen needs a bound id");
	error = ucma_port_listen(id);
	if (error < 0)
		return error;
	id->backlog = in->backlog && in->backlog < MAX_BACKLOG ? in->backlog : MAX_BACKLOG;
	id->state = UCMA_LISTENING;
	return 0;
}

static int accept_request(struct ucma_id *id, const struct rdma_ucm_accept *in)
{
	struct core_cm_param p = {0};
	uint64_t before = id->uid;
	int error;

	load_param(id, &in->conn_param, &in->ece, &p);
	id->uid = in->uid;
	error = core_cm_accept(id->cm, &p, io_clock_now());
	if (error < 0)
		id->uid = before;
	return error;
}

/*
 * From the passive end the answer to the request, from the active one to the reply. When it cannot
 * be given the peer is refused, and does not wait for what will not come (rdma_accept of the
 * kernel).
 */
int ucma_accept(struct ucma_command *c)
{
	const struct core_cm_param nothing = {0};
	const struct rdma_ucm_accept *in = c->in;
	struct ucma_id *id = c->id;
	int error;

	if (!id->cm)
		return ucma_wrong_state(id, "no connection request to accept");
	if (in->conn_param.valid)
		error = accept_request(id, in);
	else
		error = core_cm_ready(id->cm, &nothing, io_clock_now());
	if (error < 0)
		core_cm_reject(id->cm, ROCE_CM_REJ_CONSUMER, &nothing, io_clock_now());
	return error;
}

int ucma_reject(struct ucma_command *c)
{
	const struct rdma_ucm_reject *in = c->in;
	struct ucma_id *id = c->id;
	struct core_cm_param p = {0};
	uint16_t reason = in->reason ? in->reason : ROCE_CM_REJ_CONSUMER;

	if (!id->cm)
		return ucma_wrong_state(id, "no connection request to reject");
	if (reason != ROCE_CM_REJ_CONSUMER && reason != ROCE_CM_REJ_VENDOR_OPTION)
		return io_refuse(-EINVAL, "reason %u is not allowed for programs", reason);
	p.private_data = in->private_data;
	p.private_len = in->private_data_len;
	return core_cm_reject(id->cm, reason, &p, io_clock_now());
}

int ucma_disconnect(struct ucma_command *c)
{
	struct ucma_id *id = c->id;

	if (id->state == UCMA_LISTENING && id->dev)
		return 0; /* has nothing to end, and the kernel does not mind */
	if (!id->cm)
		return ucma_wrong_state(id, "no connection to disconnect");
	return core_cm_disconnect(id->cm, io_clock_now());
}

int ucma_notify(struct ucma_command *c)
{
	const struct rdma_ucm_notify *in = c->in;
	struct ucma_id *id = c->id;

	if (in->event != EVENT_COMM_EST)
		return io_refuse(-EINVAL, "event %u is not IBV_EVENT_COMM_EST", in->event);
	if (!id->cm)
		return ucma_wrong_state(id, "no connection to establish");
	return core_cm_established(id->cm, io_clock_now());
}

/* ---- attributes for the QP ---- */

static void copy_ah(const struct uhca_abi_ah_attr *from, struct ib_uverbs_ah_attr *to)
{
	memcpy(to->grh.dgid, from->dgid, 16);
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->is_global = from->is_global;
	to->port_num = from->port_num;
}

static void copy_attr(const struct uhca_abi_qp_attr *from, uint32_t mask,
		      struct ib_uverbs_qp_attr *to)
{
	to->qp_attr_mask = mask;
	to->qp_state = from->qp_state;
	to->cur_qp_state = from->cur_qp_state;
	to->path_mtu = from->path_mtu;
	to->qkey = from->qkey;
	to->rq_psn = from->rq_psn;
	to->sq_psn = from->sq_psn;
	to->dest_qp_num = from->dest_qp_num;
	to->qp_access_flags = from->qp_access_flags;
	copy_ah(&from->ah, &to->ah_attr);
	to->pkey_index = from->pkey_index;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->port_num = from->port_num;
	to->timeout = from->timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
}

/* A datagram QP needs no peer; before connect there is none. */
static int initial_attr(const struct ucma_id *id, uint32_t state, struct uhca_abi_qp_attr *a,
			uint32_t *mask)
{
	*a = (struct uhca_abi_qp_attr){.qp_state = state, .port_num = 1};
	if (state != STATE_INIT)
		return io_refuse(-EINVAL,
				 "qp_state %u: without a connection, only INIT (1) is allowed",
				 state);
	*mask = MASK_INIT;
	if (id->qp_type == QPT_UD) {
		*mask |= MASK_QKEY;
		a->qkey = UDP_QKEY;
	} else {
		*mask |= 1u << 3;
		a->qp_access_flags = 2; /* remote write */
	}
	return 0;
}

int ucma_init_qp_attr(struct ucma_command *c)
{
	const struct rdma_ucm_init_qp_attr *in = c->in;
	struct ucma_id *id = c->id;
	struct ib_uverbs_qp_attr resp = {0};
	struct uhca_abi_qp_attr attr;
	uint32_t mask;
	int error;

	if (!id->dev || (id->state == UCMA_LISTENING && id->qp_type != QPT_UD))
		return ucma_wrong_state(id,
					id->dev ? "its QP is not connected" : "it has no device");
	if (!id->cm || id->qp_type == QPT_UD)
		error = initial_attr(id, in->qp_state, &attr, &mask);
	else
		error = core_cm_qp_attr(id->cm, in->qp_state, &attr, &mask);
	if (error < 0)
		return error;
	if ((mask & MASK_TIMEOUT) && id->ack_timeout) /* the program knows better than the peer */
		attr.timeout = id->ack_timeout;
	copy_attr(&attr, mask, &resp);
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}
