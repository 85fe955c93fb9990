/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The access matrix: which key lets whom do what, and where. Kinds of keys (region, windows of
 * type 1, 2A, 2B, indirect memory keys of every shape) x what became of them x rights x requests x
 * ranges, with the status at both ends. The tables are the specification's (IBTA vol.
 * 1, 10.6.3, 10.6.7 and 9.7.4.1.6, annex A19), not the device's. After each case all memory is
 * compared.
 */
#include "tests/sim/world/window.h"

#include <stdio.h>

#define BASE   4096u /* the key opens [BASE, BASE + LENGTH) of side b's buffer */
#define LENGTH 4096u

#define FULL (WINDOW_RIGHTS | WINDOW_FLUSH_GLOBAL)

/* A right of its own: not even the owner may write. */
#define READ_ONLY (1u << 31)

/* NESTED: a scatter/gather list over a block list. */
enum kind { MR, MW1, MW2A, MW2B, PAGES, BLOCKS, COLUMN, SG, NESTED, KINDS };
enum fate { OWN, FOREIGN_PD, FOREIGN_QP, STALE, REVOKED, UNBOUND, FATES };
enum range { FRONT, BACK, NOTHING, BEFORE, BEHIND, WRAP, RANGES };

/* Does a key of this kind open anything to the QP that asks? */
static const bool opens[KINDS][FATES] = {
	[MR] = {[OWN] = true, [FOREIGN_QP] = true},  /* any QP of the domain */
	[MW1] = {[OWN] = true, [FOREIGN_QP] = true}, /* the same */
	[MW2A] = {[OWN] = true},                     /* the QP it is bound to */
	[MW2B] = {[OWN] = true},
	[PAGES] = {[OWN] = true, [FOREIGN_QP] = true}, /* as regions; UNBOUND: not described */
	[BLOCKS] = {[OWN] = true, [FOREIGN_QP] = true},
	[COLUMN] = {[OWN] = true, [FOREIGN_QP] = true},
	[SG] = {[OWN] = true, [FOREIGN_QP] = true},
	[NESTED] = {[OWN] = true, [FOREIGN_QP] = true},
};

static bool is_indirect(enum kind kind)
{
	return kind >= PAGES;
}

/* A request by key: how long, what right it needs, and how it completes. */
struct request {
	uint8_t opcode, wc;
	uint32_t length;
	uint32_t need;
	bool may_be_empty; /* no bytes: the key is not looked at */
};

static const struct request requests[] = {
	{UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WC_RDMA_WRITE, 64, IBV_ACCESS_REMOTE_WRITE, true},
	{UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, UHCA_ABI_WC_RDMA_WRITE, 64, IBV_ACCESS_REMOTE_WRITE,
	 true},
	{UHCA_ABI_WR_RDMA_READ, UHCA_ABI_WC_RDMA_READ, 64, IBV_ACCESS_REMOTE_READ, true},
	{UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, UHCA_ABI_WC_COMP_SWAP, 8, IBV_ACCESS_REMOTE_ATOMIC, false},
	{UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, UHCA_ABI_WC_FETCH_ADD, 8, IBV_ACCESS_REMOTE_ATOMIC,
	 false},
	{UHCA_ABI_WR_MASKED_CMP_SWP, UHCA_ABI_WC_MASKED_CMP_SWP, 8, IBV_ACCESS_REMOTE_ATOMIC,
	 false},
	{UHCA_ABI_WR_MASKED_FETCH_ADD, UHCA_ABI_WC_MASKED_FETCH_ADD, 8, IBV_ACCESS_REMOTE_ATOMIC,
	 false},
	{UHCA_ABI_WR_ATOMIC_WRITE, UHCA_ABI_WC_ATOMIC_WRITE, 8, IBV_ACCESS_REMOTE_WRITE, false},
	{UHCA_ABI_WR_FLUSH, UHCA_ABI_WC_FLUSH, 64, WINDOW_FLUSH_GLOBAL, false},
};
#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

/* One key, and the two QPs between which it is used. */
struct bench {
	struct pair p;
	enum kind kind;
	enum fate fate;
	uint32_t key;
	struct vmw w;
	struct vmr parent, region, inner;
	struct vqp *from, *to;           /* of a, of b: the pair's, or with FOREIGN_* */
	struct vqp other_from, other_to; /* these, which never saw the key */
	uint32_t other_pd;
};

static void connect_others(struct bench *t)
{
	struct vqp_conn conn = t->p.conn;
	struct vqp_init a = {.send_cq = &t->p.a.cq, .recv_cq = &t->p.a.cq};
	struct vqp_init b = {.send_cq = &t->p.b.cq, .recv_cq = &t->p.b.cq};
	int rc = 0;

	if (t->fate == FOREIGN_PD) {
		rc = core_alloc_pd(t->p.b.c.core, &t->other_pd);
		b.pd = t->other_pd;
	}
	t->from = &t->other_from;
	t->to = &t->other_to;
	rc = rc ? rc : vqp_create(&t->p.a.c, &a, t->from);
	rc = rc ? rc : vqp_create(&t->p.b.c, &b, t->to);
	world_assert(t->p.w, rc == 0);
	vqp_connect(t->from, t->to, &conn);
}

static void bind(struct bench *t, uint32_t rights)
{
	uint8_t status = window_bind_wait(
		&t->p.b, &t->w, &t->parent,
		&(struct vsend){.bind = {.addr = BASE, .length = LENGTH, .access = rights}});

	world_assert(t->p.w, status == UHCA_ABI_WC_SUCCESS);
	t->key = t->w.rkey;
}

static uint32_t access_of(uint32_t rights)
{
	return rights == READ_ONLY ? 0 : rights | IBV_ACCESS_LOCAL_WRITE;
}

static void make_region(struct bench *t, uint32_t rights)
{
	struct side *b = &t->p.b;
	struct vmr range = {.addr = b->mr.addr + BASE, .length = LENGTH};
	int rc = vclient_reg_mr_pd(&b->c, b->c.pd, &range, access_of(rights), &t->region);

	world_assert(t->p.w, rc == 0);
	t->key = t->region.rkey;
}

/* Lists of entries that give the bytes of [BASE, BASE + LENGTH) in order, at their addresses. */
static uint32_t list_pages(const struct bench *t, struct uhca_abi_layout *l, uint64_t *page)
{
	uint64_t from = l->iova & ~(uint64_t)4095;

	l->lkey = t->parent.lkey;
	l->length = LENGTH;
	l->page_shift = 12;
	l->n = 0;
	for (uint64_t at = from; at < l->iova + LENGTH; at += 4096)
		page[l->n++] = at;
	return l->n * 8u;
}

static uint32_t list_blocks(struct uhca_abi_layout *l, uint32_t lkey, struct uhca_abi_block *b)
{
	b[0] = (struct uhca_abi_block){l->iova, 1000, lkey, 0};
	b[1] = (struct uhca_abi_block){l->iova + 1000, 24, lkey, 0};
	b[2] = (struct uhca_abi_block){l->iova + 1024, LENGTH - 1024, lkey, 0};
	l->n = 3;
	return 3 * sizeof(*b);
}

static uint32_t list_column(const struct bench *t, struct uhca_abi_layout *l, uint64_t *list)
{
	struct uhca_abi_piece *piece = (void *)(list + 1);

	list[0] = LENGTH / 64;
	for (unsigned i = 0; i < 2; i++)
		piece[i] = (struct uhca_abi_piece){l->iova + 32 * i, 32, t->parent.lkey, 0, {64}};
	l->n = 2;
	l->n_dims = 1;
	return (uint32_t)(8 + 2 * sizeof(*piece));
}

/* Describes the key through the queue, as each shape can be. */
static void describe(struct bench *t, enum kind kind, const struct vmr *key, uint32_t access)
{
	uint64_t list[64];
	struct vsend wr = {
		.wr_id = 7000,
		.opcode = UHCA_ABI_WR_REG_MR,
		.flags = UHCA_ABI_SEND_SIGNALED,
		.list = list,
		.reg = {.iova = t->p.b.mr.addr + BASE, .key = key->lkey, .access = access}};

	if (kind == PAGES)
		wr.list_bytes = list_pages(t, &wr.reg, list);
	else if (kind == COLUMN)
		wr.list_bytes = list_column(t, &wr.reg, list);
	else
		wr.list_bytes = list_blocks(
			&wr.reg, kind == NESTED ? t->inner.lkey : t->parent.lkey, (void *)list);
	if (kind == COLUMN)
		wr.opcode = UHCA_ABI_WR_REG_INTERLEAVED;
	else if (kind == SG || kind == NESTED)
		wr.opcode = UHCA_ABI_WR_REG_SG;
	side_poll(&t->p.b);
	world_assert(t->p.w, vqp_post_send(&t->p.b.qp, &wr) == 0);
	side_wait(&t->p.b, t->p.b.n_wc + 1);
	world_assert(t->p.w, t->p.b.wc[t->p.b.n_wc - 1].status == UHCA_ABI_WC_SUCCESS);
}

static void make_indirect(struct bench *t, uint32_t rights)
{
	struct vclient *c = &t->p.b.c;

	world_assert(t->p.w, vclient_alloc_key(c, c->pd, 4, &t->region) == 0);
	world_assert(t->p.w, vclient_alloc_key(c, c->pd, 4, &t->inner) == 0);
	t->key = t->region.rkey;
	if (t->fate == UNBOUND)
		return;
	if (t->kind == NESTED)
		describe(t, BLOCKS, &t->inner, access_of(rights));
	describe(t, t->kind, &t->region, access_of(rights));
}

static void make_key(struct bench *t, uint32_t rights)
{
	if (t->kind == MR) {
		make_region(t, rights);
		return;
	}
	if (is_indirect(t->kind)) {
		make_indirect(t, rights);
		return;
	}
	window_alloc(&t->p.b, t->kind == MW1 ? 1 : 2, &t->w);
	t->key = t->w.rkey;
	if (t->fate != UNBOUND)
		bind(t, rights);
}

static void revoke(struct bench *t, uint32_t rights)
{
	uint32_t old = t->key;

	switch (t->kind) {
	case MR:
		world_assert(t->p.w, vclient_dereg_mr(&t->p.b.c, &t->region) == 0);
		return;
	case MW1:
		bind(t, rights);
		t->key = old;
		return;
	case MW2A:
	case MW2B:
	case PAGES:
	case BLOCKS:
	case COLUMN:
	case SG:
	case NESTED:
		window_invalidate(&t->p.b, 7001, t->key, 0);
		side_wait(&t->p.b, t->p.b.n_wc + 1);
		return;
	case KINDS:
		return;
	}
}

static void open_bench(struct bench *t, enum kind kind, enum fate fate, uint32_t rights)
{
	*t = (struct bench){.kind = kind, .fate = fate};
	window_pair(&t->p, kind == MW2A, PAIR_ACCESS | WINDOW_FLUSH_GLOBAL, 0);
	window_region(&t->p.b, IBV_ACCESS_LOCAL_WRITE | FULL, &t->parent);
	make_key(t, rights);
	t->from = &t->p.a.qp;
	t->to = &t->p.b.qp;
	if (fate == FOREIGN_PD || fate == FOREIGN_QP)
		connect_others(t);
	if (fate == STALE)
		t->key ^= 0x55;
	if (fate == REVOKED)
		revoke(t, rights);
	side_poll(&t->p.a);
	side_poll(&t->p.b);
	t->p.a.n_wc = t->p.b.n_wc = 0;
}

static uint64_t address(const struct bench *t, enum range range, uint32_t length)
{
	uint64_t base = t->p.b.mr.addr + BASE;

	switch (range) {
	case FRONT:
		return base;
	case BACK:
		return base + LENGTH - length;
	case NOTHING:
		return 0x1234567;
	case BEFORE:
		return base - 8;
	case BEHIND:
		return base + LENGTH - length + 8;
	case WRAP:
		return UINT64_MAX - 7;
	case RANGES:
		break;
	}
	return 0;
}

static void post(struct bench *t, struct vsend *wr, uint32_t local, uint32_t length)
{
	struct uhca_abi_sge sge = {t->p.a.mr.addr + local, length, t->p.a.mr.lkey};
	/* Masks that leave nothing out; the second operand of an addition is its boundary. */
	bool cas = wr->opcode == UHCA_ABI_WR_MASKED_CMP_SWP;
	uint64_t operands[4] = {wr->compare_add, cas ? wr->swap : 0, UINT64_MAX, UINT64_MAX};

	wr->masked.operands = operands;
	wr->masked.size = 8;
	wr->masked.bytes = cas ? 32 : 16;
	wr->wr_id = 1;
	wr->flags |= UHCA_ABI_SEND_SIGNALED;
	wr->sge = &sge;
	wr->num_sge = 1;
	world_assert(t->p.w, vqp_post_send(t->from, wr) == 0);
}

static void post_receive(struct bench *t)
{
	struct uhca_abi_sge sge = {t->p.b.mr.addr + 12288, 64, t->p.b.mr.lkey};
	struct vrecv wr = {2, &sge, 1};

	world_assert(t->p.w, vqp_post_recv(t->to, &wr) == 0);
}

/* What a successful request changes: at "at" of b's buffer and at "local" of a's. */
static void expect_effect(struct bench *t, const struct request *r, uint32_t at, uint32_t local)
{
	struct pair *p = &t->p;
	uint64_t old = side_load(&p->b, at);

	switch (r->opcode) {
	case UHCA_ABI_WR_RDMA_WRITE:
	case UHCA_ABI_WR_RDMA_WRITE_WITH_IMM:
	case UHCA_ABI_WR_ATOMIC_WRITE:
		pair_expect_copy(&p->a, local, &p->b, at, r->length);
		break;
	case UHCA_ABI_WR_RDMA_READ:
		pair_expect_copy(&p->b, at, &p->a, local, r->length);
		break;
	case UHCA_ABI_WR_ATOMIC_CMP_AND_SWP:
	case UHCA_ABI_WR_MASKED_CMP_SWP:
		side_expect_u64(&p->a, local, old);
		side_expect_u64(&p->b, at, 77);
		break;
	case UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD:
	case UHCA_ABI_WR_MASKED_FETCH_ADD:
		side_expect_u64(&p->a, local, old);
		side_expect_u64(&p->b, at, old + old);
		break;
	default: /* FLUSH: nothing */
		break;
	}
}

/* The completions of both ends; at most one each. */
static void expect_both(struct bench *t, uint8_t a, const uint8_t *b)
{
	struct pair *p = &t->p;

	side_wait(&p->a, 1);
	pair_idle(p);
	side_poll(&p->a);
	side_poll(&p->b);
	if (p->a.n_wc != 1 || p->a.wc[0].status != a || p->b.n_wc != (b ? 1 : 0) ||
	    (b && p->b.wc[0].status != *b))
		world_fail(p->w,
			   "kind %d fate %d: a has %u, status %u (expected %u); b has %u, "
			   "status %d (expected %d)",
			   t->kind, t->fate, p->a.n_wc, p->a.wc[0].status, a, p->b.n_wc,
			   p->b.n_wc ? p->b.wc[0].status : -1, b ? *b : -1);
}

static void close_bench(struct bench *t)
{
	pair_finish(&t->p);
}

/* A receive is posted in each case, so that the responder's end can be seen. */
static uint8_t receive_status(const struct request *r, bool good)
{
	bool imm = r->opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;

	if (good)
		return UHCA_ABI_WC_SUCCESS;
	/* 11.6.2: "local access error" is a WRITE with immediate that failed at its responder. */
	return imm ? UHCA_ABI_WC_LOC_ACCESS_ERR : UHCA_ABI_WC_WR_FLUSH_ERR;
}

/* As the plain atomics: all bits count, no field ends before the last bit. */
static void set_operands(struct vsend *wr, uint64_t operand[4])
{
	bool cas = wr->opcode == UHCA_ABI_WR_MASKED_CMP_SWP;

	if (!cas && wr->opcode != UHCA_ABI_WR_MASKED_FETCH_ADD)
		return;
	operand[0] = wr->compare_add;
	operand[1] = cas ? wr->swap : 0;
	operand[2] = operand[3] = UINT64_MAX;
	wr->masked.operands = operand;
	wr->masked.bytes = cas ? 32 : 16;
	wr->masked.size = 8;
}

static void one_request(enum kind kind, enum fate fate, uint32_t rights, const struct request *r,
			enum range range)
{
	uint32_t length = range == NOTHING ? 0 : r->length;
	bool imm = r->opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
	bool inside = range == FRONT || range == BACK;
	bool good = range == NOTHING || (opens[kind][fate] && inside && (rights & r->need));
	uint8_t receive = receive_status(r, good);
	struct vsend wr = {.opcode = r->opcode, .flush_length = length, .flush_type = 1};
	uint64_t operand[4];
	struct bench t;

	open_bench(&t, kind, fate, rights);
	wr.remote_addr = address(&t, range, r->length);
	wr.rkey = t.key;
	wr.compare_add = side_load(&t.p.b, range == BACK ? BASE + LENGTH - 8 : BASE);
	wr.swap = 77;
	set_operands(&wr, operand);
	if (good && length)
		expect_effect(&t, r, range == FRONT ? BASE : BASE + LENGTH - length, 64);
	post_receive(&t);
	post(&t, &wr, 64, r->opcode == UHCA_ABI_WR_FLUSH ? 0 : length);
	expect_both(&t, good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_REM_ACCESS_ERR,
		    good && !imm ? NULL : &receive);
	if (good)
		assert_int_equal(t.p.a.wc[0].opcode, r->wc);
	close_bench(&t);
}

static void all_ranges(enum kind kind, enum fate fate, uint32_t rights)
{
	for (unsigned r = 0; r < REQUESTS; r++)
		for (unsigned range = 0; range < RANGES; range++)
			if (range != NOTHING || requests[r].may_be_empty)
				one_request(kind, fate, rights, &requests[r], (enum range)range);
}

static bool exists(unsigned kind, unsigned fate)
{
	return kind != MR || fate != UNBOUND;
}

/* Every set of rights, for a key in good order. */
static void test_rights(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned set = 0; set < 16; set++)
			all_ranges((enum kind)kind, OWN,
				   (set & 1 ? IBV_ACCESS_REMOTE_WRITE : 0) |
					   (set & 2 ? IBV_ACCESS_REMOTE_READ : 0) |
					   (set & 4 ? IBV_ACCESS_REMOTE_ATOMIC : 0) |
					   (set & 8 ? WINDOW_FLUSH_GLOBAL : 0));
}

/* Every fate of a key with all rights. */
static void test_fates(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned fate = 0; fate < FATES; fate++)
			if (exists(kind, fate))
				all_ranges((enum kind)kind, (enum fate)fate, FULL);
}

/*
 * A window of type 2, bound to the very QP, and an indirect memory key, by any QP of its domain,
 * may be invalidated: by the peer or locally.
 */
static bool may_invalidate(unsigned kind, unsigned fate)
{
	if (is_indirect((enum kind)kind))
		return opens[kind][fate];
	return (kind == MW2A || kind == MW2B) && fate == OWN;
}

static void test_send_with_invalidate(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		for (unsigned fate = 0; fate < FATES; fate++) {
			bool good = may_invalidate(kind, fate);
			uint8_t receive = good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_REM_INV_REQ_ERR;
			struct vsend wr = {.opcode = UHCA_ABI_WR_SEND_WITH_INV};
			struct bench t;

			if (!exists(kind, fate))
				continue;
			open_bench(&t, (enum kind)kind, (enum fate)fate, FULL);
			wr.imm = t.key;
			post_receive(&t);
			post(&t, &wr, 0, 0);
			/* No NAK: the requester gives up (class J). */
			expect_both(&t, good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_RETRY_EXC_ERR,
				    &receive);
			close_bench(&t);
		}
	}
}

static void test_local_invalidate(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		for (unsigned fate = 0; fate < FATES; fate++) {
			bool good = may_invalidate(kind, fate);
			struct vsend wr = {.opcode = UHCA_ABI_WR_LOCAL_INV,
					   .flags = UHCA_ABI_SEND_SIGNALED};
			struct bench t;

			if (!exists(kind, fate))
				continue;
			open_bench(&t, (enum kind)kind, (enum fate)fate, FULL);
			wr.imm = t.key;
			world_assert(t.p.w, vqp_post_send(t.to, &wr) == 0);
			side_wait(&t.p.b, 1);
			assert_int_equal(t.p.b.wc[0].status,
					 good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_MW_BIND_ERR);
			close_bench(&t);
		}
	}
}

/* ---- binding ---- */

enum ground {
	GOOD,
	OTHER_PD,
	STALE_KEY,
	GONE,
	WINDOW_KEY,
	NO_BIND,
	NO_LOCAL_WRITE,
	ON_PAGES,
	ON_BLOCKS,
	ON_COLUMN,
	ON_SG,
	GROUNDS
};

/* The L_Key of something to bind to, over [BASE, BASE + LENGTH). */
static uint32_t make_ground(struct bench *t, enum ground ground)
{
	struct side *b = &t->p.b;
	struct vmr range = {.addr = b->mr.addr + BASE, .length = LENGTH}, mr;
	uint32_t access = IBV_ACCESS_REMOTE_READ, pd = b->c.pd;
	struct vmw other;
	int rc = 0;

	if (ground >= ON_PAGES) {
		world_assert(t->p.w, vclient_alloc_key(&b->c, pd, 4, &mr) == 0);
		describe(t, (enum kind)(PAGES + (ground - ON_PAGES)), &mr,
			 FULL | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		return mr.lkey;
	}
	if (ground != NO_BIND)
		access |= IBV_ACCESS_MW_BIND;
	if (ground != NO_LOCAL_WRITE)
		access |= IBV_ACCESS_LOCAL_WRITE;
	if (ground == OTHER_PD)
		rc = core_alloc_pd(b->c.core, &pd);
	rc = rc ? rc : vclient_reg_mr_pd(&b->c, pd, &range, access, &mr);
	world_assert(t->p.w, rc == 0);
	if (ground == GONE)
		world_assert(t->p.w, vclient_dereg_mr(&b->c, &mr) == 0);
	if (ground == WINDOW_KEY) {
		window_alloc(b, 1, &other);
		return other.rkey;
	}
	return ground == STALE_KEY ? mr.lkey ^ 0x55 : mr.lkey;
}

static void one_bind(enum kind kind, enum ground ground, uint32_t right, enum range range)
{
	bool stores = right & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	bool inside = range == FRONT || range == BACK;
	bool good = inside && (ground == GOOD || (ground == NO_LOCAL_WRITE && !stores) ||
			       ground == ON_PAGES || ground == ON_BLOCKS);
	struct vsend wr = {.opcode = UHCA_ABI_WR_BIND_MW, .flags = UHCA_ABI_SEND_SIGNALED};
	struct bench t;

	if (range == NOTHING) /* unbinds type 1, whatever the region; type 2 has no such thing */
		good = kind == MW1;
	open_bench(&t, kind, UNBOUND, 0);
	wr.bind.addr = address(&t, range, 64);
	wr.bind.length = range == NOTHING ? 0 : 64;
	wr.bind.mr_lkey = make_ground(&t, ground);
	wr.bind.access = right;
	wr.bind.mw_rkey = t.w.rkey;
	wr.bind.new_rkey = window_next_key(t.w.rkey);
	side_poll(&t.p.b);
	t.p.b.n_wc = 0;
	world_assert(t.p.w, vqp_post_send(&t.p.b.qp, &wr) == 0);
	side_wait(&t.p.b, 1);
	if (t.p.b.wc[0].status != (good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_MW_BIND_ERR))
		world_fail(t.p.w, "kind %d ground %d right %x range %d: status %u", kind, ground,
			   right, range, t.p.b.wc[0].status);
	close_bench(&t);
}

static void test_bind(void **state)
{
	static const uint32_t rights[] = {0, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE,
					  IBV_ACCESS_REMOTE_ATOMIC};

	(void)state;
	for (unsigned kind = MW1; kind <= MW2B; kind++)
		for (unsigned ground = 0; ground < GROUNDS; ground++)
			for (unsigned i = 0; i < 4; i++)
				for (unsigned range = 0; range < RANGES; range++)
					one_bind((enum kind)kind, (enum ground)ground, rights[i],
						 (enum range)range);
}

/* ---- local keys: what a list's element may name ---- */

/* SEND out of the key, RECV into it, READ into it. */
enum use { SEND_FROM, RECV_INTO, READ_INTO, USES };

static void one_element(enum kind kind, enum fate fate, bool writable, const enum use use,
			enum range range)
{
	struct bench t;
	bool good;
	uint8_t mine;
	struct vsend wr = {.opcode = use == READ_INTO ? UHCA_ABI_WR_RDMA_READ : UHCA_ABI_WR_SEND,
			   .wr_id = 1,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .num_sge = 1};
	struct uhca_abi_sge sge, far;

	open_bench(&t, kind, fate, writable ? FULL : READ_ONLY);
	/* A window has no L_Key; a region's is good for all queues of its domain. */
	good = (kind == MR || is_indirect(kind)) && opens[kind][fate] &&
	       (range == FRONT || range == BACK) && (writable || use == SEND_FROM);
	good = good || range == NOTHING;
	sge = (struct uhca_abi_sge){address(&t, range, 64), range == NOTHING ? 0 : 64, t.key};
	far = (struct uhca_abi_sge){t.p.a.mr.addr, sge.length, t.p.a.mr.lkey};
	side_ignore(&t.p.a, 0, 64);
	side_ignore(&t.p.b, BASE, LENGTH);
	wr.sge = use == RECV_INTO ? &far : &sge;
	wr.remote_addr = far.addr;
	wr.rkey = t.p.a.mr.rkey;
	world_assert(t.p.w,
		     vqp_post_recv(use == RECV_INTO ? t.to : t.from,
				   &(struct vrecv){2, use == RECV_INTO ? &sge : &far, 1}) == 0);
	world_assert(t.p.w, vqp_post_send(use == RECV_INTO ? t.from : t.to, &wr) == 0);
	side_wait(&t.p.b, 1);
	mine = t.p.b.wc[0].status;
	if (mine != (good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_LOC_PROT_ERR))
		world_fail(t.p.w, "kind %d fate %d use %d range %d writable %d: status %u", kind,
			   fate, use, range, writable, mine);
	if (use == RECV_INTO) {
		side_wait(&t.p.a, 1);
		assert_int_equal(t.p.a.wc[0].status,
				 good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_REM_OP_ERR);
	}
	close_bench(&t);
}

static void test_elements(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned fate = 0; fate < FATES; fate++)
			for (unsigned use = 0; use < USES; use++)
				for (unsigned range = 0; exists(kind, fate) && range < RANGES;
				     range++)
					one_element((enum kind)kind, (enum fate)fate, true,
						    (enum use)use, (enum range)range);
	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned use = 0; use < USES; use++)
			if (kind == MR || is_indirect((enum kind)kind))
				one_element((enum kind)kind, OWN, false, (enum use)use, FRONT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_fates),
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_local_invalidate),
		cmocka_unit_test(test_bind),
		cmocka_unit_test(test_elements),
	};

	return cmocka_run_group_tests_name("access_matrix", tests, NULL, NULL);
}
