/* SPDX-License-Identifier: BSD-2-Clause */
/* See workload_make.h: nodes, QPs and links that a seed chooses. */
#include "workload_make.h"

#include <assert.h>

#define REGION_BYTES (64u << 10)

/* True in n of 100 cases. */
static bool percent(struct workload *l, uint32_t n)
{
	return prng_below(&l->rng, 100) < n;
}

static struct link choose_link(struct workload *l)
{
	struct link k = link_default();
	struct prng *r = &l->rng;

	k.delay = prng_range(r, 100, 20000);
	k.jitter = percent(l, 50) ? prng_below(r, 10000) : 0;
	k.reorder_delay = prng_range(r, 100, 50000);
	k.split = (uint32_t[]){0, 500000, 1000000}[prng_below(r, 3)];
	k.join = (uint32_t[]){0, 500000, 1000000}[prng_below(r, 3)];
	k.wire = percent(l, 50) ? 300000 : 0;
	if (percent(l, 25)) { /* device-internal loopback: whole bursts, never overtaken */
		k.immediate = 1000000;
		k.split = 0;
	}
	k.max_losses = l->limits.may_give_up ? 0 : 2;
	if (percent(l, 75) && l->limits.max_loss)
		k.loss = prng_below(r, percent(l, 50) ? l->limits.max_loss
						      : l->limits.max_loss / 10 + 1);
	if (percent(l, 50) && !l->limits.no_duplicates)
		k.duplicate = prng_below(r, 100000);
	if (percent(l, 50) && !l->limits.no_reorder)
		k.reorder = prng_below(r, 100000);
	if (percent(l, 20))
		k.corrupt = prng_below(r, l->limits.max_loss / 10 + 1);
	return k;
}

static struct core_config choose_config(struct workload *l)
{
	struct core_config cfg = world_config();
	struct prng *r = &l->rng;

	if (percent(l, 50)) {
		cfg.burst_bytes = (uint32_t[]){4096, 8192, 16384, 65536}[prng_below(r, 4)];
		cfg.window_bytes = cfg.burst_bytes * prng_range(r, 1, 8);
		cfg.window_most = cfg.window_bytes * prng_range(r, 1, 4);
	}
	if (percent(l, 40))
		cfg.ack_delay_ns = prng_range(r, 1, 20000);
	if (percent(l, 50)) {
		cfg.features &= ~(uint32_t)UHCA_ABI_HAS_MW_TYPE_2B;
		cfg.features |= UHCA_ABI_HAS_MW_TYPE_2A;
	}
	cfg.local_inv_early = percent(l, 30);
	if (percent(l, 30)) {
		cfg.relaxation_seed = prng_u64(r);
		cfg.late_bytes_ns = prng_range(r, 1, 2000000);
	}
	cfg.lazy_acks = percent(l, 30);
	if (percent(l, 30))
		cfg.gather_limit = prng_below(r, 1024);
	return cfg;
}

/* Much local memory behind a key, and the cells of atomics behind another. */
static void make_node_keys(struct workload *l, struct workload_node *n)
{
	struct uhca_abi_layout layout = {
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, .n = WORKLOAD_CELLS};
	struct uhca_abi_block cell[WORKLOAD_CELLS];
	struct workload_ground g = {.length = WORKLOAD_KEY_BYTES, .access = IBV_ACCESS_LOCAL_WRITE};
	struct vmr mr;
	int rc;

	g.addr = memory_map(&n->c.mem, WORKLOAD_KEY_BYTES);
	rc = vclient_reg_mr(&n->c, g.addr, g.length, IBV_ACCESS_LOCAL_WRITE, &mr);
	world_assert(l->w, rc == 0);
	g.lkey = mr.lkey;
	workload_key_alloc(l, &n->c, &n->key);
	workload_key_describe(l, &n->c, &n->key, &g);
	for (unsigned k = 0; k < WORKLOAD_CELLS; k++)
		cell[k] = (struct uhca_abi_block){n->cells_mr.addr + 8 * (WORKLOAD_CELLS - 1 - k),
						  8, n->cells_mr.lkey, 0};
	rc = vclient_alloc_key(&n->c, n->c.pd, WORKLOAD_CELLS, &n->cells_key);
	world_assert(l->w, rc == 0);
	layout.key = n->cells_key.lkey;
	rc = vclient_describe_key(&n->c, UHCA_ABI_SHAPE_SG, &layout, cell, sizeof(cell));
	world_assert(l->w, rc == 0);
}

static void make_node(struct workload *l, unsigned i)
{
	struct workload_node *n = &l->node[i];
	uint64_t va;
	int rc;

	vclient_open(&n->c, &l->w->device[prng_below(&l->rng, l->w->n_devices)].host, i,
		     l->w->seed * 7 + i);
	n->c.takes_copies_on_poll = percent(l, 50);
	va = memory_map(&n->c.mem, WORKLOAD_BYTES);
	rc = vclient_reg_mr(&n->c, va, WORKLOAD_BYTES, IBV_ACCESS_LOCAL_WRITE, &n->mr);
	world_assert(l->w, rc == 0);
	for (unsigned k = 0; k < WORKLOAD_CQS; k++) {
		rc = vcq_create(&n->c, percent(l, 50) ? 1024 : 2048, k, &n->cq[k]);
		world_assert(l->w, rc == 0);
	}
	va = memory_alloc(&n->c.mem, 8 * WORKLOAD_CELLS, 8);
	rc = vclient_reg_mr(&n->c, va, 8 * WORKLOAD_CELLS,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, &n->cells_mr);
	world_assert(l->w, rc == 0);
	for (unsigned k = 0; k < WORKLOAD_CELLS; k++)
		n->cell[k] = model_add_cell(&l->model, &n->c, va + 8 * k);
	make_node_keys(l, n);
	n->use_srq = percent(l, 30);
	if (!n->use_srq)
		return;
	rc = vsrq_create(&n->c, prng_range(&l->rng, 4, 64), prng_range(&l->rng, 1, 4), 0, &n->srq);
	world_assert(l->w, rc == 0);
	n->srq_recvs = model_add_srq(&l->model, &n->srq);
}

static struct vqp_conn choose_conn(struct workload *l)
{
	struct vqp_conn c = vqp_conn_default();
	struct prng *r = &l->rng;

	c.mtu = prng_range(r, IBV_MTU_256, IBV_MTU_4096);
	c.sq_psn = percent(l, 30) ? 0x1000000 - prng_range(r, 1, 40) : prng_below(r, 0x1000000);
	c.rq_psn = percent(l, 30) ? 0x1000000 - prng_range(r, 1, 40) : prng_below(r, 0x1000000);
	c.timeout = (uint8_t)prng_range(r, 9, 14);
	c.gid_index = (uint8_t)prng_below(r, 2);
	c.min_rnr_timer = (uint8_t)prng_range(r, 1, 14);
	c.max_rd_atomic = (uint8_t)prng_range(r, 1, 16);
	c.max_dest_rd_atomic = (uint8_t)prng_range(r, c.max_rd_atomic, 16);
	return c;
}

static struct workload_end *make_end(struct workload *l, enum ibv_qp_type type)
{
	struct workload_end *e = &l->end[l->n_ends++];
	struct prng *r = &l->rng;
	struct vqp_init init = {.type = type};
	bool srq;
	int rc;

	e->node = &l->node[prng_below(r, l->n_nodes)];
	srq = e->node->use_srq && (type == IBV_QPT_RC || percent(l, 50));
	init.srq = srq ? &e->node->srq : NULL;
	init.send_cq = &e->node->cq[prng_below(r, WORKLOAD_CQS)];
	init.recv_cq = &e->node->cq[prng_below(r, WORKLOAD_CQS)];
	init.max_send_wr = prng_range(r, 1, 40);
	init.max_recv_wr = prng_range(r, 1, 40);
	init.max_send_sge = prng_range(r, 1, MODEL_MAX_SGE);
	init.max_recv_sge = prng_range(r, 1, MODEL_MAX_SGE);
	init.max_inline_data = percent(l, 50) ? prng_below(r, 200) : 0;
	if (type != IBV_QPT_UD && percent(l, 50)) { /* room for lists in its slots */
		init.max_inline_data = 800;
		workload_key_alloc(l, &e->node->c, &e->key);
	}
	init.sq_sig_all = percent(l, 30);
	e->init = init;
	rc = vqp_create(&e->node->c, &init, &e->qp);
	world_assert(l->w, rc == 0);
	e->model = model_add_qp(&l->model, &e->qp, srq ? e->node->srq_recvs : NULL);
	e->model->sig_all = init.sq_sig_all;
	if (l->limits.may_give_up)
		e->model->may_fail =
			1u << UHCA_ABI_WC_RETRY_EXC_ERR | 1u << UHCA_ABI_WC_WR_FLUSH_ERR;
	e->to_post = prng_range(r, 1, l->limits.max_messages);
	return e;
}

/* The piece of the peer's memory that this end's WRITEs and READs work on. */
static void make_region(struct workload *l, struct workload_end *e)
{
	struct vclient *c = &e->peer->node->c;
	uint64_t va = memory_alloc(&c->mem, REGION_BYTES, 1);
	uint32_t access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND;
	int rc = vclient_reg_mr(c, va, REGION_BYTES, access, &e->region);

	world_assert(l->w, rc == 0);
	if (!percent(l, 50))
		return;
	workload_key_alloc(l, c, &e->there);
	workload_key_describe(l, c, &e->there,
			      &(struct workload_ground){va, REGION_BYTES, e->region.lkey, access});
}

static void choose_sizes(struct workload_end *a, struct workload_end *b,
			 const struct vqp_conn *conn)
{
	a->conn = b->conn = *conn;
	b->conn.sq_psn = conn->rq_psn;
	b->conn.rq_psn = conn->sq_psn;
	a->mtu = b->mtu = 128u << conn->mtu;
	a->max_bytes = 6 * a->mtu < WORKLOAD_MAX_BYTES ? 6 * a->mtu : WORKLOAD_MAX_BYTES;
	b->max_bytes = a->max_bytes;
}

static void make_pair(struct workload *l, enum ibv_qp_type type)
{
	struct workload_end *a = make_end(l, type), *b = make_end(l, type);
	struct vqp_conn conn = choose_conn(l);

	a->peer = b;
	b->peer = a;
	choose_sizes(a, b, &conn);
	model_connect(a->model, b->model);
	a->target = b->node;
	b->target = a->node;
	make_region(l, a);
	make_region(l, b);
	if (l->inboxes) {
		workload_inbox_make(l, a);
		workload_inbox_make(l, b);
	}
	vqp_connect(&a->qp, &b->qp, &conn);
}

static void make_xrc(struct workload *l)
{
	struct workload_end *a = &l->end[l->n_ends++], *b = &l->end[l->n_ends++];
	struct vqp_conn conn = choose_conn(l);

	workload_xrc_make(l, a, b);
	if (l->limits.may_give_up)
		a->model->may_fail = b->model->may_fail =
			1u << UHCA_ABI_WC_RETRY_EXC_ERR | 1u << UHCA_ABI_WC_WR_FLUSH_ERR;
	choose_sizes(a, b, &conn);
	model_connect(a->model, b->model);
	vqp_connect(&a->qp, &b->qp, &conn);
}

static void make_datagram(struct workload *l)
{
	struct workload_end *e = make_end(l, IBV_QPT_UD);
	struct vqp_conn conn = choose_conn(l);

	e->mtu = e->max_bytes = 4096;
	e->conn = conn;
	vqp_activate(&e->qp, &conn);
	for (unsigned i = 0; i < l->n_nodes; i++) {
		int rc = vclient_create_ah(&e->node->c, l->node[i].c.host,
					   (uint8_t)prng_below(&l->rng, 2), &e->ah[i]);

		world_assert(l->w, rc == 0);
	}
}

void workload_make(struct workload *l, uint64_t seed)
{
	struct core_config cfg = choose_config(l);
	struct link link = choose_link(l);
	unsigned pairs = prng_range(&l->rng, 1, 4), datagrams = 0;

	l->w = world_create(seed, prng_range(&l->rng, 1, WORKLOAD_NODES), &cfg);
	world_set_links(l->w, &link);
	l->w->stall = percent(l, 30) ? prng_below(&l->rng, 300000) : 0;
	l->w->lossy = seed % 4 == 0;
	l->w->interleave = prng_below(&l->rng, 1000001);
	model_construct(&l->model, l->w);
	/* What comes at once overtakes what comes twice. */
	l->model.loses =
		link.loss || link.corrupt || link.reorder || (link.duplicate && link.immediate);
	l->model.duplicates = link.duplicate || link.reorder;
	model_reserve_cells(&l->model, WORKLOAD_NODES * WORKLOAD_CELLS);
	l->lazy = percent(l, 40);
	l->inboxes = percent(l, 60);
	l->windows = percent(l, 50);
	l->lives = l->limits.may_restart && percent(l, 40);
	l->n_nodes = prng_range(&l->rng, 1, WORKLOAD_NODES);
	for (unsigned i = 0; i < l->n_nodes; i++)
		make_node(l, i);
	for (unsigned i = 0; i < pairs; i++)
		make_pair(l, !l->limits.rc_only && percent(l, 25) ? IBV_QPT_UC : IBV_QPT_RC);
	if (!l->limits.rc_only && percent(l, 40))
		make_xrc(l);
	if (!l->limits.rc_only && percent(l, 50))
		datagrams = prng_range(&l->rng, 1, 3);
	while (datagrams--)
		make_datagram(l);
}

void workload_unmake(struct workload *l)
{
	for (unsigned i = 0; i < l->n_nodes; i++)
		vclient_close(&l->node[i].c);
	for (unsigned i = 0; i < l->w->n_devices; i++)
		for (unsigned t = 0; t < CORE_OBJECT_TYPES; t++)
			world_assert(l->w, core_object_count(l->w->device[i].host.dev, t) == 0);
	model_destruct(&l->model);
	world_destroy(l->w);
}
