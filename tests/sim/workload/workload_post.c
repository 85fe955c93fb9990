/* SPDX-License-Identifier: BSD-2-Clause */
/* See workload_make.h: the requests and receives that a workload posts. */
#include "workload_make.h"

#include <assert.h>
#include <string.h>

static bool percent(struct workload *l, uint32_t n)
{
	return prng_below(&l->rng, 100) < n;
}

/* A length: 0, a few bytes, around a multiple of the MTU, or anything. */
static uint32_t choose_length(struct workload *l, const struct workload_end *e)
{
	struct prng *r = &l->rng;
	uint32_t n = 0;

	switch (prng_below(r, 5)) {
	case 0:
		n = prng_below(r, 3) ? prng_below(r, 9) : 0;
		break;
	case 1:
		n = prng_range(r, 1, 256);
		break;
	case 2:
		n = e->mtu * prng_range(r, 1, 3) + prng_below(r, 3) - 1;
		break;
	default:
		n = prng_below(r, e->max_bytes + 1);
		break;
	}
	return n < e->max_bytes ? n : e->max_bytes;
}

uint64_t workload_take(struct workload *l, struct workload_node *n, uint32_t length, uint64_t limit)
{
	uint64_t at = n->used + prng_below(&l->rng, 8) + 16;

	if (at + length + 16 > limit)
		return 0;
	n->used = at + length;
	return n->mr.addr + at;
}

/* Splits [addr, addr + length) into up to max elements, empty ones among them; their number. */
static uint32_t choose_sges(struct workload *l, const struct vmr *from, uint32_t length,
			    struct uhca_abi_sge *sge, uint32_t max)
{
	uint64_t addr = from->addr;
	uint32_t count = prng_range(&l->rng, 1, max);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t piece = i + 1 == count ? length : prng_below(&l->rng, length + 1);

		sge[i] = (struct uhca_abi_sge){addr, piece, from->lkey};
		addr += piece;
		length -= piece;
	}
	return count;
}

/*
 * What has no length needs no key and no address (IBTA vol. 1, 9.7.4.1.3 and 10.6.7.1): elements
 * that move nothing name anything, and a message of nothing may have no element at all.
 */
static uint32_t spoil_empty(struct workload *l, struct uhca_abi_sge *sge, uint32_t n)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		bytes += sge[i].length;
		if (!sge[i].length && percent(l, 30))
			sge[i] = (struct uhca_abi_sge){prng_u64(&l->rng), 0,
						       (uint32_t)prng_u64(&l->rng)};
	}
	return !bytes && percent(l, 30) ? 0 : n;
}

static void spoil_remote(struct workload *l, struct vsend *wr)
{
	if ((!model_is_write(wr->opcode) && !model_is_read(wr->opcode)) || percent(l, 50))
		return;
	wr->remote_addr = prng_u64(&l->rng);
	wr->rkey = (uint32_t)prng_u64(&l->rng);
}

/* Bytes behind the node's key: *from is them, *at where they are. */
static bool take_key(struct workload_node *n, uint32_t length, struct vmr *from,
		     struct model_place *at)
{
	if (n->key_used + length > n->key.length)
		return false;
	workload_key_place(&n->key, n->key_used, length, at);
	*from = (struct vmr){.addr = n->key.iova + n->key_used, .lkey = n->key.mr.lkey};
	n->key_used += length;
	return true;
}

/*
 * The local bytes of a request: plain, behind the node's key, or behind the end's own, made anew.
 */
static bool choose_local(struct workload *l, struct workload_end *e, uint32_t length,
			 struct vmr *from, struct model_place *at)
{
	uint32_t how = prng_below(&l->rng, 4);

	if (how == 0 && e->key.mr.lkey && workload_key_renew(l, e, length)) {
		workload_key_place(&e->key, 0, length, at);
		*from = (struct vmr){.addr = e->key.iova, .lkey = e->key.mr.lkey};
		return true;
	}
	if (how == 1 && length && take_key(e->node, length, from, at))
		return true;
	*from = (struct vmr){.addr = workload_take(l, e->node, length, WORKLOAD_SEND_BYTES),
			     .lkey = e->node->mr.lkey};
	return from->addr != 0;
}

static uint32_t most(uint32_t max_sge)
{
	return max_sge < MODEL_MAX_SGE ? max_sge : MODEL_MAX_SGE;
}

static uint8_t choose_opcode(struct workload *l, const struct workload_end *e)
{
	static const uint8_t opcode[] = {
		UHCA_ABI_WR_SEND,
		UHCA_ABI_WR_SEND_WITH_IMM,
		UHCA_ABI_WR_RDMA_WRITE,
		UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
		UHCA_ABI_WR_RDMA_READ,
		UHCA_ABI_WR_RDMA_READ,
		UHCA_ABI_WR_ATOMIC_CMP_AND_SWP,
		UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
	};
	unsigned n = model_is_reliable(e->model) ? 8 : e->qp.type == IBV_QPT_UC ? 4 : 2;

	return opcode[prng_below(&l->rng, n)];
}

/* Where at the peer a WRITE or READ works; false when a UC end has used all of its region. */
static bool choose_remote(struct workload *l, struct workload_end *e, struct vsend *wr,
			  uint32_t *bytes, struct model_place *there)
{
	bool key = e->there.valid;
	uint64_t room, offset;
	uint32_t length;

	if (percent(l, 70) && workload_inbox_target(l, e, wr, bytes, there))
		return true;
	length = *bytes;
	room = (key ? e->there.length : e->region.length) - length;
	if (percent(l, 60) && workload_window_use(l, e, wr, length, there))
		return true;
	if (model_is_reliable(e->model)) {
		offset = prng_below(&l->rng, (uint32_t)room + 1);
	} else {
		if (e->region_used > room)
			return false;
		offset = e->region_used;
		e->region_used += length;
	}
	wr->rkey = key ? e->there.mr.rkey : e->region.rkey;
	wr->remote_addr = offset + (key ? e->there.iova : e->region.addr);
	if (key)
		workload_key_place(&e->there, offset, length, there);
	return true;
}

static struct model_cell *choose_atomic(struct workload *l, struct workload_end *e,
					struct vsend *wr)
{
	struct workload_node *n = e->target;
	unsigned i = prng_below(&l->rng, WORKLOAD_CELLS);
	struct model_cell *cell = n->cell[i];

	wr->remote_addr = cell->va;
	wr->rkey = n->cells_mr.rkey;
	if (prng_below(&l->rng, 2)) {
		wr->remote_addr = 8 * (WORKLOAD_CELLS - 1 - i);
		wr->rkey = n->cells_key.rkey;
	}
	wr->compare_add = prng_below(&l->rng, 1000) + 1;
	wr->swap = prng_u64(&l->rng);
	/* A compare that can succeed: with the value as the client sees it now. */
	if (wr->opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP && prng_below(&l->rng, 2))
		memcpy(&wr->compare_add, memory_at(&n->c.mem, cell->va, 8), 8);
	return cell;
}

static void choose_flags(struct workload *l, const struct workload_end *e, struct vsend *wr,
			 uint32_t length, bool plain)
{
	struct prng *r = &l->rng;
	bool payload = plain && wr->opcode <= UHCA_ABI_WR_SEND_WITH_IMM;

	if (prng_below(r, 3))
		wr->flags |= UHCA_ABI_SEND_SIGNALED;
	if (wr->opcode == UHCA_ABI_WR_SEND || wr->opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
	    wr->opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM)
		wr->flags |= prng_below(r, 4) ? 0 : UHCA_ABI_SEND_SOLICITED;
	if (model_is_reliable(e->model) && !prng_below(r, 8))
		wr->flags |= UHCA_ABI_SEND_FENCE;
	if (payload && length <= e->qp.max_inline && prng_below(r, 2))
		wr->mode = VPOST_INLINE;
	else if (payload && length <= e->qp.send.at.data_stride && prng_below(r, 2))
		wr->mode = VPOST_GATHERED;
}

/* After an inline post the buffer is the application's again. */
static void scribble(struct workload *l, struct workload_node *n, const struct vsend *wr)
{
	uint8_t junk[64];

	for (uint32_t i = 0; i < wr->num_sge; i++) {
		uint32_t len = wr->sge[i].length;

		len = len < sizeof junk ? len : (uint32_t)sizeof junk;
		prng_fill(&l->rng, junk, sizeof junk);
		if (len)
			memory_store(&n->c.mem, wr->sge[i].addr, junk, len);
	}
}

static struct workload_end *choose_destination(struct workload *l, struct workload_end *e,
					       struct vsend *wr)
{
	struct workload_end *to;

	do
		to = &l->end[prng_below(&l->rng, l->n_ends)];
	while (to->qp.type != IBV_QPT_UD);
	wr->ah = e->ah[to->node - l->node];
	wr->remote_qpn = to->qp.qpn;
	wr->remote_qkey = vqp_conn_default().qkey;
	return to;
}

/* What the request works on at the other end; false when there is nothing left. */
static bool choose_target(struct workload *l, struct workload_end *e, struct vsend *wr,
			  uint32_t *length, struct model_more *more, struct model_place *there)
{
	bool send = wr->opcode == UHCA_ABI_WR_SEND || wr->opcode == UHCA_ABI_WR_SEND_WITH_IMM;

	there->n = 0;
	if (e->qp.type == IBV_QPT_XRC_SEND)
		workload_xrc_target(l, e, wr, more);
	if (wr->opcode >= UHCA_ABI_WR_ATOMIC_CMP_AND_SWP) {
		*length = 8;
		if (prng_below(&l->rng, 2) || !workload_inbox_target(l, e, wr, length, there))
			more->cell = choose_atomic(l, e, wr);
	} else if (e->qp.type == IBV_QPT_UD) {
		more->to = choose_destination(l, e, wr)->model;
	} else if (!send) {
		return choose_remote(l, e, wr, length, there);
	}
	return true;
}

/* The elements of a request. */
struct local {
	struct vmr from;
	struct model_place at; /* of indirect memory keys */
	bool settled;          /* as model_more has it */
};

static bool choose_elements(struct workload *l, struct workload_end *e, const struct vsend *wr,
			    uint32_t length, struct local *at)
{
	bool brings = model_is_read(wr->opcode) || model_is_atomic(wr->opcode);

	at->at.n = 0;
	at->settled = !brings && percent(l, 20) && workload_inbox_source(l, e, length, &at->from);
	return at->settled || choose_local(l, e, length, &at->from, &at->at);
}

void workload_post(struct workload *l, struct workload_end *e)
{
	struct uhca_abi_sge sge[MODEL_MAX_SGE];
	struct vsend wr = {.opcode = choose_opcode(l, e), .sge = sge};
	struct local here;
	struct model_place there;
	struct model_more more = {0};
	uint32_t length = choose_length(l, e);
	bool one;
	int rc;

	if (!e->to_post || vqp_send_used(&e->qp) >= e->qp.send.max_wr || e->model->failed)
		return;
	if (!choose_target(l, e, &wr, &length, &more, &there) ||
	    !choose_elements(l, e, &wr, length, &here)) {
		e->to_post = 0;
		workload_window_used(e, &wr, false);
		workload_inbox_used(e, false);
		return;
	}
	wr.imm = (uint32_t)prng_u64(&l->rng);
	if (here.from.lkey == e->key.mr.lkey && wr.opcode == UHCA_ABI_WR_RDMA_READ &&
	    percent(l, 50)) {
		wr.opcode = UHCA_ABI_WR_READ_WITH_INV;
		e->key.valid = false;
	}
	one = model_is_atomic(wr.opcode) || wr.opcode == UHCA_ABI_WR_READ_WITH_INV;
	wr.num_sge = choose_sges(l, &here.from, length, sge, one ? 1 : most(e->qp.send.max_sge));
	choose_flags(l, e, &wr, length, !here.at.n && !here.settled);
	if (wr.mode == VPOST_PLAIN)
		wr.num_sge = spoil_empty(l, sge, wr.num_sge);
	if (!length)
		spoil_remote(l, &wr);
	more.settled = here.settled;
	more.here = here.at.n ? &here.at : NULL;
	more.there = there.n ? &there : NULL;
	rc = model_post_send(e->model, &wr, &more);
	workload_window_used(e, &wr, rc == 0);
	workload_inbox_used(e, rc == 0);
	if (rc)
		return;
	e->to_post--;
	if (wr.mode == VPOST_INLINE)
		scribble(l, e->node, &wr);
}

/* ---- receives ---- */

/* Messages that may still ask the receives of this end's own queue for one. */
static unsigned wanted(const struct workload *l, const struct workload_end *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n_ends; i++) {
		const struct workload_end *e = &l->end[i];

		/* A datagram may go to any UD end, a connected message to its peer only. */
		if (e->peer ? e->peer == to : !to->peer)
			n += model_needs_recvs(e->model) + e->to_post;
	}
	return n;
}

/*
 * An SRQ must never run dry for good: copies of UC and UD messages, and messages that were given
 * up half-way, use up receives as well.
 */
static bool needs_recv(const struct workload *l, const struct workload_end *e)
{
	const struct model_recvs *r = e->model->recvs;

	return r->srq ? vsrq_recv_used(r->srq) < 16 : r->n - r->base < wanted(l, e);
}

void workload_post_recvs(struct workload *l, struct workload_end *e, uint32_t n)
{
	struct model_recvs *r = e->model->recvs;
	uint32_t max_sge = most(r->srq ? r->srq->recv.max_sge : e->qp.recv.max_sge);
	uint32_t room = WORKLOAD_MAX_BYTES;
	struct uhca_abi_sge sge[MODEL_MAX_SGE];
	struct model_place at;
	struct vmr from;

	if (e->qp.type == IBV_QPT_XRC_RECV)
		workload_xrc_recvs(l, e, n);
	if (e->qp.type == IBV_QPT_XRC_RECV || e->qp.type == IBV_QPT_XRC_SEND)
		return;
	if (!r->srq)
		room = e->peer ? e->peer->max_bytes : 4096 + 40;
	while (n-- && needs_recv(l, e)) {
		bool shared = e->peer && workload_inbox_take(l, e->peer, room, &from);
		bool key = !shared && prng_below(&l->rng, 3) == 0 &&
			   take_key(e->node, room, &from, &at);
		uint32_t count;

		if (!key && !shared)
			from = (struct vmr){
				.addr = workload_take(l, e->node, room, e->node->mr.length),
				.lkey = e->node->mr.lkey};
		if (!key && !from.addr)
			world_fail(l->w, "the workload's buffers are too small");
		count = spoil_empty(
			l, sge,
			choose_sges(l, &from, room, sge, shared && percent(l, 60) ? 1 : max_sge));
		if (model_post_recv(r, sge, count, key ? &at : NULL, shared))
			return;
	}
}

void workload_fill_srq(struct workload *l, struct workload_node *n, struct model_recvs *r,
		       uint32_t count)
{
	struct uhca_abi_sge sge[MODEL_MAX_SGE];
	struct vmr from = {.lkey = n->mr.lkey};

	for (; count && vsrq_recv_used(r->srq) < 16; count--) {
		uint32_t elements;

		from.addr = workload_take(l, n, WORKLOAD_MAX_BYTES, n->mr.length);
		if (!from.addr)
			world_fail(l->w, "the workload's buffers are too small");
		elements =
			choose_sges(l, &from, WORKLOAD_MAX_BYTES, sge, most(r->srq->recv.max_sge));
		if (model_post_recv(r, sge, elements, NULL, false))
			return;
	}
}
