/* SPDX-License-Identifier: BSD-2-Clause */
/* XRC QPs and SRQs of a random workload. */
#include "workload_xrc.h"

#include "workload_make.h"

#define REGION (32u << 10)

static bool receives_for(const struct workload_node *n, const struct workload_end *recv)
{
	return n->xrc.xrcd && n->c.host == recv->node->c.host;
}

static void open_domain(struct workload *l, struct workload_node *n)
{
	const uint64_t file[2] = {1, n->c.host->index};
	struct vcq *cq = &n->cq[prng_below(&l->rng, WORKLOAD_CQS)];
	int rc;

	if (n->xrc.xrcd)
		return;
	rc = vxrcd_open(&n->c, file, &n->xrc.xrcd);
	rc = rc ? rc : vsrq_create_xrc(&n->c, n->xrc.xrcd, cq, 16, &n->xrc.srq);
	world_assert(l->w, rc == 0);
	n->xrc.recvs = model_add_srq(&l->model, &n->xrc.srq);
	n->xrc.recvs->xrc = true;
}

static void make_sender(struct workload *l, struct workload_end *e)
{
	e->init = (struct vqp_init){.type = IBV_QPT_XRC_SEND,
				    .send_cq = &e->node->cq[prng_below(&l->rng, WORKLOAD_CQS)],
				    .max_send_wr = prng_range(&l->rng, 1, 40),
				    .max_send_sge = prng_range(&l->rng, 1, MODEL_MAX_SGE),
				    .max_inline_data = prng_below(&l->rng, 200),
				    .sq_sig_all = prng_below(&l->rng, 3) == 0};
	world_assert(l->w, vqp_create(&e->node->c, &e->init, &e->qp) == 0);
	e->model = model_add_qp(&l->model, &e->qp, NULL);
	e->model->sig_all = e->init.sq_sig_all;
	e->to_post = prng_range(&l->rng, 1, l->limits.max_messages);
}

/* The region of the end at each node that has an SRQ for it. */
static void make_regions(struct workload *l, struct workload_end *e)
{
	uint32_t access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	for (unsigned i = 0; i < l->n_nodes; i++) {
		struct workload_node *n = &l->node[i];
		uint64_t va;
		int rc;

		if (n->c.host != e->peer->node->c.host)
			continue;
		open_domain(l, n);
		va = memory_alloc(&n->c.mem, REGION, 1);
		rc = vclient_reg_mr(&n->c, va, REGION, access, &e->xrc_region[i]);
		world_assert(l->w, rc == 0);
	}
}

void workload_xrc_make(struct workload *l, struct workload_end *send, struct workload_end *recv)
{
	send->node = &l->node[prng_below(&l->rng, l->n_nodes)];
	recv->node = &l->node[prng_below(&l->rng, l->n_nodes)];
	send->peer = recv;
	recv->peer = send;
	make_sender(l, send);
	make_regions(l, send);
	recv->init = (struct vqp_init){.type = IBV_QPT_XRC_RECV, .xrcd = recv->node->xrc.xrcd};
	world_assert(l->w, vqp_create(&recv->node->c, &recv->init, &recv->qp) == 0);
	recv->model = model_add_qp(&l->model, &recv->qp, NULL);
}

static struct workload_node *choose_node(struct workload *l, const struct workload_end *recv)
{
	struct workload_node *n;

	do
		n = &l->node[prng_below(&l->rng, l->n_nodes)];
	while (!receives_for(n, recv));
	return n;
}

void workload_xrc_target(struct workload *l, struct workload_end *e, struct vsend *wr,
			 struct model_more *more)
{
	e->target = choose_node(l, e->peer);
	e->region = e->xrc_region[e->target - l->node];
	wr->xrc_srqn = e->target->xrc.srq.srq_num;
	more->recvs = e->target->xrc.recvs;
}

void workload_xrc_recvs(struct workload *l, struct workload_end *e, uint32_t n)
{
	struct workload_node *node = choose_node(l, e);

	if (!prng_below(&l->rng, 6))
		model_arm_limit(node->xrc.recvs,
				prng_below(&l->rng, node->xrc.srq.recv.max_wr + 1));
	workload_fill_srq(l, node, node->xrc.recvs, n);
}

void workload_xrc_poison(struct workload *l, struct workload_end *e)
{
	struct uhca_abi_sge sge = {workload_take(l, e->node, 100, WORKLOAD_SEND_BYTES), 100,
				   e->node->mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .sge = &sge, .num_sge = 1};
	struct model_more more = {.fate = 1u << UHCA_ABI_WC_REM_INV_REQ_ERR};

	if (!sge.addr || e->model->failed || vqp_send_used(&e->qp) >= e->qp.send.max_wr)
		return;
	workload_xrc_target(l, e, &wr, &more);
	wr.xrc_srqn ^= 1u << prng_below(&l->rng, 24);
	more.recvs = NULL; /* nobody's */
	if (model_post_send(e->model, &wr, &more) == 0)
		model_doomed(e->model);
}
