/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues through libibverbs. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>

static struct ibv_srq *create(struct verbs_fixture *f)
{
	struct ibv_srq_init_attr attr = {.srq_context = f,
					 .attr = {.max_wr = 10, .max_sge = 2, .srq_limit = 5}};
	const struct uhca_cmd_create_srq *in = (void *)f->daemon.last[UHCA_CMD_CREATE_SRQ];
	struct ibv_srq *srq = ibv_create_srq(f->pd, &attr);

	assert_non_null(srq);
	assert_int_equal(in->cookie, (uintptr_t)srq);
	assert_int_equal(in->max_wr, 10);
	assert_int_equal(in->max_sge, 2);
	assert_int_equal(attr.attr.max_wr, 16);
	assert_int_equal(attr.attr.max_sge, FAKE_MAX_SGE);
	assert_ptr_equal(srq->pd, f->pd);
	assert_ptr_equal(srq->srq_context, f);
	return srq;
}

static void test_post(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_srq *srq = create(f);
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_SRQ);
	struct ibv_sge sge = {1, 2, 3};
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(fake_page(q)->recv.producer, 1);
	assert_int_equal(fake_recv_slot(q, 0)->wr_id, 7);
	assert_memory_equal(fake_recv_slot(q, 0) + 1, &sge, sizeof(sge));
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_qp_on_srq(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_qp *in = (void *)f->daemon.last[UHCA_CMD_CREATE_QP];
	struct ibv_srq *srq = create(f);
	struct ibv_qp_init_attr attr = {.send_cq = f->cq,
					.recv_cq = f->cq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {1, 77, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);
	struct ibv_recv_wr wr = {.wr_id = 7}, *bad;
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr now;

	assert_non_null(qp);
	assert_ptr_equal(qp->srq, srq);
	assert_int_equal(ibv_query_qp(qp, &now, IBV_QP_STATE, &init), 0);
	assert_ptr_equal(init.srq, srq);
	assert_int_equal(in->srq, srq->handle);
	assert_int_equal(in->max_recv_wr, 0);
	assert_int_equal(in->max_recv_sge, 0);
	assert_int_equal(attr.cap.max_recv_wr, 0);
	verbs_fixture_modify(qp, IBV_QPS_RTR);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_modify_and_query(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_modify_srq *in = (void *)f->daemon.last[UHCA_CMD_MODIFY_SRQ];
	struct ibv_srq *srq = create(f);
	struct ibv_srq_attr attr = {.srq_limit = 4, .max_wr = 100};

	assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_int_equal(in->attr_mask, IBV_SRQ_LIMIT);
	assert_int_equal(in->srq_limit, 4);
	f->daemon.fail[UHCA_CMD_RESIZE_SRQ] = -EOPNOTSUPP;
	assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	assert_int_equal(ibv_query_srq(srq, &attr), 0);
	assert_int_equal(attr.max_wr, 16);
	assert_int_equal(attr.srq_limit, 3);
	f->daemon.fail[UHCA_CMD_DESTROY_SRQ] = -EBUSY;
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	f->daemon.fail[UHCA_CMD_DESTROY_SRQ] = 0;
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_events(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_srq *srq = create(f);
	struct ibv_async_event e;

	fake_async_event(&f->daemon, (uintptr_t)srq, UHCA_ABI_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(ibv_get_async_event(f->context, &e), 0);
	assert_int_equal(e.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(e.element.srq, srq);
	ibv_ack_async_event(&e);
	fake_async_event(&f->daemon, (uintptr_t)srq, UHCA_ABI_EVENT_SRQ_ERR);
	assert_int_equal(ibv_destroy_srq(srq), 0); /* takes the unread one back */
	fake_async_event(&f->daemon, 1, UHCA_ABI_EVENT_PORT_ERR);
	assert_int_equal(ibv_get_async_event(f->context, &e), 0);
	assert_int_equal(e.event_type, IBV_EVENT_PORT_ERR);
}

static void test_create_fails(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1000, .max_sge = 1}};

	f->daemon.fail[UHCA_CMD_CREATE_SRQ] = -EINVAL;
	assert_null(ibv_create_srq(f->pd, &attr));
	assert_int_equal(errno, EINVAL);
	f->daemon.fail[UHCA_CMD_CREATE_SRQ] = 0;
	f->daemon.mood = FAKE_SHORT_FILE;
	assert_null(ibv_create_srq(f->pd, &attr));
	assert_int_equal(errno, EPROTO);
	f->daemon.mood = FAKE_ANSWERS;
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_SRQ], 1);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_post),   TEST(test_qp_on_srq),    TEST(test_modify_and_query),
		TEST(test_events), TEST(test_create_fails),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
