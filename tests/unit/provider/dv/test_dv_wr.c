/* SPDX-License-Identifier: BSD-2-Clause */
/* The builders of struct uhcadv_qp_ex, beside those of libibverbs. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/dv/dv.h"
#include "provider/dv/dv_wr.h"
#include "provider/post/qp_ex.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ALL_OPS                                                                                    \
	(UHCADV_QP_WITH_REG_MR | UHCADV_QP_WITH_REG_INTERLEAVED | UHCADV_QP_WITH_REG_SG |          \
	 UHCADV_QP_WITH_READ_WITH_INV | UHCADV_QP_WITH_MASKED_CMP_SWP |                            \
	 UHCADV_QP_WITH_MASKED_FETCH_ADD)

static struct ibv_qp_ex *to_qp_ex(struct ibv_qp *qp)
{
	uint32_t mark;

	memcpy(&mark, (uint8_t *)qp + offsetof(struct ibv_qp_ex, wr_abort) + 24, sizeof(mark));
	return mark ? (struct ibv_qp_ex *)(void *)qp : NULL;
}

static struct fixture *setup(uint64_t dv_ops, uint32_t features)
{
	const uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_LOCAL_INV;
	struct fixture *f = fixture_create(IBV_QPT_RC);
	uint32_t opcodes;

	uhcav_qp_ex_probe(to_qp_ex);
	f->ctx.features = UHCAV_FEATURES_KNOWN | features;
	f->qp.send_mask = UINT32_MAX;
	memset(f->send, 0xee, sizeof(f->send));
	memset(f->data, 0xee, sizeof(f->data));
	assert_int_equal(uhcav_qp_ex_check(&f->qp, ops), 0);
	uhcav_qp_ex_enable(&f->qp, ops);
	assert_int_equal(uhcav_dv_wr_opcodes(dv_ops, IBV_QPT_RC, UINT32_MAX, &opcodes), 0);
	uhcav_dv_wr_enable(&f->qp, opcodes);
	return f;
}

static struct uhcadv_qp_ex *start(struct fixture *f)
{
	struct uhcadv_qp_ex *dv = uhcav_dv_qp_ex(&f->qp.qpx);

	assert_non_null(dv);
	ibv_wr_start(&f->qp.qpx);
	f->qp.qpx.wr_id = 0x11;
	f->qp.qpx.wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	return dv;
}

static int complete(struct fixture *f, uint32_t n)
{
	uint32_t before = f->queue.send.producer;
	int err = ibv_wr_complete(&f->qp.qpx);

	assert_int_equal(f->queue.send.producer, before + (err ? 0 : n));
	assert_int_equal(f->qp.sq.producer, f->queue.send.producer);
	assert_int_equal(f->qp.sq.lock.held, 0);
	assert_int_equal(fixture_rung(f), !err && n);
	return err;
}

static const struct uhcadv_block block = {1, 2, 3};
static const struct uhcadv_reg_attr attr = {.iova = 0x5000, .key_byte = 0x42};

static void expect_reg(const struct fixture *f, uint32_t index, uint8_t opcode, uint32_t bytes)
{
	const struct uhca_abi_send_wqe *w = fixture_sent(f, index);

	assert_int_equal(w->wr_id, 0x11);
	assert_int_equal(w->opcode, opcode);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED);
	assert_int_equal(w->num_sge, 0);
	assert_int_equal(w->inline_length, bytes);
	assert_int_equal(w->reg.iova, 0x5000);
	assert_int_equal(w->reg.key, 0x12345642);
	assert_int_equal(w->reg.n, 1);
	assert_int_equal(fixture_data(f, index)[bytes], 0xee);
}

/* Registered, used by its new name, and invalidated: one post. */
static void test_reg(void **state)
{
	struct fixture *f = setup(ALL_OPS, UINT32_MAX);
	const uint64_t page = 0x9000;
	const struct uhcadv_page_list pages = {
		.lkey = 7, .n = 1, .page_shift = 12, .page = &page, .length = 64};
	const struct uhcadv_piece piece = {.addr = 1, .bytes = 2, .lkey = 3};
	const struct uhcadv_interleaved layout = {
		.n_dims = 1, .n_pieces = 1, .count = {9}, .piece = &piece};
	struct ibv_mr mr = {.lkey = 0x12345600, .rkey = 0x12345600};
	struct uhcadv_qp_ex *dv = start(f);

	(void)state;
	uhcadv_wr_reg_mr_pages(dv, &mr, &attr, &pages);
	assert_int_equal(mr.lkey, 0x12345642);
	ibv_wr_send(&f->qp.qpx);
	ibv_wr_set_sge(&f->qp.qpx, mr.lkey, 0, 64);
	ibv_wr_local_inv(&f->qp.qpx, mr.lkey);
	uhcadv_wr_reg_mr_blocks(dv, &mr, &attr, &block, 1);
	uhcadv_wr_reg_interleaved(dv, &mr, &attr, &layout);
	uhcadv_wr_reg_sg(dv, &mr, &attr, &block, 1);
	assert_int_equal(complete(f, 6), 0);
	expect_reg(f, 0, UHCA_ABI_WR_REG_MR, 8);
	assert_int_equal(fixture_sent(f, 0)->reg.page_shift, 12);
	assert_memory_equal(fixture_data(f, 0), &page, 8);
	assert_int_equal(fixture_sge(f, 1)->lkey, 0x12345642);
	assert_int_equal(fixture_sent(f, 2)->imm, 0x12345642);
	expect_reg(f, 3, UHCA_ABI_WR_REG_MR, 24);
	assert_int_equal(fixture_sent(f, 3)->reg.page_shift, 0);
	expect_reg(f, 4, UHCA_ABI_WR_REG_INTERLEAVED, 96);
	assert_int_equal(fixture_sent(f, 4)->reg.n_dims, 1);
	expect_reg(f, 5, UHCA_ABI_WR_REG_SG, 24);
	fixture_destroy(f);
}

static void test_fetch(void **state)
{
	struct fixture *f = setup(ALL_OPS, UINT32_MAX);
	uint64_t value[4] = {1, 2, 3, 4};
	const struct uhcadv_masked_cmp_swp cas = {8, &value[0], &value[1], &value[2], &value[3]};
	const struct uhcadv_masked_fetch_add faa = {8, &value[0], &value[1]};
	struct uhcadv_qp_ex *dv = start(f);
	const struct uhca_abi_send_wqe *w;

	(void)state;
	uhcadv_wr_read_with_inv(dv, 0x66, 0x2000);
	ibv_wr_set_sge(&f->qp.qpx, 0x55, 0x1000, 99);
	uhcadv_wr_masked_cmp_swp(dv, 0x67, 0x3000, &cas);
	ibv_wr_set_sge(&f->qp.qpx, 0x56, 0x1000, 8);
	uhcadv_wr_masked_fetch_add(dv, 0x68, 0x4000, &faa);
	ibv_wr_set_sge(&f->qp.qpx, 0x57, 0x1000, 8);
	assert_int_equal(complete(f, 3), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->opcode, UHCA_ABI_WR_READ_WITH_INV);
	assert_int_equal(w->num_sge, 1);
	assert_int_equal(w->rdma.rkey, 0x66);
	assert_int_equal(w->rdma.remote_addr, 0x2000);
	assert_int_equal(fixture_sge(f, 0)->lkey, 0x55);
	w = fixture_sent(f, 1);
	assert_int_equal(w->opcode, UHCA_ABI_WR_MASKED_CMP_SWP);
	assert_int_equal(w->inline_length, 32);
	assert_int_equal(w->masked.size, 8);
	assert_int_equal(w->masked.rkey, 0x67);
	assert_memory_equal(fixture_data(f, 1), value, 32);
	w = fixture_sent(f, 2);
	assert_int_equal(w->opcode, UHCA_ABI_WR_MASKED_FETCH_ADD);
	assert_int_equal(w->inline_length, 16);
	assert_int_equal(fixture_sge(f, 2)->lkey, 0x57);
	assert_memory_equal(fixture_data(f, 2), value, 16);
	fixture_destroy(f);
}

static void test_read_needs_one(void **state)
{
	struct fixture *f = setup(ALL_OPS, UINT32_MAX);
	struct ibv_sge sge[2] = {{1, 2, 3}, {4, 5, 6}};
	struct uhcadv_qp_ex *dv = start(f);

	(void)state;
	uhcadv_wr_read_with_inv(dv, 1, 2);
	assert_int_equal(complete(f, 1), EINVAL);
	dv = start(f);
	uhcadv_wr_read_with_inv(dv, 1, 2);
	ibv_wr_set_sge_list(&f->qp.qpx, 2, sge);
	assert_int_equal(complete(f, 1), EINVAL);
	dv = start(f);
	uhcadv_wr_read_with_inv(dv, 1, 2);
	ibv_wr_local_inv(&f->qp.qpx, 1); /* the entry before is not whole */
	assert_int_equal(complete(f, 2), EINVAL);
	dv = start(f);
	uhcadv_wr_read_with_inv(dv, 1, 2);
	ibv_wr_set_inline_data(&f->qp.qpx, sge, 8);
	assert_int_equal(complete(f, 1), EINVAL);
	fixture_destroy(f);
}

/* The first error is the post's, and nothing of it is left. */
static void test_errors(void **state)
{
	struct fixture *f = setup(UHCADV_QP_WITH_REG_MR | UHCADV_QP_WITH_MASKED_CMP_SWP,
				  UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_MASKED_ATOMICS);
	struct ibv_mr mr = {.lkey = 0x100, .rkey = 0x100}, foreign = {.context = (void *)&mr};
	const struct uhcadv_page_list none = {.page_shift = 12};
	struct uhcadv_masked_cmp_swp cas = {32, &mr, &mr, NULL, NULL};
	struct uhcadv_qp_ex *dv = start(f);

	(void)state;
	uhcadv_wr_reg_sg(dv, &mr, &attr, &block, 1); /* not asked for */
	assert_int_equal(complete(f, 1), EINVAL);
	dv = start(f);
	uhcadv_wr_reg_mr_blocks(dv, &mr, &attr, &block, 1); /* not there */
	ibv_wr_local_inv(&f->qp.qpx, 1);
	assert_int_equal(complete(f, 2), EOPNOTSUPP);
	dv = start(f);
	uhcadv_wr_reg_mr_pages(dv, &mr, &attr, &none);
	assert_int_equal(complete(f, 1), EINVAL);
	dv = start(f);
	uhcadv_wr_reg_mr_pages(dv, &foreign, &attr, &none);
	assert_int_equal(complete(f, 1), EINVAL);
	dv = start(f);
	uhcadv_wr_masked_cmp_swp(dv, 1, 2, &cas);
	assert_int_equal(complete(f, 1), EOPNOTSUPP); /* a size that is not there */
	assert_int_equal(mr.lkey, 0x100);
	f->ctx.life = UHCAV_FATAL;
	dv = start(f);
	uhcadv_wr_reg_mr_pages(dv, &mr, &attr, &none);
	assert_int_equal(complete(f, 1), EIO);
	fixture_destroy(f);
}

static void test_full_and_abort(void **state)
{
	struct fixture *f = setup(ALL_OPS, UINT32_MAX);
	struct ibv_mr mr = {.lkey = 0x100, .rkey = 0x100};
	struct uhcadv_qp_ex *dv = start(f);

	(void)state;
	for (unsigned i = 0; i < FIXTURE_WR + 1; i++)
		uhcadv_wr_reg_sg(dv, &mr, &attr, &block, 1);
	assert_int_equal(complete(f, FIXTURE_WR + 1), ENOMEM);
	dv = start(f);
	uhcadv_wr_reg_sg(dv, &mr, &attr, &block, 1);
	assert_int_equal(mr.lkey, 0x142);
	ibv_wr_abort(&f->qp.qpx);
	assert_int_equal(f->qp.sq.lock.held, 0);
	assert_int_equal(f->queue.send.producer, 0);
	uhcadv_set_key_byte(&mr, 0);
	assert_int_equal(mr.rkey, 0x100);
	dv = start(f);
	for (unsigned i = 0; i < FIXTURE_WR; i++)
		uhcadv_wr_reg_sg(dv, &mr, &attr, &block, 1);
	assert_int_equal(complete(f, FIXTURE_WR), 0);
	fixture_destroy(f);
}

static void test_opcodes(void **state)
{
	const uint32_t reg = 1u << UHCA_ABI_WR_REG_MR;
	struct fixture *f;
	uint32_t opcodes;

	(void)state;
	assert_int_equal(uhcav_dv_wr_opcodes(UHCADV_QP_WITH_REG_MR, IBV_QPT_UC,
					     UHCA_ABI_HAS_BLOCK_LIST, &opcodes),
			 0);
	assert_int_equal(opcodes, reg);
	for (unsigned bit = 0; bit < 6; bit++)
		assert_int_equal(uhcav_dv_wr_opcodes(1ull << bit, IBV_QPT_RC, 0, &opcodes),
				 -EOPNOTSUPP);
	assert_int_equal(uhcav_dv_wr_opcodes(1ull << 6, IBV_QPT_RC, UINT32_MAX, &opcodes),
			 -EOPNOTSUPP);
	assert_int_equal(uhcav_dv_wr_opcodes(1ull << 32, IBV_QPT_RC, UINT32_MAX, &opcodes),
			 -EOPNOTSUPP);
	assert_int_equal(
		uhcav_dv_wr_opcodes(UHCADV_QP_WITH_READ_WITH_INV, IBV_QPT_UC, UINT32_MAX, &opcodes),
		-EOPNOTSUPP);
	assert_int_equal(
		uhcav_dv_wr_opcodes(UHCADV_QP_WITH_REG_SG, IBV_QPT_UD, UINT32_MAX, &opcodes),
		-EOPNOTSUPP);
	f = setup(0, UINT32_MAX);
	errno = 0;
	assert_null(uhcav_dv_qp_ex(&f->qp.qpx));
	assert_int_equal(errno, EOPNOTSUPP);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reg),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_read_needs_one),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_full_and_abort),
		cmocka_unit_test(test_opcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
