/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two clients of one device that describe keys with anything, by messages and through their queues,
 * change requests while they are pending, take away what is in use, use the keys from near and
 * far, and end in any order. What they registered and allowed is what may be touched, nothing
 * else (layout_stage.h).
 *
 * Input: u8 of flags (1: the clients share, 2: an implicit region, 4: the last client ends first),
 * then steps: u8 kind, and what the kind takes.
 */
#include "fuzz.h"

#include "input.h"
#include "layout_stage.h"

#include "emu/core/keys/mr.h"
#include "emu/core/keys/mw.h"
#include "emu/core/qp/qp.h"

#define MAX_STEPS 300

#define THINGS (REGIONS + KEYS + WINDOWS + 1)

/* Something with a key, as it is now. */
struct named {
	uint32_t key;
	uint64_t base, length;
};

static const void *find_key(struct stage *s, uint32_t key)
{
	return table_find(&s->w->device[0].host.dev->mrs, key >> 8);
}

static uint32_t number_of(const struct actor *a, unsigned i)
{
	if (i < REGIONS)
		return a->region[i].mr.lkey;
	if (i < REGIONS + KEYS)
		return a->key[i - REGIONS].lkey;
	if (i < REGIONS + KEYS + WINDOWS)
		return a->window[i - REGIONS - KEYS].rkey;
	return a->implicit.lkey;
}

/* u8: bits 0..4 which; 64: of the other client; 128: with another key byte, u8. */
static struct named choose(struct stage *s, struct fuzz_input *in, unsigned actor)
{
	uint8_t which = input_u8(in);
	const struct actor *a = &s->actor[which & 64 ? !actor : actor];
	struct named n = {.key = number_of(a, (which & 31) % THINGS)};
	const struct object *o = find_key(s, n.key);

	if (o && o->kind == KEY_MW) {
		const struct mw *mw = (const void *)o;

		n = (struct named){mw->key, mw->access & MR_ZERO_BASED ? 0 : mw->addr, mw->length};
	} else if (o) {
		const struct mr *mr = (const void *)o;

		n = (struct named){mr->key, mr->iova, mr->pages.length};
	}
	if (which & 128)
		n.key ^= input_u8(in);
	return n;
}

/* u16, u16: a piece of it, inside when it has bytes at all and the second is below 0x8000. */
static struct uhca_abi_block choose_piece(struct stage *s, struct fuzz_input *in, unsigned actor)
{
	struct named n = choose(s, in, actor);
	uint64_t offset = input_u16(in), length = input_u16(in);

	if (n.length && length < 0x8000) {
		offset %= n.length;
		length = 1 + length % (n.length - offset < 0x8000 ? n.length - offset : 0x8000);
	}
	return (struct uhca_abi_block){n.base + offset, length, n.key, 0};
}

/* ---- descriptions ---- */

struct draft {
	uint32_t shape, bytes;
	struct uhca_abi_layout layout;
	union {
		uint64_t word[UHCA_ABI_LAYOUT_BYTES / 8];
		struct uhca_abi_block block[1];
		uint8_t byte[1];
	} list;
};

static void draft_pages(struct stage *s, struct fuzz_input *in, unsigned actor, struct draft *d)
{
	struct named n = choose(s, in, actor);
	uint64_t first = input_u16(in) & 4095;

	if (first < (n.base & 4095))
		first = n.base & 4095;
	d->layout.lkey = n.key;
	d->layout.page_shift = UHCA_ABI_MIN_PAGE_SHIFT;
	d->layout.iova = (d->layout.iova & ~(uint64_t)4095) | first;
	d->layout.length = d->layout.n * 4096ull - first - (input_u16(in) & 4095);
	for (unsigned i = 0; i < d->layout.n; i++)
		d->list.word[i] = (n.base & ~(uint64_t)4095) + 4096ull * (input_u8(in) & 7);
	d->bytes = d->layout.n * 8u;
}

static void draft_blocks(struct stage *s, struct fuzz_input *in, unsigned actor, struct draft *d)
{
	for (unsigned i = 0; i < d->layout.n; i++)
		d->list.block[i] = choose_piece(s, in, actor);
	d->bytes = d->layout.n * (uint32_t)sizeof(d->list.block[0]);
}

static void draft_pieces(struct stage *s, struct fuzz_input *in, unsigned actor, struct draft *d)
{
	struct uhca_abi_piece *piece;

	d->layout.n_dims = input_u8(in) & 3;
	for (unsigned k = 0; k < d->layout.n_dims; k++)
		d->list.word[k] = 1 + (input_u8(in) & 15);
	piece = (void *)(d->list.word + d->layout.n_dims);
	for (unsigned i = 0; i < d->layout.n; i++) {
		struct uhca_abi_block b = choose_piece(s, in, actor);

		piece[i] = (struct uhca_abi_piece){
			.addr = b.addr, .bytes = 1 + b.length % 300, .lkey = b.lkey};
		for (unsigned k = 0; k < d->layout.n_dims; k++)
			piece[i].stride[k] = (int16_t)input_u16(in) >> 5;
	}
	d->bytes = (uint32_t)(d->layout.n_dims * 8 + d->layout.n * sizeof(*piece));
}

/* Up to three bytes of description, list or length are changed: u16 where, u8 how. */
static void corrupt(struct fuzz_input *in, struct draft *d)
{
	for (unsigned n = input_u8(in) & 3; n > 0; n--) {
		uint16_t where = input_u16(in);
		uint8_t how = input_u8(in);

		if (where & 0x8000)
			((uint8_t *)&d->layout)[where % sizeof(d->layout)] ^= how;
		else if (where & 0x4000)
			d->bytes ^= how;
		else
			d->list.byte[where % (d->bytes ? d->bytes : 1)] ^= how;
	}
	if (d->bytes > sizeof(d->list))
		d->bytes = sizeof(d->list);
}

static uint32_t choose_access(uint8_t which)
{
	static const uint32_t access[] = {
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_REMOTE_READ,
		0,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
		IBV_ACCESS_MW_BIND,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED,
	};

	return access[which & 7];
}

static void make_draft(struct stage *s, struct fuzz_input *in, unsigned actor, struct draft *d)
{
	uint8_t how = input_u8(in);

	d->layout.n = (uint16_t)(1 + (how & 7));
	d->layout.access = choose_access(how >> 3);
	if (how & 64)
		d->layout.key ^= input_u8(in);
	if (how & 128)
		d->layout.iova = (uint64_t)input_u16(in) << 4;
	switch (d->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		draft_pages(s, in, actor, d);
		break;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		draft_pieces(s, in, actor, d);
		break;
	default:
		draft_blocks(s, in, actor, d);
		break;
	}
}

static void describe_by_queue(struct vqp *qp, const struct draft *d)
{
	static const uint8_t opcode[] = {[UHCA_ABI_SHAPE_PAGES] = UHCA_ABI_WR_REG_MR,
					 [UHCA_ABI_SHAPE_BLOCKS] = UHCA_ABI_WR_REG_MR,
					 [UHCA_ABI_SHAPE_INTERLEAVED] = UHCA_ABI_WR_REG_INTERLEAVED,
					 [UHCA_ABI_SHAPE_SG] = UHCA_ABI_WR_REG_SG};

	/* Refused when the ring is full or the list too long for it: as good as not posted. */
	vqp_queue_send(qp, &(struct vsend){.opcode = opcode[d->shape],
					   .flags = UHCA_ABI_SEND_SIGNALED,
					   .reg = d->layout,
					   .list = d->list.byte,
					   .list_bytes = d->bytes});
}

/* u8: 1 actor, 2 QP, 4 through the queue, 8 and 16 shape, 32 corrupted; u8: key. */
static void describe(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in);
	unsigned actor = who & 1;
	struct actor *a = &s->actor[actor];
	const struct vmr *key = &a->key[input_u8(in) % KEYS];
	const struct mr *mr = find_key(s, key->lkey);
	struct draft d = {.shape = 1 + (who >> 3 & 3)};

	d.layout.key = mr ? mr->key : key->lkey;
	make_draft(s, in, actor, &d);
	if (who & 32)
		corrupt(in, &d);
	if (!a->open)
		return;
	if (who & 4)
		describe_by_queue(&a->qp[who >> 1 & 1], &d);
	else
		vclient_describe_key(&a->c, d.shape, &d.layout, d.list.byte, d.bytes);
}

/* ---- requests ---- */

struct kind {
	uint8_t opcode;
	uint32_t here, there; /* what it does */
	uint32_t length;      /* 0: any */
	bool odd;             /* stores numbers */
};

static const struct kind kinds[] = {
	{UHCA_ABI_WR_RDMA_WRITE, LOCAL_READ, IBV_ACCESS_REMOTE_WRITE, 0, false},
	{UHCA_ABI_WR_SEND, LOCAL_READ, IBV_ACCESS_LOCAL_WRITE, 0, false},
	{UHCA_ABI_WR_RDMA_READ, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, 0, false},
	{UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_ATOMIC, 8, true},
	{UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_ATOMIC, 8,
	 true},
	{UHCA_ABI_WR_MASKED_CMP_SWP, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_ATOMIC, 16, true},
	{UHCA_ABI_WR_MASKED_FETCH_ADD, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_ATOMIC, 32, true},
	{UHCA_ABI_WR_ATOMIC_WRITE, LOCAL_READ, IBV_ACCESS_REMOTE_WRITE, 8, false},
	{UHCA_ABI_WR_FLUSH, 0, 0, 0, false},
	{UHCA_ABI_WR_SEND_WITH_INV, LOCAL_READ, IBV_ACCESS_LOCAL_WRITE, 0, false},
	{UHCA_ABI_WR_LOCAL_INV, 0, 0, 0, false},
	{UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, LOCAL_READ, IBV_ACCESS_REMOTE_WRITE, 0, false},
	{UHCA_ABI_WR_READ_WITH_INV, IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, 0, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Elements; of a list with a length of its own there is one. */
static uint32_t choose_list(struct stage *s, struct fuzz_input *in, unsigned actor,
			    struct uhca_abi_sge sge[3])
{
	uint32_t n = input_u8(in) & 3;

	for (uint32_t i = 0; i < n; i++) {
		struct uhca_abi_block b = choose_piece(s, in, actor);

		sge[i] = (struct uhca_abi_sge){b.addr, (uint32_t)b.length, b.lkey};
	}
	return n;
}

static void set_target(struct stage *s, struct fuzz_input *in, unsigned actor, struct vsend *wr)
{
	static const uint8_t operands[128] = {1, 2, 3};
	struct uhca_abi_block b = choose_piece(s, in, !actor);
	uint32_t align = wr->masked.size ? wr->masked.size : 1;

	wr->rkey = b.lkey;
	wr->remote_addr = b.addr & ~(uint64_t)(align - 1);
	wr->flush_length = b.length;
	wr->flush_type = 1;
	wr->compare_add = b.length;
	wr->swap = b.addr;
	wr->masked.operands = operands;
	wr->masked.bytes = (wr->opcode == UHCA_ABI_WR_MASKED_CMP_SWP ? 4 : 2) * wr->masked.size;
}

/* u8: 1 actor, 2 QP, 4 fenced, the rest which kind. */
static void request(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in);
	unsigned actor = who & 1, qp = who >> 1 & 1;
	const struct kind *k = &kinds[(who >> 3) % KINDS];
	struct uhca_abi_sge sge[3];
	struct vsend wr = {.opcode = k->opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED | (who & 4 ? UHCA_ABI_SEND_FENCE : 0),
			   .sge = sge,
			   .num_sge = choose_list(s, in, actor, sge),
			   .masked = {.size = k->length}};

	set_target(s, in, actor, &wr);
	if (k->opcode == UHCA_ABI_WR_SEND_WITH_INV)
		wr.imm = choose(s, in, !actor).key;
	if (k->opcode == UHCA_ABI_WR_LOCAL_INV)
		wr.imm = choose(s, in, actor).key;
	if (k->length && wr.num_sge) {
		wr.num_sge = 1;
		sge[0].length = k->length;
	}
	if (!s->actor[actor].open || vqp_queue_send(&s->actor[actor].qp[qp], &wr))
		return;
	stage_allow(s, actor, qp, k->here, k->there);
	s->odd_values |= k->odd;
}

static void receive(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in);
	struct actor *a = &s->actor[who & 1];
	struct uhca_abi_sge sge[3];
	struct vrecv wr = {.sge = sge, .num_sge = choose_list(s, in, who & 1, sge)};

	if (a->open)
		vqp_post_recv(&a->qp[who >> 1 & 1], &wr);
}

static void bind(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in), rights = input_u8(in);
	struct actor *a = &s->actor[who & 1];
	struct uhca_abi_block b = choose_piece(s, in, who & 1);
	const struct mw *mw = find_key(s, a->window[who >> 2 & 1].rkey);
	uint32_t key = mw ? mw->key : a->window[who >> 2 & 1].rkey;

	if (a->open)
		vqp_queue_send(
			&a->qp[who >> 1 & 1],
			&(struct vsend){.opcode = UHCA_ABI_WR_BIND_MW,
					.flags = UHCA_ABI_SEND_SIGNALED,
					.bind = {b.addr, who & 64 ? 0 : b.length, b.lkey, key,
						 key ^ (1 + (who >> 3 & 7)), rights & 0x2e}});
}

/* ---- interference ---- */

static void ring(struct stage *s)
{
	for (unsigned i = 0; i < ACTORS; i++)
		for (unsigned k = 0; s->actor[i].open && k < 2; k++)
			vqp_doorbell(&s->actor[i].qp[k]);
}

/*
 * u8: 1 actor, 2 QP, 4 and 8 how many slots back, 16 the data area and not the slot; u16 where;
 * u8 how. From now on the request may be anything that the QP can do.
 */
static void scribble(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in);
	struct actor *a = &s->actor[who & 1];
	struct vring *r = &a->qp[who >> 1 & 1].send;
	uint16_t where = input_u16(in);
	uint8_t how = input_u8(in);
	size_t slot;

	if (!a->open)
		return;
	slot = (r->producer - 1 - (who >> 2 & 3)) & (r->at.entries - 1);
	if (who & 16 && r->at.data_stride)
		r->base[r->at.data_offset + slot * r->at.data_stride + where % r->at.data_stride] ^=
			how;
	else
		r->base[r->at.offset + slot * r->at.stride + where % r->at.stride] ^= how;
	stage_allow(s, who & 1, who >> 1 & 1, ANYTHING, ANYTHING);
	s->odd_values = true;
}

/* A key goes, whatever it describes, unless it is used; and a new one comes. */
static void renew_key(struct stage *s, unsigned actor, unsigned i)
{
	struct actor *a = &s->actor[actor];
	uint32_t pd = s->pd[a->qp_pd[i == KEYS - 1]];
	const struct mr *mr = find_key(s, a->key[i].lkey);
	bool used = mr && mr->obj.refs;

	FUZZ_CHECK(mr != NULL);
	FUZZ_CHECK((vclient_dereg_mr(&a->c, &a->key[i]) == 0) == !used);
	if (!used)
		FUZZ_CHECK(vclient_alloc_key(&a->c, pd, ENTRIES, &a->key[i]) == 0);
}

static void remove_something(struct stage *s, struct fuzz_input *in)
{
	uint8_t who = input_u8(in);
	unsigned actor = who & 1, what = (who >> 1) % (REGIONS + KEYS);

	if (!s->actor[actor].open)
		return;
	if (what >= REGIONS)
		renew_key(s, actor, what - REGIONS);
	else if (s->actor[actor].region[what].live)
		stage_deregister(s, actor, what);
	else
		stage_register(s, actor, what);
}

/* u8: rare ends; mostly just new queues. */
static void renew(struct stage *s, struct fuzz_input *in)
{
	uint8_t which = input_u8(in);

	if (which >= 0xf8)
		stage_close(s, which & 1);
	else
		stage_renew_qps(s, which & 1);
}

static void step(struct stage *s, struct fuzz_input *in)
{
	switch (input_u8(in) % 12) {
	case 0:
	case 1:
	case 2:
		describe(s, in);
		break;
	case 3:
	case 4:
		request(s, in);
		break;
	case 5:
		receive(s, in);
		break;
	case 6:
		bind(s, in);
		break;
	case 7:
		scribble(s, in);
		break;
	case 8:
		remove_something(s, in);
		break;
	case 9:
		ring(s);
		stage_settle(s, input_u8(in));
		break;
	case 10:
		ring(s);
		stage_settle(s, 2000);
		break;
	default:
		renew(s, in);
		break;
	}
	stage_check(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t flags = input_u8(&in);
	struct stage s;

	stage_create(&s, flags & 1, flags & 2);
	for (unsigned i = 0; i < MAX_STEPS && in.left; i++)
		step(&s, &in);
	ring(&s);
	stage_finish(&s, flags & 4);
	return 0;
}
