/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call that posts, against every type of queue pair in every state, and against queues that
 * the type does not have: what is refused is refused with EINVAL and names the request, and nothing
 * else happens (ibv_post_send(3), IBTA vol. 1, 10.3.1). Runs below uhca-run with two devices.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/uhcadv.h>
#include <stdbool.h>
#include <stdio.h>

/* What a QP under test is. */
struct kind {
	const char *name;
	struct ibv_qp *(*make)(struct world *w, const struct kind *k);
	enum ibv_qp_type type;
	bool sends, receives;
	bool with_srq;
};

static struct ibv_xrcd *domain;
static struct ibv_srq *srq;
static struct ibv_wq *wq;
static struct ibv_rwq_ind_table *table;

static struct ibv_qp *make_plain(struct world *w, const struct kind *k)
{
	struct ibv_qp_init_attr_ex attr = {.qp_type = k->type,
					   .send_cq = w->cq,
					   .recv_cq = w->cq,
					   .srq = k->with_srq ? srq : NULL,
					   .cap = {4, 4, 1, 1, 0},
					   .sq_sig_all = 1,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = w->pd};

	return ibv_create_qp_ex(w->ctx, &attr);
}

static struct ibv_qp *make_xrc_recv(struct world *w, const struct kind *k)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = k->type, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};

	return ibv_create_qp_ex(w->ctx, &attr);
}

/* The handle under test is that of ibv_open_qp(3); the one that made the QP stays. */
static struct ibv_qp *opened;

static struct ibv_qp *make_xrc_opened(struct world *w, const struct kind *k)
{
	struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.xrcd = domain,
					.qp_type = k->type};

	opened = make_xrc_recv(w, k);
	assert_non_null(opened);
	open.qp_num = opened->qp_num;
	return ibv_open_qp(w->ctx, &open);
}

static struct ibv_qp *make_rss(struct world *w, const struct kind *k)
{
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = k->type,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = w->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				 .rx_hash_key_len = sizeof(key),
				 .rx_hash_key = key,
				 .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4},
	};

	return ibv_create_qp_ex(w->ctx, &attr);
}

static const struct kind kinds[] = {
	{"RC", make_plain, IBV_QPT_RC, true, true, false},
	{"RC with an SRQ", make_plain, IBV_QPT_RC, true, false, true},
	{"UC", make_plain, IBV_QPT_UC, true, true, false},
	{"UD", make_plain, IBV_QPT_UD, true, true, false},
	{"UD with an SRQ", make_plain, IBV_QPT_UD, true, false, true},
	{"XRC_SEND", make_plain, IBV_QPT_XRC_SEND, true, false, false},
	{"XRC_RECV", make_xrc_recv, IBV_QPT_XRC_RECV, false, false, false},
	{"XRC_RECV, opened", make_xrc_opened, IBV_QPT_XRC_RECV, false, false, false},
	{"RAW_PACKET", make_plain, IBV_QPT_RAW_PACKET, true, true, false},
	{"RAW_PACKET with RSS", make_rss, IBV_QPT_RAW_PACKET, false, false, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- states ---- */

static const enum ibv_qp_state states[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
					   IBV_QPS_ERR};

static int init_mask(enum ibv_qp_type type)
{
	if (type == IBV_QPT_RAW_PACKET)
		return IBV_QP_STATE | IBV_QP_PORT;
	return IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
	       (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
}

static int rtr_mask(enum ibv_qp_type type)
{
	if (type == IBV_QPT_RAW_PACKET || type == IBV_QPT_UD)
		return IBV_QP_STATE;
	return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       (type == IBV_QPT_UC ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int rts_mask(enum ibv_qp_type type)
{
	if (type == IBV_QPT_RAW_PACKET)
		return IBV_QP_STATE;
	return IBV_QP_STATE | IBV_QP_SQ_PSN |
	       (type == IBV_QPT_UC || type == IBV_QPT_UD
			? 0
			: IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_MAX_QP_RD_ATOMIC);
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, enum ibv_qp_state to, int mask)
{
	attr->qp_state = to;
	assert_int_equal(ibv_modify_qp(qp, attr, mask), 0);
}

static void move(struct world *w, struct ibv_qp *qp, enum ibv_qp_type type, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.port_num = 1,
				   .qkey = WORLD_QKEY,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qp->qp_num,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .timeout = WORLD_TIMEOUT,
				   .retry_cnt = 1,
				   .rnr_retry = 1,
				   .max_rd_atomic = 1,
				   .ah_attr = world_own_address(w->ctx)};

	if (to == IBV_QPS_RESET)
		return;
	modify(qp, &attr, IBV_QPS_INIT, init_mask(type));
	if (to == IBV_QPS_INIT)
		return;
	if (to == IBV_QPS_ERR) {
		modify(qp, &attr, IBV_QPS_ERR, IBV_QP_STATE);
		return;
	}
	modify(qp, &attr, IBV_QPS_RTR, rtr_mask(type));
	if (to == IBV_QPS_RTS)
		modify(qp, &attr, IBV_QPS_RTS, rts_mask(type));
}

/* ---- calls ---- */

static int post_send(struct world *w, struct ibv_qp *qp, const struct kind *k)
{
	struct ibv_ah_attr to = world_own_address(w->ctx);
	struct ibv_ah *ah = k->type == IBV_QPT_UD ? ibv_create_ah(w->pd, &to) : NULL;
	struct ibv_sge sge = {(uintptr_t)w->memory, 64, w->mr->lkey};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .wr.ud.ah = ah};
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(qp, &wr, &bad);

	assert_ptr_equal(bad, err ? &wr : NULL);
	if (ah)
		assert_int_equal(ibv_destroy_ah(ah), 0);
	return err;
}

static int post_dv(struct ibv_qp *qp)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_READ_WITH_INV}, *bad = NULL;
	int err = uhcadv_post_send(qp, &wr, &bad);

	assert_true(err != 0 && bad == &wr); /* none of these QPs was made with it */
	return err;
}

static int bind(struct world *w, struct ibv_qp *qp)
{
	struct ibv_mw *mw = ibv_alloc_mw(w->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind wr = {.bind_info = {.mr = w->mr}};
	int err;

	assert_non_null(mw);
	err = ibv_bind_mw(qp, mw, &wr);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	return err;
}

static int post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = {.num_sge = 0}, *bad = NULL;
	int err = ibv_post_recv(qp, &wr, &bad);

	assert_ptr_equal(bad, err ? &wr : NULL);
	return err;
}

static void check(struct world *w, const struct kind *k, enum ibv_qp_state state)
{
	bool sending = k->sends && (state == IBV_QPS_RTS || state == IBV_QPS_ERR);
	bool receiving = k->receives && state != IBV_QPS_RESET;
	struct ibv_qp *qp;

	if (k->make == make_rss && state != IBV_QPS_RESET)
		return; /* it has no state of its own, its work queues have */
	qp = k->make(w, k);
	if (!qp && k->type == IBV_QPT_RAW_PACKET && errno == EPERM)
		return; /* CAP_NET_RAW is missing: there is no such QP to post to */
	assert_non_null(qp);
	print_message("%s in state %d\n", k->name, (int)state);
	move(w, qp, k->type, state);
	assert_int_equal(post_recv(qp), receiving ? 0 : EINVAL);
	assert_int_equal(post_dv(qp), EINVAL);
	if (!sending && k->type != IBV_QPT_UD && k->type != IBV_QPT_RAW_PACKET)
		assert_int_equal(bind(w, qp), EINVAL);
	assert_int_equal(post_send(w, qp, k), sending ? 0 : EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	if (opened)
		assert_int_equal(ibv_destroy_qp(opened), 0);
	opened = NULL;
}

static void make_others(struct world *w)
{
	struct ibv_xrcd_init_attr xrcd = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = -1,
					  .oflags = O_CREAT};
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_wq_init_attr queue = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = w->pd, .cq = w->cq};
	struct ibv_rwq_ind_table_init_attr tables = {.ind_tbl = &wq};

	domain = ibv_open_xrcd(w->ctx, &xrcd);
	srq = ibv_create_srq(w->pd, &attr);
	wq = ibv_create_wq(w->ctx, &queue);
	assert_true(domain && srq && wq);
	table = ibv_create_rwq_ind_table(w->ctx, &tables);
	assert_non_null(table);
}

static void end_others(void)
{
	assert_int_equal(ibv_destroy_rwq_ind_table(table), 0);
	assert_int_equal(ibv_destroy_wq(wq), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_close_xrcd(domain), 0);
}

static void test_all(void **state)
{
	struct world *w = *state;

	make_others(w);
	for (unsigned k = 0; k < KINDS; k++)
		for (unsigned s = 0; s < sizeof(states) / sizeof(states[0]); s++)
			check(w, &kinds[k], states[s]);
	end_others();
}

/* Queues that are no QP's: a work queue in each of its states. */
static void test_work_queue(void **state)
{
	static const struct {
		enum ibv_wq_state to;
		int result;
	} cases[] = {{IBV_WQS_RESET, EINVAL}, {IBV_WQS_RDY, 0}, {IBV_WQS_ERR, 0}};
	struct world *w = *state;

	make_others(w);
	for (unsigned i = 0; i < 3; i++) {
		struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = cases[i].to};
		struct ibv_recv_wr wr = {.num_sge = 0}, *bad = NULL;

		if (cases[i].to != IBV_WQS_RESET)
			assert_int_equal(ibv_modify_wq(wq, &attr), 0);
		assert_int_equal(ibv_post_wq_recv(wq, &wr, &bad), cases[i].result);
		assert_ptr_equal(bad, cases[i].result ? &wr : NULL);
	}
	end_others();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_all), TEST(test_work_queue)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
