/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a device with two connected QPs in one process. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define DEADLINE_S 240

/* One pair in a process: whose memory an end's operations go to. */
static struct pair *the_pair;

void pair_must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: failed\n", what);
	exit(2);
}

static void open_end(struct pair *p, struct end *e, struct ibv_comp_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {PAIR_DEPTH, PAIR_DEPTH, 2, 2, 0}};

	e->memory = aligned_alloc(4096, PAIR_MEMORY);
	pair_must(e->memory != NULL, "memory");
	memset(e->memory, 0, PAIR_MEMORY);
	e->mr = ibv_reg_mr(p->pd, e->memory, PAIR_MEMORY, ALL);
	e->cq = ibv_create_cq(p->context, 4 * PAIR_DEPTH, NULL, channel, 0);
	attr.send_cq = attr.recv_cq = e->cq;
	e->qp = e->cq ? ibv_create_qp(p->pd, &attr) : NULL;
	pair_must(e->mr && e->qp, "an end");
}

void pair_connect_as(struct pair *p, struct ibv_qp *qp, struct ibv_qp *peer, struct pair_link how)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = peer->qp_num,
				  .max_dest_rd_atomic = 4,
				  .rq_psn = how.rq_psn,
				  .min_rnr_timer = how.min_rnr_timer,
				  .ah_attr = {.is_global = 1, .port_num = 1, .grh.hop_limit = 1}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .sq_psn = how.sq_psn,
				  .timeout = how.timeout,
				  .retry_cnt = how.retry_cnt,
				  .rnr_retry = how.rnr_retry,
				  .max_rd_atomic = 4};
	int err = ibv_query_gid(p->context, 1, 0, &rtr.ah_attr.grh.dgid);

	err |= ibv_modify_qp(qp, &init,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	err |= ibv_modify_qp(qp, &rtr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
	err |= ibv_modify_qp(qp, &rts,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
	pair_must(!err, "connecting");
}

void pair_connect(struct pair *p, struct ibv_qp *qp, struct ibv_qp *peer)
{
	pair_connect_as(p, qp, peer, (struct pair_link){0, 0, 14, 7, 6, 1});
}

void pair_reconnect(struct pair *p, struct end *e, struct pair_link how)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	pair_must(!ibv_modify_qp(e->qp, &reset, IBV_QP_STATE), "a reset");
	pair_connect_as(p, e->qp, e == &p->a ? p->b.qp : p->a.qp, how);
}

void pair_open(struct pair *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	p->td = NULL;
	p->of_one = NULL;
	p->context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	pair_must(p->context != NULL, "opening a device");
	ibv_free_device_list(list);
	p->pd = ibv_alloc_pd(p->context);
	p->channel = ibv_create_comp_channel(p->context);
	pair_must(p->pd && p->channel, "a protection domain and a channel");
	open_end(p, &p->a, NULL);
	open_end(p, &p->b, p->channel);
	pair_connect(p, p->a.qp, p->b.qp);
	pair_connect(p, p->b.qp, p->a.qp);
	the_pair = p;
}

static void close_end(struct end *e)
{
	pair_must(!e->qp || !ibv_destroy_qp(e->qp), "ibv_destroy_qp");
	pair_must(!e->cq || !ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	pair_must(!e->mr || !ibv_dereg_mr(e->mr), "ibv_dereg_mr");
	free(e->memory);
}

void pair_close(struct pair *p)
{
	close_end(&p->a);
	close_end(&p->b);
	pair_must(!p->channel || !ibv_destroy_comp_channel(p->channel), "destroying the channel");
	pair_must(!p->of_one || !ibv_dealloc_pd(p->of_one), "the domain of one thread");
	pair_must(!p->td || !ibv_dealloc_td(p->td), "ibv_dealloc_td");
	pair_must(!p->pd || !ibv_dealloc_pd(p->pd), "ibv_dealloc_pd");
	pair_must(!ibv_close_device(p->context), "ibv_close_device");
}

void pair_recv(struct end *e, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + offset, length, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_recv(e->qp, &wr, &bad), "ibv_post_recv");
}

static int post(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, char *at, uint32_t length)
{
	const struct end *peer = e == &the_pair->b ? &the_pair->a : &the_pair->b;
	struct ibv_sge sge = {(uintptr_t)at, length, e->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = flags},
			   *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)peer->memory + (uintptr_t)(at - e->memory);
		wr.wr.atomic.rkey = peer->mr->rkey;
	} else if (opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = (uintptr_t)peer->memory + (uintptr_t)(at - e->memory);
		wr.wr.rdma.rkey = peer->mr->rkey;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

int pair_try(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, uint32_t offset,
	     uint32_t length)
{
	return post(e, opcode, flags, e->memory + offset, length);
}

void pair_post(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, uint32_t offset,
	       uint32_t length)
{
	pair_must(!post(e, opcode, flags, e->memory + offset, length), "ibv_post_send");
}

void pair_post_at(struct end *e, enum ibv_wr_opcode opcode, unsigned flags, void *at,
		  uint32_t length)
{
	pair_must(!post(e, opcode, flags, at, length), "ibv_post_send");
}

struct ibv_qp *pair_extended(struct pair *p, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC,
					   .send_cq = p->a.cq,
					   .recv_cq = p->a.cq,
					   .cap = {1, 1, 1, 1, 0},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp_ex(p->context, &attr);

	pair_must(qp && !ibv_modify_qp(qp, &init,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
		  "a queue pair for ibv_wr_*");
	return qp;
}

struct ibv_pd *pair_domain(struct pair *p)
{
	struct ibv_parent_domain_init_attr attr = {.pd = p->pd};

	p->td = ibv_alloc_td(p->context, &(struct ibv_td_init_attr){0});
	attr.td = p->td;
	p->of_one = p->td ? ibv_alloc_parent_domain(p->context, &attr) : NULL;
	pair_must(p->of_one != NULL, "a domain of one thread");
	return p->of_one;
}

enum ibv_wc_status pair_wait(struct end *e)
{
	time_t deadline = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, &wc);
	while (n == 0 && time(NULL) < deadline);
	pair_must(n == 1, "waiting for a completion");
	return wc.status;
}

bool pair_mended(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "mended");
}

void pair_datagrams(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
	int err = ibv_modify_qp(qp, &init,
				IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	err |= ibv_modify_qp(qp, &rtr, IBV_QP_STATE);
	err |= ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN);
	pair_must(!err, "a queue pair for datagrams");
}

struct ibv_qp *pair_datagram(struct pair *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD,
					.send_cq = p->a.cq,
					.recv_cq = p->a.cq,
					.cap = {PAIR_DEPTH, PAIR_DEPTH, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	pair_must(qp != NULL, "a queue pair");
	pair_datagrams(qp);
	return qp;
}

struct ibv_ah *pair_address(struct pair *p)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.hop_limit = 1};
	struct ibv_ah *ah = NULL;

	if (!ibv_query_gid(p->context, 1, 0, &attr.grh.dgid))
		ah = ibv_create_ah(p->pd, &attr);
	pair_must(ah != NULL, "an address handle");
	return ah;
}

void pair_reset(struct end *e)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	pair_must(!ibv_modify_qp(e->qp, &reset, IBV_QP_STATE), "a reset");
}
