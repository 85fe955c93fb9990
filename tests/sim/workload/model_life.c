/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See model.h: the ends of connections. A QP that is stopped (by its consumer, by its peer, by a
 * request that had to fail) completes what is outstanding once and with an error, in order, and
 * touches nothing any more; one that is reset or destroyed completes nothing. What was under way
 * may have happened or not: the bytes that stand there when it is over are what is expected from
 * then on, so that a late packet of the old connection that is executed is found.
 */
#include "model.h"

#include <assert.h>

#define CHECK(q, cond)                                                                             \
	do {                                                                                       \
		if (!(cond))                                                                       \
			world_fail((q)->m->w, "%s:%d: qp %u (0x%x): %s", __FILE__, __LINE__,       \
				   (q)->index, (q)->qp->qpn, #cond);                               \
	} while (0)

void model_stopped(struct model_qp *q)
{
	q->stopped = true;
}

void model_doomed(struct model_qp *q)
{
	q->doomed = true;
	model_stopped(q->peer);
}

void model_accept(struct memory *m, const struct model_place *at)
{
	for (uint32_t i = 0; i < at->n; i++) {
		const struct uhca_abi_sge *g = &at->piece[i];

		if (!g->length)
			continue;
		memory_expect(m, g->addr, memory_at(m, g->addr, g->length), g->length);
		memory_ignore(m, g->addr, g->length, false);
	}
}

/* What the requests that did not complete may have done. UC's WRITEs are judged at the end. */
static void accept_sends(struct model_qp *q)
{
	for (unsigned i = q->failed ? q->good : q->completed; i < q->n_send; i++) {
		struct model_send *s = &q->send[i];

		if (s->cell)
			s->cell->uncertain = true;
		if (model_is_atomic(s->wr.opcode) || model_is_read(s->wr.opcode))
			model_accept(&q->qp->c->mem, &s->here);
		if (model_is_reliable(q) && model_modifies(s))
			model_accept(s->mem, &s->there);
	}
}

static void accept_recvs(struct model_recvs *r)
{
	for (; r->done < r->n; r->done++) {
		r->list[r->done].done = true;
		if (!r->scribbled)
			model_accept(&r->qp->c->mem, &r->list[r->done].at);
	}
	r->base = r->n;
}

/* Of what is not flushed the signalled have completed; the others were done in silence. */
void model_drained(struct model_qp *q)
{
	for (; !q->failed && q->completed < q->n_send; q->completed++) {
		CHECK(q, !q->send[q->completed].signaled);
		model_retire(q, q->completed);
	}
	CHECK(q, q->completed == q->n_send);
	if (!q->recvs->srq)
		CHECK(q, q->recvs->done == q->recvs->n);
}

/*
 * Messages that completed in success had their receives completed, unless these were thrown away.
 */
void model_drained_both(struct model_qp *q)
{
	unsigned good = q->failed ? q->good : q->completed;

	if (!model_is_reliable(q))
		return;
	for (unsigned i = q->base; i < good; i++)
		if (model_consumes_recv(&q->send[i]))
			CHECK(q, q->send[i].delivered);
}

/* A receiving QP of XRC may have taken a receive of any of its domain's SRQs. */
void model_lost_with(struct model_qp *q)
{
	if (q->qp->type != IBV_QPT_XRC_RECV)
		return;
	for (unsigned i = 0; i < q->m->n_recvs; i++)
		if (q->m->recvs[i]->xrc)
			q->m->recvs[i]->lossy = true;
}

void model_ended(struct model_qp *q)
{
	accept_sends(q);
	model_lost_with(q);
	if (q->recvs->srq)
		q->recvs->lossy = true;
	else
		accept_recvs(q->recvs);
	q->base = q->completed = q->delivered = q->last_fence = q->n_send;
	q->failed = q->stopped = q->doomed = false;
}

void model_renamed(struct model_qp *q, uint32_t old_qpn)
{
	assert(q->n_was < MODEL_MAX_LIVES);
	q->was[q->n_was++] = old_qpn;
}

bool model_is_reliable(const struct model_qp *q)
{
	return q->qp->type == IBV_QPT_RC || q->qp->type == IBV_QPT_XRC_SEND ||
	       q->qp->type == IBV_QPT_XRC_RECV;
}

bool model_has_number(const struct model_qp *q, uint32_t qpn)
{
	for (unsigned i = 0; i < q->n_was; i++)
		if (q->was[i] == qpn)
			return true;
	return q->qp->qpn == qpn;
}
