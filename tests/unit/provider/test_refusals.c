/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every command that the device can refuse: what the program is told, that the object which was to
 * go is still there and the one which was to come is not, and that nothing is left at the device
 * when what it made cannot be used here.
 */
#include "emu/abi/copy_on_poll.h"
#include "provider/queues/queues.h"
#include "tests/support/provider/holdings.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* ---- what can be made, one function each ---- */

static struct ibv_qp_cap small(void)
{
	return (struct ibv_qp_cap){
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};
}

static void *make_pd(struct verbs_fixture *f)
{
	return ibv_alloc_pd(f->context);
}

static int end_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_ah(struct verbs_fixture *f)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	return ibv_create_ah(f->pd, &attr);
}

static int end_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

static void *make_mw(struct verbs_fixture *f)
{
	return ibv_alloc_mw(f->pd, IBV_MW_TYPE_2);
}

static int end_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static void *make_mr(struct verbs_fixture *f)
{
	return ibv_reg_mr(f->pd, f->memory, 64, 0);
}

static void *make_null_mr(struct verbs_fixture *f)
{
	return ibv_alloc_null_mr(f->pd);
}

static int end_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_dm(struct verbs_fixture *f)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};

	return ibv_alloc_dm(f->context, &attr);
}

static int end_dm(void *dm)
{
	return ibv_free_dm(dm);
}

/* Libraries before 65 have no such verb. */
static void *make_comp_cntr(struct verbs_fixture *f)
{
	return uhcav_create_comp_cntr(f->context, &(struct uhcav_comp_cntr_init_attr){0});
}

static int end_comp_cntr(void *cntr)
{
	return uhcav_destroy_comp_cntr(cntr);
}

static void *make_xrcd(struct verbs_fixture *f)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = -1,
					  .oflags = O_CREAT};

	return ibv_open_xrcd(f->context, &attr);
}

static int end_xrcd(void *xrcd)
{
	return ibv_close_xrcd(xrcd);
}

static void *make_cq(struct verbs_fixture *f)
{
	return ibv_create_cq(f->context, 16, NULL, NULL, 0);
}

static void *make_cq_ex(struct verbs_fixture *f)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16};

	return ibv_create_cq_ex(f->context, &attr); /* begins as the plain one */
}

static int end_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *make_srq(struct verbs_fixture *f)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};

	return ibv_create_srq(f->pd, &attr);
}

static void *make_srq_ex(struct verbs_fixture *f)
{
	struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = 4, .max_sge = 1},
					    .comp_mask = IBV_SRQ_INIT_ATTR_PD,
					    .pd = f->pd};

	return ibv_create_srq_ex(f->context, &attr);
}

static int end_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_qp(struct verbs_fixture *f)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq, .recv_cq = f->cq, .qp_type = IBV_QPT_RC, .cap = small()};

	return ibv_create_qp(f->pd, &attr);
}

static void *make_qp_ex(struct verbs_fixture *f)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = f->cq,
					   .recv_cq = f->cq,
					   .qp_type = IBV_QPT_RC,
					   .cap = small(),
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = f->pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};

	return ibv_create_qp_ex(f->context, &attr);
}

/* The domain of those below: no command but theirs goes out while they are made. */
static struct ibv_xrcd *domain;
static struct ibv_wq *queue;
static struct ibv_rwq_ind_table *table;

static void *make_receiving_qp(struct verbs_fixture *f)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};

	return ibv_create_qp_ex(f->context, &attr);
}

static void *make_second_handle(struct verbs_fixture *f)
{
	struct ibv_qp_open_attr attr = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE,
					.xrcd = domain,
					.qp_num = 0x4711,
					.qp_type = IBV_QPT_XRC_RECV};

	return ibv_open_qp(f->context, &attr);
}

static void *make_spreading_qp(struct verbs_fixture *f)
{
	static uint8_t key[40] = {1, 2, 3};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = f->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, IBV_RX_HASH_SRC_IPV4},
	};

	return ibv_create_qp_ex(f->context, &attr);
}

static int end_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static void *make_xrc_srq(struct verbs_fixture *f)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = f->pd,
		.xrcd = domain,
		.cq = f->cq};

	return ibv_create_srq_ex(f->context, &attr);
}

static void *make_wq(struct verbs_fixture *f)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = f->pd, .cq = f->cq};

	return ibv_create_wq(f->context, &attr);
}

static int end_wq(void *wq)
{
	return ibv_destroy_wq(wq);
}

static void *make_table(struct verbs_fixture *f)
{
	struct ibv_rwq_ind_table_init_attr attr = {.log_ind_tbl_size = 0, .ind_tbl = &queue};

	return ibv_create_rwq_ind_table(f->context, &attr);
}

static int end_table(void *t)
{
	return ibv_destroy_rwq_ind_table(t);
}

static void *make_flow(struct verbs_fixture *f)
{
	struct ibv_flow_attr attr = {.type = IBV_FLOW_ATTR_ALL_DEFAULT, .port = 1};

	return ibv_create_flow(f->qp, &attr);
}

static int end_flow(void *flow)
{
	return ibv_destroy_flow(flow);
}

static const struct kind {
	const char *name;
	uint32_t make_cmd, end_cmd;
	void *(*make)(struct verbs_fixture *f);
	int (*end)(void *object);
	bool mapped; /* a region of memory comes with it */
} kinds[] = {
	{"PD", UHCA_CMD_ALLOC_PD, UHCA_CMD_DEALLOC_PD, make_pd, end_pd, false},
	{"AH", UHCA_CMD_CREATE_AH, UHCA_CMD_DESTROY_AH, make_ah, end_ah, false},
	{"window", UHCA_CMD_ALLOC_MW, UHCA_CMD_DEALLOC_MW, make_mw, end_mw, false},
	{"MR", UHCA_CMD_REG_MR, UHCA_CMD_DEREG_MR, make_mr, end_mr, false},
	{"null MR", UHCA_CMD_ALLOC_NULL_MR, UHCA_CMD_DEREG_MR, make_null_mr, end_mr, false},
	{"DM", UHCA_CMD_ALLOC_DM, UHCA_CMD_FREE_DM, make_dm, end_dm, true},
	{"completion counter", UHCA_CMD_CREATE_COMP_CNTR, UHCA_CMD_DESTROY_COMP_CNTR,
	 make_comp_cntr, end_comp_cntr, true},
	{"XRC domain", UHCA_CMD_OPEN_XRCD, UHCA_CMD_CLOSE_XRCD, make_xrcd, end_xrcd, false},
	{"CQ", UHCA_CMD_CREATE_CQ, UHCA_CMD_DESTROY_CQ, make_cq, end_cq, true},
	{"extended CQ", UHCA_CMD_CREATE_CQ, UHCA_CMD_DESTROY_CQ, make_cq_ex, end_cq, true},
	{"SRQ", UHCA_CMD_CREATE_SRQ, UHCA_CMD_DESTROY_SRQ, make_srq, end_srq, true},
	{"extended SRQ", UHCA_CMD_CREATE_SRQ, UHCA_CMD_DESTROY_SRQ, make_srq_ex, end_srq, true},
	{"XRC SRQ", UHCA_CMD_CREATE_SRQ, UHCA_CMD_DESTROY_SRQ, make_xrc_srq, end_srq, true},
	{"QP", UHCA_CMD_CREATE_QP, UHCA_CMD_DESTROY_QP, make_qp, end_qp, true},
	{"extended QP", UHCA_CMD_CREATE_QP, UHCA_CMD_DESTROY_QP, make_qp_ex, end_qp, true},
	{"receiving QP", UHCA_CMD_CREATE_QP, UHCA_CMD_DESTROY_QP, make_receiving_qp, end_qp, true},
	{"opened QP", UHCA_CMD_OPEN_QP, UHCA_CMD_DESTROY_QP, make_second_handle, end_qp, true},
	{"spreading QP", UHCA_CMD_CREATE_QP, UHCA_CMD_DESTROY_QP, make_spreading_qp, end_qp, true},
	{"WQ", UHCA_CMD_CREATE_WQ, UHCA_CMD_DESTROY_WQ, make_wq, end_wq, true},
	{"table", UHCA_CMD_CREATE_RWQ_IND_TABLE, UHCA_CMD_DESTROY_RWQ_IND_TABLE, make_table,
	 end_table, false},
	{"flow", UHCA_CMD_CREATE_FLOW, UHCA_CMD_DESTROY_FLOW, make_flow, end_flow, false},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void make_parts(struct verbs_fixture *f)
{
	/* What the library and the provider ask once and keep. */
	assert_int_equal(end_qp(make_qp_ex(f)), 0);
	domain = make_xrcd(f);
	queue = make_wq(f);
	assert_non_null(domain);
	assert_non_null(queue);
	table = make_table(f);
	assert_non_null(table);
}

static void end_parts(void)
{
	assert_int_equal(end_table(table), 0);
	assert_int_equal(end_wq(queue), 0);
	assert_int_equal(end_xrcd(domain), 0);
}

static unsigned total(const struct verbs_fixture *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < UHCA_CMD_COUNT; i++)
		n += f->daemon.calls[i];
	return n;
}

static uint32_t destroyed_handle(const struct verbs_fixture *f, const struct kind *k)
{
	const struct uhca_cmd_handle *in = (const void *)f->daemon.last[k->end_cmd];

	return in->handle;
}

/* The call made no object, for this reason. */
static void assert_none(const struct kind *k, const void *made, int err)
{
	if (made || errno != err)
		fail_msg("%s: %p, errno %d instead of %d", k->name, made, errno, err);
}

static void assert_result(const struct kind *k, int got, int want)
{
	if (got != want || (want && errno != want))
		fail_msg("%s: %d, errno %d instead of %d", k->name, got, errno, want);
}

static void refuse_to_make(struct verbs_fixture *f, const struct kind *k)
{
	unsigned before = total(f);

	f->daemon.fail[k->make_cmd] = -ENOSPC;
	errno = 0;
	assert_none(k, k->make(f), ENOSPC);
	f->daemon.fail[k->make_cmd] = 0;
	assert_int_equal(total(f), before + 1); /* and nothing was taken back */
}

static void refuse_to_end(struct verbs_fixture *f, const struct kind *k)
{
	void *object = k->make(f);
	uint32_t handle = f->daemon.next_handle;
	unsigned before = total(f);

	assert_non_null(object);
	f->daemon.fail[k->end_cmd] = -EBUSY;
	errno = 0;
	assert_result(k, k->end(object), EBUSY);
	f->daemon.fail[k->end_cmd] = 0;
	assert_int_equal(total(f), before + 1);
	assert_int_equal(destroyed_handle(f, k), handle);
	memset(f->daemon.last[k->end_cmd], 0, sizeof(f->daemon.last[0]));
	assert_result(k, k->end(object), 0);
	assert_int_equal(destroyed_handle(f, k), handle);
}

static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;
	struct holdings before = holdings_now();

	make_parts(f);
	for (unsigned i = 0; i < KINDS; i++) {
		refuse_to_make(f, &kinds[i]);
		refuse_to_end(f, &kinds[i]);
	}
	end_parts();
	holdings_assert(before);
}

/* The device made it, and its memory is not what was promised: the device gets it back. */
static void test_not_mapped(void **state)
{
	struct verbs_fixture *f = *state;
	struct holdings held = holdings_now();

	make_parts(f);
	for (unsigned i = 0; i < KINDS; i++) {
		const struct kind *k = &kinds[i];
		unsigned before = total(f);

		if (!k->mapped)
			continue;
		f->daemon.mood = FAKE_SHORT_FILE;
		errno = 0;
		assert_none(k, k->make(f), EPROTO);
		f->daemon.mood = FAKE_ANSWERS;
		assert_int_equal(total(f), before + 2);
		assert_int_equal(destroyed_handle(f, k), f->daemon.next_handle);
	}
	end_parts();
	holdings_assert(held);
}

/* ---- replies that make no sense ---- */

static void cq_empty(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->entries = 0;
}

static void cq_uneven(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->entries = 12;
}

static void cq_narrow(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->stride = UHCA_ABI_CQE_SIZE - 8;
}

static void cq_crooked(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->stride -= 4;
}

static void cq_askew(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->entries_offset -= 4;
}

static void cq_over_page(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->entries_offset = sizeof(struct uhca_abi_cq) - 8;
}

static void cq_beyond(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->entries_offset += 8;
}

static void cq_far(void *r)
{
	struct uhca_cmd_create_cq_reply *reply = r;

	reply->entries_offset = (uint32_t)reply->region_size + 8;
}

static void cq_copies_on_poll_beyond(void *r)
{
	struct uhca_cmd_create_cq_reply *reply = r;

	reply->copies_on_poll_offset = reply->region_size - UHCA_ABI_COPY_ON_POLL_BYTES;
}

static void cq_copies_on_poll_over_page(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->copies_on_poll_offset =
		sizeof(struct uhca_abi_cq) - 8;
}

static void cq_huge(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->stride += 8;
}

static void no_region(void *r)
{
	((struct uhca_cmd_create_cq_reply *)r)->region_size = sizeof(struct uhca_abi_region) - 1;
}

static void qp_bell(void *r)
{
	((struct uhca_cmd_create_qp_reply *)r)->doorbell = UHCA_ABI_DOORBELL_MAX;
}

static void qp_sends(void *r)
{
	((struct uhca_cmd_create_qp_reply *)r)->send.entries = 3;
}

static void qp_receives(void *r)
{
	((struct uhca_cmd_create_qp_reply *)r)->recv.entries = 3;
}

static void qp_narrow_sends(void *r)
{
	((struct uhca_cmd_create_qp_reply *)r)->max_send_sge += 64;
}

static void qp_narrow_receives(void *r)
{
	((struct uhca_cmd_create_qp_reply *)r)->max_recv_sge += 64;
}

static void srq_none(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->recv.entries = 0;
}

static void srq_uneven(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->recv.entries = 3;
}

static void srq_narrow(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->max_sge += 64;
}

static void wq_none(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->recv.entries = 0;
}

static void wq_uneven(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->recv.entries = 3;
}

static void wq_narrow(void *r)
{
	((struct uhca_cmd_create_srq_reply *)r)->max_sge += 64;
}

static void dm_small(void *r)
{
	((struct uhca_cmd_alloc_dm_reply *)r)->region_size = 8;
}

static void dm_short(void *r)
{
	((struct uhca_cmd_alloc_dm_reply *)r)->region_size = 63;
}

static const struct {
	void *(*make)(struct verbs_fixture *f);
	void (*spoil)(void *reply);
} nonsense[] = {
	{make_cq, cq_empty},
	{make_cq, cq_uneven},
	{make_cq, cq_narrow},
	{make_cq, cq_crooked},
	{make_cq, cq_askew},
	{make_cq, cq_over_page},
	{make_cq, cq_beyond},
	{make_cq, cq_far},
	{make_cq, cq_huge},
	{make_cq, cq_copies_on_poll_beyond},
	{make_cq, cq_copies_on_poll_over_page},
	{make_cq, no_region},
	{make_cq_ex, cq_empty},
	{make_qp, qp_bell},
	{make_qp, qp_sends},
	{make_qp, qp_receives},
	{make_qp, qp_narrow_sends},
	{make_qp, qp_narrow_receives},
	{make_qp_ex, qp_sends},
	{make_srq, srq_none},
	{make_srq, srq_uneven},
	{make_srq, srq_narrow},
	{make_srq_ex, srq_none},
	{make_xrc_srq, srq_uneven},
	{make_wq, wq_none},
	{make_wq, wq_uneven},
	{make_wq, wq_narrow},
	{make_dm, dm_small},
	{make_dm, dm_short},
};

static void test_nonsense(void **state)
{
	struct verbs_fixture *f = *state;
	struct holdings held = holdings_now();

	make_parts(f);
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		const struct kind *k = kinds;
		unsigned before = total(f);

		while (k->make != nonsense[i].make)
			k++;
		f->daemon.spoilt = k->make_cmd;
		f->daemon.spoil = nonsense[i].spoil;
		errno = 0;
		assert_none(k, k->make(f), EPROTO);
		assert_int_equal(total(f), before + 2);
		assert_int_equal(destroyed_handle(f, k), f->daemon.next_handle);
	}
	f->daemon.spoil = NULL;
	end_parts();
	holdings_assert(held);
}

/* Nothing is made without a device, and everything can be given up. */
static void test_dead(void **state)
{
	struct verbs_fixture *f = *state;
	void *object[KINDS];

	make_parts(f);
	for (unsigned i = 0; i < KINDS; i++) {
		object[i] = kinds[i].make(f);
		assert_non_null(object[i]);
	}
	fake_daemon_die(&f->daemon);
	for (unsigned i = 0; i < KINDS; i++) {
		errno = 0;
		assert_none(&kinds[i], kinds[i].make(f), EIO);
		assert_result(&kinds[i], kinds[i].end(object[i]), 0);
	}
	end_parts();
}

/* ---- what is asked of objects that are there ---- */

static int modify_qp(struct verbs_fixture *f)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

	return ibv_modify_qp(f->qp, &attr, IBV_QP_STATE);
}

static int query_qp(struct verbs_fixture *f)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(f->qp, &attr, IBV_QP_STATE, &init);
}

static int attach(struct verbs_fixture *f)
{
	return ibv_attach_mcast(f->qp, &(union ibv_gid){.raw = {0xff}}, 0);
}

static int detach(struct verbs_fixture *f)
{
	return ibv_detach_mcast(f->qp, &(union ibv_gid){.raw = {0xff}}, 0);
}

static int resize_cq(struct verbs_fixture *f)
{
	return ibv_resize_cq(f->cq, 40);
}

static int modify_cq(struct verbs_fixture *f)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = 2, .cq_period = 3}};

	return ibv_modify_cq(f->cq, &attr);
}

static struct ibv_srq *shared;

static int modify_srq(struct verbs_fixture *f)
{
	struct ibv_srq_attr attr = {.srq_limit = 1};

	(void)f;
	return ibv_modify_srq(shared, &attr, IBV_SRQ_LIMIT);
}

static int query_srq(struct verbs_fixture *f)
{
	struct ibv_srq_attr attr;

	(void)f;
	return ibv_query_srq(shared, &attr);
}

static int modify_wq(struct verbs_fixture *f)
{
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};

	(void)f;
	return ibv_modify_wq(queue, &attr);
}

static int rereg(struct verbs_fixture *f)
{
	/* A code of the library, which says that nothing has changed. */
	return ibv_rereg_mr(f->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) ? errno : 0;
}

static int advise(struct verbs_fixture *f)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 8, f->mr->lkey};

	return ibv_advise_mr(f->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);
}

static int query_device(struct verbs_fixture *f)
{
	struct ibv_device_attr attr;

	return ibv_query_device(f->context, &attr);
}

static int query_port(struct verbs_fixture *f)
{
	struct ibv_port_attr attr;

	return ibv_query_port(f->context, 1, &attr);
}

static const struct question {
	const char *name;
	uint32_t cmd;
	int (*ask)(struct verbs_fixture *f);
} questions[] = {
	{"modify_qp", UHCA_CMD_MODIFY_QP, modify_qp},
	{"query_qp", UHCA_CMD_QUERY_QP, query_qp},
	{"attach_mcast", UHCA_CMD_ATTACH_MCAST, attach},
	{"detach_mcast", UHCA_CMD_DETACH_MCAST, detach},
	{"resize_cq", UHCA_CMD_RESIZE_CQ, resize_cq},
	{"modify_cq", UHCA_CMD_MODIFY_CQ, modify_cq},
	{"modify_srq", UHCA_CMD_MODIFY_SRQ, modify_srq},
	{"query_srq", UHCA_CMD_QUERY_SRQ, query_srq},
	{"modify_wq", UHCA_CMD_MODIFY_WQ, modify_wq},
	{"rereg_mr", UHCA_CMD_REREG_MR, rereg},
	{"advise_mr", UHCA_CMD_ADVISE_MR, advise},
	{"query_device", UHCA_CMD_QUERY_DEVICE, query_device},
	{"query_port", UHCA_CMD_QUERY_PORT, query_port},
};

static void expect(struct verbs_fixture *f, const struct question *q, int err)
{
	int got;

	errno = 0;
	got = q->ask(f);
	if (got != err || errno != err)
		fail_msg("%s: %d, errno %d instead of %d", q->name, got, errno, err);
}

static void test_asked(void **state)
{
	struct verbs_fixture *f = *state;

	make_parts(f);
	shared = make_srq(f);
	assert_non_null(shared);
	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const struct question *q = &questions[i];
		unsigned before = f->daemon.calls[q->cmd];

		f->daemon.fail[q->cmd] = -ENOSPC;
		expect(f, q, ENOSPC);
		f->daemon.fail[q->cmd] = 0;
		expect(f, q, 0);
		assert_int_equal(f->daemon.calls[q->cmd], before + 2);
	}
	fake_daemon_die(&f->daemon);
	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		expect(f, &questions[i], EIO);
	assert_int_equal(ibv_destroy_srq(shared), 0);
	end_parts();
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_refused), TEST(test_not_mapped), TEST(test_nonsense),
		TEST(test_dead),    TEST(test_asked),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
