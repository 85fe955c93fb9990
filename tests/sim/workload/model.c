/* SPDX-License-Identifier: BSD-2-Clause */
/* See model.h: what is posted. model_check.c holds against it what is observed. */
#include "model.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void model_construct(struct model *m, struct world *w)
{
	memset(m, 0, sizeof *m);
	m->w = w;
}

static void qp_free(struct model_qp *q)
{
	for (unsigned i = 0; i < q->n_send; i++)
		free(q->send[i].data);
	free(q->send);
	free(q);
}

void model_destruct(struct model *m)
{
	for (unsigned i = 0; i < m->n_qps; i++)
		qp_free(m->qp[i]);
	for (unsigned i = 0; i < m->n_recvs; i++) {
		free(m->recvs[i]->list);
		free(m->recvs[i]);
	}
	free(m->qp);
	free(m->recvs);
	free(m->cell);
}

static struct model_recvs *add_recvs(struct model *m)
{
	struct model_recvs *r = calloc(1, sizeof *r);

	m->recvs = realloc(m->recvs, (m->n_recvs + 1) * sizeof(struct model_recvs *));
	assert(r && m->recvs);
	r->m = m;
	r->index = m->n_recvs;
	m->recvs[m->n_recvs++] = r;
	return r;
}

struct model_recvs *model_add_srq(struct model *m, struct vsrq *srq)
{
	struct model_recvs *r = add_recvs(m);

	r->srq = srq;
	return r;
}

struct model_qp *model_add_qp(struct model *m, struct vqp *qp, struct model_recvs *srq)
{
	struct model_qp *q = calloc(1, sizeof *q);

	m->qp = realloc(m->qp, (m->n_qps + 1) * sizeof(struct model_qp *));
	assert(q && m->qp);
	q->m = m;
	q->qp = qp;
	q->index = m->n_qps;
	q->recvs = srq ? srq : add_recvs(m);
	if (!srq)
		q->recvs->qp = qp;
	if (!srq)
		q->recvs->owner = q;
	if (qp->type == IBV_QPT_UC)
		q->recvs->scribbled = true;
	m->qp[m->n_qps++] = q;
	return q;
}

void model_connect(struct model_qp *a, struct model_qp *b)
{
	a->peer = b;
	b->peer = a;
}

void model_reserve_cells(struct model *m, unsigned n)
{
	assert(!m->cell);
	m->cell = calloc(n ? n : 1, sizeof *m->cell);
	assert(m->cell);
}

struct model_cell *model_add_cell(struct model *m, struct vclient *c, uint64_t va)
{
	struct model_cell *cell = &m->cell[m->n_cells++];

	cell->c = c;
	cell->va = va;
	memcpy(&cell->initial, memory_at(&c->mem, va, 8), 8);
	memory_ignore(&c->mem, va, 8, true); /* model_check_cells compares it */
	return cell;
}

/* ---- posting ---- */

bool model_is_write(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_RDMA_WRITE || opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
}

bool model_is_send(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_SEND || opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
	       opcode == UHCA_ABI_WR_SEND_WITH_INV;
}

bool model_is_read(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_RDMA_READ || opcode == UHCA_ABI_WR_READ_WITH_INV;
}

bool model_consumes_recv(const struct model_send *s)
{
	return model_is_send(s->wr.opcode) || s->wr.opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
}

unsigned model_needs_recvs(const struct model_qp *q)
{
	unsigned n = 0;

	for (unsigned i = q->base; i < q->n_send; i++)
		n += model_consumes_recv(&q->send[i]);
	return n;
}

static struct model_send *send_slot(struct model_qp *q)
{
	struct model_send *s;

	if (q->n_send == q->room) {
		q->room = q->room ? q->room * 2 : 32;
		q->send = realloc(q->send, q->room * sizeof *q->send);
		assert(q->send);
	}
	s = &q->send[q->n_send];
	memset(s, 0, offsetof(struct model_send, here));
	s->here.n = s->there.n = 0;
	return s;
}

/* An earlier READ since the last fence may still be reading some of these bytes. */
static bool needs_fence(const struct model_qp *q, const struct model_send *s)
{
	for (unsigned i = q->last_fence; i < q->n_send; i++) {
		const struct model_send *r = &q->send[i];

		if (model_is_read(r->wr.opcode) && model_overlap(&r->there, &s->there))
			return true;
	}
	return false;
}

/* A receive may be settled that was not polled: the device is to read what is not looked at. */
static void load_payload(struct memory *m, struct model_send *s, bool settled)
{
	if (settled)
		model_load_expected(m, &s->here, s->data, s->length);
	else
		model_load(m, &s->here, s->data, s->length);
}

/* What the request will have done to the remote memory, or brings from it. */
static void foresee(struct model_qp *q, struct model_send *s, bool settled)
{
	struct memory *there = s->mem;

	if (model_is_write(s->wr.opcode) || model_is_send(s->wr.opcode))
		load_payload(&q->qp->c->mem, s, settled);
	if (!s->length || s->fate || s->cell)
		return;
	if (model_is_write(s->wr.opcode) && q->qp->type == IBV_QPT_UC)
		model_ignore(there, &s->there);
	else if (model_is_atomic(s->wr.opcode))
		model_foresee_atomic(there, s);
	else if (model_modifies(s))
		model_expect(there, &s->there, s->data, s->length);
	if (model_is_read(s->wr.opcode))
		model_load_expected(there, &s->there, s->data, s->length);
}

static void set_place(struct model_place *to, const struct uhca_abi_sge *sge, uint32_t n)
{
	assert(n <= MODEL_MAX_PIECES);
	to->n = n;
	if (n)
		memcpy(to->piece, sge, n * sizeof *sge);
}

static void set_places(struct model_send *s, const struct vsend *wr, const struct model_more *more)
{
	bool remote = model_is_write(wr->opcode) || model_is_read(wr->opcode) ||
		      (model_is_atomic(wr->opcode) && !more->cell);

	for (uint32_t i = 0; i < wr->num_sge; i++)
		s->length += wr->sge[i].length;
	if (more->here)
		set_place(&s->here, more->here->piece, more->here->n);
	else
		set_place(&s->here, wr->sge, wr->num_sge);
	if (more->there)
		set_place(&s->there, more->there->piece, more->there->n);
	else if (remote)
		set_place(&s->there, &(struct uhca_abi_sge){wr->remote_addr, s->length, wr->rkey},
			  1);
}

int model_post_send(struct model_qp *q, struct vsend *wr, const struct model_more *more)
{
	struct model_send *s = send_slot(q);
	int rc;

	wr->wr_id = (uint64_t)q->index << 32 | q->n_send;
	s->wr = *wr;
	s->wr.sge = NULL;
	s->wr.list = NULL;
	s->inv_key = wr->num_sge ? wr->sge[0].lkey : 0;
	set_places(s, wr, more);
	s->recvs = more->recvs;
	if (more->recvs)
		s->mem = &more->recvs->srq->c->mem;
	else if (q->peer)
		s->mem = &q->peer->qp->c->mem;
	model_land(q, s, q->n_send);
	if (model_modifies(s) && needs_fence(q, s))
		wr->flags |= UHCA_ABI_SEND_FENCE;
	rc = vqp_post_send(q->qp, wr);
	if (rc)
		return rc;
	s->wr.flags = wr->flags;
	s->signaled = q->sig_all || wr->flags & UHCA_ABI_SEND_SIGNALED;
	s->to = more->to;
	s->cell = more->cell;
	s->fate = more->fate;
	s->data = malloc(s->length ? s->length : 1);
	assert(s->data);
	foresee(q, s, more->settled);
	if (wr->flags & UHCA_ABI_SEND_FENCE)
		q->last_fence = q->n_send;
	q->n_send++;
	return 0;
}

int model_post_recv(struct model_recvs *r, const struct uhca_abi_sge *sge, uint32_t n,
		    const struct model_place *at, bool shared)
{
	struct vrecv wr = {1ull << 63 | (uint64_t)r->index << 32 | r->n, sge, n};
	struct vclient *c = r->srq ? r->srq->c : r->qp->c;
	struct model_recv *e;
	int rc;

	model_look_at_limit(r);
	rc = r->srq ? vsrq_post_recv(r->srq, &wr) : vqp_post_recv(r->qp, &wr);
	if (rc)
		return rc;
	if (r->n == r->room) {
		r->room = r->room ? r->room * 2 : 32;
		r->list = realloc(r->list, r->room * sizeof *r->list);
		assert(r->list);
	}
	e = &r->list[r->n++];
	memset(e, 0, offsetof(struct model_recv, at));
	for (uint32_t i = 0; i < n; i++)
		e->room += sge[i].length;
	set_place(&e->at, at ? at->piece : sge, at ? at->n : n);
	if (r->scribbled)
		model_ignore(&c->mem, &e->at);
	e->shared = shared;
	if (shared)
		model_land_late(r, r->n - 1);
	return 0;
}
