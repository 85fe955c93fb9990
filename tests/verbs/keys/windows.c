/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows and invalidation on a real daemon through the real libibverbs: each type bound by
 * its own call, used, taken away by each way there is, and what is refused. Runs below uhca-run;
 * the argument names the subtype of type 2 windows that the device has: 2A or 2B.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
#define RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define START  4096u
#define LENGTH 1000u

static bool type_2a;

/* A pair, and a window of side b's that is not bound yet. */
struct stand {
	struct verbs_pair *p;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static void open_stand(struct stand *s, enum ibv_mw_type type)
{
	s->p = verbs_pair_create(IBV_QPT_RC, 0);
	s->mr = ibv_reg_mr(s->p->pd, s->p->b.memory, PAIR_MEMORY, ALL);
	assert_non_null(s->mr);
	s->mw = ibv_alloc_mw(s->p->pd, type);
	assert_non_null(s->mw);
	assert_int_equal(s->mw->type, type);
}

static void close_stand(struct stand *s)
{
	if (s->mw)
		assert_int_equal(ibv_dealloc_mw(s->mw), 0);
	assert_int_equal(ibv_dereg_mr(s->mr), 0);
	verbs_pair_destroy(s->p);
}

static struct ibv_mw_bind_info info(const struct stand *s, unsigned access)
{
	return (struct ibv_mw_bind_info){.mr = s->mr,
					 .addr = (uintptr_t)s->p->b.memory + START,
					 .length = LENGTH,
					 .mw_access_flags = access};
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
		   enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = verbs_pair_poll(cq);

	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, status);
	if (status == IBV_WC_SUCCESS)
		assert_int_equal(wc.opcode, opcode);
}

static enum ibv_wc_status bind_1(struct stand *s, const struct ibv_mw_bind_info *how)
{
	struct ibv_mw_bind bind = {.wr_id = 21, .send_flags = IBV_SEND_SIGNALED, .bind_info = *how};
	struct ibv_wc wc;

	assert_int_equal(ibv_bind_mw(s->p->b.qp, s->mw, &bind), 0);
	wc = verbs_pair_poll(s->p->b.cq);
	assert_int_equal(wc.wr_id, 21);
	return wc.status;
}

/* Posts on b's queue; the window has its new key from the post on. */
static enum ibv_wc_status bind_2_as(struct stand *s, const struct ibv_mw_bind_info *how,
				    uint32_t rkey)
{
	uint32_t index = s->mw->rkey & ~0xffu;
	struct ibv_send_wr *bad, wr = {.wr_id = 22,
				       .opcode = IBV_WR_BIND_MW,
				       .send_flags = IBV_SEND_SIGNALED,
				       .bind_mw = {s->mw, rkey, *how}};
	struct ibv_wc wc;

	assert_int_equal(ibv_post_send(s->p->b.qp, &wr, &bad), 0);
	assert_int_equal(s->mw->rkey, index | (rkey & 0xff));
	wc = verbs_pair_poll(s->p->b.cq);
	assert_int_equal(wc.wr_id, 22);
	return wc.status;
}

static enum ibv_wc_status bind_2(struct stand *s, const struct ibv_mw_bind_info *how)
{
	return bind_2_as(s, how, ibv_inc_rkey(s->mw->rkey));
}

static enum ibv_wc_status rdma(struct stand *s, enum ibv_wr_opcode opcode, size_t offset,
			       uint32_t length, uint32_t key)
{
	struct ibv_send_wr wr = {.opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)s->p->b.memory + offset, key}};

	verbs_pair_send(&s->p->a, &wr, 0, length);
	return verbs_pair_poll(s->p->a.cq).status;
}

static void recover(struct verbs_pair *p)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_modify_qp(p->a.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(p->b.qp, &attr, IBV_QP_STATE), 0);
	verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
	verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
}

/* What is inside works, what is outside and what the key does not allow is refused. */
static void use(struct stand *s)
{
	struct verbs_pair *p = s->p;
	uint32_t key = s->mw->rkey;

	memset(p->a.memory, 0x5a, LENGTH);
	memset(p->b.memory, 0, 2 * START);
	assert_int_equal(rdma(s, IBV_WR_RDMA_WRITE, START, LENGTH, key), IBV_WC_SUCCESS);
	assert_memory_equal(p->a.memory, p->b.memory + START, LENGTH);
	assert_int_equal(p->b.memory[START - 1] | p->b.memory[START + LENGTH], 0);
	p->b.memory[START + 9] = 7;
	assert_int_equal(rdma(s, IBV_WR_RDMA_READ, START, LENGTH, key), IBV_WC_SUCCESS);
	assert_int_equal(p->a.memory[9], 7);
	assert_int_equal(rdma(s, IBV_WR_RDMA_WRITE, START + 1, LENGTH, key), IBV_WC_REM_ACCESS_ERR);
	recover(p);
	assert_int_equal(rdma(s, IBV_WR_RDMA_READ, START - 1, 2, key), IBV_WC_REM_ACCESS_ERR);
	recover(p);
	assert_int_equal(rdma(s, IBV_WR_RDMA_READ, START, 1, key ^ 0x80), IBV_WC_REM_ACCESS_ERR);
	recover(p);
}

static void dead(struct stand *s, uint32_t key)
{
	assert_int_equal(rdma(s, IBV_WR_RDMA_READ, START, 1, key), IBV_WC_REM_ACCESS_ERR);
	recover(s->p);
}

static void test_type_1(void **state)
{
	struct ibv_mw_bind_info how, none = {0};
	struct stand s;
	uint32_t first;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_1);
	dead(&s, s.mw->rkey);
	how = info(&s, RIGHTS);
	assert_int_equal(bind_1(&s, &how), IBV_WC_SUCCESS);
	first = s.mw->rkey;
	use(&s);
	assert_int_equal(ibv_dereg_mr(s.mr), EBUSY);
	assert_int_equal(bind_1(&s, &how), IBV_WC_SUCCESS);
	assert_int_not_equal(s.mw->rkey, first);
	dead(&s, first);
	use(&s);
	assert_int_equal(bind_1(&s, &none), IBV_WC_SUCCESS);
	dead(&s, s.mw->rkey);
	close_stand(&s);
}

static void test_type_2_local(void **state)
{
	struct ibv_send_wr *bad, wr = {.wr_id = 5,
				       .opcode = IBV_WR_LOCAL_INV,
				       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
	struct ibv_mw_bind_info how;
	struct stand s;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_2);
	how = info(&s, RIGHTS);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(bind_2(&s, &how), IBV_WC_SUCCESS);
		use(&s);
		wr.invalidate_rkey = s.mw->rkey;
		assert_int_equal(ibv_post_send(s.p->b.qp, &wr, &bad), 0);
		expect(s.p->b.cq, 5, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
		dead(&s, s.mw->rkey);
	}
	close_stand(&s);
}

static void test_type_2_by_peer(void **state)
{
	struct ibv_send_wr wr = {
		.wr_id = 6, .opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED};
	static const uint32_t lengths[] = {0, 64, 100000}; /* gathered early, and not */
	struct ibv_mw_bind_info how;
	struct stand s;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_2);
	how = info(&s, RIGHTS);
	for (unsigned i = 0; i < 3; i++) {
		struct ibv_wc wc;

		assert_int_equal(bind_2(&s, &how), IBV_WC_SUCCESS);
		verbs_pair_recv(&s.p->b, 7, 200000, 100000);
		wr.invalidate_rkey = s.mw->rkey;
		verbs_pair_send(&s.p->a, &wr, 0, lengths[i]);
		wc = verbs_pair_poll(s.p->b.cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_WITH_IMM),
				 IBV_WC_WITH_INV);
		assert_int_equal(wc.invalidated_rkey, s.mw->rkey);
		assert_int_equal(wc.byte_len, lengths[i]);
		expect(s.p->a.cq, 6, IBV_WC_SUCCESS, IBV_WC_SEND);
		dead(&s, s.mw->rkey);
	}
	/* Once more: there is nothing to take away. */
	verbs_pair_recv(&s.p->b, 8, 200000, 100000);
	verbs_pair_send(&s.p->a, &wr, 0, 64);
	expect(s.p->b.cq, 8, IBV_WC_REM_INV_REQ_ERR, 0);
	expect(s.p->a.cq, 6, IBV_WC_RETRY_EXC_ERR, 0); /* no NAK: class J of 9.9.6.3 */
	close_stand(&s);
}

/*
 * A program passes a key byte, a number of its own or the key of another window; the byte counts,
 * the rest of the key is the device's, and two windows never get the same.
 */
static void test_type_2_any_key(void **state)
{
	static const uint32_t asked[] = {0x17, 1024, 0xffffffff, 0xdeadbe42};
	struct ibv_send_wr *bad, wr = {.wr_id = 5,
				       .opcode = IBV_WR_LOCAL_INV,
				       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
	struct ibv_mw_bind_info how;
	struct ibv_mw *first, *second;
	struct stand s;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_2);
	how = info(&s, RIGHTS);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		assert_int_equal(bind_2_as(&s, &how, asked[i]), IBV_WC_SUCCESS);
		use(&s);
		wr.invalidate_rkey = s.mw->rkey;
		assert_int_equal(ibv_post_send(s.p->b.qp, &wr, &bad), 0);
		expect(s.p->b.cq, 5, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
	}
	assert_int_equal(bind_2_as(&s, &how, 1024), IBV_WC_SUCCESS);
	first = s.mw;
	second = s.mw = ibv_alloc_mw(s.p->pd, IBV_MW_TYPE_2);
	assert_non_null(second);
	assert_int_equal(bind_2_as(&s, &how, first->rkey), IBV_WC_SUCCESS);
	assert_int_not_equal(first->rkey, second->rkey);
	use(&s);
	s.mw = first;
	use(&s);
	assert_int_equal(ibv_dealloc_mw(second), 0);
	close_stand(&s);
}

static void test_dealloc(void **state)
{
	struct ibv_mw_bind_info how;
	struct stand s;
	uint32_t key;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_2);
	how = info(&s, RIGHTS);
	assert_int_equal(bind_2(&s, &how), IBV_WC_SUCCESS);
	key = s.mw->rkey;
	assert_int_equal(ibv_dereg_mr(s.mr), EBUSY);
	if (type_2a)
		assert_int_equal(ibv_destroy_qp(s.p->b.qp), EBUSY);
	assert_int_equal(ibv_dealloc_mw(s.mw), 0);
	s.mw = NULL;
	dead(&s, key);
	close_stand(&s);
}

static void refused_bind(struct stand *s, struct ibv_mw *mw, const struct ibv_mw_bind_info *how)
{
	struct ibv_send_wr *bad, wr = {.wr_id = 22,
				       .opcode = IBV_WR_BIND_MW,
				       .send_flags = IBV_SEND_SIGNALED,
				       .bind_mw = {mw, 1, *how}};
	uint32_t key = mw->rkey;

	assert_int_equal(ibv_post_send(s->p->b.qp, &wr, &bad), 0);
	expect(s->p->b.cq, 22, IBV_WC_MW_BIND_ERR, 0);
	if (mw->type != IBV_MW_TYPE_2)
		assert_int_equal(mw->rkey, key);
	recover(s->p);
}

/* Each type has its own call; what may not be bound, the completion tells. */
static void test_refused(void **state)
{
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_BIND_MW};
	struct ibv_mr nothing = {0};
	struct ibv_mw nobody = {0};
	struct stand s;

	(void)state;
	open_stand(&s, IBV_MW_TYPE_1);
	bind.bind_info = info(&s, RIGHTS);
	assert_int_equal(ibv_post_send(s.p->b.qp, &wr, &bad), EINVAL); /* no window */
	assert_ptr_equal(bad, &wr);
	refused_bind(&s, s.mw, &bind.bind_info);
	refused_bind(&s, &nobody, &bind.bind_info);
	bind.bind_info.length = PAIR_MEMORY;
	assert_int_equal(bind_1(&s, &bind.bind_info), IBV_WC_MW_BIND_ERR);
	close_stand(&s);
	open_stand(&s, IBV_MW_TYPE_2);
	bind.bind_info.mr = &nothing;
	refused_bind(&s, s.mw, &bind.bind_info);
	bind.bind_info = info(&s, RIGHTS);
	assert_int_equal(ibv_bind_mw(s.p->b.qp, s.mw, &bind), EINVAL);
	assert_int_equal(bind_2(&s, &bind.bind_info), IBV_WC_SUCCESS);
	assert_int_equal(bind_2(&s, &bind.bind_info), IBV_WC_MW_BIND_ERR);
	close_stand(&s);
}

static void test_capabilities(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_device_attr attr;

	(void)state;
	assert_int_equal(ibv_query_device(p->context, &attr), 0);
	assert_true(attr.max_mw > 0);
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	assert_int_equal(!!(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A), type_2a);
	assert_int_equal(!!(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B), !type_2a);
	errno = 0;
	assert_null(ibv_alloc_mw(p->pd, (enum ibv_mw_type)3));
	assert_int_equal(errno, EINVAL);
	verbs_pair_destroy(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities),   cmocka_unit_test(test_type_1),
		cmocka_unit_test(test_type_2_local),   cmocka_unit_test(test_type_2_by_peer),
		cmocka_unit_test(test_type_2_any_key), cmocka_unit_test(test_dealloc),
		cmocka_unit_test(test_refused),
	};

	type_2a = argc > 1 && strcmp(argv[1], "2A") == 0;
	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
