/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must not be done with keys of direct verbs, on a real daemon: each illegal use is answered
 * with the errno value or the completion that uhcadv(7) says, leaves the key as it was, and harms
 * nobody else. After each, another pair of queue pairs moves data through another key, and the pair
 * that was used, connected anew, does so with the key that was named (key_stand.h).
 */
#include "tests/support/verbs/key_stand.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- descriptions ---- */

static void test_valid_key(void **state)
{
	struct stand *s = *state;
	struct uhcadv_send_wr wr;

	stand_describe(s);
	wr = stand_pages(s), stand_refused(s, &wr);
	stand_alive(s);
	wr = stand_blocks(s), stand_refused(s, &wr);
	stand_alive(s);
	/* The other two may describe it anew; then fast registration is as illegal. */
	wr = stand_composite(s);
	assert_int_equal(stand_post_dv(&s->near, &wr), IBV_WC_SUCCESS);
	wr = stand_interleaved(s);
	assert_int_equal(stand_post_dv(&s->near, &wr), IBV_WC_SUCCESS);
	wr = stand_pages(s), stand_refused(s, &wr);
	stand_alive(s);
	stand_invalidate(s);
	stand_describe(s);
}

struct spoiled {
	struct uhcadv_send_wr (*make)(struct stand *s);
	void (*spoil)(struct stand *s, struct uhcadv_send_wr *wr);
};

/* The macro's text may have commas. */
#define SPOIL(name, ...)                                                                           \
	static void name(struct stand *s __attribute__((unused)),                                  \
			 struct uhcadv_send_wr *wr __attribute__((unused)))                        \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}

SPOIL(page_misaligned, s->page[1] += 8)
SPOIL(page_beyond, s->page[1] = stand_at(s, STAND_SIZE))
SPOIL(page_before, s->page[0] = stand_at(s, 0) - STAND_PAGE)
SPOIL(base_foreign, wr->reg.pages.lkey = s->foreign->lkey)
SPOIL(base_narrow, wr->reg.pages.lkey = s->readable->lkey)
SPOIL(base_stale, wr->reg.pages.lkey ^= 1)
SPOIL(base_itself, wr->reg.pages.lkey = s->key->lkey)
SPOIL(length_zero, wr->reg.pages.length = 0)
SPOIL(length_long, wr->reg.pages.length = 2 * STAND_PAGE + 1)
SPOIL(length_short, wr->reg.pages.length = STAND_PAGE)
SPOIL(block_empty, s->block[2].length = 0)
SPOIL(block_beyond, s->block[3].addr = stand_at(s, STAND_SIZE - 47))
SPOIL(block_before, s->block[3].addr = stand_at(s, 0) - 1)
SPOIL(block_huge, s->block[0].length = UINT64_MAX)
SPOIL(block_foreign, s->block[1].lkey = s->foreign->lkey)
SPOIL(block_narrow, s->block[1].lkey = s->readable->lkey)
SPOIL(block_stale, s->block[1].lkey ^= 1)
SPOIL(block_itself, s->block[1].lkey = s->key->lkey)
SPOIL(blocks_many, wr->reg.n_blocks = STAND_ENTRIES + 1)
SPOIL(piece_empty, s->piece.bytes = 0)
SPOIL(piece_beyond, s->piece.stride[0] = STAND_PAGE)
SPOIL(piece_before, s->piece.stride[0] = -(int64_t)STAND_PAGE)
SPOIL(piece_foreign, s->piece.lkey = s->foreign->lkey)
SPOIL(piece_narrow, s->piece.lkey = s->readable->lkey)
SPOIL(piece_stale, s->piece.lkey ^= 1)
SPOIL(count_zero, wr->reg.interleaved.count[0] = 0)
SPOIL(count_huge, wr->reg.interleaved.count[0] = UINT64_MAX, s->piece.stride[0] = 0)
SPOIL(not_zero_based, wr->reg.attr.iova = 1, wr->reg.attr.access |= IBV_ACCESS_ZERO_BASED)
SPOIL(iova_beyond, wr->reg.attr.iova = UINT64_MAX - 4)
SPOIL(on_ordinary, wr->reg.mr = s->all)

static const struct spoiled spoiled[] = {
	{stand_pages, page_misaligned},    {stand_pages, page_beyond},
	{stand_pages, page_before},        {stand_pages, base_foreign},
	{stand_pages, base_narrow},        {stand_pages, base_stale},
	{stand_pages, base_itself},        {stand_pages, length_zero},
	{stand_pages, length_long},        {stand_pages, length_short},
	{stand_blocks, block_empty},       {stand_blocks, block_beyond},
	{stand_blocks, block_before},      {stand_blocks, block_huge},
	{stand_blocks, block_foreign},     {stand_blocks, block_narrow},
	{stand_blocks, block_stale},       {stand_blocks, block_itself},
	{stand_blocks, blocks_many},       {stand_composite, block_empty},
	{stand_composite, block_beyond},   {stand_composite, block_before},
	{stand_composite, block_huge},     {stand_composite, block_foreign},
	{stand_composite, block_narrow},   {stand_composite, block_stale},
	{stand_composite, block_itself},   {stand_composite, blocks_many},
	{stand_interleaved, piece_empty},  {stand_interleaved, piece_beyond},
	{stand_interleaved, piece_before}, {stand_interleaved, piece_foreign},
	{stand_interleaved, piece_narrow}, {stand_interleaved, piece_stale},
	{stand_interleaved, count_zero},   {stand_interleaved, count_huge},
	{stand_composite, not_zero_based}, {stand_interleaved, not_zero_based},
	{stand_composite, iova_beyond},    {stand_interleaved, iova_beyond},
};
#define N_SPOILED (sizeof(spoiled) / sizeof(spoiled[0]))

/* By a work request, on an invalid key: it stays invalid, and can be described. */
static void test_spoiled_lists(void **state)
{
	struct stand *s = *state;

	for (size_t i = 0; i < N_SPOILED; i++) {
		struct uhcadv_send_wr wr = spoiled[i].make(s);

		spoiled[i].spoil(s, &wr);
		stand_refused(s, &wr);
		stand_describe(s);
		stand_invalidate(s);
	}
	stand_dead(s, s->key->rkey);
}

static int call(const struct uhcadv_send_wr *wr)
{
	return wr->opcode == UHCADV_WR_REG_SG
		       ? uhcadv_rereg_mr_sg(wr->reg.mr, &wr->reg.attr, wr->reg.block,
					    wr->reg.n_blocks)
		       : uhcadv_rereg_mr_interleaved(wr->reg.mr, &wr->reg.attr,
						     &wr->reg.interleaved);
}

/* By a call, on a valid key: it stays as it was. */
static void test_spoiled_calls(void **state)
{
	struct stand *s = *state;

	stand_describe(s);
	for (size_t i = 0; i < N_SPOILED; i++) {
		struct uhcadv_send_wr wr = spoiled[i].make(s);
		uint32_t key = s->key->rkey;

		if (wr.opcode != UHCADV_WR_REG_SG && wr.opcode != UHCADV_WR_REG_INTERLEAVED)
			continue;
		spoiled[i].spoil(s, &wr);
		assert_int_equal(call(&wr), spoiled[i].spoil == blocks_many ? E2BIG : EINVAL);
		assert_int_equal(s->key->rkey, key);
		stand_alive(s);
	}
	stand_unharmed(s);
}

/* An ordinary region is not described; its struct would have to get another key byte. */
static void test_ordinary_region(void **state)
{
	struct stand *s = *state;
	struct uhcadv_send_wr wr = stand_composite(s);
	const struct ibv_mr before = *s->all;

	on_ordinary(s, &wr);
	assert_int_equal(call(&wr), EINVAL);
	wr.reg.attr.key_byte = (uint8_t)before.rkey;
	assert_int_equal(stand_post_dv(&s->near, &wr), IBV_WC_MW_BIND_ERR);
	assert_int_equal(s->all->lkey, before.lkey);
	stand_recover(s);
	stand_describe(s);
}

/* ---- posting ---- */

static void not_posted(struct stand *s, struct uhcadv_send_wr wr, int err)
{
	struct uhcadv_send_wr *bad = NULL;
	uint32_t key = s->key->rkey;

	assert_int_equal(uhcadv_post_send(s->near.qp, &wr, &bad), err);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(s->key->rkey, key);
}

static void test_not_posted(void **state)
{
	struct stand *s = *state;
	struct uhcadv_send_wr wr, *bad, good;

	wr = stand_pages(s), wr.reg.pages.page_shift = 11, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.reg.pages.page_shift = 31, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.reg.pages.n = 0, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.reg.pages.n = 513, not_posted(s, wr, E2BIG);
	wr = stand_pages(s), wr.comp_mask = 1, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.reg.attr.comp_mask = 1, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.send_flags = 1u << 20, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.send_flags = IBV_SEND_INLINE, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.opcode = (enum uhcadv_wr_opcode)99, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.num_sge = 1, not_posted(s, wr, EINVAL);
	wr = stand_pages(s), wr.reg.mr = NULL, not_posted(s, wr, EINVAL);
	wr = stand_composite(s), wr.reg.n_blocks = 0, not_posted(s, wr, EINVAL);
	wr = stand_composite(s), wr.reg.n_blocks = 513, not_posted(s, wr, E2BIG);
	/* What is in front of the one that is refused is posted. */
	good = stand_pages(s);
	good.next = &wr;
	good.send_flags = IBV_SEND_SIGNALED;
	wr = good, wr.next = NULL, wr.comp_mask = 1;
	assert_int_equal(uhcadv_post_send(s->near.qp, &good, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(stand_status_of(&s->near), IBV_WC_SUCCESS);
	stand_alive(s);
	stand_reset(&s->near);
	wr = stand_pages(s), not_posted(s, wr, EINVAL);
	stand_recover(s);
	stand_alive(s);
}

/* Objects of another context of the device, of another device, and of no device of ours. */
static void test_others_objects(void **state)
{
	struct stand *s = *state;
	struct ibv_context *contexts[] = {s->w->same, s->w->other};
	struct ibv_context nobody = {0};
	struct ibv_pd pd = {.context = &nobody};
	struct ibv_qp qp = {.context = &nobody};
	struct uhcadv_send_wr *bad, wr;

	for (unsigned i = 0; i < 2; i++) {
		struct ibv_pd *theirs = ibv_alloc_pd(contexts[i]);
		struct ibv_mr *key = uhcadv_alloc_mr(theirs, STAND_ENTRIES);

		assert_non_null(key);
		wr = stand_pages(s), wr.reg.mr = key, not_posted(s, wr, EINVAL);
		wr = stand_composite(s), wr.reg.mr = key;
		assert_int_equal(call(&wr), EINVAL); /* our region's L_Key says nothing there */
		assert_int_equal(ibv_dereg_mr(key), 0);
		assert_int_equal(ibv_dealloc_pd(theirs), 0);
	}
	errno = 0;
	assert_null(uhcadv_alloc_mr(&pd, 1));
	assert_int_equal(errno, EOPNOTSUPP);
	wr = stand_pages(s);
	assert_int_equal(uhcadv_post_send(&qp, &wr, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wr);
	stand_unharmed(s);
	stand_describe(s);
}

/* ---- keys in use ---- */

/* In use by a window or a description. */
static void in_use(struct stand *s)
{
	struct uhcadv_send_wr wr = stand_composite(s);

	assert_int_equal(ibv_dereg_mr(s->key), EBUSY);
	assert_int_equal(call(&wr), EBUSY);
	stand_refused(s, &wr);
	wr = stand_interleaved(s);
	assert_int_equal(call(&wr), EBUSY);
	stand_refused(s, &wr);
	stand_local_inv_refused(s, s->key->rkey);
	stand_alive(s);
}

static void test_child(void **state)
{
	struct stand *s = *state;
	struct uhcadv_reg_attr attr = {.access = STAND_WIDE};
	struct uhcadv_block block = {0, 100, 0};
	struct ibv_mr *over = uhcadv_alloc_mr(s->w->pd, 1);

	assert_non_null(over);
	stand_describe(s);
	block.lkey = s->key->lkey;
	assert_int_equal(uhcadv_rereg_mr_sg(over, &attr, &block, 1), 0);
	in_use(s);
	assert_int_equal(ibv_dereg_mr(s->all), EBUSY);
	assert_int_equal(stand_write_to_key(s, over->rkey), IBV_WC_SUCCESS);
	assert_int_equal(stand_local_inv(s, over->rkey), IBV_WC_SUCCESS);
	stand_invalidate(s);
	/* Over an invalid key nothing can be described. */
	assert_int_equal(uhcadv_rereg_mr_sg(over, &attr, &block, 1), EINVAL);
	assert_int_equal(ibv_dereg_mr(over), 0);
}

static void test_depth(void **state)
{
	struct stand *s = *state;
	struct uhcadv_reg_attr attr = {.access = STAND_WIDE};
	struct uhcadv_device_attr device;
	struct ibv_mr *mr[16];
	struct uhcadv_send_wr wr;
	struct uhcadv_block block = {stand_at(s, 0), 100, s->all->lkey};

	assert_int_equal(uhcadv_query_device(s->w->ctx, &device, sizeof(device)), 0);
	assert_in_range(device.max_depth, 2, 15);
	for (unsigned i = 0; i < device.max_depth; i++) {
		mr[i] = uhcadv_alloc_mr(s->w->pd, 1);
		assert_non_null(mr[i]);
		assert_int_equal(uhcadv_rereg_mr_sg(mr[i], &attr, &block, 1), 0);
		block = (struct uhcadv_block){0, 100, mr[i]->lkey};
	}
	wr = stand_composite(s);
	wr.reg.block = &block;
	wr.reg.n_blocks = 1;
	assert_int_equal(call(&wr), EINVAL);
	stand_refused(s, &wr);
	assert_int_equal(stand_write_to_key(s, block.lkey), IBV_WC_SUCCESS);
	for (unsigned i = device.max_depth; i-- > 0;)
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
	stand_describe(s);
}

static enum ibv_wc_status bind(struct stand *s, struct ibv_mw *mw)
{
	struct ibv_mw_bind_info info = {
		.mr = s->key, .addr = 0, .length = 50, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
				 .bind_mw = {mw, ibv_inc_rkey(mw->rkey), info}};
	enum ibv_wc_status status = stand_post(&s->far, &wr);

	if (status == IBV_WC_SUCCESS)
		mw->rkey = wr.bind_mw.rkey;
	else
		stand_recover(s);
	return status;
}

static void test_windows(void **state)
{
	struct stand *s = *state;
	struct ibv_mw *mw = ibv_alloc_mw(s->w->pd, IBV_MW_TYPE_2);
	struct uhcadv_send_wr wr;

	assert_non_null(mw);
	assert_int_equal(bind(s, mw), IBV_WC_MW_BIND_ERR); /* the key is invalid */
	wr = stand_interleaved(s), assert_int_equal(call(&wr), 0);
	assert_int_equal(bind(s, mw), IBV_WC_MW_BIND_ERR);
	wr = stand_composite(s), assert_int_equal(call(&wr), 0);
	assert_int_equal(bind(s, mw), IBV_WC_MW_BIND_ERR);
	wr = stand_interleaved(s), wr.reg.attr.access |= IBV_ACCESS_MW_BIND;
	assert_int_equal(call(&wr), 0);
	assert_int_equal(bind(s, mw), IBV_WC_MW_BIND_ERR);
	stand_invalidate(s);
	stand_describe(s);
	assert_int_equal(bind(s, mw), IBV_WC_SUCCESS);
	assert_int_equal(stand_write_to_key(s, mw->rkey), IBV_WC_SUCCESS);
	in_use(s);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	stand_invalidate(s);
	stand_describe(s);
}

/* ---- invalidation ---- */

static void test_invalidate(void **state)
{
	struct stand *s = *state;
	struct ibv_mr *theirs = uhcadv_alloc_mr(s->pd, 1);
	struct uhcadv_reg_attr attr = {.access = STAND_WIDE};
	struct uhcadv_block block = {stand_at(s, 0), 100, s->foreign->lkey};

	assert_non_null(theirs);
	assert_int_equal(uhcadv_rereg_mr_sg(theirs, &attr, &block, 1), 0);
	stand_local_inv_refused(s, s->all->rkey);
	stand_local_inv_refused(s, s->key->rkey); /* invalid */
	stand_describe(s);
	stand_local_inv_refused(s, s->key->rkey ^ 1);
	stand_local_inv_refused(s, theirs->rkey);
	stand_local_inv_refused(s, 0xffffff00u);
	stand_alive(s);
	/* Only once. */
	stand_invalidate(s);
	stand_local_inv_refused(s, s->key->rkey);
	stand_dead(s, s->key->rkey);
	assert_int_equal(ibv_dereg_mr(theirs), 0);
	assert_int_equal(stand_write_to_key(s, s->all->rkey), IBV_WC_REM_ACCESS_ERR); /* at 0 */
	stand_recover(s);
}

static enum ibv_wc_status read_with_inv(struct stand *s, uint32_t lkey, uint64_t addr)
{
	struct ibv_sge sge = {addr, 16, lkey};
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_READ_WITH_INV,
				    .sg_list = &sge,
				    .num_sge = 1,
				    .rdma = {stand_at(s, 0), s->all->rkey}};

	return stand_post_dv(&s->near, &wr);
}

static void test_read_with_inv(void **state)
{
	struct stand *s = *state;
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_READ_WITH_INV};

	not_posted(s, wr, EINVAL);
	stand_describe(s);
	assert_int_equal(read_with_inv(s, s->all->lkey, stand_at(s, 0)), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	assert_int_equal(read_with_inv(s, s->key->lkey ^ 1, 0), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	assert_int_equal(read_with_inv(s, s->key->lkey, 2 * STAND_PAGE), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	stand_alive(s);
	assert_int_equal(read_with_inv(s, s->key->lkey, 0), IBV_WC_SUCCESS);
	assert_int_equal(read_with_inv(s, s->key->lkey, 0), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	stand_dead(s, s->key->rkey);
}

/* By every way there is to use a key that is not, or not yet, or not any more. */
static void cannot_be_used(struct stand *s, uint32_t key)
{
	const struct ibv_sge ours = {stand_at(s, 0), 16, s->all->lkey}, keys = {0, 16, key};
	struct ibv_sge out = ours;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &out, .num_sge = 1};

	stand_dead(s, key);
	assert_int_equal(stand_rdma(&s->near, IBV_WR_RDMA_READ, ours, 0, key),
			 IBV_WC_REM_ACCESS_ERR);
	stand_recover(s);
	assert_int_equal(stand_rdma(&s->near, IBV_WR_RDMA_READ, keys, stand_at(s, 0), s->all->rkey),
			 IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	assert_int_equal(
		stand_rdma(&s->near, IBV_WR_RDMA_WRITE, keys, stand_at(s, 0), s->all->rkey),
		IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	stand_receive(&s->far, keys);
	assert_int_equal(stand_post(&s->near, &wr), IBV_WC_REM_OP_ERR);
	assert_int_equal(stand_status_of(&s->far), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
	stand_receive(&s->far, ours);
	out = keys;
	assert_int_equal(stand_post(&s->near, &wr), IBV_WC_LOC_PROT_ERR);
	stand_recover(s);
}

static void test_use_after(void **state)
{
	struct stand *s = *state;
	enum ibv_wc_status there;

	cannot_be_used(s, s->key->rkey); /* never described */
	stand_describe(s);
	cannot_be_used(s, s->key->rkey ^ 0x80);
	cannot_be_used(s, s->key->rkey - 1); /* the byte it had before */
	stand_alive(s);
	stand_invalidate(s);
	cannot_be_used(s, s->key->rkey);
	stand_describe(s);
	assert_int_equal(stand_send_with_inv(s, s->key->rkey, &there), IBV_WC_SUCCESS);
	assert_int_equal(there, IBV_WC_SUCCESS);
	cannot_be_used(s, s->key->rkey);
	stand_describe(s);
}

/* ---- masked atomics ---- */

static struct uhcadv_send_wr add(struct stand *s, uint32_t size, struct ibv_sge *sge)
{
	static const uint64_t one[4] = {1};
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_MASKED_FETCH_ADD,
				    .sg_list = sge,
				    .num_sge = 1,
				    .atomic = {.remote_addr = stand_at(s, 8 * STAND_PAGE),
					       .rkey = s->all->rkey,
					       .fetch_add = {.size = size, .add = one}}};

	*sge = (struct ibv_sge){stand_at(s, 2 * STAND_PAGE), size, s->all->lkey};
	return wr;
}

static void add_fails(struct stand *s, struct uhcadv_send_wr *wr, enum ibv_wc_status status)
{
	uint64_t *there = (uint64_t *)(void *)(s->memory + 8 * STAND_PAGE), before = *there;

	assert_int_equal(stand_post_dv(&s->near, wr), status);
	assert_int_equal(*there, before);
	stand_recover(s);
}

static void test_masked_atomics(void **state)
{
	static const uint32_t wrong[] = {0, 1, 2, 3, 12, 24, 33, 64, UINT32_MAX};
	struct stand *s = *state;
	struct uhcadv_send_wr wr;
	struct ibv_sge sge;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		wr = add(s, wrong[i], &sge), not_posted(s, wr, EINVAL);
	wr = add(s, 8, &sge), wr.atomic.fetch_add.add = NULL, not_posted(s, wr, EINVAL);
	wr = add(s, 16, &sge), wr.atomic.remote_addr += 8;
	add_fails(s, &wr, IBV_WC_REM_INV_REQ_ERR);
	wr = add(s, 4, &sge), wr.atomic.remote_addr += 2;
	add_fails(s, &wr, IBV_WC_REM_INV_REQ_ERR);
	wr = add(s, 8, &sge), sge.length = 4;
	add_fails(s, &wr, IBV_WC_LOC_LEN_ERR);
	wr = add(s, 8, &sge), wr.atomic.rkey = s->readable->rkey;
	add_fails(s, &wr, IBV_WC_REM_ACCESS_ERR);
	wr = add(s, 8, &sge), wr.atomic.rkey ^= 1;
	add_fails(s, &wr, IBV_WC_REM_ACCESS_ERR);
	wr = stand_interleaved(s), wr.reg.attr.access |= IBV_ACCESS_REMOTE_ATOMIC;
	assert_int_equal(call(&wr), 0);
	wr = add(s, 8, &sge), wr.atomic.rkey = s->key->rkey, wr.atomic.remote_addr = 0;
	add_fails(s, &wr, IBV_WC_REM_INV_REQ_ERR); /* pieces of 6 bytes */
	wr = add(s, 8, &sge);
	assert_int_equal(stand_post_dv(&s->near, &wr), IBV_WC_SUCCESS);
}

/* ---- limits ---- */

static void no_qp(struct stand *s, struct uhcadv_qp_init_attr dv, int err)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = s->w->pd,
					   .send_cq = s->near.cq,
					   .recv_cq = s->near.cq,
					   .cap = {1, 1, 1, 1, 0}};

	errno = 0;
	assert_null(uhcadv_create_qp(s->w->ctx, &attr, &dv));
	assert_int_equal(errno, err);
}

static void no_key(struct stand *s, uint32_t max_entries)
{
	errno = 0;
	assert_null(uhcadv_alloc_mr(s->w->pd, max_entries));
	assert_int_equal(errno, EINVAL);
}

static void test_creation(void **state)
{
	struct stand *s = *state;
	struct uhcadv_device_attr device;
	struct ibv_mr *mr;
	const uint32_t *max = &device.max_list_entries;

	assert_int_equal(uhcadv_query_device(s->w->ctx, &device, sizeof(device)), 0);
	no_key(s, 0);
	no_key(s, *max + 1);
	no_key(s, UINT32_MAX);
	mr = uhcadv_alloc_mr(s->w->pd, *max);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	no_qp(s, (struct uhcadv_qp_init_attr){.comp_mask = 1}, EINVAL);
	no_qp(s, (struct uhcadv_qp_init_attr){.max_list_entries = *max + 1}, EINVAL);
	no_qp(s, (struct uhcadv_qp_init_attr){.create_flags = 1u << 31}, EOPNOTSUPP);
	no_qp(s, (struct uhcadv_qp_init_attr){.send_ops_flags = 1ull << 63}, EOPNOTSUPP);
	stand_unharmed(s);
	stand_describe(s);
}

/* As many keys as there are regions, and one more. */
static void test_all_keys(void **state)
{
	struct stand *s = *state;
	struct ibv_device_attr device;
	struct ibv_mr **mr;
	int n = 0;

	assert_int_equal(ibv_query_device(s->w->ctx, &device), 0);
	mr = calloc((size_t)device.max_mr + 1, sizeof(*mr));
	assert_non_null(mr);
	errno = 0;
	while (n <= device.max_mr && (mr[n] = uhcadv_alloc_mr(s->w->pd, 1)))
		n++;
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(n, device.max_mr - 6); /* the world's, and five of the stand */
	stand_unharmed(s);
	stand_describe(s);
	assert_int_equal(ibv_dereg_mr(mr[--n]), 0);
	mr[n] = uhcadv_alloc_mr(s->w->pd, 1);
	assert_non_null(mr[n++]);
	while (n--)
		assert_int_equal(ibv_dereg_mr(mr[n]), 0);
	free(mr);
	stand_unharmed(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stand_setup, stand_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_valid_key),       T(test_spoiled_lists), T(test_spoiled_calls),
		T(test_ordinary_region), T(test_not_posted),    T(test_others_objects),
		T(test_child),           T(test_depth),         T(test_windows),
		T(test_invalidate),      T(test_read_with_inv), T(test_use_after),
		T(test_masked_atomics),  T(test_creation),      T(test_all_keys),
	};

	return cmocka_run_group_tests_name("illegal", tests, NULL, NULL);
}
