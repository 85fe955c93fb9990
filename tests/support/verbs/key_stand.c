/* SPDX-License-Identifier: BSD-2-Clause */
#include "key_stand.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

uint64_t stand_at(const struct stand *s, size_t offset)
{
	return (uintptr_t)s->memory + offset;
}

/* ---- the stand ---- */

static void make_side(struct stand *s, struct side *x)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = s->w->pd,
					   .cap = {WORLD_WR, WORLD_WR, 2, 2, 64}};
	struct uhcadv_qp_init_attr dv = {.max_list_entries = STAND_POSTED};

	x->cq = ibv_create_cq(s->w->ctx, 64, NULL, NULL, 0);
	assert_non_null(x->cq);
	attr.send_cq = attr.recv_cq = x->cq;
	x->qp = uhcadv_create_qp(s->w->ctx, &attr, &dv);
	assert_non_null(x->qp);
}

static void free_side(struct side *x)
{
	assert_int_equal(ibv_destroy_qp(x->qp), 0);
	assert_int_equal(ibv_destroy_cq(x->cq), 0);
}

static void connect(struct side *x, struct side *y)
{
	world_connect(x->qp, y->qp->qp_num, IBV_QPS_RTS);
	world_connect(y->qp, x->qp->qp_num, IBV_QPS_RTS);
}

static struct ibv_mr *region(struct stand *s, struct ibv_pd *pd, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, s->memory, STAND_SIZE, access);

	assert_non_null(mr);
	return mr;
}

int stand_setup(void **state)
{
	struct stand *s = calloc(1, sizeof(*s));
	struct uhcadv_reg_attr attr = {.access = STAND_WIDE};
	struct uhcadv_block block[2];

	assert_non_null(s);
	assert_int_equal(world_setup((void **)&s->w), 0);
	s->memory = aligned_alloc(STAND_PAGE, STAND_SIZE);
	assert_non_null(s->memory);
	memset(s->memory, 0, STAND_SIZE);
	s->pd = ibv_alloc_pd(s->w->ctx);
	assert_non_null(s->pd);
	s->all = region(s, s->w->pd, STAND_ALL);
	s->readable = region(s, s->w->pd, IBV_ACCESS_REMOTE_READ);
	s->foreign = region(s, s->pd, STAND_ALL);
	make_side(s, &s->near), make_side(s, &s->far);
	make_side(s, &s->by), make_side(s, &s->stander);
	connect(&s->near, &s->far);
	connect(&s->by, &s->stander);
	s->key = uhcadv_alloc_mr(s->w->pd, STAND_ENTRIES);
	s->composite = uhcadv_alloc_mr(s->w->pd, 2);
	assert_true(s->key && s->composite);
	block[0] = (struct uhcadv_block){stand_at(s, 100), 300, s->all->lkey};
	block[1] = (struct uhcadv_block){stand_at(s, STAND_PAGE), 700, s->all->lkey};
	assert_int_equal(uhcadv_rereg_mr_sg(s->composite, &attr, block, 2), 0);
	*state = s;
	return 0;
}

int stand_teardown(void **state)
{
	struct stand *s = *state;

	free_side(&s->near), free_side(&s->far);
	free_side(&s->by), free_side(&s->stander);
	assert_int_equal(ibv_dereg_mr(s->key), 0);
	assert_int_equal(ibv_dereg_mr(s->composite), 0);
	assert_int_equal(ibv_dereg_mr(s->all), 0);
	assert_int_equal(ibv_dereg_mr(s->readable), 0);
	assert_int_equal(ibv_dereg_mr(s->foreign), 0);
	assert_int_equal(ibv_dealloc_pd(s->pd), 0);
	world_teardown((void **)&s->w);
	free(s->memory);
	free(s);
	return 0;
}

/* ---- requests ---- */

enum ibv_wc_status stand_status_of(struct side *x)
{
	struct ibv_wc wc;

	world_poll(x->cq, &wc);
	return wc.status;
}

enum ibv_wc_status stand_post(struct side *x, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(x->qp, wr, &bad), 0);
	return stand_status_of(x);
}

enum ibv_wc_status stand_post_dv(struct side *x, struct uhcadv_send_wr *wr)
{
	struct uhcadv_send_wr *bad;

	wr->send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(uhcadv_post_send(x->qp, wr, &bad), 0);
	return stand_status_of(x);
}

enum ibv_wc_status stand_rdma(struct side *x, enum ibv_wr_opcode opcode, struct ibv_sge sge,
			      uint64_t remote, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.opcode = opcode, .sg_list = &sge, .num_sge = 1, .wr.rdma = {remote, rkey}};

	return stand_post(x, &wr);
}

enum ibv_wc_status stand_local_inv(struct stand *s, uint32_t key)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key};

	return stand_post(&s->near, &wr);
}

void stand_receive(struct side *x, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(x->qp, &wr, &bad), 0);
}

/* From the near side: what the sender and the receiver are told. */
enum ibv_wc_status stand_send_with_inv(struct stand *s, uint32_t key, enum ibv_wc_status *there)
{
	struct ibv_sge sge = {stand_at(s, 0), 8, s->all->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .invalidate_rkey = key};
	enum ibv_wc_status here;

	stand_receive(&s->far, (struct ibv_sge){stand_at(s, STAND_PAGE), 64, s->all->lkey});
	here = stand_post(&s->near, &wr);
	*there = stand_status_of(&s->far);
	return here;
}

struct uhcadv_send_wr stand_pages(struct stand *s)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES};

	s->page[0] = stand_at(s, 9 * STAND_PAGE);
	s->page[1] = stand_at(s, 8 * STAND_PAGE);
	wr.reg.mr = s->key;
	wr.reg.attr.access = STAND_WIDE | IBV_ACCESS_MW_BIND;
	wr.reg.attr.key_byte = (uint8_t)(s->key->rkey + 1);
	wr.reg.pages = (struct uhcadv_page_list){.lkey = s->all->lkey,
						 .n = 2,
						 .page_shift = 12,
						 .page = s->page,
						 .length = 2 * STAND_PAGE - 10};
	return wr;
}

static struct uhcadv_send_wr list(struct stand *s, enum uhcadv_wr_opcode opcode)
{
	struct uhcadv_send_wr wr = {.opcode = opcode};

	for (unsigned i = 0; i <= STAND_POSTED; i++)
		s->block[i] = (struct uhcadv_block){stand_at(s, 8 * STAND_PAGE + 64 * i), 48,
						    s->all->lkey};
	wr.reg.mr = s->key;
	wr.reg.attr.access = STAND_WIDE;
	wr.reg.attr.key_byte = (uint8_t)(s->key->rkey + 1);
	wr.reg.block = s->block;
	wr.reg.n_blocks = STAND_ENTRIES;
	return wr;
}

struct uhcadv_send_wr stand_blocks(struct stand *s)
{
	return list(s, UHCADV_WR_REG_MR_BLOCKS);
}

struct uhcadv_send_wr stand_composite(struct stand *s)
{
	return list(s, UHCADV_WR_REG_SG);
}

struct uhcadv_send_wr stand_interleaved(struct stand *s)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_INTERLEAVED};

	s->piece = (struct uhcadv_piece){stand_at(s, 8 * STAND_PAGE), 6, s->all->lkey, {64}};
	wr.reg.mr = s->key;
	wr.reg.attr.access = STAND_WIDE;
	wr.reg.attr.key_byte = (uint8_t)(s->key->rkey + 1);
	wr.reg.interleaved = (struct uhcadv_interleaved){
		.n_dims = 1, .n_pieces = 1, .count = {20}, .piece = &s->piece};
	return wr;
}

/* ---- what must be so afterwards ---- */

void stand_reset(struct side *x)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc;

	assert_int_equal(ibv_modify_qp(x->qp, &attr, IBV_QP_STATE), 0);
	while (ibv_poll_cq(x->cq, 1, &wc) > 0)
		;
}

/* The bystanders: a message out of a composite, and one into it by its R_Key. */
void stand_unharmed(struct stand *s)
{
	static uint8_t pattern;
	const struct ibv_sge whole = {0, 1000, s->composite->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND, .num_sge = 1};

	memset(s->memory + 100, ++pattern, 300);
	memset(s->memory + STAND_PAGE, pattern ^ 0xff, 700);
	stand_receive(&s->stander,
		      (struct ibv_sge){stand_at(s, 3 * STAND_PAGE), 1000, s->all->lkey});
	wr.sg_list = (struct ibv_sge *)&whole;
	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(s->by.qp, &wr, &bad), 0);
	assert_int_equal(stand_status_of(&s->by), IBV_WC_SUCCESS);
	assert_int_equal(stand_status_of(&s->stander), IBV_WC_SUCCESS);
	assert_memory_equal(s->memory + 3 * STAND_PAGE, s->memory + 100, 300);
	assert_memory_equal(s->memory + 3 * STAND_PAGE + 300, s->memory + STAND_PAGE, 700);
	memset(s->memory + 3 * STAND_PAGE, pattern + 7, 1000);
	assert_int_equal(
		stand_rdma(&s->by, IBV_WR_RDMA_WRITE,
			   (struct ibv_sge){stand_at(s, 3 * STAND_PAGE), 1000, s->all->lkey}, 0,
			   s->composite->rkey),
		IBV_WC_SUCCESS);
	assert_memory_equal(s->memory + 3 * STAND_PAGE, s->memory + 100, 300);
	assert_memory_equal(s->memory + 3 * STAND_PAGE, s->memory + STAND_PAGE, 700);
}

/* The pair that was lost comes back; its neighbours never noticed. */
void stand_recover(struct stand *s)
{
	stand_unharmed(s);
	stand_reset(&s->near), stand_reset(&s->far);
	connect(&s->near, &s->far);
}

enum ibv_wc_status stand_write_to_key(struct stand *s, uint32_t rkey)
{
	return stand_rdma(&s->near, IBV_WR_RDMA_WRITE,
			  (struct ibv_sge){stand_at(s, 0), 16, s->all->lkey}, 0, rkey);
}

void stand_alive(struct stand *s)
{
	assert_int_equal(stand_write_to_key(s, s->key->rkey), IBV_WC_SUCCESS);
}

void stand_dead(struct stand *s, uint32_t rkey)
{
	assert_int_equal(stand_write_to_key(s, rkey), IBV_WC_REM_ACCESS_ERR);
	stand_recover(s);
}

void stand_describe(struct stand *s)
{
	struct uhcadv_send_wr wr = stand_pages(s);

	assert_int_equal(stand_post_dv(&s->near, &wr), IBV_WC_SUCCESS);
	stand_alive(s);
}

void stand_invalidate(struct stand *s)
{
	assert_int_equal(stand_local_inv(s, s->key->rkey), IBV_WC_SUCCESS);
}

/* Refused by the device; our struct has the byte that was asked for, the key has not. */
void stand_refused(struct stand *s, struct uhcadv_send_wr *wr)
{
	uint8_t byte = (uint8_t)s->key->rkey;

	assert_int_equal(stand_post_dv(&s->near, wr), IBV_WC_MW_BIND_ERR);
	uhcadv_set_key_byte(s->key, byte);
	stand_recover(s);
}

void stand_local_inv_refused(struct stand *s, uint32_t key)
{
	enum ibv_wc_status there;

	assert_int_equal(stand_local_inv(s, key), IBV_WC_MW_BIND_ERR);
	stand_recover(s);
	assert_int_equal(stand_send_with_inv(s, key, &there), IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(there, IBV_WC_REM_INV_REQ_ERR);
	stand_recover(s);
}
