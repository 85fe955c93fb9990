/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_recv and ibv_post_srq_recv into a ring. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/poll/poll_cq.h"
#include "provider/post/post_recv.h"
#include "provider/queues/srq.h"

#include <errno.h>
#include <string.h>

static void chain(struct ibv_recv_wr *wr, unsigned n)
{
	memset(wr, 0, n * sizeof(*wr));
	for (unsigned i = 0; i < n; i++) {
		wr[i].wr_id = 100 + i;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
}

static void test_recv(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_sge s[2] = {{1, 2, 3}, {4, 5, 6}};
	struct ibv_recv_wr wr = {.wr_id = 0x1122334455667788, .sg_list = s, .num_sge = 2};
	struct ibv_recv_wr *bad = NULL;
	const struct uhca_abi_recv_wqe *w = fixture_received(f, 0);

	(void)state;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), 0);
	assert_null(bad);
	assert_int_equal(f->queue.recv.producer, 1);
	assert_int_equal(w->wr_id, wr.wr_id);
	assert_int_equal(w->num_sge, 2);
	assert_memory_equal(w + 1, s, sizeof(s));
	assert_false(fixture_rung(f));
	fixture_destroy(f);
}

static void test_full_and_bad(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_recv_wr wr[FIXTURE_WR + 1], *bad = NULL;

	(void)state;
	chain(wr, FIXTURE_WR + 1);
	wr[3].num_sge = FIXTURE_SGE + 1;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[3]);
	assert_int_equal(f->queue.recv.producer, 3);
	wr[3].num_sge = -1;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, bad, &bad), EINVAL);
	wr[3].num_sge = 0;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, bad, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	assert_int_equal(f->queue.recv.producer, FIXTURE_WR);
	fixture_destroy(f);
}

static void test_states(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_UD);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
	struct ibv_srq srq;

	(void)state;
	for (uint32_t s = IBV_QPS_INIT; s <= IBV_QPS_ERR; s++) {
		f->qp.state = s;
		assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), 0);
	}
	f->qp.state = IBV_QPS_RESET;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	f->qp.state = IBV_QPS_INIT;
	f->qp.qp.srq = &srq;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), EINVAL);
	f->qp.qp.srq = NULL;
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), EIO);
	fixture_destroy(f);
}

/* In the error state the device wants to be told. */
static void test_doorbell(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;

	(void)state;
	f->queue.recv_doorbell = 1;
	assert_int_equal(uhcav_post_recv(&f->qp.qp, &wr, &bad), 0);
	assert_true(fixture_rung(f));
	fixture_destroy(f);
}

static void test_srq(void **state)
{
	struct fixture *f = fixture_create(IBV_QPT_RC);
	struct uhcav_srq srq = {.ctx = &f->ctx, .rq = f->qp.rq};
	struct ibv_recv_wr wr[FIXTURE_WR + 1], *bad = NULL;
	const struct uhca_abi_cqe received = {.qpn = FIXTURE_QPN, .opcode = UHCA_ABI_WC_RECV};
	struct ibv_wc wc;

	(void)state;
	srq.rq.posted = NULL;
	chain(wr, FIXTURE_WR + 1);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	assert_int_equal(f->queue.recv.producer, FIXTURE_WR);
	assert_int_equal(fixture_received(f, FIXTURE_WR - 1)->wr_id, 100 + FIXTURE_WR - 1);
	f->queue.recv.consumer = FIXTURE_WR;
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), ENOMEM);
	f->qp.qp.srq = &srq.srq;
	fixture_complete(f, &received);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), 0);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), ENOMEM);
	/* Its QP ended in the middle of a message: no completion will come. */
	f->queue.recv.abandoned = 1;
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), 0);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), ENOMEM);
	/* Its QP is destroyed with a completion that was not polled. */
	fixture_complete(f, &received);
	uhcav_cq_skip(&f->cq, FIXTURE_QPN, &srq.rq);
	uhcav_cq_skip(&f->cq, FIXTURE_QPN, &srq.rq); /* counts once */
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), 0);
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, bad, &bad), ENOMEM);
	f->qp.qp.srq = NULL;
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(uhcav_post_srq_recv(&srq.srq, wr, &bad), EIO);
	assert_ptr_equal(bad, wr);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recv),   cmocka_unit_test(test_full_and_bad),
		cmocka_unit_test(test_states), cmocka_unit_test(test_doorbell),
		cmocka_unit_test(test_srq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
