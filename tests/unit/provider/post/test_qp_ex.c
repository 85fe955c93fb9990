/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_wr_*: what the device finds in the ring, what is refused, and that nothing is left of it. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/keys/mw.h"
#include "provider/post/qp_ex.h"
#include "provider/qp/ah.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define KEY  0x2a00u
#define MARK 2u

static uint8_t memory[1024];

/* Libraries that keep the mark at this offset. */
static size_t library_offset;

static struct ibv_qp_ex *to_qp_ex(struct ibv_qp *qp)
{
	uint32_t mark;

	memcpy(&mark, (uint8_t *)qp + library_offset, sizeof(mark));
	return mark & MARK ? (struct ibv_qp_ex *)(void *)qp : NULL;
}

static void use_library(size_t offset)
{
	library_offset = offset;
	uhcav_qp_ex_probe(to_qp_ex);
}

#define OLD               (offsetof(struct ibv_qp_ex, wr_abort) + 8) /* ends with wr_abort */
#define WITH_ATOMIC_WRITE (OLD + 8)
#define WITH_FLUSH        (OLD + 16)

#define EVERYTHING                                                                                 \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                                 \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |                 \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV |        \
	 UHCAV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE)

static struct fixture *setup(enum ibv_qp_type type, uint64_t ops)
{
	struct fixture *f = fixture_create(type);

	use_library(WITH_FLUSH);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7);
	fixture_register(f, memory, sizeof(memory), (uintptr_t)memory, KEY);
	f->qp.send_mask = UINT32_MAX;
	assert_int_equal(uhcav_qp_ex_check(&f->qp, ops), 0);
	uhcav_qp_ex_enable(&f->qp, ops);
	assert_ptr_equal(to_qp_ex(&f->qp.qp), &f->qp.qpx);
	return f;
}

static struct ibv_qp_ex *start(struct fixture *f)
{
	ibv_wr_start(&f->qp.qpx);
	f->qp.qpx.wr_id = 0x11;
	f->qp.qpx.wr_flags = IBV_SEND_SIGNALED;
	return &f->qp.qpx;
}

/* Completes, with n entries published when it succeeds and none when it does not. */
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

static void test_builders(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_qp_ex *q = start(f);
	const struct uhca_abi_send_wqe *w;

	(void)state;
	ibv_wr_send(q);
	ibv_wr_set_sge(q, KEY, (uintptr_t)memory, 500);
	ibv_wr_send_imm(q, 0xdeadbeef);
	ibv_wr_send_inv(q, 0x77);
	ibv_wr_rdma_write(q, 0x88, 0x1000);
	ibv_wr_rdma_write_imm(q, 0x99, 0x2000, 0xcafe);
	ibv_wr_rdma_read(q, 0xaa, 0x3000);
	assert_int_equal(complete(f, 6), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->wr_id, 0x11);
	assert_int_equal(w->opcode, UHCA_ABI_WR_SEND);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED);
	assert_int_equal(w->num_sge, 1);
	assert_int_equal(fixture_sge(f, 0)->length, 500);
	w = fixture_sent(f, 1);
	assert_int_equal(w->opcode, UHCA_ABI_WR_SEND_WITH_IMM);
	assert_int_equal(w->imm, 0xdeadbeef);
	assert_int_equal(w->num_sge, 0);
	w = fixture_sent(f, 2);
	assert_int_equal(w->opcode, UHCA_ABI_WR_SEND_WITH_INV);
	assert_int_equal(w->imm, 0x77);
	w = fixture_sent(f, 3);
	assert_int_equal(w->opcode, UHCA_ABI_WR_RDMA_WRITE);
	assert_int_equal(w->rdma.rkey, 0x88);
	assert_int_equal(w->rdma.remote_addr, 0x1000);
	w = fixture_sent(f, 4);
	assert_int_equal(w->opcode, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM);
	assert_int_equal(w->imm, 0xcafe);
	assert_int_equal(w->rdma.rkey, 0x99);
	w = fixture_sent(f, 5);
	assert_int_equal(w->opcode, UHCA_ABI_WR_RDMA_READ);
	assert_int_equal(w->rdma.remote_addr, 0x3000);
	fixture_destroy(f);
}

static void test_atomics(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_qp_ex *q = start(f);
	const struct uhca_abi_send_wqe *w;

	(void)state;
	ibv_wr_atomic_cmp_swp(q, 1, 0x1000, 5, 6);
	ibv_wr_atomic_fetch_add(q, 2, 0x2000, 7);
	ibv_wr_atomic_write(q, 3, 0x3000, memory + 8);
	assert_int_equal(complete(f, 3), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->opcode, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP);
	assert_int_equal(w->atomic.rkey, 1);
	assert_int_equal(w->atomic.compare_add, 5);
	assert_int_equal(w->atomic.swap, 6);
	w = fixture_sent(f, 1);
	assert_int_equal(w->opcode, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD);
	assert_int_equal(w->atomic.remote_addr, 0x2000);
	assert_int_equal(w->atomic.compare_add, 7);
	w = fixture_sent(f, 2);
	assert_int_equal(w->opcode, UHCA_ABI_WR_ATOMIC_WRITE);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED | UHCA_ABI_SEND_INLINE);
	assert_int_equal(w->inline_length, 8);
	assert_int_equal(w->rdma.rkey, 3);
	assert_memory_equal(fixture_data(f, 2), memory + 8, 8);
	fixture_destroy(f);
}

typedef void flush_fn(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
		      uint8_t type, uint8_t level);

static void test_windows_and_flush(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_mr mr = {.lkey = 0x500};
	struct uhcav_mw mw = {.mw = {.handle = 6, .rkey = 0x600, .type = IBV_MW_TYPE_2}};
	struct ibv_mw_bind_info info = {&mr, 0x1000, 0x200, IBV_ACCESS_REMOTE_READ};
	struct ibv_qp_ex *q = start(f);
	const struct uhca_abi_send_wqe *w;
	flush_fn *flush;

	(void)state;
	memcpy(&flush, f->qp.room + WITH_FLUSH - sizeof(flush), sizeof(flush));
	mr.context = mw.mw.context = f->qp.qp.context;
	ibv_wr_bind_mw(q, &mw.mw, 0x12345601, &info); /* the byte counts */
	ibv_wr_local_inv(q, 0x601);
	flush(q, 0x44, 0x9000, 1ul << 33, 1, 0);
	assert_int_equal(complete(f, 3), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->opcode, UHCA_ABI_WR_BIND_MW);
	assert_int_equal(w->bind.addr, 0x1000);
	assert_int_equal(w->bind.length, 0x200);
	assert_int_equal(w->bind.mr_lkey, 0x500);
	assert_int_equal(w->bind.mw_rkey, 0x600);
	assert_int_equal(w->bind.new_rkey, 0x601);
	assert_int_equal(mw.mw.rkey, 0x601);
	assert_int_equal(w->bind.access, IBV_ACCESS_REMOTE_READ);
	w = fixture_sent(f, 1);
	assert_int_equal(w->opcode, UHCA_ABI_WR_LOCAL_INV);
	assert_int_equal(w->imm, 0x601);
	w = fixture_sent(f, 2);
	assert_int_equal(w->opcode, UHCA_ABI_WR_FLUSH);
	assert_int_equal(w->flush.remote_addr, 0x9000);
	assert_int_equal(w->flush.length, 1ul << 33);
	assert_int_equal(w->flush.rkey, 0x44);
	assert_int_equal(w->flush.type, 1);
	fixture_destroy(f);
}

/* A window's key changes with the post, and is the old one again when nothing is posted. */
static void test_window_not_posted(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct uhcav_mw mw = {.mw = {.handle = 6, .rkey = 0x600, .type = IBV_MW_TYPE_2}};
	struct uhcav_mw other = {.mw = {.handle = 7, .rkey = 0x7ff, .type = IBV_MW_TYPE_2}};
	struct ibv_mw_bind_info info = {NULL, 0x1000, 0x200, IBV_ACCESS_REMOTE_READ};
	struct ibv_qp_ex *q = &f->qp.qpx;

	(void)state;
	mw.mw.context = other.mw.context = f->qp.qp.context;
	for (unsigned i = 0; i < 3; i++) {
		ibv_wr_start(q);
		ibv_wr_bind_mw(q, &mw.mw, 1, &info);
		ibv_wr_bind_mw(q, &other.mw, 1, &info);
		ibv_wr_bind_mw(q, &mw.mw, 2, &info);
		assert_int_equal(mw.mw.rkey, 0x602);
		assert_int_equal(other.mw.rkey, 0x701);
		if (i == 0)
			ibv_wr_abort(q);
		if (i == 1)
			ibv_wr_send_tso(q, NULL, 0, 0);
		if (i > 0)
			assert_int_equal(ibv_wr_complete(q), i == 1 ? EINVAL : 0);
		assert_int_equal(mw.mw.rkey, i < 2 ? 0x600 : 0x602);
		assert_int_equal(other.mw.rkey, i < 2 ? 0x7ff : 0x701);
	}
	/* What is posted stays, whatever becomes of the next one. */
	ibv_wr_start(q);
	ibv_wr_bind_mw(q, &mw.mw, 3, &info);
	ibv_wr_abort(q);
	assert_int_equal(mw.mw.rkey, 0x602);
	fixture_destroy(f);
}

/* Windows and regions that the context does not have: the device is to say so, in its turn. */
static void test_foreign_window(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_mw mw = {.rkey = 0x600, .handle = 6, .type = IBV_MW_TYPE_2};
	struct ibv_mw type_1 = {.rkey = 0x600, .handle = 6, .type = IBV_MW_TYPE_1};
	struct ibv_mr mr = {.lkey = 0x500};
	struct ibv_mw_bind_info info = {&mr, 0x1000, 0x200, IBV_ACCESS_REMOTE_READ};
	struct ibv_context theirs;
	struct ibv_qp_ex *q = start(f);

	(void)state;
	type_1.context = f->qp.qp.context;
	mw.context = mr.context = &theirs;
	ibv_wr_bind_mw(q, &mw, 1, &info);
	ibv_wr_bind_mw(q, &type_1, 1, &info);
	assert_int_equal(complete(f, 2), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(fixture_sent(f, i)->bind.mw_rkey, 0);
		assert_int_equal(fixture_sent(f, i)->bind.mr_lkey, 0);
	}
	assert_int_equal(mw.rkey | type_1.rkey, 0x600);
	fixture_destroy(f);
}

static void test_setters(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, EVERYTHING);
	struct ibv_sge list[2] = {{(uintptr_t)memory, 10, KEY}, {(uintptr_t)memory + 30, 20, KEY}};
	struct ibv_data_buf bufs[3] = {{memory + 1, 3}, {NULL, 0}, {memory + 9, 4}};
	struct ibv_qp_ex *q = start(f);
	const struct uhca_abi_send_wqe *w;

	(void)state;
	ibv_wr_send(q);
	ibv_wr_set_sge_list(q, 2, list);
	ibv_wr_send(q);
	ibv_wr_set_inline_data_list(q, 3, bufs);
	ibv_wr_rdma_write(q, 1, 2);
	ibv_wr_set_inline_data(q, memory + 5, FIXTURE_INLINE);
	q->wr_flags = IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	ibv_wr_send(q);
	ibv_wr_set_sge_list(q, 2, list);
	assert_int_equal(complete(f, 4), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->num_sge, 2);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED | UHCA_ABI_SEND_GATHERED);
	assert_int_equal(w->inline_length, 30);
	assert_memory_equal(fixture_data(f, 0), memory, 10);
	assert_memory_equal(fixture_data(f, 0) + 10, memory + 30, 20);
	assert_memory_equal(fixture_sge(f, 0), list, sizeof(list));
	w = fixture_sent(f, 1);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED | UHCA_ABI_SEND_INLINE);
	assert_int_equal(w->num_sge, 0);
	assert_int_equal(w->inline_length, 7);
	assert_memory_equal(fixture_data(f, 1), memory + 1, 3);
	assert_memory_equal(fixture_data(f, 1) + 3, memory + 9, 4);
	w = fixture_sent(f, 2);
	assert_int_equal(w->inline_length, FIXTURE_INLINE);
	assert_memory_equal(fixture_data(f, 2), memory + 5, FIXTURE_INLINE);
	/* Fenced: its payload may be what a READ before it has not brought yet. */
	w = fixture_sent(f, 3);
	assert_int_equal(w->flags, UHCA_ABI_SEND_FENCE | UHCA_ABI_SEND_SOLICITED);
	fixture_destroy(f);
}

static void test_datagram(void **state)
{
	struct fixture *f = setup(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *q = start(f);
	const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

	(void)state;
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, f->ah, 0xabc, 0x80000001);
	assert_int_equal(complete(f, 1), 0);
	assert_int_equal(w->ud.ah, FIXTURE_AH);
	assert_int_equal(w->ud.remote_qpn, 0xabc);
	assert_int_equal(w->ud.remote_qkey, 0x80000001);
	/* Without an address, the first or the last. */
	q = start(f);
	ibv_wr_send(q);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, f->ah, 0xabc, 1);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, NULL, 0xabc, 1);
	assert_int_equal(complete(f, 0), EINVAL);
	f->ah->context = (void *)f; /* anybody's but ours: the device is to find none */
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_ud_addr(q, f->ah, 0xabc, 1);
	assert_int_equal(complete(f, 1), 0);
	assert_int_equal(fixture_sent(f, 1)->ud.ah, 0);
	fixture_destroy(f);
}

static void test_xrc(void **state)
{
	struct fixture *f = setup(IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *q = start(f);

	(void)state;
	ibv_wr_send(q);
	ibv_wr_set_xrc_srqn(q, 0x123);
	assert_int_equal(complete(f, 1), 0);
	assert_int_equal(fixture_sent(f, 0)->xrc_srqn, 0x123);
	f->qp.qp.qp_type = IBV_QPT_RC;
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_xrc_srqn(q, 0x123);
	assert_int_equal(complete(f, 0), EINVAL);
	fixture_destroy(f);
}

static void test_refused(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ);
	struct ibv_sge list[FIXTURE_SGE + 1] = {{0}};
	struct ibv_qp_ex *q = start(f);

	(void)state;
	ibv_wr_send(q);
	ibv_wr_rdma_write(q, 1, 2); /* not asked for */
	ibv_wr_set_inline_data(q, memory, 1);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send_tso(q, memory, 1, 1);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	q->wr_flags = IBV_SEND_IP_CSUM;
	ibv_wr_send(q);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_sge_list(q, FIXTURE_SGE + 1, list);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_inline_data(q, memory, FIXTURE_INLINE + 1);
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_rdma_read(q, 1, 2);
	ibv_wr_set_inline_data(q, memory, 1); /* nothing is sent that could be inline */
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_set_sge(q, KEY, (uintptr_t)memory, 1);
	ibv_wr_set_sge(q, KEY, (uintptr_t)memory, 1); /* once */
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f);
	ibv_wr_set_sge(q, KEY, (uintptr_t)memory, 1); /* of what? */
	assert_int_equal(complete(f, 0), EINVAL);
	q = start(f); /* and after all this: */
	ibv_wr_send(q);
	assert_int_equal(complete(f, 1), 0);
	fixture_destroy(f);
}

static void test_abort_and_empty(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *q = start(f);

	(void)state;
	ibv_wr_send(q);
	ibv_wr_send(q);
	ibv_wr_abort(q);
	assert_int_equal(f->qp.sq.producer, 0);
	assert_int_equal(f->queue.send.producer, 0);
	assert_int_equal(f->qp.sq.lock.held, 0);
	assert_false(fixture_rung(f));
	start(f);
	assert_int_equal(complete(f, 0), 0);
	fixture_destroy(f);
}

static void test_full_and_states(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *q;

	(void)state;
	for (unsigned i = 0; i < FIXTURE_WR; i++) {
		q = start(f);
		ibv_wr_send(q);
		assert_int_equal(complete(f, 1), 0);
	}
	q = start(f);
	ibv_wr_send(q);
	assert_int_equal(complete(f, 0), ENOMEM);
	uhcav_work_queue_polled(&f->qp.sq, 2);
	q = start(f);
	ibv_wr_send(q);
	ibv_wr_send(q);
	ibv_wr_send(q); /* all or nothing */
	assert_int_equal(complete(f, 0), ENOMEM);
	f->qp.state = IBV_QPS_RTR;
	q = start(f);
	ibv_wr_send(q);
	assert_int_equal(complete(f, 0), EINVAL);
	f->qp.state = IBV_QPS_RTS;
	f->ctx.life = UHCAV_FATAL;
	q = start(f);
	ibv_wr_send(q);
	assert_int_equal(complete(f, 0), EIO);
	fixture_destroy(f);
}

/* Each library has its mark elsewhere, and what lies behind it is not ours to write. */
static void test_libraries(void **state)
{
	static const size_t offset[] = {OLD, WITH_ATOMIC_WRITE, WITH_FLUSH, WITH_FLUSH + 8};
	struct fixture *f = fixture_create(IBV_QPT_RC);

	(void)state;
	f->qp.send_mask = UINT32_MAX;
	for (size_t i = 0; i < sizeof(offset) / sizeof(offset[0]); i++) {
		uint8_t *room = f->qp.room;
		memset(room + OLD, 0, UHCAV_OBJECT_ROOM - OLD);
		use_library(offset[i]);
		assert_int_equal(uhcav_qp_ex_check(&f->qp, IBV_QP_EX_WITH_ATOMIC_WRITE),
				 i >= 1 ? 0 : -EOPNOTSUPP);
		assert_int_equal(uhcav_qp_ex_check(&f->qp, UHCAV_QP_EX_WITH_FLUSH),
				 i >= 2 ? 0 : -EOPNOTSUPP);
		uhcav_qp_ex_enable(&f->qp, IBV_QP_EX_WITH_SEND);
		assert_non_null(to_qp_ex(&f->qp.qp));
		for (size_t k = offset[i] + 4; k < UHCAV_OBJECT_ROOM; k++)
			assert_int_equal(room[k], 0);
	}
	/* One that has no such thing. */
	uhcav_qp_ex_probe(NULL);
	assert_int_equal(uhcav_qp_ex_check(&f->qp, IBV_QP_EX_WITH_SEND), -EOPNOTSUPP);
	fixture_destroy(f);
}

static void test_check(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_UD);

	(void)state;
	use_library(WITH_FLUSH);
	assert_int_equal(uhcav_qp_ex_check(&f->qp, IBV_QP_EX_WITH_SEND), 0);
	assert_int_equal(uhcav_qp_ex_check(&f->qp, IBV_QP_EX_WITH_RDMA_READ), -EOPNOTSUPP);
	assert_int_equal(uhcav_qp_ex_check(&f->qp, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO),
			 -EOPNOTSUPP);
	assert_int_equal(uhcav_qp_ex_check(&f->qp, 1ull << 40), -EOPNOTSUPP);
	fixture_destroy(f);
}

/* What a device lacks no QP can ask for. */
static void test_features(void **state)
{
	uint32_t none = uhcav_qp_ex_opcodes(0);

	(void)state;
	assert_true(none & 1u << UHCA_ABI_WR_SEND);
	assert_true(none & 1u << UHCA_ABI_WR_RDMA_READ);
	assert_false(none & 1u << UHCA_ABI_WR_ATOMIC_WRITE);
	assert_false(none & 1u << UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD);
	assert_false(none & 1u << UHCA_ABI_WR_FLUSH);
	assert_false(none & 1u << UHCA_ABI_WR_BIND_MW);
	assert_false(none & 1u << UHCA_ABI_WR_LOCAL_INV);
	assert_false(none & 1u << UHCA_ABI_WR_SEND_WITH_INV);
	assert_true(uhcav_qp_ex_opcodes(UHCA_ABI_HAS_MW_TYPE_2B) & 1u << UHCA_ABI_WR_BIND_MW);
	assert_true(uhcav_qp_ex_opcodes(UINT32_MAX) == UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builders),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_windows_and_flush),
		cmocka_unit_test(test_window_not_posted),
		cmocka_unit_test(test_foreign_window),
		cmocka_unit_test(test_setters),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_xrc),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_abort_and_empty),
		cmocka_unit_test(test_full_and_states),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_features),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
