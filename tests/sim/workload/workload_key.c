/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes which bytes an indirect key of a random workload stands for. */
#include "workload_key.h"

#include "workload_make.h"

#include <assert.h>
#include <string.h>

#define PAGE    4096u
#define MIN_ROW 600u /* of the largest message no more than MODEL_MAX_PIECES pieces */

struct list {
	struct uhca_abi_layout layout;
	uint32_t bytes;
	uint64_t word[UHCA_ABI_MAX_DIMS + WORKLOAD_KEY_RUNS * sizeof(struct uhca_abi_piece) / 8];
};

void workload_key_alloc(struct workload *l, struct vclient *c, struct workload_key *k)
{
	memset(k, 0, sizeof *k);
	world_assert(l->w, vclient_alloc_key(c, c->pd, WORKLOAD_KEY_RUNS, &k->mr) == 0);
}

/* ---- drawing ---- */

/* Cuts [addr, addr + length) into n pieces, none of them empty, and puts them in any order. */
static void draw_runs(struct workload *l, struct workload_key *k, uint64_t addr, uint64_t length)
{
	unsigned n = prng_range(&l->rng, 1,
				length < WORKLOAD_KEY_RUNS ? (uint32_t)length : WORKLOAD_KEY_RUNS);

	k->n = n;
	for (unsigned i = 0; i < n; i++) {
		uint64_t left = length - (n - 1 - i); /* a byte for each of the others */
		uint64_t bytes = i + 1 == n ? left : 1 + prng_u64(&l->rng) % left;
		unsigned to = prng_below(&l->rng, i + 1);

		k->run[i] = k->run[to];
		k->run[to].addr = addr;
		k->run[to].bytes = bytes;
		addr += bytes;
		length -= bytes;
	}
}

static void draw_pages(struct workload *l, struct workload_key *k, uint64_t addr, unsigned n)
{
	k->n = n;
	for (unsigned i = 0; i < n; i++) {
		unsigned to = prng_below(&l->rng, i + 1);

		k->run[i] = k->run[to];
		k->run[to].addr = addr + (uint64_t)i * PAGE;
		k->run[to].bytes = PAGE;
	}
}

/* Over the ground, or a part of it: rows must be of one length. */
static void draw(struct workload *l, struct workload_key *k, const struct workload_ground *g)
{
	uint64_t row = g->length;

	k->count = 1;
	k->iova = prng_below(&l->rng, 2) ? (uint64_t)prng_below(&l->rng, 1000) * PAGE : 0;
	if (k->shape == UHCA_ABI_SHAPE_INTERLEAVED && g->length >= MIN_ROW) {
		row = prng_range(&l->rng, MIN_ROW, g->length < 2000 ? (uint32_t)g->length : 2000);
		k->count = g->length / row;
	}
	if (k->shape == UHCA_ABI_SHAPE_PAGES)
		draw_pages(l, k, g->addr, (unsigned)(g->length / PAGE));
	else
		draw_runs(l, k, g->addr, row);
	k->round = k->stride = row;
	k->length = row * k->count;
	if (k->shape == UHCA_ABI_SHAPE_PAGES)
		k->round = k->length = k->n * (uint64_t)PAGE;
}

/* ---- the form that the device reads ---- */

static void fill_interleaved(const struct workload_key *k, uint32_t lkey, struct list *out)
{
	struct uhca_abi_piece *piece = (void *)(out->word + 1);

	out->word[0] = k->count;
	out->layout.n_dims = 1;
	for (unsigned i = 0; i < k->n; i++)
		piece[i] = (struct uhca_abi_piece){
			k->run[i].addr, k->run[i].bytes, lkey, 0, {(int64_t)k->stride}};
	out->bytes = (uint32_t)(8 + k->n * sizeof(*piece));
}

static void fill_list(const struct workload_key *k, const struct workload_ground *g,
		      struct list *out)
{
	struct uhca_abi_block *block = (void *)out->word;

	*out = (struct list){.layout = {.iova = k->iova,
					.key = k->mr.lkey,
					.access = g->access,
					.n = (uint16_t)k->n}};
	if (k->shape == UHCA_ABI_SHAPE_INTERLEAVED) {
		fill_interleaved(k, g->lkey, out);
		return;
	}
	if (k->shape == UHCA_ABI_SHAPE_PAGES) {
		out->layout.lkey = g->lkey;
		out->layout.length = k->length;
		out->layout.page_shift = 12;
		for (unsigned i = 0; i < k->n; i++)
			out->word[i] = k->run[i].addr;
		out->bytes = k->n * 8;
		return;
	}
	for (unsigned i = 0; i < k->n; i++)
		block[i] = (struct uhca_abi_block){k->run[i].addr, k->run[i].bytes, g->lkey, 0};
	out->bytes = (uint32_t)(k->n * sizeof(*block));
}

void workload_key_describe(struct workload *l, struct vclient *c, struct workload_key *k,
			   const struct workload_ground *g)
{
	struct list list;
	int rc;

	k->shape = prng_below(&l->rng, 2) ? UHCA_ABI_SHAPE_SG : UHCA_ABI_SHAPE_INTERLEAVED;
	draw(l, k, g);
	fill_list(k, g, &list);
	rc = vclient_describe_key(c, k->shape, &list.layout, list.word, list.bytes);
	world_assert(l->w, rc == 0);
	k->valid = true;
}

/* ---- through the queue ---- */

static void post(struct workload *l, struct workload_end *e, struct vsend *wr)
{
	if (!prng_below(&l->rng, 4))
		wr->flags |= UHCA_ABI_SEND_SIGNALED;
	world_assert(l->w, model_post_send(e->model, wr, &(struct model_more){0}) == 0);
}

static void choose_ground(struct workload *l, struct workload_end *e, uint32_t length,
			  struct workload_ground *g)
{
	bool pages = e->key.shape == UHCA_ABI_SHAPE_PAGES;
	uint32_t bytes = pages ? (length + PAGE - 1) / PAGE * PAGE : length;

	/* A row may be cut off at the end: up to 2000 bytes. */
	bytes += e->key.shape == UHCA_ABI_SHAPE_INTERLEAVED ? 2000 : 0;
	g->addr = workload_take(l, e->node, bytes + (pages ? PAGE : 0), WORKLOAD_SEND_BYTES);
	g->length = bytes;
	g->lkey = e->node->mr.lkey;
	g->access = IBV_ACCESS_LOCAL_WRITE;
	if (pages && g->addr)
		g->addr = (g->addr + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

bool workload_key_renew(struct workload *l, struct workload_end *e, uint32_t length)
{
	static const uint32_t shapes[] = {UHCA_ABI_SHAPE_PAGES, UHCA_ABI_SHAPE_BLOCKS,
					  UHCA_ABI_SHAPE_INTERLEAVED, UHCA_ABI_SHAPE_SG};
	static const uint8_t opcode[] = {[UHCA_ABI_SHAPE_PAGES] = UHCA_ABI_WR_REG_MR,
					 [UHCA_ABI_SHAPE_BLOCKS] = UHCA_ABI_WR_REG_MR,
					 [UHCA_ABI_SHAPE_INTERLEAVED] = UHCA_ABI_WR_REG_INTERLEAVED,
					 [UHCA_ABI_SHAPE_SG] = UHCA_ABI_WR_REG_SG};
	struct workload_key *k = &e->key;
	struct workload_ground g;
	struct list list;
	uint32_t old = k->mr.lkey;

	if (!length || vqp_send_used(&e->qp) + 3 > e->qp.send.max_wr ||
	    e->qp.send.at.data_stride < sizeof(list.word))
		return false;
	k->shape = shapes[prng_below(&l->rng, 4)];
	choose_ground(l, e, length, &g);
	if (!g.addr)
		return false;
	draw(l, k, &g);
	k->mr.lkey = (old & ~0xffu) | ((old + 1) & 0xff);
	fill_list(k, &g, &list);
	if (k->valid) /* requests that use the key must be done (10.6.7.2.6) */
		post(l, e,
		     &(struct vsend){.opcode = UHCA_ABI_WR_LOCAL_INV,
				     .flags = UHCA_ABI_SEND_FENCE,
				     .imm = old});
	/* A READ may be about to take the old one away. */
	post(l, e,
	     &(struct vsend){.opcode = opcode[k->shape],
			     .flags = k->valid ? 0 : UHCA_ABI_SEND_FENCE,
			     .reg = list.layout,
			     .list = list.word,
			     .list_bytes = list.bytes});
	k->valid = true;
	return true;
}

/* ---- what an address stands for ---- */

static void add_piece(struct model_place *at, uint64_t addr, uint32_t length)
{
	assert(at->n < MODEL_MAX_PIECES);
	at->piece[at->n++] = (struct uhca_abi_sge){addr, length, 0};
}

void workload_key_place(const struct workload_key *k, uint64_t offset, uint32_t length,
			struct model_place *at)
{
	at->n = 0;
	assert(offset + length <= k->length);
	while (length) {
		uint64_t row = offset / k->round, in = offset % k->round;
		unsigned i = 0;
		uint32_t n;

		for (; in >= k->run[i].bytes; i++)
			in -= k->run[i].bytes;
		n = k->run[i].bytes - in < length ? (uint32_t)(k->run[i].bytes - in) : length;
		add_piece(at, k->run[i].addr + row * k->stride + in, n);
		offset += n;
		length -= n;
	}
}
