/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that writes anything into its shared regions, at any time, and rings any doorbell
 * (design D6). It may lose its QPs and nothing else: the device must not crash, run for ever,
 * touch memory that this client did not register, or disturb its neighbour, whose traffic in
 * both directions must come out right.
 */
#include "fuzz.h"

#include "input.h"
#include "tests/sim/world/pair.h"

#define SIZE  16384u
#define SLICE 2000000u /* ns between records, at most */

enum { REGION_QP, REGION_UD, REGION_SRQ_QP, REGION_SRQ, REGION_CQ, REGIONS };

struct stage {
	struct pair p;    /* the neighbour: p.a on the attacked device, p.b elsewhere */
	struct vclient c; /* the attacker */
	struct vcq cq;
	struct vsrq srq;
	struct vqp qp[3]; /* RC to itself, UD, RC with the SRQ to itself */
	struct vmr mr;
	uint32_t window; /* key of a type 2 window, as it was given out */
	uint32_t ah;
	unsigned messages; /* of the neighbour */
};

#define MUST(cond) FUZZ_CHECK(cond)

static void create_attacker(struct stage *s)
{
	struct vqp_init init = {.send_cq = &s->cq,
				.recv_cq = &s->cq,
				.max_send_wr = 8,
				.max_recv_wr = 8,
				.max_inline_data = 64};
	struct vqp_conn conn = vqp_conn_default();
	struct vmw w;

	conn.rq_psn = conn.sq_psn;
	conn.timeout = 8;
	vclient_open(&s->c, &s->p.w->device[0].host, 7, 7);
	MUST(vclient_reg_mr(&s->c, memory_map(&s->c.mem, SIZE), SIZE,
			    PAIR_ACCESS | IBV_ACCESS_MW_BIND, &s->mr) == 0);
	MUST(vclient_alloc_mw(&s->c, s->c.pd, 2, &w) == 0);
	s->window = w.rkey;
	MUST(vcq_create(&s->c, 64, 1, &s->cq) == 0);
	MUST(vsrq_create(&s->c, 8, 2, 0, &s->srq) == 0);
	MUST(vqp_create(&s->c, &init, &s->qp[0]) == 0);
	init.type = IBV_QPT_UD;
	MUST(vqp_create(&s->c, &init, &s->qp[1]) == 0);
	init.type = IBV_QPT_RC;
	init.srq = &s->srq;
	init.create_flags = UHCA_ABI_QP_LOW_LATENCY;
	MUST(vqp_create(&s->c, &init, &s->qp[2]) == 0);
	vqp_connect(&s->qp[0], &s->qp[0], &conn);
	vqp_activate(&s->qp[1], &conn);
	vqp_connect(&s->qp[2], &s->qp[2], &conn);
	MUST(vclient_create_ah(&s->c, s->c.host, 0, &s->ah) == 0);
}

static void create(struct stage *s)
{
	struct core_config cfg = world_config();

	memset(s, 0, sizeof *s);
	cfg.local_inv_early = true; /* the ring is looked at twice */
	pair_create(&s->p, &(struct pair_options){.cfg = &cfg, .buffer = SIZE, .seed = 1});
	s->p.w->abort_on_failure = true;
	rules_detach(&s->p.rules);
	create_attacker(s);
}

/* ---- the attack ---- */

static struct core_ring *region(struct stage *s, uint8_t which)
{
	switch (which % REGIONS) {
	case REGION_QP:
		return &s->qp[0].region;
	case REGION_UD:
		return &s->qp[1].region;
	case REGION_SRQ_QP:
		return &s->qp[2].region;
	case REGION_SRQ:
		return &s->srq.region;
	default:
		return &s->cq.ring;
	}
}

/* Raw bytes anywhere in a region. */
static void scribble(struct stage *s, struct fuzz_input *in)
{
	struct core_ring *r = region(s, input_u8(in));
	size_t offset = input_u32(in) % r->size, n = input_u8(in) + 1u;

	if (n > r->size - offset)
		n = r->size - offset;
	input_bytes(in, (uint8_t *)r->base + offset, n);
}

/* An index of a ring: of its producer or consumer, near the truth or not. */
static void set_index(struct stage *s, struct fuzz_input *in)
{
	uint8_t which = input_u8(in);
	uint32_t value = which & 128 ? input_u32(in) : input_u8(in);
	struct uhca_abi_queue *q = region(s, which % REGION_CQ)->base;
	struct uhca_abi_ring *ring = which & 64 ? &q->recv : &q->send;

	if (which & 32)
		ring = &s->cq.page->ring;
	if (which & 16)
		ring->consumer = value;
	else
		ring->producer = value;
}

static struct uhca_abi_sge make_sge(struct stage *s, struct fuzz_input *in)
{
	uint8_t how = input_u8(in);
	struct uhca_abi_sge sge = {input_u16(in), input_u16(in), s->mr.lkey};

	if (how & 1)
		sge.lkey = input_u32(in);
	if (how & 2)
		sge.addr = input_u64(in);
	else
		sge.addr += s->mr.addr;
	if (how & 4)
		sge.length = input_u32(in);
	return sge;
}

/* Binds and invalidations: numbers of a window, of a region, or any. */
static void fill_local(struct stage *s, struct fuzz_input *in, struct uhca_abi_send_wqe *e)
{
	uint8_t which;

	if (e->opcode == UHCA_ABI_WR_LOCAL_INV || e->opcode == UHCA_ABI_WR_SEND_WITH_INV) {
		which = input_u8(in);
		e->imm = which & 128 ? input_u32(in) : s->window ^ (which & 3);
	}
	if (e->opcode != UHCA_ABI_WR_BIND_MW)
		return;
	which = input_u8(in);
	e->bind.addr = which & 64 ? input_u32(in) : s->mr.addr + input_u16(in);
	e->bind.length = which & 32 ? input_u32(in) : input_u8(in);
	e->bind.mr_lkey = which & 16 ? input_u32(in) : s->mr.lkey;
	e->bind.mw_rkey = which & 128 ? input_u32(in) : s->window;
	e->bind.new_rkey = which & 8 ? input_u32(in) : s->window ^ (which & 3);
	e->bind.access = which & 4 ? input_u32(in) : 2;
}

/* Masked atomics: a size and as many operands as it wants, or others. */
static void fill_masked(struct fuzz_input *in, struct uhca_abi_send_wqe *e)
{
	bool cas = e->opcode == UHCA_ABI_WR_MASKED_CMP_SWP;
	uint8_t which;

	if (!cas && e->opcode != UHCA_ABI_WR_MASKED_FETCH_ADD)
		return;
	which = input_u8(in);
	e->masked.size = which & 128 ? input_u32(in) : 4u << (which & 3);
	if (!(which & 64))
		e->inline_length = e->masked.size * (cas ? 4 : 2);
}

/* A send entry that looks good but for what the input decides. */
static void post_send(struct stage *s, struct fuzz_input *in)
{
	struct vqp *qp = &s->qp[input_u8(in) % 3];
	struct vring *r = &qp->send;
	struct uhca_abi_send_wqe e = {.opcode = input_u8(in), .flags = input_u16(in)};
	uint8_t *slot =
		r->base + r->at.offset + (size_t)(r->producer & (r->at.entries - 1)) * r->at.stride;
	struct uhca_abi_sge sge = make_sge(s, in);

	e.num_sge = input_u8(in) & 128 ? input_u8(in) : 1;
	e.inline_length = input_u8(in) & 128 ? input_u32(in) : input_u8(in);
	if (qp->type == IBV_QPT_UD) {
		e.ud.ah = input_u8(in) & 128 ? input_u32(in) : s->ah;
		e.ud.remote_qpn = qp->qpn;
		e.ud.remote_qkey = vqp_conn_default().qkey;
	} else {
		e.rdma.remote_addr = s->mr.addr + input_u16(in);
		e.rdma.rkey = input_u8(in) & 128 ? input_u32(in) : s->mr.rkey;
	}
	if (e.opcode == UHCA_ABI_WR_ATOMIC_CMP_AND_SWP ||
	    e.opcode == UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD)
		e.atomic.rkey = s->mr.rkey;
	fill_local(s, in, &e);
	fill_masked(in, &e);
	memcpy(slot, &e, sizeof e);
	memcpy(slot + sizeof e, &sge, sizeof sge);
	uhca_ring_publish(&r->ring->producer, ++r->producer);
	vqp_doorbell(qp);
}

static void post_recv(struct stage *s, struct fuzz_input *in)
{
	uint8_t which = input_u8(in);
	struct uhca_abi_sge sge = make_sge(s, in);
	struct vrecv wr = {1, &sge, 1};

	if (which % 3 == 2)
		vsrq_post_recv(&s->srq, &wr);
	else
		vqp_post_recv(&s->qp[which % 3], &wr);
}

static void change_state(struct stage *s, struct fuzz_input *in)
{
	struct vqp *qp = &s->qp[input_u8(in) % 3];

	vqp_to_state(qp, input_u8(in) % 7);
}

/* Arms, or says something about what was handled (ring.handled), or copied (abi/copy_on_poll.h). */
static void arm_or_lie(struct stage *s, uint8_t how)
{
	struct uhca_abi_ring *ring = &s->cq.page->ring;

	if (!(how & 2)) {
		vcq_arm(&s->cq, how & 1);
		return;
	}
	uhca_ring_publish(&ring->reports_handled, how & 1);
	uhca_ring_publish(&ring->takes_copies_on_poll, how & 4);
	if ((how & 8) && s->cq.copies_on_poll)
		uhca_copy_on_poll_set(&s->cq.copies_on_poll[how >> 4], how & 3);
	uhca_ring_publish(&ring->handled, (uint32_t)(how >> 2) << 26);
}

static void ring_doorbell(struct stage *s, struct fuzz_input *in)
{
	core_doorbell(s->c.core, input_u8(in) & 128 ? input_u32(in) : input_u8(in) % 4,
		      s->p.w->now);
	s->c.host->dirty = true;
}

/* A little traffic of the neighbour: a SEND and a WRITE to b, a READ from it. */
static void neighbour(struct stage *s)
{
	struct pair *p = &s->p;
	unsigned i = s->messages++;

	side_recv(&p->b, i, 4096, 1500);
	side_send(&p->a, 3 * i, 0, 1500);
	side_write(&p->a, 3 * i + 1, 0, 8192, 3000);
	side_read(&p->a, 3 * i + 2, 4096, 0, 3000);
	side_expect(&p->a, 3 * i, 3 * i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p->a, 3 * i + 1, 3 * i + 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p->a, 3 * i + 2, 3 * i + 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p->b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p->a, 0, &p->b, 4096, 1500);
	pair_expect_copy(&p->a, 0, &p->b, 8192, 3000);
	pair_expect_copy(&p->b, 0, &p->a, 4096, 3000);
}

static void step(struct stage *s, struct fuzz_input *in)
{
	switch (input_u8(in) % 10) {
	case 0:
		scribble(s, in);
		break;
	case 1:
		set_index(s, in);
		break;
	case 2:
		ring_doorbell(s, in);
		break;
	case 3:
		world_run(s->p.w, s->p.w->now + input_u16(in) * (SLICE / 65536));
		break;
	case 4:
		change_state(s, in);
		break;
	case 5:
		post_recv(s, in);
		break;
	case 6:
		/* Taken unseen: what is in the entries may be the attacker's own. */
		uhca_ring_publish(&s->cq.page->ring.consumer,
				  uhca_ring_observe(&s->cq.page->ring.producer));
		break;
	case 7:
		arm_or_lie(s, input_u8(in));
		break;
	default:
		post_send(s, in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct stage s;

	create(&s);
	neighbour(&s);
	while (in.left)
		step(&s, &in);
	world_run(s.p.w, s.p.w->now + SLICE);
	neighbour(&s);
	if (s.c.mem.strays)
		fprintf(stderr, "%s\n", s.c.mem.stray);
	MUST(s.c.mem.strays == 0);
	vclient_close(&s.c);
	pair_finish(&s.p);
	return 0;
}
