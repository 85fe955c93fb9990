/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcadv_post_send: what the device finds in the slot and its data, and what is refused. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/dv/dv.h"
#include "provider/poll/poll_cq.h"
#include "provider/qp/ece.h"

#include <errno.h>
#include <string.h>

#define EVERYTHING UINT32_MAX

static struct fixture *setup(enum ibv_qp_type type, uint32_t features)
{
	struct fixture *f = fixture_create(type);

	f->ctx.features = UHCAV_FEATURES_KNOWN | features;
	memset(f->send, 0xee, sizeof(f->send));
	memset(f->data, 0xee, sizeof(f->data));
	return f;
}

static struct ibv_mr key(void)
{
	return (struct ibv_mr){.lkey = 0x12345600, .rkey = 0x12345600};
}

static struct uhcadv_send_wr reg(enum uhcadv_wr_opcode opcode, struct ibv_mr *mr)
{
	struct uhcadv_send_wr wr = {
		.wr_id = 0x99, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	wr.reg.mr = mr;
	wr.reg.attr =
		(struct uhcadv_reg_attr){.iova = 0x10000123,
					 .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
						   IBV_ACCESS_RELAXED_ORDERING,
					 .key_byte = 0xab};
	return wr;
}

static void posted(struct fixture *f, struct uhcadv_send_wr *wr)
{
	uint32_t before = f->queue.send.producer;
	struct uhcadv_send_wr *bad = NULL;

	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), 0);
	assert_null(bad);
	assert_int_equal(f->queue.send.producer, before + 1);
	assert_true(fixture_rung(f));
}

/* The slot is this, and nothing that was in it before is left. */
static void expect(const struct fixture *f, uint32_t index, const struct uhca_abi_send_wqe *wqe)
{
	assert_memory_equal(fixture_sent(f, index), wqe, sizeof(*wqe));
}

/* The data are this, and what lies behind them was not touched. */
static void expect_data(const struct fixture *f, uint32_t index, const void *data, size_t bytes)
{
	assert_memory_equal(fixture_data(f, index), data, bytes);
	if (bytes < FIXTURE_DATA_STRIDE)
		assert_int_equal(fixture_data(f, index)[bytes], 0xee);
}

static struct uhca_abi_send_wqe expected(uint8_t opcode, uint32_t bytes)
{
	return (struct uhca_abi_send_wqe){.wr_id = 0x99,
					  .opcode = opcode,
					  .flags = UHCA_ABI_SEND_SIGNALED,
					  .inline_length = bytes};
}

/* As setup's attributes say. */
static struct uhca_abi_layout indirect_layout(uint16_t n)
{
	return (struct uhca_abi_layout){.iova = 0x10000123,
					.key = 0x123456ab,
					.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
					.n = n};
}

static void test_pages(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, UHCA_ABI_HAS_FAST_REG);
	const uint64_t page[3] = {0x3000, 0x1000, 0x7fff000};
	struct uhca_abi_send_wqe wqe = expected(UHCA_ABI_WR_REG_MR, sizeof(page));
	struct ibv_mr mr = key();
	struct uhcadv_send_wr wr = reg(UHCADV_WR_REG_MR_PAGES, &mr);

	(void)state;
	wr.send_flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	wr.reg.pages = (struct uhcadv_page_list){
		.lkey = 0x777, .n = 3, .page_shift = 12, .page = page, .length = 9000};
	posted(f, &wr);
	wqe.flags |= UHCA_ABI_SEND_FENCE; /* solicited: there is no peer to see it */
	wqe.reg = indirect_layout(3);
	wqe.reg.length = 9000;
	wqe.reg.lkey = 0x777;
	wqe.reg.page_shift = 12;
	expect(f, 0, &wqe);
	expect_data(f, 0, page, sizeof(page));
	assert_int_equal(mr.lkey, 0x123456ab);
	assert_int_equal(mr.rkey, 0x123456ab);
	fixture_destroy(f);
}

static void test_blocks(void **state)
{
	static const uint32_t features[] = {UHCA_ABI_HAS_BLOCK_LIST, UHCA_ABI_HAS_SG};
	static const enum uhcadv_wr_opcode kinds[] = {UHCADV_WR_REG_MR_BLOCKS, UHCADV_WR_REG_SG};
	static const uint8_t opcodes[] = {UHCA_ABI_WR_REG_MR, UHCA_ABI_WR_REG_SG};
	const struct uhcadv_block block[2] = {{1, 2, 3}, {UINT64_MAX, UINT64_MAX - 1, UINT32_MAX}};
	const struct uhca_abi_block as[2] = {{1, 2, 3, 0},
					     {UINT64_MAX, UINT64_MAX - 1, UINT32_MAX, 0}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = setup(IBV_QPT_UC, features[i]);
		struct uhca_abi_send_wqe wqe = expected(opcodes[i], sizeof(as));
		struct ibv_mr mr = key();
		struct uhcadv_send_wr wr = reg(kinds[i], &mr);

		wr.reg.block = block;
		wr.reg.n_blocks = 2;
		posted(f, &wr);
		wqe.reg = indirect_layout(2);
		expect(f, 0, &wqe);
		expect_data(f, 0, as, sizeof(as));
		assert_int_equal(mr.rkey, 0x123456ab);
		fixture_destroy(f);
	}
}

/* Strides of dimensions that are not there do not travel. */
static void test_interleaved(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, UHCA_ABI_HAS_INTERLEAVED);
	const struct uhcadv_piece piece[2] = {{1, 2, 3, {-5, 6, 7, 8}}, {11, 12, 13, {14, -15, 1}}};
	struct {
		uint64_t count[2];
		struct uhca_abi_piece piece[2];
	} list = {{100, 200}, {{1, 2, 3, 0, {-5, 6}}, {11, 12, 13, 0, {14, -15}}}};
	struct uhca_abi_send_wqe wqe = expected(UHCA_ABI_WR_REG_INTERLEAVED, sizeof(list));
	struct ibv_mr mr = key();
	struct uhcadv_send_wr wr = reg(UHCADV_WR_REG_INTERLEAVED, &mr);

	(void)state;
	wr.reg.interleaved = (struct uhcadv_interleaved){
		.n_dims = 2, .n_pieces = 2, .count = {100, 200, 300}, .piece = piece};
	posted(f, &wr);
	wqe.reg = indirect_layout(2);
	wqe.reg.n_dims = 2;
	expect(f, 0, &wqe);
	expect_data(f, 0, &list, sizeof(list));
	fixture_destroy(f);
}

static void test_read_with_inv(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, UHCA_ABI_HAS_READ_WITH_INV);
	struct uhca_abi_send_wqe wqe = expected(UHCA_ABI_WR_READ_WITH_INV, 0);
	struct ibv_sge sge[2] = {{0x1000, 77, 0x55}, {0}};
	struct uhcadv_send_wr *bad, wr = {.wr_id = 0x99,
					  .opcode = UHCADV_WR_READ_WITH_INV,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = sge,
					  .num_sge = 1,
					  .rdma = {0x2000, 0x66}};

	(void)state;
	posted(f, &wr);
	wqe.num_sge = 1;
	wqe.rdma.remote_addr = 0x2000;
	wqe.rdma.rkey = 0x66;
	expect(f, 0, &wqe);
	assert_memory_equal(fixture_sge(f, 0), sge, sizeof(sge[0]));
	for (int n = -1; n <= 4; n++) {
		wr.num_sge = n;
		if (n != 1)
			assert_int_equal(uhcav_dv_post_send(&f->qp.qp, &wr, &bad), EINVAL);
	}
	fixture_destroy(f);
}

static void put_bytes(uint8_t *at, uint8_t value, size_t n)
{
	memset(at, value, n);
}

static void test_masked(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_sge sge[2] = {{0x1000, 16, 0x55}, {0x3000, 16, 0x56}};
	struct uhca_abi_send_wqe wqe = expected(UHCA_ABI_WR_MASKED_CMP_SWP, 128);
	uint8_t value[5][32], data[128];
	struct uhcadv_send_wr wr = {.wr_id = 0x99,
				    .opcode = UHCADV_WR_MASKED_CMP_SWP,
				    .send_flags = IBV_SEND_SIGNALED,
				    .sg_list = sge,
				    .num_sge = 2,
				    .atomic = {.remote_addr = 0x2000, .rkey = 0x66}};

	(void)state;
	for (uint8_t i = 0; i < 5; i++)
		put_bytes(value[i], (uint8_t)(i + 1), 32);
	wr.atomic.cmp_swp =
		(struct uhcadv_masked_cmp_swp){32, value[0], value[1], value[2], value[3]};
	posted(f, &wr);
	wqe.num_sge = 2;
	wqe.masked.remote_addr = 0x2000;
	wqe.masked.rkey = 0x66;
	wqe.masked.size = 32;
	expect(f, 0, &wqe);
	assert_memory_equal(fixture_sge(f, 0), sge, sizeof(sge));
	for (unsigned i = 0; i < 4; i++)
		put_bytes(data + 32 * i, (uint8_t)(i + 1), 32);
	expect_data(f, 0, data, 128);
	/* Without masks: all of it. */
	wr.atomic.cmp_swp = (struct uhcadv_masked_cmp_swp){4, value[0], value[1], NULL, NULL};
	posted(f, &wr);
	expect_data(f, 1, "\1\1\1\1\2\2\2\2\377\377\377\377\377\377\377\377", 16);
	/* Two operands, and a boundary or none. */
	wr.opcode = UHCADV_WR_MASKED_FETCH_ADD;
	wr.atomic.fetch_add = (struct uhcadv_masked_fetch_add){8, value[4], value[1]};
	posted(f, &wr);
	wqe.opcode = UHCA_ABI_WR_MASKED_FETCH_ADD;
	wqe.masked.size = 8;
	wqe.inline_length = 16;
	expect(f, 2, &wqe);
	expect_data(f, 2, "\5\5\5\5\5\5\5\5\2\2\2\2\2\2\2\2", 16);
	wr.atomic.fetch_add.boundary = NULL;
	posted(f, &wr);
	expect_data(f, 3, "\5\5\5\5\5\5\5\5\0\0\0\0\0\0\0\0", 16);
	fixture_destroy(f);
}

/* Refused, with nothing published and nothing changed. */
static void refused(struct fixture *f, struct uhcadv_send_wr *wr, int err)
{
	uint32_t before = f->queue.send.producer, key_before = wr->reg.mr ? wr->reg.mr->rkey : 0;
	struct uhcadv_send_wr *bad = NULL;

	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), err);
	assert_ptr_equal(bad, wr);
	assert_int_equal(f->queue.send.producer, before);
	assert_int_equal(f->qp.sq.lock.held, 0);
	assert_false(fixture_rung(f));
	if (wr->opcode <= UHCADV_WR_REG_SG && wr->reg.mr)
		assert_int_equal(wr->reg.mr->rkey, key_before);
}

static void test_reg_refused(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct uhcadv_block block[600] = {{1, 2, 3}};
	struct ibv_mr mr = key(), foreign = key();
	struct uhcadv_send_wr wr, good = reg(UHCADV_WR_REG_SG, &mr);

	(void)state;
	good.reg.block = block;
	good.reg.n_blocks = 1;
	wr = good, wr.comp_mask = 1, refused(f, &wr, EINVAL);
	wr = good, wr.reg.attr.comp_mask = 1, refused(f, &wr, EINVAL);
	wr = good, wr.opcode = (enum uhcadv_wr_opcode)7, refused(f, &wr, EINVAL);
	wr = good, wr.send_flags = IBV_SEND_INLINE, refused(f, &wr, EINVAL);
	wr = good, wr.send_flags = IBV_SEND_IP_CSUM, refused(f, &wr, EINVAL);
	wr = good, wr.num_sge = 1, refused(f, &wr, EINVAL);
	wr = good, wr.reg.mr = NULL, refused(f, &wr, EINVAL);
	foreign.context = (void *)&foreign;
	wr = good, wr.reg.mr = &foreign, refused(f, &wr, EINVAL);
	wr = good, wr.reg.attr.access = IBV_ACCESS_REMOTE_WRITE, refused(f, &wr, EINVAL);
	wr = good, wr.reg.attr.access = 1 << 10, refused(f, &wr, EOPNOTSUPP);
	wr = good, wr.reg.n_blocks = 0, refused(f, &wr, EINVAL);
	wr = good, wr.reg.n_blocks = 11, refused(f, &wr, E2BIG);
	wr = good, wr.reg.n_blocks = 10, posted(f, &wr);
	f->qp.data_stride = UINT32_MAX; /* the room is not what is wrong with it */
	wr = good, wr.reg.n_blocks = 513, refused(f, &wr, E2BIG);
	f->qp.data_stride = FIXTURE_DATA_STRIDE;
	wr = good, wr.opcode = UHCADV_WR_REG_MR_PAGES;
	wr.reg.pages = (struct uhcadv_page_list){.n = 33, .page_shift = 12, .page = &block->addr};
	refused(f, &wr, E2BIG);
	wr.reg.pages.n = 1, wr.reg.pages.page_shift = 11, refused(f, &wr, EINVAL);
	wr.reg.pages.page_shift = 31, refused(f, &wr, EINVAL);
	wr = good, wr.opcode = UHCADV_WR_REG_INTERLEAVED;
	wr.reg.interleaved = (struct uhcadv_interleaved){.n_dims = 9, .n_pieces = 1};
	refused(f, &wr, E2BIG);
	wr.reg.interleaved.n_dims = 1, wr.reg.interleaved.n_pieces = 17, refused(f, &wr, E2BIG);
	wr.reg.interleaved.n_pieces = 0, refused(f, &wr, EINVAL);
	wr.reg.interleaved.n_pieces = 3, refused(f, &wr, E2BIG);
	fixture_destroy(f);
}

/* The peer said by ECE that it does not have them. */
static void test_peer_lacks(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_ece ece = {.vendor_id = 0x75ca};
	struct ibv_sge sge = {0x1000, 8, 0x55};
	uint8_t v[32] = {0};
	struct uhcadv_send_wr cas = {.opcode = UHCADV_WR_MASKED_CMP_SWP},
			      faa = {.opcode = UHCADV_WR_MASKED_FETCH_ADD},
			      read = {.opcode = UHCADV_WR_READ_WITH_INV,
				      .sg_list = &sge,
				      .num_sge = 1};

	(void)state;
	cas.atomic.cmp_swp = (struct uhcadv_masked_cmp_swp){8, v, v, v, v};
	faa.atomic.fetch_add = (struct uhcadv_masked_fetch_add){8, v, v};
	assert_int_equal(uhcav_set_ece(&f->qp.qp, &ece), 0);
	refused(f, &cas, EOPNOTSUPP);
	refused(f, &faa, EOPNOTSUPP);
	posted(f, &read);
	ece.options = UHCAV_ECE_MASKED_ATOMICS;
	assert_int_equal(uhcav_set_ece(&f->qp.qp, &ece), 0);
	posted(f, &cas);
	fixture_destroy(f);
}

static void test_masked_refused(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING & ~UHCA_ABI_HAS_MASKED_ATOMIC_SIZES);
	uint8_t v[32] = {0};
	struct uhcadv_send_wr wr, good = {.opcode = UHCADV_WR_MASKED_CMP_SWP};

	(void)state;
	good.atomic.cmp_swp = (struct uhcadv_masked_cmp_swp){8, v, v, v, v};
	wr = good, wr.atomic.cmp_swp.compare = NULL, refused(f, &wr, EINVAL);
	wr = good, wr.atomic.cmp_swp.swap = NULL, refused(f, &wr, EINVAL);
	for (uint32_t size = 0; size < 70; size++) {
		bool exists = size == 4 || size == 16 || size == 32;
		wr = good, wr.atomic.cmp_swp.size = size;
		if (size != 8)
			refused(f, &wr, exists ? EOPNOTSUPP : EINVAL);
	}
	wr = good, posted(f, &wr);
	f->qp.data_stride = 31;
	refused(f, &wr, E2BIG);
	wr.opcode = UHCADV_WR_MASKED_FETCH_ADD;
	wr.atomic.fetch_add = (struct uhcadv_masked_fetch_add){8, NULL, v};
	refused(f, &wr, EINVAL);
	wr.atomic.fetch_add.add = v;
	wr.num_sge = FIXTURE_SGE + 1;
	refused(f, &wr, EINVAL);
	fixture_destroy(f);
}

static void test_not_there(void **state)
{
	static const uint32_t feature[] = {
		UHCA_ABI_HAS_FAST_REG,       UHCA_ABI_HAS_BLOCK_LIST,
		UHCA_ABI_HAS_INTERLEAVED,    UHCA_ABI_HAS_SG,
		UHCA_ABI_HAS_READ_WITH_INV,  UHCA_ABI_HAS_MASKED_ATOMICS,
		UHCA_ABI_HAS_MASKED_ATOMICS,
	};
	struct ibv_mr mr = key();

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		struct uhcadv_send_wr wr = reg((enum uhcadv_wr_opcode)i, &mr);
		struct fixture *f = setup(IBV_QPT_RC, EVERYTHING & ~feature[i]);

		refused(f, &wr, EOPNOTSUPP);
		fixture_destroy(f);
		f = setup(IBV_QPT_UD, EVERYTHING);
		refused(f, &wr, EINVAL);
		fixture_destroy(f);
		f = setup(IBV_QPT_XRC_SEND, EVERYTHING);
		if (i > UHCADV_WR_REG_SG)
			refused(f, &wr, EINVAL);
		f->qp.state = IBV_QPS_RTR;
		refused(f, &wr, EINVAL);
		f->ctx.life = UHCAV_FATAL;
		refused(f, &wr, EIO);
		fixture_destroy(f);
	}
}

/* Those before the one that is refused are posted, those after it are not; so with a full queue. */
static void test_chain(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct uhcadv_block block = {1, 2, 3};
	struct uhcadv_send_wr wr[FIXTURE_WR + 2], *bad;
	struct ibv_mr mr = key();

	(void)state;
	for (unsigned i = 0; i < FIXTURE_WR + 2; i++) {
		wr[i] = reg(UHCADV_WR_REG_SG, &mr);
		wr[i].wr_id = i;
		wr[i].reg.block = &block;
		wr[i].reg.n_blocks = 1;
		wr[i].reg.attr.key_byte = (uint8_t)i;
		wr[i].next = i < FIXTURE_WR + 1 ? &wr[i + 1] : NULL;
	}
	wr[2].comp_mask = 1;
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(f->queue.send.producer, 2);
	assert_int_equal(mr.lkey & 0xff, 1);
	wr[2].comp_mask = 0;
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, &wr[2], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	assert_int_equal(f->queue.send.producer, FIXTURE_WR);
	for (unsigned i = 0; i < FIXTURE_WR; i++)
		assert_int_equal(fixture_sent(f, i)->wr_id, i);
	assert_int_equal(mr.lkey & 0xff, FIXTURE_WR - 1);
	uhcav_work_queue_polled(&f->qp.sq, 2);
	assert_int_equal(uhcav_dv_post_send(&f->qp.qp, bad, &bad), 0);
	assert_int_equal(f->queue.send.producer, FIXTURE_WR + 2);
	fixture_destroy(f);
}

/* The daemon dies: each request is flushed under its own name. */
static void test_flushed(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct uhcadv_block block = {1, 2, 3};
	struct ibv_mr mr = key();
	struct uhcadv_send_wr wr = reg(UHCADV_WR_REG_SG, &mr);
	struct ibv_wc wc;

	(void)state;
	wr.reg.block = &block;
	wr.reg.n_blocks = 1;
	posted(f, &wr);
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal((int)wc.opcode, UHCADV_WC_REG_SG);
	assert_int_equal(wc.wr_id, 0x99);
	fixture_destroy(f);
}

/* Opcode, key and flag of a completion come out as the device wrote them. */
static void test_completion(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct uhca_abi_cqe e = {.wr_id = 4,
				 .qpn = FIXTURE_QPN,
				 .opcode = UHCA_ABI_WC_READ_WITH_INV,
				 .imm = 0x123456ab,
				 .flags = UHCA_ABI_WC_WITH_INV};
	struct ibv_wc wc;

	(void)state;
	fixture_complete(f, &e);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal((int)wc.opcode, UHCADV_WC_READ_WITH_INV);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, 0x123456ab);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),          cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_interleaved),    cmocka_unit_test(test_read_with_inv),
		cmocka_unit_test(test_masked),         cmocka_unit_test(test_reg_refused),
		cmocka_unit_test(test_masked_refused), cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_chain),          cmocka_unit_test(test_flushed),
		cmocka_unit_test(test_completion),     cmocka_unit_test(test_peer_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
