/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registration through the send queue: in the order of the queue, by its rules, usable by what
 * follows without waiting, from both sides, and all that while packets get lost and doubled.
 */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/window.h"

#include <errno.h>

#define COLUMN 64u   /* elements of 8 bytes */
#define ROW    1024u /* bytes */

/* Side s has a key, and a second one. */
struct stage {
	struct pair p;
	struct vmr key, other;
};

static void start_seeded(struct stage *s, const struct pair_options *o)
{
	struct vclient *c = &s->p.b.c;

	pair_create(&s->p, o);
	assert_int_equal(vclient_alloc_key(c, c->pd, 16, &s->key), 0);
	assert_int_equal(vclient_alloc_key(c, c->pd, 16, &s->other), 0);
}

static void start(struct stage *s)
{
	start_seeded(s, &(struct pair_options){0});
}

static void post_list(struct side *s, const struct vsend *how, const void *list, uint32_t bytes)
{
	struct vsend wr = *how;

	wr.flags |= UHCA_ABI_SEND_SIGNALED;
	wr.list = list;
	wr.list_bytes = bytes;
	assert_int_equal(vqp_post_send(&s->qp, &wr), 0);
}

/* Offset of the first whole page of b's buffer. */
static uint32_t pages_at(const struct stage *s)
{
	return (uint32_t)(-s->p.b.mr.addr & 4095);
}

/* REG_MR of two pages of b's buffer, the third and then the first. */
static void post_pages(struct stage *s, uint64_t wr_id, uint32_t key, uint64_t iova)
{
	uint64_t base = s->p.b.mr.addr + pages_at(s), page[2] = {base + 8192, base};
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_REG_MR,
			   .reg = {.iova = iova,
				   .length = 8192 - iova % 4096,
				   .key = key,
				   .access = PAIR_ACCESS,
				   .lkey = s->p.b.mr.lkey,
				   .n = 2,
				   .page_shift = 12}};

	post_list(&s->p.b, &wr, page, sizeof(page));
}

/* A column of b's buffer, read as rows of ROW bytes. */
static void post_column(struct stage *s, uint64_t wr_id, uint32_t key, uint16_t flags)
{
	struct {
		uint64_t count;
		struct uhca_abi_piece piece;
	} list = {COLUMN, {s->p.b.mr.addr + 16, 8, s->p.b.mr.lkey, 0, {ROW}}};
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_REG_INTERLEAVED,
			   .flags = flags,
			   .reg = {.key = key, .access = PAIR_ACCESS, .n = 1, .n_dims = 1}};

	post_list(&s->p.b, &wr, &list, sizeof(list));
}

static void expect_column(struct stage *s, uint32_t from)
{
	for (unsigned i = 0; i < COLUMN; i++)
		pair_expect_copy(&s->p.a, from + 8 * i, &s->p.b, 16 + ROW * i, 8);
}

static void write_to(struct stage *s, uint64_t wr_id, uint32_t key, uint64_t addr, uint32_t length)
{
	window_use(&s->p.a,
		   &(struct vsend){.wr_id = wr_id,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .remote_addr = addr,
				   .rkey = key},
		   0, length);
}

static void expect(struct side *s, unsigned i, uint64_t wr_id, uint8_t opcode)
{
	side_wait(s, i + 1);
	side_expect(s, i, wr_id, UHCA_ABI_WC_SUCCESS, opcode);
}

/* Pages in any order, an iova in mid-page, use by the peer, invalidation, registration again. */
static void test_pages(void **state)
{
	struct stage s;
	uint32_t key, at;

	(void)state;
	start(&s);
	at = pages_at(&s);
	key = s.key.rkey ^ 0x7f;
	post_pages(&s, 1, key, 0x10064);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_MR);
	write_to(&s, 2, key, 0x10064, 8192 - 100);
	expect(&s.p.a, 0, 2, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&s.p.a, 0, &s.p.b, at + 8192 + 100, 4096 - 100);
	pair_expect_copy(&s.p.a, 4096 - 100, &s.p.b, at, 4096);
	window_invalidate(&s.p.b, 3, key, 0);
	post_pages(&s, 4, key ^ 1, 0);
	expect(&s.p.b, 1, 3, UHCA_ABI_WC_LOCAL_INV);
	expect(&s.p.b, 2, 4, UHCA_ABI_WC_REG_MR);
	write_to(&s, 5, key ^ 1, 0, 100);
	expect(&s.p.a, 1, 5, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&s.p.a, 0, &s.p.b, at + 8192, 100);
	write_to(&s, 6, key, 0, 100); /* the stale byte */
	side_wait(&s.p.a, 3);
	side_expect(&s.p.a, 2, 6, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&s.p);
}

/* What follows in the queue uses the key without waiting for a completion. */
static void test_queue_order(void **state)
{
	struct stage s;
	struct uhca_abi_sge sge;

	(void)state;
	start(&s);
	side_recv(&s.p.a, 10, 4096, COLUMN * 8);
	sge = (struct uhca_abi_sge){0, COLUMN * 8, s.key.lkey};
	post_column(&s, 1, s.key.lkey, 0);
	assert_int_equal(vqp_post_send(&s.p.b.qp, &(struct vsend){.wr_id = 2,
								  .opcode = UHCA_ABI_WR_SEND,
								  .flags = UHCA_ABI_SEND_SIGNALED,
								  .sge = &sge,
								  .num_sge = 1}),
			 0);
	window_invalidate(&s.p.b, 3, s.key.lkey, UHCA_ABI_SEND_FENCE);
	for (unsigned i = 0; i < COLUMN; i++)
		pair_expect_copy(&s.p.b, 16 + ROW * i, &s.p.a, 4096 + 8 * i, 8);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_INTERLEAVED);
	expect(&s.p.b, 1, 2, UHCA_ABI_WC_SEND);
	expect(&s.p.b, 2, 3, UHCA_ABI_WC_LOCAL_INV);
	expect(&s.p.a, 0, 10, UHCA_ABI_WC_RECV);
	pair_finish(&s.p);
}

/* A column as source and target of everything, from both sides. */
static void use_column(struct stage *s)
{
	struct uhca_abi_sge sge = {0, COLUMN * 8, s->key.lkey};

	post_column(s, 1, s->key.lkey, 0);
	expect(&s->p.b, 0, 1, UHCA_ABI_WC_REG_INTERLEAVED);
	/* remote WRITE, then a remote READ of it */
	write_to(s, 2, s->key.rkey, 0, COLUMN * 8);
	expect(&s->p.a, 0, 2, UHCA_ABI_WC_RDMA_WRITE);
	expect_column(s, 0);
	window_use(
		&s->p.a,
		&(struct vsend){.wr_id = 3, .opcode = UHCA_ABI_WR_RDMA_READ, .rkey = s->key.rkey},
		65536, COLUMN * 8);
	pair_expect_copy(&s->p.a, 0, &s->p.a, 65536, COLUMN * 8);
	expect(&s->p.a, 1, 3, UHCA_ABI_WC_RDMA_READ);
	/* local: RECV into it, READ into it, SEND from it */
	assert_int_equal(vqp_post_recv(&s->p.b.qp, &(struct vrecv){20, &sge, 1}), 0);
	side_send(&s->p.a, 4, 1000, COLUMN * 8);
	expect(&s->p.b, 1, 20, UHCA_ABI_WC_RECV);
	expect_column(s, 1000);
	expect(&s->p.a, 2, 4, UHCA_ABI_WC_SEND);
	assert_int_equal(
		vqp_post_send(&s->p.b.qp, &(struct vsend){.wr_id = 5,
							  .opcode = UHCA_ABI_WR_RDMA_READ,
							  .flags = UHCA_ABI_SEND_SIGNALED,
							  .sge = &sge,
							  .num_sge = 1,
							  .remote_addr = s->p.a.mr.addr + 5000,
							  .rkey = s->p.a.mr.rkey}),
		0);
	expect(&s->p.b, 2, 5, UHCA_ABI_WC_RDMA_READ);
	expect_column(s, 5000);
}

static void test_uses(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	use_column(&s);
	pair_finish(&s.p);
}

/* The same with the first packet of each kind lost, or doubled. */
static void test_uses_with_loss(void **state)
{
	static const struct {
		unsigned from;
		enum roce_operation op;
	} hit[] = {{0, ROCE_OP_WRITE},    {0, ROCE_OP_READ_REQ}, {1, ROCE_OP_READ_RESP},
		   {0, ROCE_OP_SEND},     {1, ROCE_OP_ACK},      {1, ROCE_OP_READ_REQ},
		   {0, ROCE_OP_READ_RESP}};

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(hit) / sizeof(hit[0]); i++) {
		struct stage s;

		start(&s);
		rules_add(&s.p.rules,
			  &(struct rule){.from = hit[i / 2].from,
					 .op = hit[i / 2].op,
					 .count = 1,
					 .verdict = i % 2 ? WORLD_DUPLICATE : WORLD_DROP});
		use_column(&s);
		pair_finish(&s.p);
	}
}

/* Atomics where the eight bytes stand together and aligned; refused where not. */
static void test_atomics(void **state)
{
	struct uhca_abi_block b[2];
	struct uhca_abi_layout l = {.access = PAIR_ACCESS, .n = 2};
	struct stage s;

	(void)state;
	start(&s);
	l.key = s.key.rkey;
	b[0] = (struct uhca_abi_block){s.p.b.mr.addr + 4, 12, s.p.b.mr.lkey, 0};
	b[1] = (struct uhca_abi_block){s.p.b.mr.addr + 64, 12, s.p.b.mr.lkey, 0};
	assert_int_equal(vclient_describe_key(&s.p.b.c, UHCA_ABI_SHAPE_SG, &l, b, sizeof(b)), 0);
	side_store(&s.p.b, 64, 41);
	b[0].length = 16; /* as a new description: the second block begins at 16 */
	assert_int_equal(vclient_describe_key(&s.p.b.c, UHCA_ABI_SHAPE_SG, &l, b, sizeof(b)), 0);
	window_use(&s.p.a,
		   &(struct vsend){.wr_id = 1,
				   .opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
				   .remote_addr = 16,
				   .rkey = s.key.rkey,
				   .compare_add = 1},
		   8, 8);
	side_expect_u64(&s.p.b, 64, 42);
	side_expect_u64(&s.p.a, 8, 41);
	expect(&s.p.a, 0, 1, UHCA_ABI_WC_FETCH_ADD);
	window_use(&s.p.a, /* addr 4 below: not aligned in memory */
		   &(struct vsend){.wr_id = 2,
				   .opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
				   .remote_addr = 0,
				   .rkey = s.key.rkey,
				   .compare_add = 1},
		   8, 8);
	side_wait(&s.p.a, 2);
	side_expect(&s.p.a, 1, 2, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
	pair_finish(&s.p);
}

/* One request that must fail, and what it leaves: the QP in error, all else as it was. */
static void expect_refused(struct stage *s, unsigned i, uint64_t wr_id)
{
	side_wait(&s->p.b, i + 1);
	side_expect(&s->p.b, i, wr_id, UHCA_ABI_WC_MW_BIND_ERR, 0);
	pair_finish(&s->p);
}

static void test_on_a_valid_key(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	post_pages(&s, 1, s.key.rkey, 0);
	post_pages(&s, 2, s.key.rkey, 0);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_MR);
	expect_refused(&s, 1, 2);
}

static void test_refused(void **state)
{
	struct stage s;

	(void)state;
	start(&s); /* an ordinary region */
	post_pages(&s, 1, s.p.b.mr.rkey, 0);
	expect_refused(&s, 0, 1);
	start(&s); /* no such key */
	post_pages(&s, 1, s.key.rkey ^ 0x40000000, 0);
	expect_refused(&s, 0, 1);
	start(&s); /* already invalid */
	window_invalidate(&s.p.b, 1, s.key.rkey, 0);
	expect_refused(&s, 0, 1);
	start(&s); /* a stale byte */
	post_column(&s, 1, s.key.rkey, 0);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_INTERLEAVED);
	window_invalidate(&s.p.b, 2, s.key.rkey ^ 1, 0);
	expect_refused(&s, 1, 2);
}

/* A key of another domain than the queue's; a key that another description uses. */
static void test_refused_by_others(void **state)
{
	struct uhca_abi_block b;
	struct uhca_abi_layout l = {.n = 1};
	struct vmr foreign;
	struct stage s;
	uint32_t pd;

	(void)state;
	start(&s);
	assert_int_equal(core_alloc_pd(s.p.b.c.core, &pd), 0);
	assert_int_equal(vclient_alloc_key(&s.p.b.c, pd, 16, &foreign), 0);
	post_pages(&s, 1, foreign.rkey, 0);
	expect_refused(&s, 0, 1);
	start(&s);
	post_column(&s, 1, s.key.rkey, 0);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_INTERLEAVED);
	b = (struct uhca_abi_block){0, 8, s.key.lkey, 0};
	l.key = s.other.lkey;
	assert_int_equal(vclient_describe_key(&s.p.b.c, UHCA_ABI_SHAPE_SG, &l, &b, sizeof(b)), 0);
	window_invalidate(&s.p.b, 2, s.key.rkey, 0);
	expect_refused(&s, 1, 2);
}

/* Windows: on registered pages with the right to bind, never on a layout. */
static void test_windows(void **state)
{
	struct vmr mr, key;
	struct stage s;
	struct vmw w;
	struct vsend range = {.bind = {.length = 4096, .access = WINDOW_RIGHTS}};
	uint64_t page;

	(void)state;
	start(&s);
	window_region(&s.p.b, PAIR_ACCESS, &mr);
	window_alloc(&s.p.b, 2, &w);
	page = mr.addr + pages_at(&s);
	post_list(&s.p.b,
		  &(struct vsend){.wr_id = 1,
				  .opcode = UHCA_ABI_WR_REG_MR,
				  .reg = {.length = 4096,
					  .key = s.key.rkey,
					  .access = PAIR_ACCESS | IBV_ACCESS_MW_BIND,
					  .lkey = mr.lkey,
					  .n = 1,
					  .page_shift = 12}},
		  &page, sizeof(page));
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_MR);
	key = (struct vmr){0, 4096, s.key.handle, s.key.lkey, s.key.rkey};
	assert_int_equal(window_bind_wait(&s.p.b, &w, &key, &range), UHCA_ABI_WC_SUCCESS);
	write_to(&s, 2, w.rkey, 0, 4096);
	expect(&s.p.a, 0, 2, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&s.p.a, 0, &s.p.b, pages_at(&s), 4096);
	assert_int_equal(vclient_dereg_mr(&s.p.b.c, &s.key), -EBUSY);
	window_invalidate(&s.p.b, 3, s.key.rkey, 0); /* a window is bound to it */
	side_wait(&s.p.b, 3);
	side_expect(&s.p.b, 2, 3, UHCA_ABI_WC_MW_BIND_ERR, 0);
	pair_finish(&s.p);
}

static void test_no_window_on_a_layout(void **state)
{
	struct uhca_abi_layout l = {.access = PAIR_ACCESS | IBV_ACCESS_MW_BIND, .n = 1};
	struct vsend range = {.bind = {.length = 64, .access = WINDOW_RIGHTS}};
	struct uhca_abi_block b;
	struct vmr mr, key;
	struct stage s;
	struct vmw w;

	(void)state;
	start(&s);
	window_region(&s.p.b, PAIR_ACCESS, &mr);
	window_alloc(&s.p.b, 2, &w);
	b = (struct uhca_abi_block){mr.addr, 64, mr.lkey, 0};
	l.key = s.key.rkey;
	assert_int_equal(vclient_describe_key(&s.p.b.c, UHCA_ABI_SHAPE_SG, &l, &b, sizeof(b)), 0);
	key = (struct vmr){0, 64, s.key.handle, s.key.lkey, s.key.rkey};
	assert_int_equal(window_bind_wait(&s.p.b, &w, &key, &range), UHCA_ABI_WC_MW_BIND_ERR);
	pair_finish(&s.p);
}

/* The storage target's last step: the peer's SEND takes the key away. */
static void test_send_with_invalidate(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	post_pages(&s, 1, s.key.rkey, 0);
	side_recv(&s.p.b, 10, 100000, 64);
	expect(&s.p.b, 0, 1, UHCA_ABI_WC_REG_MR);
	write_to(&s, 2, s.key.rkey, 0, 8192);
	window_use(
		&s.p.a,
		&(struct vsend){.wr_id = 3, .opcode = UHCA_ABI_WR_SEND_WITH_INV, .imm = s.key.rkey},
		0, 16);
	pair_expect_copy(&s.p.a, 0, &s.p.b, pages_at(&s) + 8192, 4096);
	pair_expect_copy(&s.p.a, 4096, &s.p.b, pages_at(&s), 4096);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 100000, 16);
	expect(&s.p.a, 1, 3, UHCA_ABI_WC_SEND);
	expect(&s.p.b, 1, 10, UHCA_ABI_WC_RECV);
	assert_int_equal(s.p.b.wc[1].imm, s.key.rkey);
	write_to(&s, 4, s.key.rkey, 0, 8);
	side_wait(&s.p.a, 3);
	side_expect(&s.p.a, 2, 4, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_queue_order),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_uses_with_loss),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_on_a_valid_key),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_by_others),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_no_window_on_a_layout),
		cmocka_unit_test(test_send_with_invalidate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
