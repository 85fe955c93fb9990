/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes that connect by rdma_cm, each with a queue pair that it has made itself (far.h).
 * Values in which the program differs from far_usual are its own, the others the CM's.
 */
#include "far.h"
#include "meet.h"
#include "pair.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define RESOLVE_MS 5000

static struct rdma_cm_id *make_id(struct far *f)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	enum rdma_port_space space = f->qp->qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
	struct rdma_cm_id *id;

	pair_must(channel && !rdma_create_id(channel, &id, channel, space), "an id");
	return id;
}

/* The GID has the IPv4 address. */
static struct sockaddr_in place(const union ibv_gid *gid, uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = port};

	memcpy(&at.sin_addr, gid->raw + 12, 4);
	return at;
}

static void move(struct far *f, struct rdma_cm_id *id, struct far_link how, enum ibv_qp_state state)
{
	const struct far_link usual = far_usual();
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	pair_must(!rdma_init_qp_attr(id, &attr, &mask), "rdma_init_qp_attr");
	attr.qp_access_flags = (unsigned)how.access;
	attr.min_rnr_timer = how.min_rnr_timer;
	attr.timeout = how.timeout;
	if (how.mtu != usual.mtu)
		attr.path_mtu = how.mtu;
	if (how.rq_psn != usual.rq_psn)
		attr.rq_psn = how.rq_psn;
	if (how.sq_psn != usual.sq_psn)
		attr.sq_psn = how.sq_psn;
	if (how.max_dest_rd_atomic != usual.max_dest_rd_atomic)
		attr.max_dest_rd_atomic = how.max_dest_rd_atomic;
	if (how.max_rd_atomic != usual.max_rd_atomic)
		attr.max_rd_atomic = how.max_rd_atomic;
	pair_must(!ibv_modify_qp(f->qp, &attr, mask), "a queue pair's state");
}

static void move_all(struct far *f, struct rdma_cm_id *id, struct far_link how)
{
	if (f->qp->qp_type == IBV_QPT_UD)
		return;
	move(f, id, how, IBV_QPS_INIT);
	move(f, id, how, IBV_QPS_RTR);
	move(f, id, how, IBV_QPS_RTS);
}

static struct rdma_conn_param param_of(const struct far *f, struct far_link how)
{
	return (struct rdma_conn_param){.responder_resources = far_usual().max_dest_rd_atomic,
					.initiator_depth = far_usual().max_rd_atomic,
					.retry_count = how.retry_cnt,
					.rnr_retry_count = how.rnr_retry,
					.qp_num = f->qp->qp_num};
}

static void serve(struct far *f, struct far_link how)
{
	struct sockaddr_in at = place(&f->here.gid, 0);
	struct rdma_conn_param param = param_of(f, how);
	uint16_t port;

	f->listener = make_id(f);
	pair_must(!rdma_bind_addr(f->listener, (struct sockaddr *)&at) &&
			  !rdma_listen(f->listener, 1),
		  "a listener");
	port = rdma_get_src_port(f->listener);
	pair_must(send(f->sock, &port, sizeof(port), MSG_NOSIGNAL) == sizeof(port), "the port");
	f->id = meet_event(f->listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	move_all(f, f->id, how);
	pair_must(!rdma_accept(f->id, &param), "rdma_accept");
	if (f->qp->qp_type != IBV_QPT_UD)
		meet_event(f->listener->channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void call(struct far *f, struct far_link how)
{
	struct rdma_conn_param param = param_of(f, how);
	struct sockaddr_in from = place(&f->here.gid, 0), to;
	uint16_t port;

	pair_must(recv(f->sock, &port, sizeof(port), MSG_WAITALL) == sizeof(port), "the port");
	to = place(&f->there.gid, port);
	f->id = make_id(f);
	pair_must(!rdma_resolve_addr(f->id, (struct sockaddr *)&from, (struct sockaddr *)&to,
				     RESOLVE_MS),
		  "an address");
	meet_event(f->id->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	pair_must(!rdma_resolve_route(f->id, RESOLVE_MS), "a route");
	meet_event(f->id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	pair_must(!rdma_connect(f->id, &param), "rdma_connect");
	if (f->qp->qp_type == IBV_QPT_UD) {
		meet_event(f->id->channel, RDMA_CM_EVENT_ESTABLISHED);
		return;
	}
	meet_event(f->id->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	move_all(f, f->id, how);
	pair_must(!rdma_establish(f->id), "rdma_establish");
}

void far_cm_connect(struct far *f, struct far_link how)
{
	if (f->qp->qp_type == IBV_QPT_UD) {
		far_init(f, how);
		far_rtr(f, how);
		far_rts(f, how);
	}
	if (f->server)
		serve(f, how);
	else
		call(f, how);
}

void far_cm_end(struct far *f)
{
	meet_end(f->id);
	meet_end(f->listener);
}
