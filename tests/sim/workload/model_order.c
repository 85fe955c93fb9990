/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See model.h: a receive is memory. Where the peer may reach the memory of a receive, what its
 * later requests find there, of the same QP or of another one after a completion was seen, is what
 * the message left (IBTA vol. 1, 9.5 and 10.8.3.3); what they store there stays, whenever the
 * receive is polled. A reliable queue takes receives in order, so which one a message fills is
 * known as soon as both are posted: the message's "there" is the place, as if it were a WRITE.
 */
#include "model.h"

#include <assert.h>
#include <string.h>

bool model_is_atomic(uint8_t opcode)
{
	return opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD;
}

bool model_modifies(const struct model_send *s)
{
	return s->there.n && !model_is_read(s->wr.opcode);
}

/* ---- where messages land ---- */

static void clip(struct model_place *to, const struct model_place *from, uint32_t length)
{
	to->n = 0;
	for (uint32_t i = 0; i < from->n && length; i++) {
		uint32_t n = from->piece[i].length < length ? from->piece[i].length : length;

		to->piece[to->n] = from->piece[i];
		to->piece[to->n++].length = n;
		length -= n;
	}
}

/* Messages of the present connection before request i that take a receive. */
static unsigned messages_before(const struct model_qp *q, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = q->base; k < i; k++)
		n += model_consumes_recv(&q->send[k]);
	return n;
}

static bool lands(const struct model_send *s, const struct model_recv *r)
{
	return r->shared && !s->fate && model_is_send(s->wr.opcode) && s->length <= r->room;
}

void model_land(struct model_qp *q, struct model_send *s, unsigned i)
{
	struct model_recvs *rs = q->peer ? q->peer->recvs : NULL;
	unsigned k;

	if (!rs || rs->srq || q->qp->type != IBV_QPT_RC || !model_consumes_recv(s))
		return;
	k = rs->base + messages_before(q, i);
	if (k >= rs->n || !lands(s, &rs->list[k]))
		return;
	clip(&s->there, &rs->list[k].at, s->length);
	rs->list[k].touched = i + 1;
	rs->list[k].landed = true;
}

void model_land_late(struct model_recvs *rs, unsigned k)
{
	struct model_qp *q = rs->owner->peer;
	unsigned left = k - rs->base;

	for (unsigned i = q->base; i < q->n_send; i++) {
		struct model_send *s = &q->send[i];

		if (!model_consumes_recv(s) || left--)
			continue;
		if (!lands(s, &rs->list[k]))
			return;
		clip(&s->there, &rs->list[k].at, s->length);
		rs->list[k].touched = i + 1;
		rs->list[k].landed = true;
		model_expect(&rs->qp->c->mem, &s->there, s->data, s->length);
		return;
	}
}

/* ---- atomics whose outcome is known, since nobody else works there ---- */

void model_foresee_atomic(struct memory *there, struct model_send *s)
{
	uint64_t value;

	model_load_expected(there, &s->there, &value, 8);
	memcpy(s->data, &value, 8);
	if (s->wr.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD)
		value += s->wr.compare_add;
	else if (value == s->wr.compare_add)
		value = s->wr.swap;
	model_expect(there, &s->there, &value, 8);
}

/* ---- what stands in a receive when it is polled ---- */

/* A later request may have stored this byte there. */
static bool stored_since(const struct model_qp *q, const struct model_send *s, uint64_t addr,
			 uint8_t value)
{
	for (const struct model_send *o = s + 1; o < q->send + q->n_send; o++) {
		uint32_t at = 0;

		for (uint32_t i = 0; model_modifies(o) && i < o->there.n; i++) {
			const struct uhca_abi_sge *g = &o->there.piece[i];

			if (addr - g->addr < g->length && (model_is_atomic(o->wr.opcode) ||
							   o->data[at + (addr - g->addr)] == value))
				return true;
			at += g->length;
		}
	}
	return false;
}

bool model_holds_or_later(const struct model_qp *q, const struct model_send *s)
{
	struct memory *m = &q->peer->qp->c->mem;
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->there.n; i++) {
		const struct uhca_abi_sge *g = &s->there.piece[i];
		const uint8_t *now = memory_at(m, g->addr, g->length);

		for (uint32_t k = 0; k < g->length; k++)
			if (now[k] != s->data[at + k] && !stored_since(q, s, g->addr + k, now[k]))
				return false;
		at += g->length;
	}
	return true;
}

/* ---- who may work there ---- */

bool model_recv_locked(const struct model_recv *r)
{
	return r->reader && r->reader->completed <= r->read_by;
}

bool model_recv_settled(const struct model_recvs *rs, const struct model_recv *r)
{
	const struct model_qp *q = rs->owner->peer;

	return r->landed && !q->failed && !q->stopped && q->completed >= r->touched;
}

void model_recv_read(struct model_recv *r, const struct model_qp *by)
{
	r->reader = by;
	r->read_by = by->n_send - 1;
}
