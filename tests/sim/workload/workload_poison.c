/* SPDX-License-Identifier: BSD-2-Clause */
/* See workload_poison.h. Lengths are of several packets, where the mistake allows. */
#include "workload_poison.h"

#include "workload_make.h"

#define STATUS(s) (1u << UHCA_ABI_WC_##s)

struct draft {
	struct vsend wr;
	struct uhca_abi_sge sge[2];
	struct model_more more;
	struct model_place there;
};

typedef void (*mistake)(struct workload *l, struct workload_end *e, struct draft *d);

static uint8_t remote_opcode(struct workload *l)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
					 UHCA_ABI_WR_RDMA_READ};

	return opcode[prng_below(&l->rng, 3)];
}

/* A request that would be right. */
static void start(struct workload *l, struct workload_end *e, struct draft *d, uint8_t opcode)
{
	uint32_t length = prng_range(&l->rng, 1, e->max_bytes);

	*d = (struct draft){.wr = {.opcode = opcode,
				   .num_sge = 1,
				   .remote_addr = e->region.addr,
				   .rkey = e->region.rkey}};
	d->sge[0] = (struct uhca_abi_sge){
		workload_take(l, e->node, e->max_bytes + 1, WORKLOAD_SEND_BYTES), length,
		e->node->mr.lkey};
	d->wr.flags = prng_below(&l->rng, 2) ? UHCA_ABI_SEND_SIGNALED : 0;
}

static void unknown_rkey(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, remote_opcode(l));
	d->wr.rkey ^= 1u << prng_below(&l->rng, 32);
	d->more.fate = STATUS(REM_ACCESS_ERR);
}

static void beyond_region(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, remote_opcode(l));
	d->wr.remote_addr += prng_below(&l->rng, 2)
				     ? e->region.length - d->sge[0].length + 1
				     : 0ull - 1 - prng_below(&l->rng, d->sge[0].length);
	d->more.fate = STATUS(REM_ACCESS_ERR);
}

static void wrong_window(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, remote_opcode(l));
	if (workload_window_misuse(l, e, &d->wr, d->sge[0].length))
		d->more.fate = STATUS(REM_ACCESS_ERR);
}

/* The region does not allow atomics. */
static void no_right(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD);
	d->sge[0].length = 8;
	d->wr.remote_addr = (d->wr.remote_addr + 7) & ~7ull;
	d->more.fate = STATUS(REM_ACCESS_ERR);
}

static void unaligned(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP);
	d->sge[0].length = 8;
	d->wr.rkey = e->peer->node->cells_mr.rkey;
	d->wr.remote_addr = e->peer->node->cells_mr.addr + prng_range(&l->rng, 1, 7);
	d->more.fate = STATUS(REM_INV_REQ_ERR);
}

static void short_atomic(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD);
	d->sge[0].length = prng_below(&l->rng, 8);
	d->wr.rkey = e->peer->node->cells_mr.rkey;
	d->wr.remote_addr = e->peer->node->cells_mr.addr;
	d->more.fate = STATUS(LOC_LEN_ERR);
}

/* Half of the message may have been sent, and placed. */
static void bad_element(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, prng_below(&l->rng, 2) ? UHCA_ABI_WR_SEND : remote_opcode(l));
	if (e->qp.send.max_sge > 1 && d->sge[0].length > 1) {
		uint32_t first = prng_range(&l->rng, 1, d->sge[0].length - 1);

		d->sge[1] = d->sge[0];
		d->sge[1].addr += first;
		d->sge[1].length -= first;
		d->sge[0].length = first;
		d->wr.num_sge = 2;
	}
	d->sge[d->wr.num_sge - 1].lkey ^= 0x100;
	if (model_is_write(d->wr.opcode)) {
		d->there.n = 1;
		d->there.piece[0] = (struct uhca_abi_sge){e->region.addr,
							  d->sge[0].length + d->sge[1].length, 0};
	}
	d->more.fate = STATUS(LOC_PROT_ERR);
}

static void too_long(struct workload *l, struct workload_end *e, struct draft *d)
{
	bool srq = e->peer->model->recvs->srq;
	uint32_t length = (srq ? WORKLOAD_MAX_BYTES : e->max_bytes) + 1;

	start(l, e, d, UHCA_ABI_WR_SEND_WITH_IMM);
	if (e->inbox.mr.length) /* a READ before it may still be reading what it overwrites */
		d->wr.flags |= UHCA_ABI_SEND_FENCE;
	d->sge[0].addr = workload_take(l, e->node, length, WORKLOAD_SEND_BYTES);
	d->sge[0].length = length;
	d->more.fate = STATUS(REM_INV_REQ_ERR);
}

/* Ordinary regions are not invalidated. */
static void bad_invalidation(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, UHCA_ABI_WR_LOCAL_INV);
	d->wr.num_sge = 0;
	d->wr.flags |= prng_below(&l->rng, 2) ? UHCA_ABI_SEND_FENCE : 0;
	d->wr.imm = prng_below(&l->rng, 2) ? e->node->mr.lkey : (uint32_t)prng_u64(&l->rng);
	d->more.fate = STATUS(MW_BIND_ERR);
}

/* Class J: nothing is invalidated, and nobody is told (9.9.6.3). */
static void bad_peer_key(struct workload *l, struct workload_end *e, struct draft *d)
{
	start(l, e, d, UHCA_ABI_WR_SEND_WITH_INV);
	d->wr.imm = prng_below(&l->rng, 2) ? e->region.rkey : (uint32_t)prng_u64(&l->rng);
	d->more.fate = STATUS(RETRY_EXC_ERR);
}

void workload_poison(struct workload *l, struct workload_end *e)
{
	static const mistake all[] = {unknown_rkey, beyond_region,    wrong_window, wrong_window,
				      no_right,     unaligned,        short_atomic, bad_element,
				      too_long,     bad_invalidation, bad_peer_key};
	struct draft d;

	if (e->qp.type == IBV_QPT_XRC_SEND)
		workload_xrc_poison(l, e);
	if (e->qp.type != IBV_QPT_RC)
		return;
	if (vqp_send_used(&e->qp) >= e->qp.send.max_wr || e->model->failed)
		return;
	all[prng_below(&l->rng, sizeof(all) / sizeof(all[0]))](l, e, &d);
	if (!d.sge[0].addr || !d.more.fate)
		return;
	d.wr.sge = d.sge;
	d.more.there = &d.there;
	journal_note(&l->w->journal, l->w->now, "poison", e->qp.qpn, d.more.fate);
	if (model_post_send(e->model, &d.wr, &d.more) == 0)
		model_doomed(e->model);
}
