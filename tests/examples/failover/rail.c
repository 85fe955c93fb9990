/* SPDX-License-Identifier: BSD-2-Clause */
/* A rail: opened, connected, watched and dropped. See rail.h. */
#include "rail.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PORT    1
#define TIMEOUT 10 /* 4 ms a try */
#define RETRIES 3

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (unsigned i = 0; list && list[i] && !ctx; i++)
		if (strcmp(ibv_get_device_name(list[i]), name) == 0)
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static bool open_rail(struct rail *r)
{
	r->ctx = open_device(r->name);
	if (!r->ctx)
		return false;
	fcntl(r->ctx->async_fd, F_SETFL, fcntl(r->ctx->async_fd, F_GETFL) | O_NONBLOCK);
	r->pd = ibv_alloc_pd(r->ctx);
	r->cq = ibv_create_cq(r->ctx, 4 * RAIL_WINDOW, NULL, NULL, 0);
	if (r->pd)
		r->mr = ibv_reg_mr(r->pd, r->memory, sizeof(r->memory), IBV_ACCESS_LOCAL_WRITE);
	if (r->mr && r->cq)
		return true;
	rail_drop(r, true);
	return false;
}

/* The first IPv4 address that the table has now: an index of yesterday may be empty. */
static bool choose_gid(struct rail *r)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	struct ibv_port_attr port;

	if (ibv_query_port(r->ctx, PORT, &port) || port.state != IBV_PORT_ACTIVE)
		return false;
	for (int i = 0; i < port.gid_tbl_len; i++)
		if (ibv_query_gid(r->ctx, PORT, i, &r->gid) == 0 &&
		    memcmp(r->gid.raw, mapped, sizeof(mapped)) == 0) {
			r->gid_index = i;
			return true;
		}
	return false;
}

static bool to_init(struct rail *r)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = PORT};

	return ibv_modify_qp(r->qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS) == 0;
}

bool rail_prepare(struct rail *r, struct rail_end *own)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {RAIL_WINDOW, RAIL_WINDOW, 1, 1, 0}};

	rail_drop(r, false);
	if ((!r->ctx && !open_rail(r)) || !choose_gid(r))
		return false;
	init.send_cq = init.recv_cq = r->cq;
	r->qp = ibv_create_qp(r->pd, &init);
	if (!r->qp || !to_init(r)) {
		rail_drop(r, false);
		return false;
	}
	own->qpn = r->qp->qp_num;
	own->gid = r->gid;
	return true;
}

bool rail_connect(struct rail *r, const struct rail_end *peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer->qpn,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 1,
				.ah_attr = {.is_global = 1,
					    .port_num = PORT,
					    .grh = {.dgid = peer->gid,
						    .sgid_index = (uint8_t)r->gid_index,
						    .hop_limit = 64}}};
	bool ok = ibv_modify_qp(r->qp, &a,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER) == 0;

	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = TIMEOUT,
				 .retry_cnt = RETRIES,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	ok = ok &&
	     ibv_modify_qp(r->qp, &a,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
	if (!ok)
		rail_drop(r, false);
	return ok;
}

void rail_drop(struct rail *r, bool all)
{
	struct ibv_wc wc;

	if (r->qp)
		ibv_destroy_qp(r->qp);
	r->qp = NULL;
	/* What is left in the queue is of the queue pair that has gone. */
	while (r->cq && ibv_poll_cq(r->cq, 1, &wc) > 0)
		;
	if (!all)
		return;
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->cq)
		ibv_destroy_cq(r->cq);
	if (r->pd)
		ibv_dealloc_pd(r->pd);
	if (r->ctx)
		ibv_close_device(r->ctx);
	r->mr = NULL;
	r->cq = NULL;
	r->pd = NULL;
	r->ctx = NULL;
}

/* An address of ours may have left the table, or another's. */
static bool gid_is_there(const struct rail *r)
{
	union ibv_gid now;

	return ibv_query_gid(r->ctx, PORT, r->gid_index, &now) == 0 &&
	       memcmp(&now, &r->gid, sizeof(now)) == 0;
}

/* NULL: it does not matter. */
static const char *meaning(const struct rail *r, enum ibv_event_type type, bool *all)
{
	switch ((int)type) {
	case IBV_EVENT_DEVICE_FATAL:
		*all = true;
		return "DEVICE_FATAL";
	case IBV_EVENT_PORT_ERR:
		return "PORT_ERR";
	case IBV_EVENT_QP_FATAL:
		return "QP_FATAL";
	case IBV_EVENT_GID_CHANGE:
		return r->qp && !gid_is_there(r) ? "GID_CHANGE" : NULL;
	default:
		return NULL;
	}
}

const char *rail_news(struct rail *r)
{
	const char *word = NULL;
	struct ibv_async_event e;
	bool all = false;

	while (r->ctx && !all && ibv_get_async_event(r->ctx, &e) == 0) {
		const char *is = meaning(r, e.event_type, &all);

		ibv_ack_async_event(&e);
		word = is ? is : word;
	}
	if (word)
		rail_drop(r, all);
	return word;
}

bool rail_post_send(struct rail *r, uint64_t number)
{
	struct message *m = &r->memory[number % RAIL_WINDOW];
	struct ibv_sge sge = {(uintptr_t)m, sizeof(*m), r->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = number,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};

	m->number = number;
	return ibv_post_send(r->qp, &wr, &bad) == 0;
}

bool rail_post_recv(struct rail *r, unsigned slot)
{
	struct message *m = &r->memory[slot];
	struct ibv_sge sge = {(uintptr_t)m, sizeof(*m), r->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return ibv_post_recv(r->qp, &wr, &bad) == 0;
}
