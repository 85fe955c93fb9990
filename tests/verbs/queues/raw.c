/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw packet queue pairs of a real daemon through the real libibverbs: frames between two devices,
 * steered by rules, and what is refused. Runs below uhca-run with two devices; exit status 77
 * without CAP_NET_RAW, after EPERM has been seen.
 */
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME    200u
#define DEADLINE 120 /* seconds until a completion counts as lost */

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t memory[4096];
};

static void open_end(struct end *e, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	assert_non_null(list);
	for (struct ibv_device **d = list; *d && !e->ctx; d++)
		if (!strcmp(ibv_get_device_name(*d), name))
			e->ctx = ibv_open_device(*d);
	ibv_free_device_list(list);
	assert_non_null(e->ctx);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	e->mr = ibv_reg_mr(e->pd, e->memory, sizeof(e->memory), IBV_ACCESS_LOCAL_WRITE);
	assert_true(e->pd && e->cq && e->mr);
}

static struct ibv_qp *make_qp(struct end *e)
{
	struct ibv_qp_init_attr attr = {.send_cq = e->cq,
					.recv_cq = e->cq,
					.cap = {16, 16, 1, 1, 64},
					.qp_type = IBV_QPT_RAW_PACKET,
					.sq_sig_all = 1};

	return ibv_create_qp(e->pd, &attr);
}

static void activate(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void close_end(struct end *e)
{
	if (e->qp)
		assert_int_equal(ibv_destroy_qp(e->qp), 0);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_destroy_cq(e->cq), 0);
	assert_int_equal(ibv_dealloc_pd(e->pd), 0);
	assert_int_equal(ibv_close_device(e->ctx), 0);
}

static struct ibv_wc wait_for(struct end *e)
{
	time_t end = time(NULL) + DEADLINE;
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0 && time(NULL) < end)
		;
	assert_int_equal(n, 1);
	return wc;
}

static void receive(struct end *e, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + 2048, 1024, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(e->qp, &wr, &bad), 0);
}

/* A frame to this address, the rest of it counting up. */
static void send_to(struct end *e, uint8_t last)
{
	struct ibv_sge sge = {(uintptr_t)e->memory, FRAME, e->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = last, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	for (unsigned i = 0; i < FRAME; i++)
		e->memory[i] = (uint8_t)i;
	memcpy(e->memory, (uint8_t[]){2, 0, 0, 0, 0, last}, 6);
	assert_int_equal(ibv_post_send(e->qp, &wr, &bad), 0);
	wc = wait_for(e);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
	assert_int_equal(wc.wr_id, last);
}

/* The specification follows the attributes without a gap, as it must. */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
};

static struct rule rule_for(uint8_t last)
{
	struct rule r = {
		.attr = {.type = IBV_FLOW_ATTR_NORMAL, .num_of_specs = 1, .port = 1},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(struct ibv_flow_spec_eth)},
	};

	r.attr.size = sizeof(r);
	memcpy(r.eth.val.dst_mac, (uint8_t[]){2, 0, 0, 0, 0, last}, 6);
	memset(r.eth.mask.dst_mac, 0xff, 6);
	return r;
}

static void test_frames(void **state)
{
	struct end *a = *state, *b = a + 1;
	struct rule r = rule_for(7);
	struct ibv_flow *flow = ibv_create_flow(b->qp, &r.attr);
	struct ibv_wc wc;

	assert_non_null(flow);
	assert_int_equal(ibv_destroy_qp(b->qp), EBUSY);
	receive(b, 70);
	send_to(a, 6); /* for nobody */
	send_to(a, 7);
	wc = wait_for(b);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wr_id, 70);
	assert_int_equal(wc.byte_len, FRAME);
	assert_int_equal(wc.qp_num, b->qp->qp_num);
	assert_memory_equal(b->memory + 2048, a->memory, FRAME);
	assert_int_equal(ibv_destroy_flow(flow), 0);
}

static void test_refused(void **state)
{
	struct end *a = *state;
	struct rule r = rule_for(7);
	struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)31}, *bad;

	r.eth.size = 8; /* too short for an Ethernet specification */
	assert_null(ibv_create_flow(a->qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r = rule_for(7);
	r.eth.type = IBV_FLOW_SPEC_MPLS;
	assert_null(ibv_create_flow(a->qp, &r.attr));
	assert_int_equal(errno, EOPNOTSUPP);
	r = rule_for(7);
	r.attr.num_of_specs = 200;
	assert_null(ibv_create_flow(a->qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r = rule_for(7);
	r.attr.comp_mask = 1;
	assert_null(ibv_create_flow(a->qp, &r.attr));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_post_send(a->qp, &wr, &bad), EINVAL);
}

struct tag_rule {
	struct rule r;
	struct ibv_flow_spec_action_tag tag;
};

/* The tag of a rule comes with the completion. */
static void test_tag(void **state)
{
	struct end *a = *state, *b = a + 1, tagged = {.ctx = b->ctx, .pd = b->pd};
	struct ibv_qp *own = b->qp;
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_FLOW_TAG};
	struct tag_rule r = {
		.r = rule_for(8),
		.tag = {IBV_FLOW_SPEC_ACTION_TAG, sizeof(struct ibv_flow_spec_action_tag), 0x1234}};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(b->ctx, &init);
	time_t end = time(NULL) + DEADLINE;
	struct ibv_poll_cq_attr poll = {0};
	struct ibv_flow *flow;
	int err;

	assert_non_null(cq);
	tagged.cq = ibv_cq_ex_to_cq(cq);
	tagged.qp = make_qp(&tagged);
	assert_non_null(tagged.qp);
	activate(tagged.qp);
	r.r.attr.num_of_specs = 2;
	r.r.attr.size = sizeof(r);
	flow = ibv_create_flow(tagged.qp, &r.r.attr);
	assert_non_null(flow);
	b->qp = tagged.qp;
	receive(b, 1);
	b->qp = own;
	send_to(a, 8);
	while ((err = ibv_start_poll(cq, &poll)) == ENOENT && time(NULL) < end)
		;
	assert_int_equal(err, 0);
	assert_int_equal(cq->status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_wc_read_byte_len(cq), FRAME);
	assert_int_equal(ibv_wc_read_flow_tag(cq), 0x1234);
	ibv_end_poll(cq);
	assert_int_equal(ibv_destroy_flow(flow), 0);
	assert_int_equal(ibv_destroy_qp(tagged.qp), 0);
	assert_int_equal(ibv_destroy_cq(tagged.cq), 0);
}

/* ---- work queues and RSS ---- */

#define WQS 4u

struct spread {
	struct ibv_wq *wq[WQS];
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;
};

static void make_wq(struct end *e, struct ibv_wq **out)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = e->pd, .cq = e->cq};
	struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_sge sge = {(uintptr_t)e->memory + 2048, 1024, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1}, *bad;

	*out = ibv_create_wq(e->ctx, &init);
	assert_non_null(*out);
	assert_int_equal(ibv_post_wq_recv(*out, &wr, &bad), EINVAL); /* RESET */
	assert_int_equal(ibv_modify_wq(*out, &ready), 0);
	assert_int_equal(ibv_post_wq_recv(*out, &wr, &bad), 0);
}

static void make_spread(struct end *e, struct spread *s)
{
	static uint8_t key[40] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct ibv_rwq_ind_table_init_attr init = {.log_ind_tbl_size = 2, .ind_tbl = s->wq};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = e->pd,
		.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, IBV_RX_HASH_SRC_IPV4},
	};

	for (unsigned i = 0; i < WQS; i++)
		make_wq(e, &s->wq[i]);
	s->table = ibv_create_rwq_ind_table(e->ctx, &init);
	assert_non_null(s->table);
	attr.rwq_ind_tbl = s->table;
	s->qp = ibv_create_qp_ex(e->ctx, &attr);
	assert_non_null(s->qp);
}

static void test_rss(void **state)
{
	struct end *a = *state, *b = a + 1;
	struct ibv_wq_attr error = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR};
	struct rule r = rule_for(9);
	struct spread s = {0};
	struct ibv_flow *flow;
	struct ibv_wc wc;

	make_spread(b, &s);
	flow = ibv_create_flow(s.qp, &r.attr);
	assert_non_null(flow);
	send_to(a, 9); /* no IP header: the first queue */
	wc = wait_for(b);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.qp_num, s.wq[0]->wq_num);
	assert_memory_equal(b->memory + 2048, a->memory, FRAME);
	assert_int_equal(ibv_modify_wq(s.wq[1], &error), 0);
	wc = wait_for(b);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.qp_num, s.wq[1]->wq_num);
	assert_int_equal(ibv_destroy_flow(flow), 0);
	assert_int_equal(ibv_destroy_rwq_ind_table(s.table), EBUSY);
	assert_int_equal(ibv_destroy_qp(s.qp), 0);
	assert_int_equal(ibv_destroy_wq(s.wq[0]), EBUSY);
	assert_int_equal(ibv_destroy_rwq_ind_table(s.table), 0);
	for (unsigned i = 0; i < WQS; i++)
		assert_int_equal(ibv_destroy_wq(s.wq[i]), 0);
}

static void test_caps(void **state)
{
	struct end *a = *state;
	struct ibv_device_attr_ex d;

	assert_int_equal(ibv_query_device_ex(a->ctx, NULL, &d), 0);
	assert_true(d.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING);
	assert_int_equal(d.raw_packet_caps, 0);
	assert_true(d.max_wq_type_rq >= WQS);
	assert_int_equal(d.rss_caps.supported_qpts, 1u << IBV_QPT_RAW_PACKET);
	assert_int_equal(d.rss_caps.rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ);
	assert_int_equal(d.rss_caps.max_rwq_indirection_table_size, 128);
	assert_true(d.rss_caps.rx_hash_fields_mask & IBV_RX_HASH_SRC_IPV4);
}

static struct end ends[2];

static int setup(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		ends[i].qp = make_qp(&ends[i]);
		assert_non_null(ends[i].qp);
		activate(ends[i].qp);
	}
	*state = ends;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ibv_destroy_qp(ends[i].qp), 0);
		ends[i].qp = NULL;
	}
	return 0;
}

/* Without the right this is all there is. */
static bool permitted(struct end *e)
{
	struct ibv_qp *qp = make_qp(e);

	if (qp)
		return ibv_destroy_qp(qp) == 0;
	assert_int_equal(errno, EPERM);
	return false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tag, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rss, setup, teardown),
		cmocka_unit_test_setup_teardown(test_caps, setup, teardown),
	};
	int failed = 77;

	open_end(&ends[0], "uhca0");
	open_end(&ends[1], "uhca1");
	if (permitted(&ends[0]))
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	close_end(&ends[0]);
	close_end(&ends[1]);
	return failed;
}
