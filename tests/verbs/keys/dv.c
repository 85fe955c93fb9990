/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct verbs (libuhca) on a real daemon through the real libibverbs. Runs below uhca-run; the
 * argument names the device's profile: on "default" everything is used, on "iwarp-like" what is
 * different there, and on "ib-strict" everything is refused as uhcadv.h says.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/uhcadv.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PAGE   4096u
#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static const char *profile;

static void fill(uint8_t *memory, unsigned seed)
{
	for (size_t i = 0; i < PAIR_MEMORY; i++)
		memory[i] = (uint8_t)((i * 2654435761u + seed) >> 13);
}

static struct verbs_pair *open_pair(void)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	fill(p->a.memory, 1);
	fill(p->b.memory, 2);
	return p;
}

static struct uhcadv_reg_attr with(unsigned access, uint8_t key_byte)
{
	return (struct uhcadv_reg_attr){.access = access, .key_byte = key_byte};
}

static struct uhcadv_block part(const struct verbs_side *s, size_t offset, uint64_t length)
{
	return (struct uhcadv_block){
		.addr = (uintptr_t)s->memory + offset, .length = length, .lkey = s->mr->lkey};
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status, int opcode)
{
	struct ibv_wc wc = verbs_pair_poll(cq);

	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, status);
	if (status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, opcode);
}

static struct ibv_mr *new_key(struct verbs_pair *p, uint32_t entries)
{
	struct ibv_mr *mr = uhcadv_alloc_mr(p->pd, entries);

	assert_non_null(mr);
	assert_int_equal(mr->lkey, mr->rkey);
	assert_null(mr->addr);
	assert_int_equal(mr->length, 0);
	return mr;
}

/* SEND of length bytes from offset of a key of a's, into 4096 bytes of b's memory. */
static void send_from(struct verbs_pair *p, const struct ibv_mr *mr, uint64_t addr, uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = 1,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	verbs_pair_recv(&p->b, 2, 0, PAGE);
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
}

/* One-sided, between offset 0 of a's memory and an address of a key of b's. */
static enum ibv_wc_status rdma(struct verbs_pair *p, enum ibv_wr_opcode opcode, uint32_t rkey,
			       uint64_t addr, uint32_t length)
{
	struct ibv_send_wr wr = {
		.opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {addr, rkey}};

	verbs_pair_send(&p->a, &wr, 0, length);
	return verbs_pair_poll(p->a.cq).status;
}

static void local_inv(struct verbs_side *s, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {.wr_id = 5,
				       .opcode = IBV_WR_LOCAL_INV,
				       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
				       .invalidate_rkey = key};

	assert_int_equal(ibv_post_send(s->qp, &wr, &bad), 0);
	expect(s->cq, 5, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
}

/* ---- what there is ---- */

static void print(const struct uhcadv_device_attr *a)
{
	printf("profile %s: caps %#" PRIx64 ", pages %#" PRIx64 ", shared %" PRIu64 "\n",
	       a->profile, a->caps, a->page_size_cap, a->max_shared_size);
	printf("entries %u, pieces %u, dims %u, depth %u, masked %u, low latency %u\n",
	       a->max_list_entries, a->max_pieces, a->max_dims, a->max_depth,
	       a->masked_atomic_sizes, a->max_low_latency_wr);
}

static void test_query(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct uhcadv_device_attr a, first;

	(void)state;
	assert_true(uhcadv_is_supported(p->context->device));
	memset(&a, 0xff, sizeof(a));
	assert_int_equal(uhcadv_query_device(p->context, &a, sizeof(a)), 0);
	print(&a);
	assert_int_equal(a.comp_mask, 0);
	assert_string_equal(a.profile, profile);
	if (strcmp(profile, "default") == 0) {
		assert_true(a.caps & UHCADV_CAP_FAST_REG);
		assert_true(a.caps & UHCADV_CAP_MW_TYPE_2B);
		assert_int_equal(a.page_size_cap, 0x7ffff000);
		assert_int_equal(a.max_pieces, UHCADV_MAX_PIECES);
		assert_int_equal(a.max_dims, UHCADV_MAX_DIMS);
		assert_true(a.max_list_entries > 0);
	} else if (strcmp(profile, "iwarp-like") == 0) {
		assert_true(a.caps & UHCADV_CAP_FAST_REG);
		assert_true(a.caps & UHCADV_CAP_READ_SINK_WRITE);
		assert_false(a.caps & (UHCADV_CAP_KEY_BYTE | UHCADV_CAP_SG | UHCADV_CAP_XRC));
	} else {
		assert_int_equal(a.page_size_cap | a.max_pieces | a.max_dims | a.max_depth, 0);
	}
	/* A program that was built with less, and one that wants nothing. */
	memset(&first, 0xff, sizeof(first));
	assert_int_equal(uhcadv_query_device(p->context, &first, 16), 0);
	assert_int_equal(first.caps, a.caps);
	assert_int_equal(first.page_size_cap, UINT64_MAX);
	assert_int_equal(uhcadv_query_device(p->context, &first, 0), EINVAL);
	verbs_pair_destroy(p);
}

/* ---- keys ---- */

static void refuse_alloc(struct ibv_pd *pd, uint32_t entries, int err)
{
	errno = 0;
	assert_null(uhcadv_alloc_mr(pd, entries));
	assert_int_equal(errno, err);
}

static void test_alloc(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 16);

	(void)state;
	refuse_alloc(p->pd, 0, EINVAL);
	refuse_alloc(p->pd, UINT32_MAX, EINVAL);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, mr->rkey, 0, 1), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

static void test_rereg_sg(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 4);
	struct uhcadv_reg_attr attr = with(0, 0x5a);
	struct uhcadv_block block[] = {part(&p->a, 100, 10), part(&p->a, 5000, 1),
				       part(&p->a, 50, 300)};

	(void)state;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 3), 0);
	assert_int_equal(mr->lkey & 0xff, 0x5a);
	assert_int_equal(mr->rkey, mr->lkey);
	send_from(p, mr, 0, 311);
	expect(p->a.cq, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	expect(p->b.cq, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_memory_equal(p->b.memory, p->a.memory + 100, 10);
	assert_int_equal(p->b.memory[10], p->a.memory[5000]);
	assert_memory_equal(p->b.memory + 11, p->a.memory + 50, 300);
	/* Described anew, at an address of its own. */
	attr.iova = 0x10000;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block + 1, 2), 0);
	send_from(p, mr, 0x10001, 300);
	expect(p->a.cq, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	expect(p->b.cq, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_memory_equal(p->b.memory, p->a.memory + 50, 300);
	assert_int_equal(ibv_dereg_mr(p->a.mr), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* A column of a matrix of doubles: one key for the peer's READ and WRITE. */
static void test_rereg_interleaved(void **state)
{
	enum { ROWS = 50, COLUMNS = 40 };
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 1);
	struct uhcadv_reg_attr attr = with(RIGHTS, 1);
	struct uhcadv_piece piece = {.addr = (uintptr_t)p->b.memory + 7 * 8,
				     .bytes = 8,
				     .lkey = p->b.mr->lkey,
				     .stride = {8 * COLUMNS, 99}};
	struct uhcadv_interleaved layout = {
		.n_dims = 1, .n_pieces = 1, .count = {ROWS}, .piece = &piece};

	(void)state;
	assert_int_equal(uhcadv_rereg_mr_interleaved(mr, &attr, &layout), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, mr->rkey, 0, 8 * ROWS), IBV_WC_SUCCESS);
	for (unsigned i = 0; i < ROWS; i++)
		assert_memory_equal(p->b.memory + 8 * (i * COLUMNS + 7), p->a.memory + 8 * i, 8);
	p->b.memory[8 * (3 * COLUMNS + 7)] ^= 0x11;
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, mr->rkey, 8 * 3, 8), IBV_WC_SUCCESS);
	assert_memory_equal(p->a.memory, p->b.memory + 8 * (3 * COLUMNS + 7), 8);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, mr->rkey, 8, 8 * ROWS), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

static void test_rereg_refused(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 2), *over = new_key(p, 1);
	struct uhcadv_block block[3] = {part(&p->a, 0, 8), part(&p->a, 8, 8), part(&p->a, 16, 8)};
	struct uhcadv_block whole = {.length = 16, .lkey = 0};
	struct uhcadv_reg_attr attr = with(0, 1), more = with(0, 2);
	uint32_t key = mr->lkey;

	(void)state;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 3), E2BIG);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 0), EINVAL);
	assert_int_equal(uhcadv_rereg_mr_sg(p->a.mr, &attr, block, 1), EINVAL);
	more.comp_mask = 1;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &more, block, 1), EINVAL);
	more = with(1 << 10, 1);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &more, block, 1), EOPNOTSUPP);
	block[1] = part(&p->a, PAIR_MEMORY - 7, 8);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 2), EINVAL);
	assert_int_equal(mr->lkey, key);
	block[1] = part(&p->a, 8, 8);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 2), 0);
	whole.lkey = mr->lkey;
	assert_int_equal(uhcadv_rereg_mr_sg(over, &attr, &whole, 1), 0);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 1), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), EBUSY);
	send_from(p, over, 3, 12); /* as it was, twice indirect */
	expect(p->a.cq, 1, IBV_WC_SUCCESS, IBV_WC_SEND);
	expect(p->b.cq, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_memory_equal(p->b.memory, p->a.memory + 3, 12);
	assert_int_equal(ibv_dereg_mr(over), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* ---- through the queue ---- */

static void test_fast_reg(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 2);
	uint64_t start = (uintptr_t)p->b.memory, page[] = {start + 5 * PAGE, start + 2 * PAGE};
	struct uhcadv_send_wr *bad, wr = {.wr_id = 9,
					  .opcode = UHCADV_WR_REG_MR_PAGES,
					  .send_flags = IBV_SEND_SIGNALED,
					  .reg = {.mr = mr, .attr = with(RIGHTS, 0x77)}};

	(void)state;
	wr.reg.attr.iova = 0x7000000 + 96;
	wr.reg.pages = (struct uhcadv_page_list){
		.lkey = p->b.mr->lkey, .n = 2, .page_shift = 12, .page = page, .length = 6000};
	assert_int_equal(uhcadv_post_send(p->b.qp, &wr, &bad), 0);
	assert_int_equal(mr->rkey & 0xff, 0x77);
	expect(p->b.cq, 9, IBV_WC_SUCCESS, UHCADV_WC_REG_MR);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, mr->rkey, wr.reg.attr.iova, 6000),
			 IBV_WC_SUCCESS);
	assert_memory_equal(p->b.memory + 5 * PAGE + 96, p->a.memory, 4000);
	assert_memory_equal(p->b.memory + 2 * PAGE, p->a.memory + 4000, 2000);
	local_inv(&p->b, mr->rkey);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, mr->rkey, wr.reg.attr.iova, 1),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* A valid key takes no fast registration: 10.6.6. */
static void test_fast_reg_twice(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 2);
	struct uhcadv_block block = part(&p->a, 1, 99);
	struct uhcadv_send_wr *bad, wr = {.wr_id = 9,
					  .opcode = UHCADV_WR_REG_MR_BLOCKS,
					  .send_flags = IBV_SEND_SIGNALED,
					  .reg = {.mr = mr, .attr = with(0, 4)}};

	(void)state;
	wr.reg.block = &block;
	wr.reg.n_blocks = 1;
	assert_int_equal(uhcadv_post_send(p->a.qp, &wr, &bad), 0);
	expect(p->a.cq, 9, IBV_WC_SUCCESS, UHCADV_WC_REG_MR);
	assert_int_equal(uhcadv_post_send(p->a.qp, &wr, &bad), 0);
	expect(p->a.cq, 9, IBV_WC_MW_BIND_ERR, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* a's QP becomes another, connected with b's as the first was. */
static void replace_qp(struct verbs_pair *p, struct ibv_qp_init_attr_ex *attr,
		       struct uhcadv_qp_init_attr *dv)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_destroy_qp(p->a.qp), 0);
	p->a.qp = uhcadv_create_qp(p->context, attr, dv);
	assert_non_null(p->a.qp);
	assert_int_equal(ibv_modify_qp(p->b.qp, &reset, IBV_QP_STATE), 0);
	verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
	verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
}

static void make_extended(struct verbs_pair *p, uint64_t ops, uint32_t entries)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = p->a.cq,
		.recv_cq = p->a.cq,
		.cap = {PAIR_WR, PAIR_WR, 2, 2, 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = p->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_LOCAL_INV};
	struct uhcadv_qp_init_attr dv = {.send_ops_flags = ops, .max_list_entries = entries};

	replace_qp(p, &attr, &dv);
}

/* Register, use and invalidate in one post, with a list as long as there is. */
static void test_builders(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 300);
	struct uhcadv_reg_attr attr = with(0, 0x21);
	struct uhcadv_block block[300];
	struct uhcadv_qp_ex *dv;
	struct ibv_qp_ex *q;

	(void)state;
	make_extended(p, UHCADV_QP_WITH_REG_SG, 300);
	q = ibv_qp_to_qp_ex(p->a.qp);
	dv = uhcadv_qp_ex_from_ibv_qp_ex(q);
	assert_non_null(dv);
	for (unsigned i = 0; i < 300; i++)
		block[i] = part(&p->a, 3000 * i, 7);
	verbs_pair_recv(&p->b, 2, 0, PAGE);
	ibv_wr_start(q);
	q->wr_flags = IBV_SEND_SIGNALED;
	q->wr_id = 31;
	uhcadv_wr_reg_sg(dv, mr, &attr, block, 300);
	q->wr_id = 32;
	ibv_wr_send(q);
	ibv_wr_set_sge(q, mr->lkey, 0, 2100);
	q->wr_id = 33;
	q->wr_flags |= IBV_SEND_FENCE;
	ibv_wr_local_inv(q, mr->lkey);
	assert_int_equal(ibv_wr_complete(q), 0);
	expect(p->a.cq, 31, IBV_WC_SUCCESS, UHCADV_WC_REG_SG);
	expect(p->a.cq, 32, IBV_WC_SUCCESS, IBV_WC_SEND);
	expect(p->a.cq, 33, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
	expect(p->b.cq, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	for (unsigned i = 0; i < 300; i++)
		assert_memory_equal(p->b.memory + 7 * i, p->a.memory + 3000 * i, 7);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* The peer's data come, the key goes. */
static void test_read_with_inv(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 2);
	struct uhcadv_reg_attr attr = with(RIGHTS, 3);
	struct uhcadv_block block[] = {part(&p->a, 64, 30), part(&p->a, 8, 34)};
	struct ibv_sge sge = {.length = 64};
	struct uhcadv_send_wr *bad, wr = {.wr_id = 12,
					  .opcode = UHCADV_WR_READ_WITH_INV,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .rdma = {(uintptr_t)p->b.memory + 500, p->b.mr->rkey}};
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 2), 0);
	sge.lkey = mr->lkey;
	assert_int_equal(uhcadv_post_send(p->a.qp, &wr, &bad), 0);
	wc = verbs_pair_poll(p->a.cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal((int)wc.opcode, UHCADV_WC_READ_WITH_INV);
	assert_true(wc.wc_flags & IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, mr->lkey);
	assert_memory_equal(p->a.memory + 64, p->b.memory + 500, 30);
	assert_memory_equal(p->a.memory + 8, p->b.memory + 530, 34);
	send_from(p, mr, 0, 1);
	expect(p->a.cq, 1, IBV_WC_LOC_PROT_ERR, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

static void masked(struct verbs_pair *p, struct uhcadv_send_wr *wr, uint32_t size)
{
	struct ibv_sge sge = {(uintptr_t)p->a.memory, size, p->a.mr->lkey};
	struct uhcadv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->atomic.remote_addr = (uintptr_t)p->b.memory;
	wr->atomic.rkey = p->b.mr->rkey;
	assert_int_equal(uhcadv_post_send(p->a.qp, wr, &bad), 0);
}

static void test_masked_atomics(void **state)
{
	struct verbs_pair *p = open_pair();
	uint64_t compare = 0x22, mask = 0xff, swap = 0x55000000, swap_mask = 0xff000000, old;
	uint32_t add[4] = {1, 0xffffffff, 1, 1}, boundary[4] = {0, 0x80000000, 0, 0x80000000};
	uint32_t *there = (uint32_t *)(void *)p->b.memory;
	struct uhcadv_send_wr cas = {.wr_id = 1, .opcode = UHCADV_WR_MASKED_CMP_SWP},
			      faa = {.wr_id = 2, .opcode = UHCADV_WR_MASKED_FETCH_ADD};

	(void)state;
	cas.atomic.cmp_swp = (struct uhcadv_masked_cmp_swp){8, &compare, &swap, &mask, &swap_mask};
	memcpy(there, (const uint64_t[]){0x1122334466778822}, 8);
	masked(p, &cas, 8);
	expect(p->a.cq, 1, IBV_WC_SUCCESS, UHCADV_WC_MASKED_CMP_SWP);
	memcpy(&old, p->a.memory, 8);
	assert_int_equal(old, 0x1122334466778822);
	memcpy(&old, there, 8);
	assert_int_equal(old, 0x1122334455778822);
	/* Two fields of eight bytes: what the first carries stays out of the second. */
	faa.atomic.fetch_add = (struct uhcadv_masked_fetch_add){16, add, boundary};
	memcpy(there, (const uint32_t[]){0xffffffff, 0, 5, 6}, 16);
	masked(p, &faa, 16);
	expect(p->a.cq, 2, IBV_WC_SUCCESS, UHCADV_WC_MASKED_FETCH_ADD);
	assert_memory_equal(there, ((const uint32_t[]){0, 0, 6, 7}), 16);
	assert_memory_equal(p->a.memory, ((const uint32_t[]){0xffffffff, 0, 5, 6}), 16);
	verbs_pair_destroy(p);
}

static void test_shared(void **state)
{
	struct verbs_pair *p = open_pair();
	uint8_t *memory = uhcadv_alloc_shared(p->context, 3 * PAGE);
	struct ibv_mr *mr;

	(void)state;
	assert_non_null(memory);
	mr = ibv_reg_mr(p->pd, memory, 3 * PAGE, RIGHTS);
	assert_non_null(mr);
	assert_int_equal(uhcadv_free_shared(p->context, memory), EBUSY);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, mr->rkey, (uintptr_t)memory + 9, 9000),
			 IBV_WC_SUCCESS);
	assert_memory_equal(memory + 9, p->a.memory, 9000);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(uhcadv_free_shared(p->context, memory), 0);
	verbs_pair_destroy(p);
}

/* A shallow queue of inline requests: 10.7's other rules are unchanged. */
static void test_low_latency(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_qp_init_attr_ex attr = {.send_cq = p->a.cq,
					   .recv_cq = p->a.cq,
					   .cap = {4, PAIR_WR, 1, 2, 64},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = p->pd};
	struct uhcadv_qp_init_attr dv = {.create_flags = UHCADV_QP_LOW_LATENCY};
	struct ibv_send_wr wr = {.wr_id = 3,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
	struct uhcadv_device_attr device;

	(void)state;
	assert_int_equal(uhcadv_query_device(p->context, &device, sizeof(device)), 0);
	attr.cap.max_send_wr = device.max_low_latency_wr + 1;
	errno = 0;
	assert_null(uhcadv_create_qp(p->context, &attr, &dv));
	assert_int_equal(errno, EINVAL);
	attr.cap.max_send_wr = device.max_low_latency_wr;
	replace_qp(p, &attr, &dv);
	verbs_pair_recv(&p->b, 2, 0, PAGE);
	verbs_pair_send(&p->a, &wr, 0, 60);
	expect(p->a.cq, 3, IBV_WC_SUCCESS, IBV_WC_SEND);
	expect(p->b.cq, 2, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_memory_equal(p->b.memory, p->a.memory, 60);
	wr.send_flags = IBV_SEND_SIGNALED;
	verbs_pair_send(&p->a, &wr, 0, 60);
	expect(p->a.cq, 3, IBV_WC_LOC_QP_OP_ERR, 0);
	verbs_pair_destroy(p);
}

/* iWARP-like: the program may not choose the key's byte, but give the one that there is. */
static void test_fixed_key_byte(void **state)
{
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 1);
	struct uhcadv_block block = part(&p->b, 40, 8);
	uint32_t key = mr->rkey;
	struct uhcadv_send_wr *bad, wr = {.wr_id = 9,
					  .opcode = UHCADV_WR_REG_MR_BLOCKS,
					  .send_flags = IBV_SEND_SIGNALED,
					  .reg = {.mr = mr, .attr = with(RIGHTS, (uint8_t)key)}};

	(void)state;
	wr.reg.block = &block;
	wr.reg.n_blocks = 1;
	assert_int_equal(uhcadv_post_send(p->b.qp, &wr, &bad), 0);
	expect(p->b.cq, 9, IBV_WC_SUCCESS, UHCADV_WC_REG_MR);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, mr->rkey, 0, 8), IBV_WC_SUCCESS);
	assert_memory_equal(p->b.memory + 40, p->a.memory, 8);
	local_inv(&p->b, mr->rkey);
	wr.reg.attr.key_byte ^= 1;
	assert_int_equal(uhcadv_post_send(p->b.qp, &wr, &bad), 0);
	expect(p->b.cq, 9, IBV_WC_MW_BIND_ERR, 0);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &wr.reg.attr, &block, 1), EOPNOTSUPP);
	wr.opcode = UHCADV_WR_REG_SG;
	assert_int_equal(uhcadv_post_send(p->b.qp, &wr, &bad), EOPNOTSUPP);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* Registers the key, and reads into it what the peer has. */
static void read_into_key(struct verbs_pair *p, struct ibv_mr *mr, unsigned access)
{
	struct uhcadv_block block = part(&p->a, 80, 64);
	struct ibv_sge sge = {.length = 64, .lkey = mr->lkey};
	struct uhcadv_send_wr read = {.wr_id = 13,
				      .opcode = UHCADV_WR_READ_WITH_INV,
				      .send_flags = IBV_SEND_SIGNALED,
				      .sg_list = &sge,
				      .num_sge = 1,
				      .rdma = {(uintptr_t)p->b.memory, p->b.mr->rkey}};
	struct uhcadv_send_wr *bad, wr = {.next = &read,
					  .opcode = UHCADV_WR_REG_MR_BLOCKS,
					  .reg = {.mr = mr, .attr = with(access, mr->lkey & 0xff)}};

	wr.reg.block = &block;
	wr.reg.n_blocks = 1;
	assert_int_equal(uhcadv_post_send(p->a.qp, &wr, &bad), 0);
}

/* ... and what a READ fills must allow remote writes (RFC 5040, 4.4). */
static void test_read_sink(void **state)
{
	const unsigned local = IBV_ACCESS_LOCAL_WRITE;
	struct verbs_pair *p = open_pair();
	struct ibv_mr *mr = new_key(p, 1);

	(void)state;
	read_into_key(p, mr, local | IBV_ACCESS_REMOTE_WRITE);
	expect(p->a.cq, 13, IBV_WC_SUCCESS, UHCADV_WC_READ_WITH_INV);
	assert_memory_equal(p->a.memory + 80, p->b.memory, 64);
	read_into_key(p, mr, local);
	expect(p->a.cq, 13, IBV_WC_LOC_PROT_ERR, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

/* ---- what is refused ---- */

static void refuse_qp(struct verbs_pair *p, struct uhcadv_qp_init_attr dv, int err)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = p->a.cq,
					   .recv_cq = p->a.cq,
					   .cap = {8, 8, 1, 1, 0},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = p->pd};

	errno = 0;
	assert_null(uhcadv_create_qp(p->context, &attr, &dv));
	assert_int_equal(errno, err);
}

static void test_create_refused(void **state)
{
	struct verbs_pair *p = open_pair();

	(void)state;
	refuse_qp(p, (struct uhcadv_qp_init_attr){.comp_mask = 1}, EINVAL);
	refuse_qp(p, (struct uhcadv_qp_init_attr){.create_flags = 2}, EOPNOTSUPP);
	refuse_qp(p, (struct uhcadv_qp_init_attr){.send_ops_flags = 1 << 6}, EOPNOTSUPP);
	refuse_qp(p, (struct uhcadv_qp_init_attr){.max_list_entries = 100000}, EINVAL);
	errno = 0;
	assert_null(ibv_qp_to_qp_ex(p->a.qp));
	verbs_pair_destroy(p);
}

static void test_nothing_there(void **state)
{
	struct verbs_pair *p = open_pair();
	struct uhcadv_block block = part(&p->a, 0, 8);
	struct uhcadv_send_wr *bad = NULL, wr = {.reg = {.mr = p->a.mr}};

	(void)state;
	refuse_alloc(p->pd, 1, EOPNOTSUPP);
	refuse_qp(p, (struct uhcadv_qp_init_attr){.create_flags = UHCADV_QP_LOW_LATENCY},
		  EOPNOTSUPP);
	for (unsigned bit = 0; bit < 6; bit++)
		refuse_qp(p, (struct uhcadv_qp_init_attr){.send_ops_flags = 1ull << bit},
			  EOPNOTSUPP);
	wr.reg.block = &block;
	for (unsigned i = UHCADV_WR_REG_MR_PAGES; i <= UHCADV_WR_MASKED_FETCH_ADD; i++) {
		wr.opcode = (enum uhcadv_wr_opcode)i;
		assert_int_equal(uhcadv_post_send(p->a.qp, &wr, &bad), EOPNOTSUPP);
		assert_ptr_equal(bad, &wr);
	}
	verbs_pair_destroy(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),          cmocka_unit_test(test_alloc),
		cmocka_unit_test(test_rereg_sg),       cmocka_unit_test(test_rereg_interleaved),
		cmocka_unit_test(test_rereg_refused),  cmocka_unit_test(test_fast_reg),
		cmocka_unit_test(test_fast_reg_twice), cmocka_unit_test(test_builders),
		cmocka_unit_test(test_read_with_inv),  cmocka_unit_test(test_masked_atomics),
		cmocka_unit_test(test_shared),         cmocka_unit_test(test_low_latency),
		cmocka_unit_test(test_create_refused),
	};
	const struct CMUnitTest iwarp[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_fixed_key_byte),
		cmocka_unit_test(test_read_sink),
	};
	const struct CMUnitTest without[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_nothing_there),
	};

	profile = argc > 1 ? argv[1] : "default";
	if (strcmp(profile, "iwarp-like") == 0)
		return cmocka_run_group_tests_name("dv, iWARP-like", iwarp, NULL, NULL);
	if (strcmp(profile, "default") != 0)
		return cmocka_run_group_tests_name("dv, nothing there", without, NULL, NULL);
	return cmocka_run_group_tests_name("dv", tests, NULL, NULL);
}
