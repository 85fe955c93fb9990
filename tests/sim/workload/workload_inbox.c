/* SPDX-License-Identifier: BSD-2-Clause */
/* Receive buffers of a random workload that the peer writes to as well. */
#include "workload_inbox.h"

#include "workload_make.h"

#include <string.h>

#define BYTES  (256u << 10)
#define RECENT 4u

static bool percent(struct workload *l, uint32_t n)
{
	return prng_below(&l->rng, 100) < n;
}

void workload_inbox_make(struct workload *l, struct workload_end *e)
{
	struct vclient *c = &e->peer->node->c;
	struct workload_inbox *b = &e->inbox;
	uint32_t remote =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	uint64_t va;
	int rc;

	if (e->qp.type != IBV_QPT_RC || e->peer->model->recvs->srq)
		return;
	va = memory_map(&c->mem, BYTES);
	rc = vclient_reg_mr(c, va, BYTES, IBV_ACCESS_LOCAL_WRITE | remote, &b->mr);
	rc = rc ? rc : vclient_reg_mr(c, va, BYTES, IBV_ACCESS_LOCAL_WRITE, &b->local);
	world_assert(l->w, rc == 0);
}

bool workload_inbox_take(struct workload *l, struct workload_end *e, uint32_t room,
			 struct vmr *from)
{
	struct workload_inbox *b = &e->inbox;

	if (b->used + room + 16 > b->mr.length || percent(l, 30))
		return false;
	from->addr = b->mr.addr + b->used + prng_below(&l->rng, 8);
	from->lkey = percent(l, 50) ? b->local.lkey : b->mr.lkey;
	b->used += room + 16;
	return true;
}

/* A shared receive that one of the last messages, or of the next, fills; NULL: none. */
static struct model_recv *choose(struct workload *l, struct workload_end *e, struct model_recvs *rs)
{
	unsigned next = model_needs_recvs(rs->owner->peer);
	unsigned first = rs->base + (next > RECENT ? next - RECENT : 0);
	unsigned end = rs->base + next + 2 < rs->n ? rs->base + next + 2 : rs->n;

	for (unsigned tries = 0; tries < 4 && first < end; tries++) {
		unsigned i = first + prng_below(&l->rng, end - first);
		struct model_recv *r = &rs->list[i];

		if (!r->shared || model_recv_locked(r) || !r->room)
			continue;
		e->inbox.now.of = rs;
		e->inbox.now.index = i;
		return r;
	}
	return NULL;
}

/* Its elements stand one behind the other. */
static uint64_t start_of(const struct model_recv *r)
{
	uint32_t i = 0;

	while (!r->at.piece[i].length)
		i++;
	return r->at.piece[i].addr;
}

/* Mostly at the beginning, where short messages are. */
static void choose_range(struct workload *l, const struct model_recv *r, uint32_t *length,
			 uint32_t *offset)
{
	uint32_t span = percent(l, 70) && r->room > 64 ? 64 : r->room;

	if (*length > span)
		*length = prng_range(&l->rng, 1, span);
	*offset = prng_below(&l->rng, span - *length + 1);
}

static bool target_atomic(struct workload *l, struct workload_end *e, struct vsend *wr,
			  struct model_recv *r)
{
	uint64_t at = start_of(r), first = (at + 7) & ~7ull;
	uint32_t places = first + 8 > at + r->room ? 0 : (uint32_t)(at + r->room - first) / 8;

	if (!places)
		return false;
	wr->remote_addr = first + 8 * prng_below(&l->rng, places < 8 ? places : 8);
	wr->rkey = e->inbox.mr.rkey;
	wr->compare_add = prng_u64(&l->rng);
	wr->swap = prng_u64(&l->rng);
	if (percent(l, 70)) /* it succeeds */
		memcpy(&wr->compare_add, memory_expected(&e->peer->node->c.mem, wr->remote_addr, 8),
		       8);
	return true;
}

/* What another end with the same peer has sent there, and seen the completion of. */
static struct model_recv *choose_foreign(struct workload *l, struct workload_end *e)
{
	struct workload_end *o = &l->end[prng_below(&l->rng, l->n_ends)];
	struct model_recv *r;

	if (o == e || e->qp.type != IBV_QPT_RC || !o->inbox.mr.length ||
	    o->peer->node != e->peer->node)
		return NULL;
	r = choose(l, e, o->peer->model->recvs);
	return r && model_recv_settled(o->peer->model->recvs, r) ? r : NULL;
}

static uint32_t key_of(const struct workload *l, const struct model_recvs *rs)
{
	for (unsigned i = 0; i < l->n_ends; i++)
		if (l->end[i].peer && l->end[i].peer->model->recvs == rs)
			return l->end[i].inbox.mr.rkey;
	return 0;
}

bool workload_inbox_target(struct workload *l, struct workload_end *e, struct vsend *wr,
			   uint32_t *length, struct model_place *there)
{
	struct model_recv *r = NULL;
	uint32_t offset;

	e->inbox.now.use = INBOX_STORES;
	if (wr->opcode == UHCA_ABI_WR_RDMA_READ && percent(l, 30))
		r = choose_foreign(l, e);
	if (r)
		e->inbox.now.use = INBOX_READS;
	else if (e->inbox.mr.length)
		r = choose(l, e, e->peer->model->recvs);
	there->n = 0;
	if (!r || (model_is_atomic(wr->opcode) && !target_atomic(l, e, wr, r))) {
		e->inbox.now.use = INBOX_NOTHING;
		return false;
	}
	if (model_is_atomic(wr->opcode))
		return true;
	choose_range(l, r, length, &offset);
	wr->remote_addr = start_of(r) + offset;
	wr->rkey = key_of(l, e->inbox.now.of);
	there->n = 1;
	there->piece[0] = (struct uhca_abi_sge){wr->remote_addr, *length, 0};
	if (e->inbox.now.use == INBOX_STORES && model_is_read(wr->opcode))
		e->inbox.now.use = INBOX_NOTHING; /* of its own, in order */
	return true;
}

bool workload_inbox_source(struct workload *l, struct workload_end *e, uint32_t length,
			   struct vmr *from)
{
	struct model_recvs *rs = e->model->recvs;
	struct model_recv *r;

	if (!e->peer || !e->peer->inbox.mr.length || e->inbox.now.use != INBOX_NOTHING)
		return false;
	r = choose(l, e, rs);
	if (!r || !model_recv_settled(rs, r) || length > r->room)
		return false;
	*from = (struct vmr){.addr = start_of(r), .lkey = e->peer->inbox.mr.lkey};
	e->inbox.now.use = INBOX_READS;
	return true;
}

void workload_inbox_used(struct workload_end *e, bool posted)
{
	struct model_recvs *rs = e->inbox.now.of;

	if (posted && e->inbox.now.use == INBOX_STORES)
		rs->list[e->inbox.now.index].touched = e->model->n_send;
	if (posted && e->inbox.now.use == INBOX_READS)
		model_recv_read(&rs->list[e->inbox.now.index], e->model);
	e->inbox.now.use = INBOX_NOTHING;
}
