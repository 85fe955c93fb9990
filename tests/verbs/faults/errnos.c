/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every verb of the provider's table fails once, through the real libibverbs on a real daemon: what
 * it returns is what errno holds, as with kernel providers; programs print it with %m. A verb that
 * names an object by a handle that is garbled fails with ENOENT, and the object is as it was.
 * At the end the table itself (ops.def) is held against what was called.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum op {
#define UHCAV_OP(name, since) OP_##name,
#include "provider/ops.def"
#undef UHCAV_OP
	OPS
};

static const struct {
	const char *name;
	int since;
} op[OPS] = {
#define UHCAV_OP(name, since) {#name, since},
#include "provider/ops.def"
#undef UHCAV_OP
};

static bool walked[OPS];

static void judge(enum op o, int got, int want, int err)
{
	walked[o] = true;
	if (got != want || err != want)
		fail_msg("%s: returned %d (%s), errno %d (%s); wanted %d (%s)", op[o].name, got,
			 strerror(got), err, strerror(err), want, strerror(want));
}

/* A call that returns an errno value, and one that returns a pointer. */
#define FAILS(o, want, call)                                                                       \
	do {                                                                                       \
		int got_;                                                                          \
		errno = 0;                                                                         \
		got_ = (call);                                                                     \
		judge(OP_##o, got_, want, errno);                                                  \
	} while (0)
#define NO(o, want, call)                                                                          \
	do {                                                                                       \
		errno = 0;                                                                         \
		assert_null(call);                                                                 \
		judge(OP_##o, errno, want, errno);                                                 \
	} while (0)

#define GARBLE 0xdeadbeefu

/* ---- garbled handles ---- */

static void test_pd(void **state)
{
	struct world *w = *state;
	struct ibv_pd *pd = ibv_alloc_pd(w->ctx);
	struct ibv_alloc_dm_attr dm_attr = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(w->ctx, &dm_attr);
	struct ibv_qp_init_attr qp = world_init_attr(w, IBV_QPT_RC);
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_pd nobody = {.context = w->ctx, .handle = UINT32_MAX};
	struct ibv_sge sge = {(uintptr_t)w->memory, 64, w->mr->lkey};

	assert_true(pd && dm);
	pd->handle ^= GARBLE;
	FAILS(dealloc_pd, ENOENT, ibv_dealloc_pd(pd));
	FAILS(dealloc_pd, ENOENT, ibv_dealloc_pd(&nobody));
	NO(reg_mr, ENOENT, ibv_reg_mr(pd, w->memory, WORLD_SIZE, 0));
	NO(alloc_null_mr, ENOENT, ibv_alloc_null_mr(pd));
	NO(reg_dm_mr, ENOENT, ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED));
	NO(alloc_mw, ENOENT, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	NO(create_ah, ENOENT, ibv_create_ah(pd, &address));
	NO(create_qp, ENOENT, ibv_create_qp(pd, &qp));
	NO(create_srq, ENOENT, ibv_create_srq(pd, &srq));
	FAILS(advise_mr, ENOENT, ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	pd->handle ^= GARBLE;
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_memory(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, 0);
	struct ibv_alloc_dm_attr attr = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(w->ctx, &attr);
	struct ibv_mw *mw = ibv_alloc_mw(w->pd, IBV_MW_TYPE_2);
	struct ibv_mw nothing = {.context = w->ctx, .handle = UINT32_MAX};

	assert_true(mr && dm && mw);
	mr->handle ^= GARBLE;
	FAILS(dereg_mr, ENOENT, ibv_dereg_mr(mr));
	errno = 0;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_CMD);
	judge(OP_rereg_mr, errno, ENOENT, errno);
	mr->handle ^= GARBLE;
	mw->handle ^= GARBLE;
	FAILS(dealloc_mw, ENOENT, ibv_dealloc_mw(mw));
	mw->handle ^= GARBLE;
	FAILS(dealloc_mw, ENOENT, ibv_dealloc_mw(&nothing));
	dm->handle ^= GARBLE;
	FAILS(free_dm, ENOENT, ibv_free_dm(dm));
	NO(reg_dm_mr, ENOENT, ibv_reg_dm_mr(w->pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED));
	dm->handle ^= GARBLE;
	FAILS(free_dm, EINVAL, dm->memcpy_to_dm(dm, 1, w->memory, 4));
	FAILS(free_dm, EINVAL, dm->memcpy_from_dm(w->memory, dm, 128, 4));
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_cq(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = ibv_create_cq(w->ctx, 8, NULL, NULL, 0);
	struct ibv_modify_cq_attr moderate = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	struct ibv_qp_init_attr qp = world_init_attr(w, IBV_QPT_RC);

	assert_non_null(cq);
	cq->handle ^= GARBLE;
	FAILS(destroy_cq, ENOENT, ibv_destroy_cq(cq));
	FAILS(resize_cq, ENOENT, ibv_resize_cq(cq, 16));
	FAILS(modify_cq, ENOENT, ibv_modify_cq(cq, &moderate));
	qp.send_cq = cq;
	NO(create_qp, ENOENT, ibv_create_qp(w->pd, &qp));
	qp.send_cq = w->cq;
	qp.recv_cq = cq;
	NO(create_qp, ENOENT, ibv_create_qp(w->pd, &qp));
	cq->handle ^= GARBLE;
	FAILS(resize_cq, EINVAL, ibv_resize_cq(cq, 0));
	moderate.attr_mask = ~0u;
	FAILS(modify_cq, EINVAL, ibv_modify_cq(cq, &moderate));
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void test_qp(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL), *ud = world_datagram_qp(w);
	union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 7}};
	struct ibv_flow_attr rule = {.type = IBV_FLOW_ATTR_NORMAL, .port = 1, .size = sizeof(rule)};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;

	qp->handle ^= GARBLE;
	ud->handle ^= GARBLE;
	FAILS(modify_qp, ENOENT, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	FAILS(query_qp, ENOENT, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	FAILS(destroy_qp, ENOENT, ibv_destroy_qp(qp));
	FAILS(attach_mcast, ENOENT, ibv_attach_mcast(ud, &group, 0));
	FAILS(detach_mcast, ENOENT, ibv_detach_mcast(ud, &group, 0));
	NO(create_flow, ENOENT, ibv_create_flow(qp, &rule));
	qp->handle ^= GARBLE;
	ud->handle ^= GARBLE;
	world_assert_works(w, qp);
	attr.qp_state = IBV_QPS_INIT;
	FAILS(modify_qp, EINVAL, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	group.raw[0] = 0;
	FAILS(attach_mcast, EINVAL, ibv_attach_mcast(ud, &group, 0));
	FAILS(detach_mcast, EINVAL, ibv_detach_mcast(ud, &group, 0));
	assert_int_equal(ibv_destroy_qp(ud), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_srq(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &init);
	struct ibv_qp_init_attr qp_init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_recv_wr recv = {.num_sge = 99}, *bad;
	struct ibv_ops_wr tag = {.wr_id = 1}, *bad_tag;
	struct ibv_srq_attr attr = {.srq_limit = 1};
	struct ibv_qp *qp;
	uint32_t number;

	assert_non_null(srq);
	srq->handle ^= GARBLE;
	FAILS(modify_srq, ENOENT, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	FAILS(query_srq, ENOENT, ibv_query_srq(srq, &attr));
	FAILS(destroy_srq, ENOENT, ibv_destroy_srq(srq));
	qp_init.srq = srq;
	NO(create_qp, ENOENT, ibv_create_qp(w->pd, &qp_init));
	srq->handle ^= GARBLE;
	qp = world_qp(w, srq);
	FAILS(destroy_srq, EBUSY, ibv_destroy_srq(srq));
	attr.max_wr = 0;
	FAILS(modify_srq, EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	FAILS(get_srq_num, EINVAL, ibv_get_srq_num(srq, &number));
	FAILS(post_srq_recv, EINVAL, ibv_post_srq_recv(srq, &recv, &bad));
	FAILS(post_srq_ops, EOPNOTSUPP, ibv_post_srq_ops(srq, &tag, &bad_tag));
	assert_ptr_equal(bad_tag, &tag);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_ah(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_ah *ah = ibv_create_ah(w->pd, &address);
	struct ibv_ah nobody = {.context = w->ctx, .handle = UINT32_MAX};

	assert_non_null(ah);
	ah->handle ^= GARBLE;
	FAILS(destroy_ah, ENOENT, ibv_destroy_ah(ah));
	ah->handle ^= GARBLE;
	FAILS(destroy_ah, ENOENT, ibv_destroy_ah(&nobody));
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

static void test_wq(void **state)
{
	struct world *w = *state;
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = w->pd, .cq = w->cq};
	struct ibv_wq *wq = ibv_create_wq(w->ctx, &init);
	struct ibv_rwq_ind_table_init_attr table_init = {.log_ind_tbl_size = 0, .ind_tbl = &wq};
	struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(w->ctx, &table_init);
	struct ibv_wq_attr attr = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad;

	assert_true(wq && table);
	wq->handle ^= GARBLE;
	FAILS(modify_wq, ENOENT, ibv_modify_wq(wq, &attr));
	FAILS(destroy_wq, ENOENT, ibv_destroy_wq(wq));
	NO(create_rwq_ind_table, ENOENT, ibv_create_rwq_ind_table(w->ctx, &table_init));
	wq->handle ^= GARBLE;
	FAILS(destroy_wq, EBUSY, ibv_destroy_wq(wq));
	FAILS(modify_wq, EINVAL, ibv_post_wq_recv(wq, &recv, &bad));
	table->ind_tbl_handle ^= (int)GARBLE;
	FAILS(destroy_rwq_ind_table, ENOENT, ibv_destroy_rwq_ind_table(table));
	table->ind_tbl_handle ^= (int)GARBLE;
	assert_int_equal(ibv_destroy_rwq_ind_table(table), 0);
	assert_int_equal(ibv_destroy_wq(wq), 0);
	init.pd = NULL;
	NO(create_wq, EINVAL, ibv_create_wq(w->ctx, &init));
}

/*
 * A rule needs a raw packet queue pair, and that a privilege: without it there is a rule of none.
 */
static void test_flow(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RAW_PACKET);
	struct ibv_flow_attr rule = {.type = IBV_FLOW_ATTR_NORMAL, .port = 1, .size = sizeof(rule)};
	struct ibv_flow nothing = {.context = w->ctx, .handle = UINT32_MAX};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);
	struct ibv_flow *flow;

	FAILS(destroy_flow, ENOENT, ibv_destroy_flow(&nothing));
	if (!qp) {
		assert_int_equal(errno, EPERM);
		return;
	}
	flow = ibv_create_flow(qp, &rule);
	assert_non_null(flow);
	flow->handle ^= GARBLE;
	FAILS(destroy_flow, ENOENT, ibv_destroy_flow(flow));
	flow->handle ^= GARBLE;
	assert_int_equal(ibv_destroy_flow(flow), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- what fails for other reasons ---- */

static void test_busy(void **state)
{
	struct world *w = *state;
	struct ibv_xrcd_init_attr xrcd_init = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							    IBV_XRCD_INIT_ATTR_OFLAGS,
					       .fd = -1,
					       .oflags = O_CREAT};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(w->ctx, &xrcd_init);
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
	struct ibv_td_init_attr td_init = {0};
	struct ibv_td *td = ibv_alloc_td(w->ctx, &td_init);
	struct ibv_parent_domain_init_attr parent_init = {.pd = w->pd, .td = td};
	struct ibv_pd *parent = ibv_alloc_parent_domain(w->ctx, &parent_init);
	struct ibv_qp *qp = ibv_create_qp_ex(w->ctx, &init), *user = world_qp(w, NULL);

	assert_true(xrcd && td && parent && qp);
	FAILS(close_xrcd, EBUSY, ibv_close_xrcd(xrcd));
	FAILS(dealloc_td, EBUSY, ibv_dealloc_td(td));
	FAILS(dealloc_pd, EBUSY, ibv_dealloc_pd(w->pd));
	FAILS(destroy_cq, EBUSY, ibv_destroy_cq(w->cq));
	assert_int_equal(ibv_destroy_qp(user), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(parent), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
}

/*
 * What succeeds leaves errno alone, as an ioctl(2) of a kernel's does: librdmacm gives back the QP
 * of an rdma_create_qp that fails later, and tells by errno why.
 */
#define KEEPS(call)                                                                                \
	do {                                                                                       \
		errno = ENOTTY;                                                                    \
		assert_true(call);                                                                 \
		if (errno != ENOTTY)                                                               \
			fail_msg("%s: errno %d (%s)", #call, errno, strerror(errno));              \
	} while (0)
#define KEEPS_0(call) KEEPS((call) == 0)

static void test_success(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_alloc_dm_attr dm_init = {.length = 64};
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_cq *cq;
	struct ibv_ah *ah;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_dm *dm;
	void *large = aligned_alloc(4096, 1 << 18);

	assert_non_null(large);
	memset(large, 1, 1 << 18);
	KEEPS(pd = ibv_alloc_pd(w->ctx));
	KEEPS(mr = ibv_reg_mr(pd, large, 1 << 18, IBV_ACCESS_LOCAL_WRITE));
	KEEPS_0(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	KEEPS(mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	KEEPS(channel = ibv_create_comp_channel(w->ctx));
	KEEPS(cq = ibv_create_cq(w->ctx, 8, NULL, channel, 0));
	KEEPS_0(ibv_resize_cq(cq, 16));
	KEEPS(ah = ibv_create_ah(pd, &address));
	KEEPS(srq = ibv_create_srq(pd, &srq_init));
	KEEPS(qp = (init.send_cq = cq, ibv_create_qp(pd, &init)));
	KEEPS(dm = ibv_alloc_dm(w->ctx, &dm_init));
	KEEPS_0(ibv_free_dm(dm));
	KEEPS_0(ibv_destroy_qp(qp));
	KEEPS_0(ibv_destroy_srq(srq));
	KEEPS_0(ibv_destroy_ah(ah));
	KEEPS_0(ibv_destroy_cq(cq));
	KEEPS_0(ibv_destroy_comp_channel(channel));
	KEEPS_0(ibv_dealloc_mw(mw));
	KEEPS_0(ibv_dereg_mr(mr));
	KEEPS_0(ibv_dealloc_pd(pd));
	free(large);
}

static void test_posting(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr_ex init = {.send_cq = w->cq,
					   .recv_cq = w->cq,
					   .qp_type = IBV_QPT_RC,
					   .cap = {4, 4, 1, 1, 0},
					   .pd = w->pd,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp *qp = ibv_create_qp_ex(w->ctx, &init);
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad_recv;
	struct ibv_mw *mw = ibv_alloc_mw(w->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.wr_id = 1};
	struct ibv_qp_rate_limit_attr rate = {.rate_limit = 1};
	struct ibv_ece ece = {.comp_mask = 1};
	struct ibv_qp_ex *qpx;

	assert_true(qp && mw);
	qpx = ibv_qp_to_qp_ex(qp);
	FAILS(post_send, EINVAL, ibv_post_send(qp, &send, &bad));
	FAILS(post_recv, EINVAL, ibv_post_recv(qp, &recv, &bad_recv));
	FAILS(bind_mw, EINVAL, ibv_bind_mw(qp, mw, &bind));
	FAILS(modify_qp_rate_limit, EINVAL, ibv_modify_qp_rate_limit(qp, &rate));
	FAILS(set_ece, EOPNOTSUPP, ibv_set_ece(qp, &ece)); /* says the library */
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	FAILS(post_send, EINVAL, ibv_wr_complete(qpx));
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_queries(void **state)
{
	struct world *w = *state;
	struct ibv_values_ex values = {.comp_mask = ~0u};
	struct ibv_port_attr port;

	FAILS(query_port, EINVAL, ibv_query_port(w->ctx, 2, &port));
	FAILS(query_rt_values, EOPNOTSUPP, ibv_query_rt_values_ex(w->ctx, &values));
}

static void test_making(void **state)
{
	struct world *w = *state;
	struct ibv_cq_init_attr_ex cq = {.cqe = 0};
	struct ibv_qp_init_attr_ex qp = {.qp_type = IBV_QPT_RC};
	struct ibv_srq_init_attr_ex srq = {.comp_mask = 0};
	struct ibv_qp_open_attr open = {.comp_mask = 0};
	struct ibv_xrcd_init_attr xrcd = {.comp_mask = 0};
	struct ibv_td_init_attr td = {.comp_mask = 1};
	struct ibv_parent_domain_init_attr parent = {.pd = NULL};
	struct ibv_alloc_dm_attr dm = {.length = 64, .comp_mask = 1};
	struct ibv_counters_init_attr counters = {0};
	struct ibv_flow_action_esp_attr esp = {0};

	NO(create_cq, EINVAL, ibv_create_cq(w->ctx, 0, NULL, NULL, 0));
	NO(create_cq_ex, EINVAL, (cq.cqe = 0, ibv_create_cq_ex(w->ctx, &cq)));
	NO(create_qp_ex, EINVAL, ibv_create_qp_ex(w->ctx, &qp));
	NO(create_srq_ex, EINVAL, ibv_create_srq_ex(w->ctx, &srq));
	NO(open_qp, EINVAL, ibv_open_qp(w->ctx, &open));
	NO(open_xrcd, EINVAL, ibv_open_xrcd(w->ctx, &xrcd));
	NO(alloc_td, EINVAL, ibv_alloc_td(w->ctx, &td));
	NO(alloc_parent_domain, EINVAL, ibv_alloc_parent_domain(w->ctx, &parent));
	NO(alloc_dm, EINVAL, ibv_alloc_dm(w->ctx, &dm));
	NO(import_pd, ENOENT, ibv_import_pd(w->ctx, GARBLE));
	NO(import_mr, ENOENT, ibv_import_mr(w->pd, GARBLE));
	NO(import_dm, ENOENT, ibv_import_dm(w->ctx, GARBLE));
	NO(reg_dmabuf_mr, EBADF, ibv_reg_dmabuf_mr(w->pd, 0, 4096, 0, -1, 0));
	NO(create_counters, EOPNOTSUPP, ibv_create_counters(w->ctx, &counters));
	NO(create_flow_action_esp, EOPNOTSUPP, ibv_create_flow_action_esp(w->ctx, &esp));
}

/* A fork's child has none of it: the verbs that need no daemon fail there, too. */
static void in_child(struct world *w, struct ibv_cq_ex *cqx)
{
	struct ibv_poll_cq_attr attr = {.comp_mask = 0};
	struct ibv_wc wc;

	FAILS(poll_cq, EIO, -ibv_poll_cq(w->cq, 1, &wc));
	FAILS(req_notify_cq, EIO, ibv_req_notify_cq(w->cq, 0));
	FAILS(poll_cq, EIO, ibv_start_poll(cqx, &attr));
}

static void test_child(void **state)
{
	struct world *w = *state;
	struct ibv_cq_init_attr_ex init = {.cqe = 4};
	struct ibv_cq_ex *cqx = ibv_create_cq_ex(w->ctx, &init);
	struct ibv_poll_cq_attr attr = {.comp_mask = 1};
	int status;
	pid_t pid;

	assert_non_null(cqx);
	FAILS(poll_cq, EINVAL, ibv_start_poll(cqx, &attr));
	pid = fork();
	if (pid == 0) {
		in_child(w, cqx);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	walked[OP_req_notify_cq] = true;
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cqx)), 0);
}

/*
 * Those that return nothing or a value, those whose only failure is a daemon that is gone, and
 * those of objects that this device does not make.
 */
static const enum op not_walked[] = {
	OP_alloc_pd,
	OP_async_event,
	OP_cq_event,
	OP_free_context,
	OP_unimport_dm,
	OP_unimport_mr,
	OP_unimport_pd,
	OP_query_ece,
	OP_query_device_ex,
	OP_query_qp_data_in_order,
	OP_read_counters,
	OP_destroy_counters,
	OP_attach_counters_point_flow,
	OP_destroy_flow_action,
	OP_modify_flow_action_esp,
};

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(not_walked) / sizeof(not_walked[0]); i++)
		walked[not_walked[i]] = true;
	for (unsigned i = 0; i < OPS; i++)
		if (!walked[i] && op[i].since <= 36)
			fail_msg("%s was not called", op[i].name);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pd),      TEST(test_memory),  TEST(test_cq),
		TEST(test_qp),      TEST(test_srq),     TEST(test_ah),
		TEST(test_wq),      TEST(test_flow),    TEST(test_busy),
		TEST(test_posting), TEST(test_queries), TEST(test_making),
		TEST(test_child),   TEST(test_success), cmocka_unit_test(test_table), /* the last */
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests_name("errnos", tests, NULL, NULL);
}
