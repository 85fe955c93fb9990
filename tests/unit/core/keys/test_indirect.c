/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions against a model that spells out the address of every byte: random layouts of all
 * shapes, one over the other, described, refused, read, written and invalidated; and the rules.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/keys/sgl.h"
#include "emu/core/qp/qp.h"
#include "tests/support/wire/prng.h"

#include <errno.h>
#include <stdlib.h>

#define LAYOUTS  4000
#define KEYS     8
#define REGIONS  3
#define REGION   (24u << 10)
#define MAX_SIZE (96u << 10) /* bytes of a layout */
#define MAX_LIST 12
#define ALL      PAIR_ACCESS
#define READABLE (uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)

/* Something with a key: an ordinary region, or an indirect memory key. */
struct thing {
	struct vmr mr;
	uint32_t key, access;
	uint64_t iova, length;
	unsigned depth, users; /* depth 0: ordinary */
	bool valid;
	uint64_t *byte; /* where each is */
	struct thing *child[MAX_LIST];
	unsigned n_children;
};

struct fixture {
	struct pair p;
	struct qp *qp;
	struct prng rng;
	struct thing thing[REGIONS + KEYS];
	unsigned made, refused;
};

/* A description under construction, with what the model makes of it. */
struct draft {
	uint32_t shape, bytes;
	struct uhca_abi_layout layout;
	union {
		uint64_t page[MAX_LIST];
		struct uhca_abi_block block[MAX_LIST];
		uint64_t word[UHCA_ABI_MAX_DIMS + MAX_LIST * sizeof(struct uhca_abi_piece) / 8];
	} list;
	int err; /* what the model expects */
	unsigned depth;
	uint64_t length;
	uint64_t byte[MAX_SIZE];
	struct thing *child[MAX_LIST];
	unsigned n_children;
};

static uint64_t below(struct fixture *f, uint64_t n)
{
	return n ? prng_u64(&f->rng) % n : 0;
}

static struct mr *struct_of(struct fixture *f, const struct thing *t)
{
	return table_find(&f->qp->dev->mrs, t->key >> 8);
}

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	pair_create(&f->p, &(struct pair_options){0});
	f->qp = device_find_qp(f->p.a.c.host->dev, f->p.a.qp.qpn);
	f->rng = prng_start("indirect");
	for (unsigned i = 0; i < REGIONS + KEYS; i++) {
		struct thing *t = &f->thing[i];
		struct vclient *c = &f->p.a.c;
		t->byte = calloc(i < REGIONS ? REGION : MAX_SIZE, sizeof(*t->byte));
		if (i >= REGIONS) {
			assert_int_equal(vclient_alloc_key(c, c->pd, MAX_LIST, &t->mr), 0);
			t->key = t->mr.lkey;
			continue;
		}
		t->iova = memory_map(&c->mem, REGION);
		t->length = REGION;
		t->access = i ? ALL : READABLE;
		t->valid = true;
		assert_int_equal(vclient_reg_mr(c, t->iova, REGION, t->access, &t->mr), 0);
		t->key = t->mr.lkey;
		for (unsigned b = 0; b < REGION; b++)
			t->byte[b] = t->iova + b;
	}
}

static void finish(struct fixture *f)
{
	for (unsigned i = 0; i < REGIONS + KEYS; i++)
		free(f->thing[i].byte);
	pair_finish(&f->p);
}

/* Adds the bytes [addr, addr + n) of a child to the model, or finds what is wrong with them. */
static void draw(struct draft *d, const struct thing *child, uint64_t addr, uint64_t n)
{
	if (d->err)
		return;
	if (!child->valid || !n || addr < child->iova || addr - child->iova >= child->length ||
	    n > child->length - (addr - child->iova) ||
	    (d->layout.access & ~child->access & (uint32_t)ALL) || d->length + n > MAX_SIZE) {
		d->err = -EINVAL;
		return;
	}
	if (child->depth + 1 > d->depth)
		d->depth = child->depth + 1;
	memcpy(d->byte + d->length, child->byte + (addr - child->iova), n * sizeof(*d->byte));
	d->length += n;
}

static struct thing *choose_child(struct fixture *f, struct draft *d)
{
	struct thing *t = &f->thing[below(f, 3) ? below(f, REGIONS) : below(f, REGIONS + KEYS)];

	d->child[d->n_children++] = t;
	return t;
}

/* Mostly inside the region; sometimes not. */
static uint64_t choose_addr(struct fixture *f, const struct thing *t, uint64_t room)
{
	if (!below(f, 60))
		return t->iova + t->length - below(f, room + 2);
	return t->iova + below(f, t->length > room ? t->length - room : 1);
}

static void make_blocks(struct fixture *f, struct draft *d)
{
	d->layout.n = (uint16_t)(1 + below(f, MAX_LIST));
	d->bytes = d->layout.n * (uint32_t)sizeof(struct uhca_abi_block);
	for (unsigned i = 0; i < d->layout.n; i++) {
		const struct thing *t = choose_child(f, d);
		uint64_t n = below(f, 40) ? 1 + below(f, 2000) : 0;
		d->list.block[i] = (struct uhca_abi_block){choose_addr(f, t, n), n, t->key, 0};
		draw(d, t, d->list.block[i].addr, n);
	}
}

static void make_pages(struct fixture *f, struct draft *d)
{
	const struct thing *t = &f->thing[below(f, REGIONS)];
	uint64_t first, left;

	d->child[d->n_children++] = (struct thing *)t;
	d->layout.n = (uint16_t)(1 + below(f, 5));
	d->bytes = d->layout.n * 8u;
	d->layout.page_shift = 12;
	d->layout.lkey = t->key;
	first = d->layout.iova & 4095;
	left = d->layout.length = (d->layout.n - 1u) * 4096ull + 1 + below(f, 4096);
	if (left <= first)
		left = d->layout.length = first + 1;
	left = d->layout.length -= first;
	for (unsigned i = 0; i < d->layout.n; i++) {
		uint64_t from = i ? 0 : first, n = 4096 - from < left ? 4096 - from : left;
		d->list.page[i] = t->iova + below(f, REGION / 4096) * 4096;
		if (!below(f, 80))
			d->list.page[i] += 4096 * REGION;
		if (!left)
			d->err = -EINVAL; /* a page without a byte of the region */
		draw(d, t, d->list.page[i] + from, n);
		left -= n;
	}
	if (left)
		d->err = -EINVAL;
}

/* One element, and whether the model follows it: the room it walks over is judged by its ends. */
static void draw_rounds(struct draft *d, const uint64_t *count, const struct uhca_abi_piece *piece,
			struct thing **child)
{
	uint64_t index[UHCA_ABI_MAX_DIMS] = {0};
	unsigned k;

	do {
		for (unsigned i = 0; i < d->layout.n; i++) {
			uint64_t at = piece[i].addr;
			for (k = 0; k < d->layout.n_dims; k++)
				at += index[k] * (uint64_t)piece[i].stride[k];
			draw(d, child[i], at, piece[i].bytes);
		}
		for (k = d->layout.n_dims; k-- > 0 && ++index[k] == count[k];)
			index[k] = 0;
	} while (k < UHCA_ABI_MAX_DIMS);
}

static void make_interleaved(struct fixture *f, struct draft *d)
{
	uint64_t *count = d->list.word;
	unsigned dims = (unsigned)below(f, 4), n = 1 + (unsigned)below(f, 3);
	struct uhca_abi_piece *piece = (void *)(count + dims);

	d->layout.n_dims = (uint8_t)dims;
	d->layout.n = (uint16_t)n;
	d->bytes = dims * 8u + n * (uint32_t)sizeof(*piece);
	for (unsigned k = 0; k < dims; k++)
		count[k] = 1 + below(f, k ? 6 : 20);
	for (unsigned i = 0; i < n; i++) {
		const struct thing *t = choose_child(f, d);
		uint64_t bytes = 1 + below(f, 64), room = 0;
		piece[i] = (struct uhca_abi_piece){.bytes = bytes, .lkey = t->key};
		for (unsigned k = 0; k < dims; k++) {
			piece[i].stride[k] = below(f, 4) ? (int64_t)below(f, 300) : (int64_t)bytes;
			room += (count[k] - 1) * (uint64_t)piece[i].stride[k];
		}
		piece[i].addr = choose_addr(f, t, room + bytes);
		for (unsigned k = 0; k < dims; k++)
			if (!below(f, 4)) { /* the other way round */
				piece[i].addr += (count[k] - 1) * (uint64_t)piece[i].stride[k];
				piece[i].stride[k] = -piece[i].stride[k];
			}
	}
	draw_rounds(d, count, piece, d->child);
}

static void make_draft(struct fixture *f, const struct thing *t, struct draft *d)
{
	static const uint32_t shapes[] = {UHCA_ABI_SHAPE_PAGES, UHCA_ABI_SHAPE_BLOCKS,
					  UHCA_ABI_SHAPE_INTERLEAVED, UHCA_ABI_SHAPE_SG};

	d->shape = shapes[below(f, 4)];
	d->layout = (struct uhca_abi_layout){.key = (t->key & ~0xffu) | (uint32_t)below(f, 256),
					     .iova = below(f, 2) ? below(f, 1ull << 40) : 0,
					     .access = below(f, 8) ? READABLE : (uint32_t)ALL};
	d->err = 0;
	d->depth = d->n_children = 0;
	d->length = 0;
	memset(&d->list, 0, sizeof(d->list));
	if (d->shape == UHCA_ABI_SHAPE_PAGES)
		make_pages(f, d);
	else if (d->shape == UHCA_ABI_SHAPE_INTERLEAVED)
		make_interleaved(f, d);
	else
		make_blocks(f, d);
	if (d->depth > UHCA_ABI_MAX_DEPTH)
		d->err = -EINVAL;
	for (unsigned i = 0; i < d->n_children; i++)
		if (d->child[i] == t)
			d->err = -EINVAL;
	if (t->users)
		d->err = -EBUSY;
}

static void forget(struct thing *t)
{
	for (unsigned i = 0; i < t->n_children; i++)
		t->child[i]->users--;
	t->n_children = 0;
	t->valid = false;
	t->length = 0;
	t->depth = 0;
}

static void accept(struct thing *t, const struct draft *d)
{
	forget(t);
	t->valid = true;
	t->key = d->layout.key;
	t->access = d->layout.access;
	t->iova = d->layout.iova;
	t->length = d->length;
	t->depth = d->depth;
	memcpy(t->byte, d->byte, d->length * sizeof(*d->byte));
	for (unsigned i = 0; i < d->n_children; i++) {
		t->child[t->n_children++] = d->child[i];
		d->child[i]->users++;
	}
}

/* One draw of the model may be longer than it follows; then nothing is said about the answer. */
static void describe(struct fixture *f, struct thing *t)
{
	static struct draft d;
	int err;

	do {
		make_draft(f, t, &d);
	} while (d.length > MAX_SIZE - 2100);
	err = indirect_describe(struct_of(f, t), d.shape, &d.layout, &d.list, d.bytes);
	assert_int_equal(err, d.err);
	if (err) {
		f->refused++;
	} else {
		f->made++;
		accept(t, &d);
	}
}

static void access_randomly(struct fixture *f, const struct thing *t)
{
	static uint8_t data[MAX_SIZE];
	uint64_t at = below(f, t->length), n = 1 + below(f, t->length - at);
	struct uhca_abi_sge sge = {t->iova + at, (uint32_t)n, t->key};
	struct sgl l = {f->qp->dev, f->qp->pd, &sge, 1};
	struct iovec iov = {data, n};
	struct memory *m = &f->p.a.c.mem;

	assert_int_equal(sgl_check(&l, 0), MR_OK);
	assert_int_equal(sgl_read(&l, 0, (uint32_t)n, data), 0);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(data[i], *memory_at(m, t->byte[at + i], 1));
	for (uint64_t i = 0; i < n; i++)
		data[i] = (uint8_t)prng_u64(&f->rng);
	assert_int_equal(sgl_write(&l, 0, &iov, 1), 0);
	for (uint64_t i = 0; i < n; i++)
		memory_expect(m, t->byte[at + i], &data[i], 1);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(*memory_at(m, t->byte[at + i], 1),
				 *memory_expected(m, t->byte[at + i], 1));
}

/* What the key does not open. */
static void check_edges(struct fixture *f, const struct thing *t)
{
	const struct pd *pd = f->qp->pd;
	struct mr *mr;

	assert_int_equal(mr_check(pd, t->key, t->iova, 1, 0, &mr), t->valid ? MR_OK : MR_BAD_KEY);
	assert_int_equal(mr_check(pd, t->key ^ 1, t->iova, 1, 0, &mr), MR_BAD_KEY);
	if (!t->valid)
		return;
	assert_int_equal(mr_check(pd, t->key, t->iova, t->length + 1, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, t->key, t->iova + t->length, 1, 0, &mr), MR_BAD_RANGE);
	assert_int_equal(mr_check(pd, t->key, t->iova, 1, MR_REMOTE_WRITE, &mr),
			 t->access & MR_REMOTE_WRITE ? MR_OK : MR_BAD_ACCESS);
	assert_int_equal(struct_of(f, t)->obj.refs, t->users);
}

static void test_random_layouts(void **state)
{
	static struct fixture f;

	(void)state;
	start(&f);
	while (f.made < LAYOUTS) {
		struct thing *t = &f.thing[REGIONS + below(&f, KEYS)];
		if (below(&f, 4) || !t->valid || t->users) {
			describe(&f, t);
		} else {
			indirect_invalidate(struct_of(&f, t));
			forget(t);
		}
		check_edges(&f, t);
		if (t->valid)
			access_randomly(&f, t);
	}
	print_message("%u layouts made, %u refused\n", f.made, f.refused);
	assert_true(f.refused > LAYOUTS / 20);
	finish(&f);
}

/* ---- rules, one by one ---- */

struct rig {
	struct pair p;
	struct vmr key;
	struct mr *mr;
};

static void rig_start(struct rig *r)
{
	struct vclient *c = &r->p.a.c;

	pair_create(&r->p, &(struct pair_options){0});
	assert_int_equal(vclient_alloc_key(c, c->pd, 4, &r->key), 0);
	r->mr = table_find(&c->host->dev->mrs, r->key.lkey >> 8);
}

static int one_piece(struct rig *r, uint64_t count, int64_t stride, uint64_t bytes)
{
	struct {
		uint64_t count;
		struct uhca_abi_piece piece;
	} list = {count, {r->p.a.mr.addr, bytes, r->p.a.mr.lkey, 0, {stride}}};
	struct uhca_abi_layout l = {
		.key = r->key.lkey, .access = READABLE, .n = 1, .n_dims = 1, .iova = 0};

	return vclient_describe_key(&r->p.a.c, UHCA_ABI_SHAPE_INTERLEAVED, &l, &list, sizeof(list));
}

/* Sizes that wrap, reach out of the child, or are longer than any region may be. */
static void test_numbers(void **state)
{
	struct rig r;

	(void)state;
	rig_start(&r);
	assert_int_equal(one_piece(&r, 1, INT64_MAX, 8), 0);
	assert_int_equal(one_piece(&r, 1, INT64_MIN, 8), 0);
	assert_int_equal(one_piece(&r, PAIR_BUFFER / 8, 8, 8), 0);
	assert_int_equal(one_piece(&r, PAIR_BUFFER / 8 + 1, 8, 8), -EINVAL);
	assert_int_equal(one_piece(&r, 1ull << 41, 0, 64), 0); /* as long as any key may be */
	assert_int_equal(one_piece(&r, (1ull << 41) + 1, 0, 64), -EINVAL);
	assert_int_equal(one_piece(&r, 1ull << 40, 0, 64), 0); /* the same bytes again and again */
	assert_int_equal(one_piece(&r, 1ull << 47, 0, 64), -EINVAL);
	assert_int_equal(one_piece(&r, UINT64_MAX, 0, 1), -EINVAL);
	assert_int_equal(one_piece(&r, 2, INT64_MAX, 8), -EINVAL);
	assert_int_equal(one_piece(&r, 2, INT64_MIN, 8), -EINVAL);
	assert_int_equal(one_piece(&r, 1ull << 46, INT64_MAX, 1), -EINVAL);
	assert_int_equal(one_piece(&r, 2, -8, 8), -EINVAL);
	assert_int_equal(one_piece(&r, 0, 8, 8), -EINVAL);
	assert_int_equal(one_piece(&r, 4, 8, 0), -EINVAL);
	assert_int_equal(one_piece(&r, 4, 8, UINT64_MAX), -EINVAL);
	assert_int_equal(r.mr->pages.length, (1ull << 40) * 64);
	pair_finish(&r.p);
}

static int one_block(struct rig *r, uint32_t key, const struct uhca_abi_layout *l)
{
	struct uhca_abi_block b = {r->p.a.mr.addr, 64, key, 0};

	return vclient_describe_key(&r->p.a.c, UHCA_ABI_SHAPE_SG, l, &b, sizeof(b));
}

static void test_refused(void **state)
{
	struct uhca_abi_layout good, l;
	struct rig r;
	struct vmr foreign;
	uint32_t pd;

	(void)state;
	rig_start(&r);
	good = l = (struct uhca_abi_layout){.key = r.key.lkey ^ 0x55, .n = 1};
	assert_int_equal(one_block(&r, r.p.a.mr.lkey ^ 1, &l), -EINVAL); /* stale byte */
	assert_int_equal(one_block(&r, r.key.lkey, &l), -EINVAL);        /* itself, invalid */
	assert_int_equal(core_alloc_pd(r.p.a.c.core, &pd), 0);
	assert_int_equal(vclient_reg_mr_pd(&r.p.a.c, pd, &r.p.a.mr, READABLE, &foreign), 0);
	assert_int_equal(one_block(&r, foreign.lkey, &l), -EINVAL); /* another domain */
	l.access = 1u << 6;                                         /* on demand */
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l.access = IBV_ACCESS_REMOTE_WRITE; /* without local */
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l.access = IBV_ACCESS_MW_BIND; /* wider than the child's */
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l.access = IBV_ACCESS_ZERO_BASED;
	l.iova = 5;
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l = good;
	l.iova = UINT64_MAX - 62;
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l = good;
	l.n = 2; /* the list has one */
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l = good;
	l.key ^= 0x100;
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l.key = r.p.a.mr.lkey; /* an ordinary region */
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	assert_int_equal(r.mr->ind->shape, 0);
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &good), 0);
	assert_int_equal(r.mr->key, good.key);
	assert_int_equal(one_block(&r, good.key, &good), -EINVAL); /* itself, valid */
	assert_int_equal(vclient_dereg_mr(&r.p.a.c, &foreign), 0);
	pair_finish(&r.p);
}

/* A description that is good but for one number. */
struct form {
	uint32_t shape, bytes;
	struct uhca_abi_layout l;
	union {
		uint64_t page[2];
		struct uhca_abi_block block;
		struct {
			uint64_t count;
			struct uhca_abi_piece piece;
		} inter;
	} list;
};

static int describe_form(struct rig *r, const struct form *f)
{
	return indirect_describe(r->mr, f->shape, &f->l, &f->list, f->bytes);
}

#define CHANGED(good, member, value, error)                                                        \
	do {                                                                                       \
		struct form changed_ = good;                                                       \
		changed_.member = value;                                                           \
		assert_int_equal(describe_form(&r, &changed_), error);                             \
		assert_int_equal(describe_form(&r, &(good)), 0);                                   \
	} while (0)

/* What another shape has a number for, and what is out of a number's range. */
static void test_forms(void **state)
{
	struct form pages, first, block, inter;
	uint64_t page;
	struct rig r;

	(void)state;
	rig_start(&r);
	page = (r.p.a.mr.addr + 4095) & ~4095ull;
	pages = (struct form){.shape = UHCA_ABI_SHAPE_PAGES,
			      .bytes = 16,
			      .l = {.key = r.key.lkey,
				    .access = READABLE,
				    .length = 8192,
				    .lkey = r.p.a.mr.lkey,
				    .n = 2,
				    .page_shift = 12},
			      .list.page = {page + 4096, page}};
	CHANGED(pages, l.n_dims, 1, -EINVAL);
	CHANGED(pages, l.page_shift, 11, -EINVAL);
	CHANGED(pages, l.page_shift, 31, -EINVAL);
	CHANGED(pages, l.length, 0, -EINVAL);
	CHANGED(pages, l.length, 8193, -EINVAL);
	CHANGED(pages, l.length, 4096, -EINVAL); /* the second page has no part in it */
	CHANGED(pages, l.length, 4097, 0);
	CHANGED(pages, list.page[1], page + 1, -EINVAL);
	CHANGED(pages, list.page[1], page - 4096, -EINVAL); /* not of the region */
	CHANGED(pages, l.lkey, r.p.a.mr.lkey ^ 1, -EINVAL);
	CHANGED(pages, bytes, 24, -EINVAL);
	first = pages; /* it begins within the first page */
	first.l.iova = 100;
	first.l.length = 8092;
	CHANGED(first, l.length, 8093, -EINVAL);
	CHANGED(first, l.length, 3996, -EINVAL);
	CHANGED(first, l.length, 3997, 0);
	for (uint32_t shape = 0; shape < 2; shape++) {
		block = (struct form){.shape = shape ? UHCA_ABI_SHAPE_SG : UHCA_ABI_SHAPE_BLOCKS,
				      .bytes = sizeof(block.list.block),
				      .l = {.key = r.key.lkey, .access = READABLE, .n = 1},
				      .list.block = {page, 64, r.p.a.mr.lkey, 0}};
		CHANGED(block, l.length, 64, -EINVAL);
		CHANGED(block, l.lkey, r.p.a.mr.lkey, -EINVAL);
		CHANGED(block, l.page_shift, 12, -EINVAL);
		CHANGED(block, l.n_dims, 1, -EINVAL);
		CHANGED(block, l.n, 0, -EINVAL);
		CHANGED(block, list.block.reserved, 1, -EINVAL);
		CHANGED(block, list.block.length, 0, -EINVAL);
		CHANGED(block, list.block.length, (1ull << 47) + 1, -EINVAL);
	}
	inter = (struct form){.shape = UHCA_ABI_SHAPE_INTERLEAVED,
			      .bytes = sizeof(inter.list.inter),
			      .l = {.key = r.key.lkey, .access = READABLE, .n = 1, .n_dims = 1},
			      .list.inter = {2, {page, 8, r.p.a.mr.lkey, 0, {16}}}};
	CHANGED(inter, l.length, 16, -EINVAL);
	CHANGED(inter, l.lkey, r.p.a.mr.lkey, -EINVAL);
	CHANGED(inter, l.page_shift, 12, -EINVAL);
	CHANGED(inter, l.n_dims, UHCA_ABI_MAX_DIMS + 1, -EINVAL);
	CHANGED(inter, l.n_dims, 0, -EINVAL); /* then the list is too long */
	CHANGED(inter, l.n, 0, -EINVAL);
	CHANGED(inter, l.n, 2, -EINVAL);
	CHANGED(inter, l.n, UHCA_ABI_MAX_PIECES + 1, -E2BIG);
	CHANGED(inter, list.inter.piece.reserved, 1, -EINVAL);
	CHANGED(inter, list.inter.piece.stride[1], 8, -EINVAL); /* of a dimension that is not */
	CHANGED(inter, list.inter.piece.bytes, 0, -EINVAL);
	pair_finish(&r.p);
}

static void test_list_too_long(void **state)
{
	struct uhca_abi_block b[5] = {{0}};
	struct uhca_abi_layout l = {.n = 5};
	struct vmr none;
	struct rig r;

	(void)state;
	rig_start(&r);
	l.key = r.key.lkey;
	assert_int_equal(vclient_describe_key(&r.p.a.c, UHCA_ABI_SHAPE_SG, &l, b, sizeof(b)),
			 -E2BIG);
	assert_int_equal(vclient_alloc_key(&r.p.a.c, r.p.a.c.pd, 0, &none), -EINVAL);
	assert_int_equal(vclient_alloc_key(&r.p.a.c, r.p.a.c.pd, UHCA_ABI_MAX_ENTRIES + 1, &none),
			 -EINVAL);
	pair_finish(&r.p);
}

/* A child in use stays; a key in use is not described anew; depth is bounded. */
static void test_in_use(void **state)
{
	struct uhca_abi_layout l = {.n = 1};
	struct vmr key[UHCA_ABI_MAX_DEPTH + 1];
	struct rig r;
	struct vclient *c = &r.p.a.c;
	struct uhca_abi_block b;

	(void)state;
	rig_start(&r);
	b = (struct uhca_abi_block){r.p.a.mr.addr, 64, r.p.a.mr.lkey, 0};
	for (unsigned i = 0; i <= UHCA_ABI_MAX_DEPTH; i++) {
		assert_int_equal(vclient_alloc_key(c, c->pd, 1, &key[i]), 0);
		l.key = key[i].lkey;
		assert_int_equal(vclient_describe_key(c, UHCA_ABI_SHAPE_SG, &l, &b, sizeof(b)),
				 i < UHCA_ABI_MAX_DEPTH ? 0 : -EINVAL);
		b = (struct uhca_abi_block){0, 64, key[i].lkey, 0};
	}
	assert_int_equal(vclient_dereg_mr(c, &r.p.a.mr), -EBUSY);
	assert_int_equal(vclient_dereg_mr(c, &key[0]), -EBUSY);
	l.key = key[1].lkey;
	b = (struct uhca_abi_block){r.p.a.mr.addr, 64, r.p.a.mr.lkey, 0};
	assert_int_equal(vclient_describe_key(c, UHCA_ABI_SHAPE_SG, &l, &b, sizeof(b)), -EBUSY);
	for (unsigned i = UHCA_ABI_MAX_DEPTH + 1; i-- > 0;)
		assert_int_equal(vclient_dereg_mr(c, &key[i]), 0);
	pair_finish(&r.p);
}

/* Process death takes children before parents: nothing is touched that is gone. */
static void test_end_of_client(void **state)
{
	struct uhca_abi_layout l = {.n = 1};
	struct vmr key[3];
	struct rig r;
	struct vclient *c = &r.p.a.c;
	struct uhca_abi_block b;

	(void)state;
	rig_start(&r);
	b = (struct uhca_abi_block){r.p.a.mr.addr, 64, r.p.a.mr.lkey, 0};
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(vclient_alloc_key(c, c->pd, 1, &key[i]), 0);
		l.key = key[i].lkey;
		assert_int_equal(vclient_describe_key(c, UHCA_ABI_SHAPE_SG, &l, &b, sizeof(b)), 0);
		b = (struct uhca_abi_block){0, 64, key[i].lkey, 0};
	}
	mr_destroy(table_find(&c->host->dev->mrs, key[0].lkey >> 8));
	for (unsigned i = 1; i < 3; i++) {
		const struct mr *mr = table_find(&c->host->dev->mrs, key[i].lkey >> 8);
		assert_int_equal(mr->ind->shape, 0);
		assert_int_equal(mr->obj.refs, 0);
	}
	pair_finish(&r.p);
}

/* Profiles take shapes and the key byte away. */
static void test_features(void **state)
{
	struct uhca_abi_layout l = {.n = 1};
	struct core_config cfg;
	struct vmr key;
	struct rig r;
	struct vclient *c = &r.p.a.c;

	(void)state;
	core_config_default(&cfg);
	cfg.features &= ~(uint32_t)(UHCA_ABI_HAS_KEY_BYTE | UHCA_ABI_HAS_INTERLEAVED);
	pair_create(&r.p, &(struct pair_options){.cfg = &cfg});
	assert_int_equal(vclient_alloc_key(c, c->pd, 1, &r.key), 0);
	assert_int_equal(one_piece(&r, 2, 8, 8), -EOPNOTSUPP);
	l.key = r.key.lkey ^ 1;
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), -EINVAL);
	l.key = r.key.lkey;
	assert_int_equal(one_block(&r, r.p.a.mr.lkey, &l), 0);
	pair_finish(&r.p);
	cfg.features &=
		~(uint32_t)(UHCA_ABI_HAS_SG | UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST);
	pair_create(&r.p, &(struct pair_options){.cfg = &cfg});
	assert_int_equal(vclient_alloc_key(c, c->pd, 1, &key), -EOPNOTSUPP);
	pair_finish(&r.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_layouts), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_refused),        cmocka_unit_test(test_forms),
		cmocka_unit_test(test_list_too_long),  cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_end_of_client),  cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
