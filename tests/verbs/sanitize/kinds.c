/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of other kinds for faulty programs. See kinds.h. */
#include "kinds.h"

#include <time.h>

#define QKEY       0x11
#define RECEIVES   4
#define DEADLINE_S 240

struct ibv_qp *pair_ud(struct pair *p, uint32_t max_inline)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_UD,
					.send_cq = p->a.cq,
					.recv_cq = p->a.cq,
					.cap = {4, 4, 1, 1, max_inline}};
	struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);
	int err =
		!qp || ibv_modify_qp(qp, &to,
				     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	to.qp_state = IBV_QPS_RTR;
	err = err || ibv_modify_qp(qp, &to, IBV_QP_STATE);
	to.qp_state = IBV_QPS_RTS;
	err = err || ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN);
	pair_must(!err, "a UD queue pair");
	return qp;
}

void pair_ud_send(struct pair *p, struct ibv_qp *from, const struct ibv_qp *to, unsigned flags,
		  uint32_t length)
{
	struct ibv_ah_attr self = {.is_global = 1, .port_num = 1, .grh.hop_limit = 1};
	struct ibv_sge sge = {(uintptr_t)p->a.memory + PAIR_MEMORY / 2, length, p->a.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = flags | IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;

	pair_must(!ibv_query_gid(p->context, 1, 0, &self.grh.dgid), "ibv_query_gid");
	wr.wr.ud.ah = ibv_create_ah(p->pd, &self);
	wr.wr.ud.remote_qpn = to->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	pair_must(wr.wr.ud.ah != NULL, "ibv_create_ah");
	if (!ibv_post_send(from, &wr, &bad))
		do /* the datagram may be told of before its request */
			pair_next(&p->a, &wc);
		while (wc.qp_num != from->qp_num);
	pair_must(!ibv_destroy_ah(wr.wr.ud.ah), "ibv_destroy_ah");
}

void pair_recv_at(struct end *e, struct ibv_qp *qp, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + offset, length, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

struct ibv_srq *pair_srq(struct pair *p)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->pd, &attr);

	pair_must(srq != NULL, "ibv_create_srq");
	for (uint32_t i = 0; i < RECEIVES; i++)
		pair_srq_recv(p, srq, 64 * i);
	return srq;
}

void pair_srq_recv(struct pair *p, struct ibv_srq *srq, uint32_t offset)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory + offset, 64, p->a.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
}

struct ibv_qp *pair_shared(struct pair *p, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.send_cq = p->a.cq,
					.recv_cq = p->a.cq,
					.srq = srq,
					.cap = {4, 0, 1, 0, 0}};
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	pair_must(qp != NULL, "a queue pair on an SRQ");
	pair_connect(p, qp, qp);
	return qp;
}

uint32_t pair_use(struct pair *p, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)p->b.memory, 8, p->b.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	uint64_t taken = 0;
	struct ibv_wc wc;

	pair_must(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	for (int i = 0; i < 2; i++) {
		pair_next(&p->a, &wc);
		taken += wc.wr_id == wr.wr_id ? 0 : wc.wr_id;
	}
	return (uint32_t)taken;
}

void pair_drain(struct pair *p, struct ibv_qp *qp)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct ibv_async_event event;
	struct ibv_wc wc;

	pair_must(!ibv_modify_qp(qp, &err, IBV_QP_STATE), "ibv_modify_qp");
	do {
		pair_must(!ibv_get_async_event(p->context, &event), "ibv_get_async_event");
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_QP_LAST_WQE_REACHED);
	while (ibv_poll_cq(p->a.cq, 1, &wc) > 0)
		;
	pair_must(!ibv_destroy_qp(qp), "ibv_destroy_qp");
}

void pair_add(struct pair *p, uint32_t offset)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory, 8, p->a.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	wr.wr.atomic.remote_addr = (uintptr_t)p->b.memory + offset;
	wr.wr.atomic.rkey = p->b.mr->rkey;
	wr.wr.atomic.compare_add = 1;
	pair_must(!ibv_post_send(p->a.qp, &wr, &bad), "ibv_post_send");
}

void pair_next(struct end *e, struct ibv_wc *wc)
{
	time_t deadline = time(NULL) + DEADLINE_S;
	int n;

	do
		n = ibv_poll_cq(e->cq, 1, wc);
	while (n == 0 && time(NULL) < deadline);
	pair_must(n == 1, "waiting for a completion");
}
