/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the rdma_cm device: from the core's connection manager to the queue of an open, and
 * out by get_event. What was handed out is counted by whom it named, because librdmacm waits at
 * the end of an id for so many acknowledgements.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"
#include "emu/io/local/local.h"
#include "wire/cma_hdr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* enum rdma_cm_event_type of librdmacm, which the uAPI header does not repeat. */
enum {
	CONNECT_REQUEST = 4,
	CONNECT_RESPONSE,
	CONNECT_ERROR,
	UNREACHABLE,
	REJECTED,
	ESTABLISHED,
	DISCONNECTED,
	TIMEWAIT_EXIT = 15,
};

#define HOP_LIMIT 64

/* The oldest event, unless it is held. */
static struct ucma_event *first_ready(const struct ucma_file *f)
{
	struct ucma_event *e = TAILQ_FIRST(&f->events);

	return e && !e->held ? e : NULL;
}

bool ucma_event_ready(const struct ucma_file *f)
{
	return f->has_promise || first_ready(f);
}

void ucma_token(struct ucma_file *f)
{
	if (f->ending || f->token_out || !ucma_event_ready(f))
		return;
	f->token_out = io_message_send(f->sock, "", 1, NULL, 0) == 0;
}

struct ucma_event *ucma_event_new(struct ucma_id *id, uint32_t event, int32_t status)
{
	struct ucma_event *e = calloc(1, sizeof(*e));

	if (!e) {
		io_log(IO_LOG_ERROR, "out of memory: an event of an rdma_cm id is lost");
		return NULL;
	}
	e->id = id;
	e->resp.uid = id->uid;
	e->resp.id = id->slot;
	e->resp.event = event;
	e->resp.status = (uint32_t)status;
	return e;
}

void ucma_event_post(struct ucma_event *e)
{
	struct ucma_file *f = e->id->file;

	TAILQ_INSERT_TAIL(&f->events, e, link);
	TAILQ_INSERT_TAIL(&e->id->events, e, of_id);
	if (e->mcast)
		LIST_INSERT_HEAD(&e->mcast->events, e, of_mcast);
	if (e->request)
		e->request->request = e;
	e->id->n_events++;
	e->id->owner->memory += sizeof(*e);
	ucma_token(f);
}

/* It waits no longer; the room that a request had in the backlog is free. */
static void remove_event(struct ucma_event *e)
{
	TAILQ_REMOVE(&e->id->file->events, e, link);
	TAILQ_REMOVE(&e->id->events, e, of_id);
	if (e->mcast)
		LIST_REMOVE(e, of_mcast);
	if (e->request) {
		e->request->request = NULL;
		e->id->backlog++;
	}
	e->id->n_events--;
	e->id->owner->memory -= sizeof(*e);
}

bool ucma_event_has_room(const struct ucma_id *id)
{
	return id->n_events < UCMA_WAITING &&
	       ucma_owner_has_room(id->owner, sizeof(struct ucma_event));
}

int ucma_events_wait(void)
{
	return io_refuse(-ENOMEM,
			 "%u events of the id are unread, or limit client_memory is reached",
			 UCMA_WAITING);
}

void ucma_event_simple(struct ucma_id *id, uint32_t event, int32_t status)
{
	struct ucma_event *e = ucma_event_new(id, event, status);

	if (e)
		ucma_event_post(e);
}

/*
 * Takes the oldest event; false when there is none, or when it is held: those behind it wait, too,
 * so that a channel's events keep the order in which they happened.
 */
static bool take_event(struct ucma_file *f, struct rdma_ucm_event_resp *out)
{
	struct ucma_event *e = first_ready(f);

	if (!e)
		return false;
	remove_event(e);
	*out = e->resp;
	if (e->mcast)
		e->mcast->events_reported++;
	e->id->events_reported++; /* librdmacm acknowledges a group's to both */
	free(e);
	return true;
}

void ucma_event_promise(struct ucma_id *id)
{
	struct ucma_file *f = id->file;
	const struct ucma_event *e = first_ready(f);

	if (!e || e->id != id || e->mcast || f->has_promise)
		return;
	if (f->token_out && !f->token_recalled && io_message_all_read(f->sock))
		f->has_promise = take_event(f, &f->promise);
}

int ucma_get_event(struct ucma_command *c)
{
	struct ucma_file *f = c->file;
	struct rdma_ucm_event_resp resp = f->promise;
	bool any = f->has_promise || take_event(f, &resp);

	f->has_promise = f->token_recalled = false;
	f->token_out = false; /* who asks had it */
	ucma_token(f);
	if (!any)
		return -EAGAIN;
	ucma_respond(c, &resp, sizeof(resp));
	return 0;
}

static void drop(struct ucma_event *e)
{
	struct ucma_id *request = e->request;

	remove_event(e);
	free(e);
	if (request)
		ucma_id_end_later(request);
}

void ucma_event_release(const struct ucma_id *id)
{
	struct ucma_event *e;

	TAILQ_FOREACH(e, &id->events, of_id)
	{
		e->held = false;
	}
	ucma_token(id->file);
}

void ucma_event_drop(struct ucma_id *id, struct ucma_mcast *mcast)
{
	struct ucma_event *e = mcast ? NULL : id->request;

	while (mcast && !LIST_EMPTY(&mcast->events))
		drop(LIST_FIRST(&mcast->events));
	while (!mcast && !TAILQ_EMPTY(&id->events))
		drop(TAILQ_FIRST(&id->events));
	if (e) { /* or it is the request that goes, before somebody took it */
		remove_event(e);
		free(e);
	}
	ucma_token(id->file); /* what was dropped may have been held, in front of others */
}

void ucma_event_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_event *e;

	TAILQ_FOREACH(e, &id->events, of_id)
	{
		TAILQ_REMOVE(&id->file->events, e, link);
		TAILQ_INSERT_TAIL(&to->events, e, link);
		if (!e->request)
			continue;
		LIST_REMOVE(e->request, of_file);
		LIST_INSERT_HEAD(&to->ids, e->request, of_file);
		e->request->file = to;
	}
	ucma_token(id->file);
	ucma_token(to);
}

/* ---- what the core tells ---- */

static void fill_conn(const struct core_cm_param *p, struct rdma_ucm_conn_param *out)
{
	out->qp_num = p->qpn;
	out->qkey = p->qkey;
	out->srq = p->srq;
	out->responder_resources = p->responder_resources;
	out->initiator_depth = p->initiator_depth;
	out->flow_control = p->flow_control;
	out->retry_count = p->retry_count;
	out->rnr_retry_count = p->rnr_retry_count;
	out->private_data_len = p->private_len;
	if (p->private_len)
		memcpy(out->private_data, p->private_data, p->private_len);
}

static void fill_ud(const struct ucma_id *id, const struct core_cm_param *p,
		    struct rdma_ucm_ud_param *out)
{
	struct uhca_abi_ah_attr way = {0};

	out->qp_num = p->qpn;
	out->qkey = p->qkey;
	out->private_data_len = p->private_len;
	if (p->private_len)
		memcpy(out->private_data, p->private_data, p->private_len);
	memcpy(out->ah_attr.grh.dgid, id->remote_gid, 16);
	core_path_address(id->dev->core, id->local_gid, id->remote_gid, &way);
	out->ah_attr.grh.sgid_index = way.sgid_index;
	out->ah_attr.grh.hop_limit = HOP_LIMIT;
	out->ah_attr.grh.traffic_class = id->tos;
	out->ah_attr.is_global = way.is_global;
	out->ah_attr.dlid = way.dlid;
	out->ah_attr.port_num = way.port_num;
}

static void fill(const struct ucma_id *id, const struct core_cm_param *p, struct ucma_event *e)
{
	struct rdma_ucm_conn_param conn = {0};
	struct rdma_ucm_ud_param ud = {0};

	if (id->qp_type == QPT_UD) {
		fill_ud(id, p, &ud);
		memcpy(&e->resp.param, &ud, sizeof(ud));
	} else {
		fill_conn(p, &conn);
		memcpy(&e->resp.param, &conn, sizeof(conn));
		e->resp.ece.vendor_id = p->ece_vendor;
		e->resp.ece.attr_mod = p->ece_options;
	}
}

static uint32_t event_number(enum core_cm_event_type type)
{
	switch (type) {
	case CORE_CM_REPLIED:
		return CONNECT_RESPONSE;
	case CORE_CM_ESTABLISHED:
		return ESTABLISHED;
	case CORE_CM_REJECTED:
		return REJECTED;
	case CORE_CM_UNREACHABLE:
		return UNREACHABLE;
	case CORE_CM_DISCONNECTED:
		return DISCONNECTED;
	case CORE_CM_TIMEWAIT_EXIT:
		return TIMEWAIT_EXIT;
	case CORE_CM_RELEASED: /* is no event of its own */
		break;
	}
	return CONNECT_ERROR;
}

/* The program learns of a request's id by accepting it; before, it could not tell whose it is. */
static void on_event(void *cookie, const struct core_cm_event *event)
{
	struct ucma_id *id = cookie;
	struct ucma_event *e;

	if (event->type == CORE_CM_RELEASED) {
		ucma_event_release(id);
		return;
	}
	if (!id->uid || id->state == UCMA_REMOVED || id->file->ending)
		return;
	e = ucma_event_new(id, event_number(event->type), event->status);
	if (!e)
		return;
	e->held = event->held;
	/* What the RTU carries goes to nobody, as in the kernel. */
	if (event->type != CORE_CM_ESTABLISHED || id->qp_type == QPT_UD)
		fill(id, &event->param, e);
	ucma_event_post(e);
}

/* Who calls, in IP terms, stands in front of the private data unless it is AF_IB's. */
static int load_addresses(const struct ucma_id *listener, const struct core_cm_request *req,
			  struct ucma_id *id)
{
	struct roce_cma_hdr hdr;

	id->dst.family = id->src.family = roce_addr_is_v4(req->local_gid) ? AF_INET : AF_INET6;
	memcpy(id->src.gid, req->local_gid, 16);
	memcpy(id->dst.gid, req->remote_gid, 16);
	id->src.port = listener->src.port;
	if (listener->src.family == AF_IB) {
		id->src.family = id->dst.family = AF_IB;
		id->src.sid = id->dst.sid = req->service_id;
		id->src.sid_mask = UINT64_MAX;
		return 0;
	}
	if (!roce_cma_hdr_parse(req->param.private_data, &hdr))
		return -EINVAL;
	id->dst.port = hdr.sport;
	if (hdr.ip_version == 6) /* as it was asked for: ::1 may be a device of IPv4 */
		id->src.family = id->dst.family = AF_INET6;
	return 0;
}

static int make_request(struct ucma_id *listener, struct io_device *dev, struct cm *cm,
			const struct core_cm_request *req, void **cookie)
{
	struct ucma_id *id = ucma_id_create(listener->file, listener->ps, req->param.qp_type);
	struct core_cm_param param = req->param;
	struct ucma_event *e;

	if (!id)
		return -ENOMEM;
	id->dev = dev;
	id->tos = listener->tos;
	memcpy(id->local_gid, req->local_gid, 16);
	memcpy(id->remote_gid, req->remote_gid, 16);
	e = load_addresses(listener, req, id) ? NULL : ucma_event_new(listener, CONNECT_REQUEST, 0);
	if (!e) {
		ucma_id_destroy(id);
		return -EINVAL;
	}
	if (listener->src.family != AF_IB) {
		param.private_data += ROCE_CMA_HDR_LENGTH;
		param.private_len -= ROCE_CMA_HDR_LENGTH;
	}
	id->cm = cm;
	id->state = UCMA_CONNECTING;
	*cookie = id;
	fill(id, &param, e);
	e->resp.id = id->slot;
	e->request = id;
	listener->backlog--;
	ucma_event_post(e);
	return 0;
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	struct io_device *dev = user;
	struct ucma_id *listener =
		ucma_port_find_listener(dev->ucma, req->service_id, req->local_gid, dev);

	if (!listener)
		return -ENOENT;
	if (listener->qp_type && listener->qp_type != req->param.qp_type)
		return -EINVAL;
	if (!ucma_backlog_has_room(listener, req->remote_gid) ||
	    core_cm_charge(cm, (uint32_t)listener->owner->pid) < 0)
		return -ENOMEM;
	return make_request(listener, dev, cm, req, cookie);
}

const struct core_cm_ops ucma_cm_ops = {.request = on_request, .event = on_event};
