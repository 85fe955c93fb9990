/* SPDX-License-Identifier: BSD-2-Clause */
/* See workload_make.h: the requests and receives that a workload posts. */
#include "workload_make.h"

#include <assert.h>
#include <string.h>

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

/* Local bytes that nothing else uses; 0 when the first "limit" bytes have been given out. */
static uint64_t take_local(struct workload *l, struct workload_node *n, uint32_t length,
			   uint64_t limit)
{
	uint64_t at = n->used + prng_below(&l->rng, 8) + 16;

	if (at + length + 16 > limit)
		return 0;
	n->used = at + length;
	return n->mr.addr + at;
}

/* Splits [addr, addr + length) into up to max elements, empty ones among them; their number. */
static uint32_t choose_sges(struct workload *l, const struct workload_node *n, uint64_t addr,
			    uint32_t length, struct uhca_abi_sge *sge, uint32_t max)
{
	uint32_t count = prng_range(&l->rng, 1, max);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t piece = i + 1 == count ? length : prng_below(&l->rng, length + 1);

		sge[i] = (struct uhca_abi_sge){addr, piece, n->mr.lkey};
		addr += piece;
		length -= piece;
	}
	return count;
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
	unsigned n = e->qp.type == IBV_QPT_RC ? 8 : e->qp.type == IBV_QPT_UC ? 4 : 2;

	return opcode[prng_below(&l->rng, n)];
}

/* Where at the peer a WRITE or READ works; false when a UC end has used all of its region. */
static bool choose_remote(struct workload *l, struct workload_end *e, struct vsend *wr,
			  uint32_t length)
{
	uint32_t room = (uint32_t)e->region.length - length;

	wr->rkey = e->region.rkey;
	if (e->qp.type == IBV_QPT_RC) {
		wr->remote_addr = e->region.addr + prng_below(&l->rng, room + 1);
		return true;
	}
	if (length > e->region.length - e->region_used)
		return false;
	wr->remote_addr = e->region.addr + e->region_used;
	e->region_used += length;
	return true;
}

static struct model_cell *choose_atomic(struct workload *l, struct workload_end *e,
					struct vsend *wr)
{
	struct workload_node *n = e->peer->node;
	struct model_cell *cell = n->cell[prng_below(&l->rng, WORKLOAD_CELLS)];

	wr->remote_addr = cell->va;
	wr->rkey = n->cells_mr.rkey;
	wr->compare_add = prng_below(&l->rng, 1000) + 1;
	wr->swap = prng_u64(&l->rng);
	/* A compare that can succeed: with the value as the client sees it now. */
	if (wr->opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP && prng_below(&l->rng, 2))
		memcpy(&wr->compare_add, memory_at(&n->c.mem, cell->va, 8), 8);
	return cell;
}

static void choose_flags(struct workload *l, const struct workload_end *e, struct vsend *wr,
			 uint32_t length)
{
	struct prng *r = &l->rng;
	bool payload = wr->opcode <= UHCA_ABI_WR_SEND_WITH_IMM;

	if (prng_below(r, 3))
		wr->flags |= UHCA_ABI_SEND_SIGNALED;
	if (wr->opcode == UHCA_ABI_WR_SEND || wr->opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
	    wr->opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM)
		wr->flags |= prng_below(r, 4) ? 0 : UHCA_ABI_SEND_SOLICITED;
	if (e->qp.type == IBV_QPT_RC && !prng_below(r, 8))
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

void workload_post(struct workload *l, struct workload_end *e)
{
	struct uhca_abi_sge sge[MODEL_MAX_SGE];
	struct vsend wr = {.opcode = choose_opcode(l, e), .sge = sge};
	struct workload_end *to = NULL;
	struct model_cell *cell = NULL;
	uint32_t length = choose_length(l, e);
	uint64_t local;

	if (!e->to_post || vqp_send_used(&e->qp) >= e->qp.send.max_wr || e->model->failed)
		return;
	if (wr.opcode >= UHCA_ABI_WR_ATOMIC_CMP_AND_SWP) {
		length = 8;
		cell = choose_atomic(l, e, &wr);
	} else if (e->qp.type == IBV_QPT_UD) {
		to = choose_destination(l, e, &wr);
	} else if (wr.opcode != UHCA_ABI_WR_SEND && wr.opcode != UHCA_ABI_WR_SEND_WITH_IMM &&
		   !choose_remote(l, e, &wr, length)) {
		e->to_post = 0;
		return;
	}
	local = take_local(l, e->node, length, WORKLOAD_SEND_BYTES);
	if (!local) {
		e->to_post = 0;
		return;
	}
	wr.num_sge =
		choose_sges(l, e->node, local, length, sge, cell ? 1 : most(e->qp.send.max_sge));
	wr.imm = (uint32_t)prng_u64(&l->rng);
	choose_flags(l, e, &wr, length);
	if (model_post_send(e->model, &wr, to ? to->model : NULL, cell))
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

	return r->srq ? r->n - r->done < 16 : r->n < wanted(l, e);
}

void workload_post_recvs(struct workload *l, struct workload_end *e, uint32_t n)
{
	struct model_recvs *r = e->model->recvs;
	uint32_t max_sge = most(r->srq ? r->srq->recv.max_sge : e->qp.recv.max_sge);
	uint32_t room = WORKLOAD_MAX_BYTES;
	struct uhca_abi_sge sge[MODEL_MAX_SGE];

	if (!r->srq)
		room = e->peer ? e->peer->max_bytes : 4096 + 40;
	while (n-- && needs_recv(l, e)) {
		uint64_t local = take_local(l, e->node, room, e->node->mr.length);
		uint32_t count;

		if (!local)
			world_fail(l->w, "the workload's buffers are too small");
		count = choose_sges(l, e->node, local, room, sge, max_sge);
		if (model_post_recv(r, sge, count))
			return;
	}
}
