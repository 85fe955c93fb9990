/* SPDX-License-Identifier: BSD-2-Clause */
/* Binds and invalidates memory windows in a random workload. */
#include "workload_window.h"

#include "workload_make.h"

static bool has_room(const struct workload_end *e)
{
	return !e->model->failed && vqp_send_used(&e->qp) < e->qp.send.max_wr;
}

static void note(struct workload *l, const char *what, const struct workload_end *e)
{
	journal_note(&l->w->journal, l->w->now, what, e->qp.qpn, e->window.mw.rkey);
}

/* What is local to the queue: a bind, LOCAL_INV. The number of the request. */
static unsigned post(struct workload *l, struct workload_end *e, struct vsend *wr)
{
	int rc;

	wr->flags |= UHCA_ABI_SEND_SIGNALED;
	wr->flags |= prng_below(&l->rng, 3) ? 0 : UHCA_ABI_SEND_FENCE;
	rc = model_post_send(e->model, wr, &(struct model_more){0});
	world_assert(l->w, rc == 0);
	return e->model->n_send - 1;
}

/* ---- binding ---- */

static void alloc(struct workload *l, struct workload_end *e)
{
	struct workload_window *w = &e->window;
	struct vclient *c = &e->peer->node->c;
	int rc;

	w->type = prng_range(&l->rng, 1, 2);
	rc = vclient_alloc_mw(c, c->pd, w->type, &w->mw);
	world_assert(l->w, rc == 0);
}

static void choose_range(struct workload *l, struct workload_end *e)
{
	static const uint32_t rights[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
					  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
						  IBV_ACCESS_REMOTE_ATOMIC};
	struct workload_window *w = &e->window;

	w->length = prng_range(&l->rng, 1, (uint32_t)e->region.length);
	w->offset = prng_below(&l->rng, (uint32_t)(e->region.length - w->length) + 1);
	w->access = rights[prng_below(&l->rng, 4)];
	if (w->type == 2 && prng_below(&l->rng, 2))
		w->access |= IBV_ACCESS_ZERO_BASED;
}

static uint32_t next_key(uint32_t key, uint32_t n)
{
	return (key & ~0xffu) | ((key + n) & 0xff);
}

/* Is a request with it to be refused, which may not have been sent yet? */
static bool is_misused(const struct workload *l, uint32_t key)
{
	for (unsigned i = 0; i < l->n_ends; i++)
		if (l->end[i].window.misused == key)
			return true;
	return false;
}

/* Any other key byte; an end bound once only knows the key when the bind is done. */
static void bind(struct workload *l, struct workload_end *e)
{
	struct workload_window *w = &e->window;
	uint32_t key = next_key(w->mw.rkey, prng_range(&l->rng, 1, 255));
	struct vsend wr = {.opcode = UHCA_ABI_WR_BIND_MW};

	while (key == w->mw.rkey || is_misused(l, key))
		key = next_key(key, 1);
	choose_range(l, e);
	wr.bind.addr = e->region.addr + w->offset;
	wr.bind.length = w->length;
	wr.bind.mr_lkey = e->region.lkey;
	wr.bind.mw_rkey = w->mw.rkey;
	wr.bind.new_rkey = key;
	wr.bind.access = w->access;
	w->old_rkey = w->mw.rkey;
	w->mw.rkey = key;
	w->request = post(l, e->peer, &wr);
	w->by_end = false;
	w->state = WINDOW_OPENING;
	note(l, "window opens", e);
}

/* ---- taking away ---- */

static void dealloc(struct workload *l, struct workload_end *e)
{
	int rc = vclient_dealloc_mw(&e->peer->node->c, &e->window.mw);

	world_assert(l->w, rc == 0);
	note(l, "window is gone", e);
	e->window = (struct workload_window){.old_rkey = e->window.mw.rkey,
					     .misused = e->window.misused};
}

static void closing(struct workload *l, struct workload_end *e, unsigned request, bool by_end)
{
	e->window.request = request;
	e->window.by_end = by_end;
	e->window.state = WINDOW_CLOSING;
	note(l, "window closes", e);
}

static void invalidate(struct workload *l, struct workload_end *e)
{
	struct vsend wr = {.opcode = UHCA_ABI_WR_LOCAL_INV, .imm = e->window.mw.rkey};

	closing(l, e, post(l, e->peer, &wr), false);
}

/* A bind of no length; its key is as good as any, and opens nothing. */
static void unbind(struct workload *l, struct workload_end *e)
{
	struct workload_window *w = &e->window;
	uint32_t key = next_key(w->mw.rkey, 1);
	struct vsend wr = {.opcode = UHCA_ABI_WR_BIND_MW};

	wr.bind.mw_rkey = w->mw.rkey;
	wr.bind.new_rkey = key;
	wr.bind.mr_lkey = (uint32_t)prng_u64(&l->rng); /* of no length: names nothing */
	w->mw.rkey = key;
	closing(l, e, post(l, e->peer, &wr), false);
}

/* A READ that is still being answered would lose its key: it is waited for (10.8.3.3). */
static void send_with_inv(struct workload *l, struct workload_end *e)
{
	uint32_t length = prng_below(&l->rng, e->max_bytes + 1);
	struct uhca_abi_sge sge = {workload_take(l, e->node, length, WORKLOAD_SEND_BYTES), length,
				   e->node->mr.lkey};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND_WITH_INV,
			   .imm = e->window.mw.rkey,
			   .sge = &sge,
			   .num_sge = 1};

	if (!e->to_post || !has_room(e) || !sge.addr)
		return;
	if (e->window.read > e->model->last_fence || !prng_below(&l->rng, 4))
		wr.flags = UHCA_ABI_SEND_FENCE;
	if (prng_below(&l->rng, 2))
		wr.flags |= UHCA_ABI_SEND_SIGNALED;
	if (model_post_send(e->model, &wr, &(struct model_more){0}))
		return;
	e->to_post--;
	closing(l, e, e->model->n_send - 1, true);
}

/* What others do to it, when no request that uses it is under way. */
static void take_away(struct workload *l, struct workload_end *e)
{
	switch (prng_below(&l->rng, 3)) {
	case 0:
		dealloc(l, e);
		return;
	case 1:
		if (!has_room(e->peer))
			return;
		if (e->window.type == 1)
			unbind(l, e);
		else
			invalidate(l, e);
		return;
	default:
		if (e->window.type == 1 && has_room(e->peer))
			bind(l, e);
		return;
	}
}

/* ---- its life ---- */

static bool request_done(const struct workload_end *e)
{
	const struct workload_window *w = &e->window;
	const struct model_qp *q = w->by_end ? e->model : e->peer->model;

	if (q->failed)
		return false;
	return q->completed > w->request || (w->by_end && q->send[w->request].delivered);
}

void workload_window_step(struct workload *l, struct workload_end *e)
{
	struct workload_window *w = &e->window;

	switch (w->state) {
	case WINDOW_CLOSED:
		if (!w->mw.rkey)
			alloc(l, e);
		if (has_room(e->peer))
			bind(l, e);
		return;
	case WINDOW_OPENING:
		if (request_done(e))
			w->state = WINDOW_OPEN;
		return;
	case WINDOW_OPEN:
		if (w->type == 2 && prng_below(&l->rng, 2))
			send_with_inv(l, e);
		else if (e->model->completed >= w->used && !e->model->failed)
			take_away(l, e);
		return;
	case WINDOW_CLOSING:
		if (!request_done(e))
			return;
		w->state = WINDOW_CLOSED;
		w->old_rkey = w->mw.rkey;
		return;
	}
}

void workload_window_ended(struct workload *l, struct workload_end *e, bool keep)
{
	struct workload_window *w = &e->window;

	if (!w->mw.rkey)
		return;
	if (!keep || w->state != WINDOW_OPEN)
		dealloc(l, e);
	w->used = w->read = 0;
}

/* ---- use ---- */

static uint32_t needed(uint8_t opcode)
{
	return model_is_read(opcode) ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
}

static uint64_t address(const struct workload_end *e, uint64_t offset)
{
	const struct workload_window *w = &e->window;

	return offset + (w->access & IBV_ACCESS_ZERO_BASED ? 0 : e->region.addr + w->offset);
}

bool workload_window_use(struct workload *l, struct workload_end *e, struct vsend *wr,
			 uint32_t length, struct model_place *there)
{
	struct workload_window *w = &e->window;
	uint32_t offset;

	if (w->state != WINDOW_OPEN || length > w->length || !(w->access & needed(wr->opcode)))
		return false;
	offset = prng_below(&l->rng, (uint32_t)(w->length - length) + 1);
	wr->rkey = w->mw.rkey;
	wr->remote_addr = address(e, offset);
	there->n = 1;
	there->piece[0] = (struct uhca_abi_sge){e->region.addr + w->offset + offset, length, 0};
	w->in_use = true;
	return true;
}

void workload_window_used(struct workload_end *e, const struct vsend *wr, bool posted)
{
	struct workload_window *w = &e->window;

	if (posted && w->in_use) {
		w->used = e->model->n_send;
		w->read = model_is_read(wr->opcode) ? w->used : w->read;
	}
	w->in_use = false;
}

bool workload_window_misuse(struct workload *l, struct workload_end *e, struct vsend *wr,
			    uint32_t length)
{
	struct workload_window *w = &e->window;

	if (prng_below(&l->rng, 2) && w->old_rkey) {
		wr->rkey = w->misused = w->old_rkey;
		return true;
	}
	if (w->state != WINDOW_OPEN)
		return false;
	wr->rkey = w->misused = w->mw.rkey;
	wr->remote_addr = address(e, 0);
	if (w->access & needed(wr->opcode)) /* half outside, or all */
		wr->remote_addr += w->length - prng_below(&l->rng, length);
	return true;
}
