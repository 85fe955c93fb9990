/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs through libibverbs: what the daemon hears and what the application sees. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

static struct ibv_qp_init_attr init_attr(struct verbs_fixture *f, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){.qp_context = f,
					 .send_cq = f->cq,
					 .recv_cq = f->cq,
					 .qp_type = type,
					 .sq_sig_all = 1,
					 .cap = {5, 6, 2, 3, 40}};
}

static void test_create(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_qp *in = (void *)f->daemon.last[UHCA_CMD_CREATE_QP];
	struct ibv_qp_init_attr attr = init_attr(f, IBV_QPT_UC);
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);

	assert_non_null(qp);
	assert_int_equal(in->cookie, (uintptr_t)qp);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(in->qp_type, IBV_QPT_UC);
	assert_int_equal(in->send_cq, f->cq->handle);
	assert_int_equal(in->recv_cq, f->cq->handle);
	assert_int_equal(in->srq, 0);
	assert_int_equal(in->max_send_wr, 5);
	assert_int_equal(in->max_recv_wr, 6);
	assert_int_equal(in->max_send_sge, 2);
	assert_int_equal(in->max_recv_sge, 3);
	assert_int_equal(in->max_inline_data, 40);
	assert_int_equal(in->sq_sig_all, 1);
	assert_int_equal(attr.cap.max_send_sge, FAKE_MAX_SGE); /* what was granted */
	assert_int_equal(attr.cap.max_inline_data, FAKE_DATA_STRIDE);
	assert_ptr_equal(qp->context, f->context);
	assert_ptr_equal(qp->qp_context, f);
	assert_ptr_equal(qp->pd, f->pd);
	assert_ptr_equal(qp->send_cq, f->cq);
	assert_ptr_equal(qp->recv_cq, f->cq);
	assert_null(qp->srq);
	assert_int_equal(qp->qp_num, FAKE_QPN + 1);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	assert_int_equal(qp->qp_type, IBV_QPT_UC);
	assert_null(ibv_qp_to_qp_ex(qp)); /* the library looks behind what we call the QP */
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Of a raw packet QP the device is given frames; of what it cannot do, the opcode only. */
static void test_raw_packet(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_init_attr attr = init_attr(f, IBV_QPT_RAW_PACKET);
	struct ibv_sge sge = {(uintptr_t)f->memory, 1000, f->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);
	const struct fake_queue *q;

	assert_non_null(qp);
	verbs_fixture_modify(qp, IBV_QPS_RTS);
	q = fake_newest(&f->daemon, UHCA_ABI_REGION_QP);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	assert_int_equal(fake_send_slot(q, 0)->opcode, UHCA_ABI_WR_SEND);
	assert_int_equal(fake_send_slot(q, 0)->num_sge, 1);
	wr.opcode = IBV_WR_RDMA_WRITE;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	assert_int_equal(fake_send_slot(q, 1)->opcode, UHCA_ABI_WR_RDMA_WRITE);
	assert_int_equal(fake_send_slot(q, 1)->num_sge, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_create_ex(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_qp *in = (void *)f->daemon.last[UHCA_CMD_CREATE_QP];
	struct ibv_qp_init_attr_ex attr = {.send_cq = f->cq,
					   .recv_cq = f->cq,
					   .qp_type = IBV_QPT_RC,
					   .cap = {1, 1, 1, 1, 0},
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = f->pd};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);

	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	qp = ibv_create_qp_ex(f->context, &attr);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	assert_null(ibv_create_qp_ex(f->context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	/* For which QPs the flag that there is is good is the device's to say. */
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	qp = ibv_create_qp_ex(f->context, &attr);
	assert_non_null(qp);
	assert_int_equal(in->create_flags, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	f->daemon.fail[UHCA_CMD_CREATE_QP] = -EOPNOTSUPP;
	assert_null(ibv_create_qp_ex(f->context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	f->daemon.fail[UHCA_CMD_CREATE_QP] = 0;
	attr.create_flags = 0;
	attr.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS;
	assert_null(ibv_create_qp_ex(f->context, &attr));
	assert_int_equal(errno, EINVAL);
}

static void test_create_fails(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_init_attr attr = init_attr(f, IBV_QPT_DRIVER);

	assert_null(ibv_create_qp(f->pd, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	attr = init_attr(f, IBV_QPT_RC);
	attr.send_cq = NULL;
	assert_null(ibv_create_qp(f->pd, &attr));
	assert_int_equal(errno, EINVAL);
	attr = init_attr(f, IBV_QPT_RC);
	f->daemon.fail[UHCA_CMD_CREATE_QP] = -EINVAL;
	assert_null(ibv_create_qp(f->pd, &attr));
	assert_int_equal(errno, EINVAL);
	f->daemon.fail[UHCA_CMD_CREATE_QP] = 0;
	f->daemon.mood = FAKE_SHORT_FILE;
	assert_null(ibv_create_qp(f->pd, &attr));
	assert_int_equal(errno, EPROTO);
	f->daemon.mood = FAKE_ANSWERS;
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_QP], 1);
}

static void test_modify_and_query(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_modify_qp *in = (void *)f->daemon.last[UHCA_CMD_MODIFY_QP];
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .qkey = 99, .rq_psn = 77}, got;
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_modify_qp(f->qp, &attr, IBV_QP_STATE | IBV_QP_RQ_PSN), 0);
	assert_int_equal(in->attr_mask, IBV_QP_STATE | IBV_QP_RQ_PSN);
	assert_int_equal(in->attr.qp_state, IBV_QPS_SQD);
	assert_int_equal(in->attr.rq_psn, 77);
	assert_int_equal(in->attr.qkey, 0); /* not in the mask */
	assert_int_equal(f->qp->state, IBV_QPS_SQD);
	f->daemon.fail[UHCA_CMD_MODIFY_QP] = -EINVAL;
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(f->qp, &attr, IBV_QP_STATE), EINVAL);
	assert_int_equal(f->qp->state, IBV_QPS_SQD);
	f->daemon.fail[UHCA_CMD_MODIFY_QP] = 0;
	verbs_fixture_modify(f->qp, IBV_QPS_ERR);
	assert_int_equal(ibv_query_qp(f->qp, &got, IBV_QP_STATE, &init), 0);
	assert_int_equal(got.qp_state, IBV_QPS_ERR);
	assert_int_equal(got.cap.max_send_wr, 8);
	assert_int_equal(init.cap.max_recv_wr, 8);
	assert_ptr_equal(init.send_cq, f->cq);
	assert_ptr_equal(init.recv_cq, f->cq);
	assert_null(init.srq);
	assert_int_equal(init.qp_type, IBV_QPT_RC);
	assert_int_equal(init.sq_sig_all, 0);
}

/* A post goes to the ring that the daemon made, and rings the doorbell that it named. */
static void test_post(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_QP);
	struct ibv_sge sge = {(uintptr_t)f->memory, 16, f->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 9, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr recv = {.wr_id = 8, .sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr *bad;

	memset(f->memory, 'm', 16);
	assert_int_equal(ibv_post_recv(f->qp, &recv, &bad_recv), 0);
	assert_int_equal(fake_page(q)->recv.producer, 1);
	assert_int_equal(fake_recv_slot(q, 0)->wr_id, 8);
	assert_int_equal(ibv_post_send(f->qp, &wr, &bad), 0);
	assert_int_equal(fake_page(q)->send.producer, 1);
	assert_int_equal(fake_send_slot(q, 0)->wr_id, 9);
	assert_int_equal(fake_send_slot(q, 0)->flags, UHCA_ABI_SEND_GATHERED);
	assert_memory_equal(fake_send_data(q, 0), f->memory, 16);
	assert_int_equal(f->daemon.doorbell->word[0], 1ull << q->handle);
	/* Not any more, once the region is gone. */
	assert_int_equal(ibv_dereg_mr(f->mr), 0);
	f->mr = NULL;
	assert_int_equal(ibv_post_send(f->qp, &wr, &bad), 0);
	assert_int_equal(fake_send_slot(q, 1)->flags, 0);
}

/* What was completed before a reset or a destroy is not polled after it. */
static void test_reset_forgets(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *cq = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct uhca_abi_cqe e = {.wr_id = 5, .qpn = f->qp->qp_num};
	struct ibv_wc wc;

	fake_complete(cq, &e);
	verbs_fixture_modify(f->qp, IBV_QPS_RESET);
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 0);
	fake_complete(cq, &e);
	assert_int_equal(ibv_destroy_qp(f->qp), 0);
	f->qp = NULL;
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 0);
}

static void test_mcast(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_mcast *in = (void *)f->daemon.last[UHCA_CMD_ATTACH_MCAST];
	union ibv_gid gid = {.raw = {0xff, 0x0e, [15] = 9}};

	assert_int_equal(ibv_attach_mcast(f->qp, &gid, 0xc001), 0);
	assert_int_equal(in->mlid, 0xc001);
	assert_memory_equal(in->gid, gid.raw, 16);
	f->daemon.fail[UHCA_CMD_DETACH_MCAST] = -EINVAL;
	assert_int_equal(ibv_detach_mcast(f->qp, &gid, 0xc001), EINVAL);
}

static void test_datagram(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_ah *in = (void *)f->daemon.last[UHCA_CMD_CREATE_AH];
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.sl = 3,
		.grh = {.hop_limit = 9, .sgid_index = 1, .dgid.raw = {[15] = 1}}};
	struct ibv_ah *ah = ibv_create_ah(f->pd, &attr);

	assert_non_null(ah);
	assert_ptr_equal(ah->pd, f->pd);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(in->attr.hop_limit, 9);
	assert_int_equal(in->attr.sgid_index, 1);
	assert_int_equal(in->attr.sl, 3);
	assert_int_equal(in->attr.dgid[15], 1);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	f->daemon.fail[UHCA_CMD_CREATE_AH] = -EINVAL;
	assert_null(ibv_create_ah(f->pd, &attr));
	assert_int_equal(errno, EINVAL);
}

static void expect_ece(struct ibv_qp *qp, uint32_t options)
{
	struct ibv_ece ece = {.vendor_id = 1, .options = 2};

	assert_int_equal(ibv_query_ece(qp, &ece), 0);
	assert_int_equal(ece.vendor_id, 0x75ca);
	assert_int_equal(ece.options, options);
}

static uint32_t agree(struct ibv_qp *qp, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = {.vendor_id = vendor, .options = options};

	assert_int_equal(ibv_set_ece(qp, &ece), 0);
	assert_int_equal(ece.vendor_id, 0x75ca);
	expect_ece(qp, ece.options);
	return ece.options;
}

/*
 * What both have: masked atomics. Another vendor's options are none of ours, new ones are not yet.
 */
static void test_ece(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_ece ece = {.vendor_id = 0x75ca, .comp_mask = 1};

	f->daemon.features = UHCA_ABI_HAS_MASKED_ATOMICS;
	expect_ece(f->qp, 1);
	assert_int_equal(ibv_set_ece(f->qp, &ece), EINVAL);
	expect_ece(f->qp, 1);
	assert_int_equal(agree(f->qp, 0x75ca, 0), 0);
	assert_int_equal(agree(f->qp, 0x75ca, UINT32_MAX), 1);
	assert_int_equal(agree(f->qp, 0x15b3, 1), 0);
	assert_int_equal(ibv_modify_qp(f->qp, &reset, IBV_QP_STATE), 0);
	expect_ece(f->qp, 1);
}

static void test_ece_nothing(void **state)
{
	struct verbs_fixture *f = *state;

	expect_ece(f->qp, 0);
	assert_int_equal(agree(f->qp, 0x75ca, 1), 0);
}

/* What the device does not promise, it does not say. */
static void test_no_promises(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1000};

	assert_int_equal(ibv_query_qp_data_in_order(f->qp, IBV_WR_RDMA_WRITE, 0), 0);
	f->daemon.fail[UHCA_CMD_MODIFY_QP] = -EOPNOTSUPP;
	assert_int_equal(ibv_modify_qp_rate_limit(f->qp, &rate), EOPNOTSUPP);
}

/* ibv_wr_*, and refusals of what the type does not have, before the device is asked. */
static void test_send_ops(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_init_attr_ex init = {.send_cq = f->cq,
					   .recv_cq = f->cq,
					   .qp_type = IBV_QPT_UD,
					   .cap = {4, 4, 1, 1, 0},
					   .pd = f->pd,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	unsigned calls = f->daemon.calls[UHCA_CMD_CREATE_QP];
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &init);

	assert_non_null(qp);
	assert_non_null(ibv_qp_to_qp_ex(qp));
	assert_null(ibv_qp_to_qp_ex(f->qp));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
	errno = 0;
	assert_null(ibv_create_qp_ex(f->context, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	init.send_ops_flags = IBV_QP_EX_WITH_TSO;
	assert_null(ibv_create_qp_ex(f->context, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_QP], calls + 1);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_ece),       TEST(test_ece_nothing),   TEST(test_no_promises),
		TEST(test_send_ops),  TEST(test_create),        TEST(test_raw_packet),
		TEST(test_create_ex), TEST(test_create_fails),  TEST(test_modify_and_query),
		TEST(test_post),      TEST(test_reset_forgets), TEST(test_mcast),
		TEST(test_datagram),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
