/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small objects through libibverbs on the real daemon: what a program sees of address handles,
 * windows, device memory, XRC domains, work queues and flow rules, and what it is told when one
 * may not be made or is still used.
 */
#include "provider/keys/keys.h"
#include "tests/support/provider/real_daemon.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static pid_t daemon_pid;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static int start(void **state)
{
	(void)state;
	daemon_pid = real_daemon_start();
	context = verbs_fixture_open();
	assert_non_null(context);
	pd = ibv_alloc_pd(context);
	assert_non_null(pd);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	assert_non_null(cq);
	return 0;
}

/* Nothing that a test made is left: else PD and CQ would be in use. */
static int finish(void **state)
{
	int left = ibv_destroy_cq(cq) | ibv_dealloc_pd(pd);

	(void)state;
	assert_int_equal(ibv_close_device(context), 0);
	real_daemon_stop(daemon_pid, SIGTERM); /* in any case */
	assert_int_equal(left, 0);
	return 0;
}

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = type,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	return ibv_create_qp(pd, &attr);
}

static void test_address_handle(void **state)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	(void)state;
	assert_int_equal(ibv_query_gid(context, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(pd, &attr);
	assert_non_null(ah);
	assert_ptr_equal(ah->pd, pd);
	assert_ptr_equal(ah->context, context);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	attr.port_num = 2;
	errno = 0;
	assert_null(ibv_create_ah(pd, &attr));
	assert_int_equal(errno, EINVAL);
}

static void test_window(void **state)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_mw_bind bind = {.wr_id = 1};
	struct ibv_qp *qp;

	(void)state;
	assert_non_null(mw);
	assert_ptr_equal(mw->pd, pd);
	assert_ptr_equal(mw->context, context);
	assert_int_equal(mw->type, IBV_MW_TYPE_2);
	qp = make_qp(IBV_QPT_RC);
	assert_non_null(qp);
	assert_int_equal(ibv_bind_mw(qp, mw, &bind), EINVAL); /* it is bound by a request */
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	errno = 0;
	assert_null(ibv_alloc_mw(pd, 77));
	assert_int_equal(errno, EINVAL);
}

/* The file begins with the memory, whose bytes from 240 on are as in; it can be registered. */
static void export_dm(struct ibv_dm *dm, const uint32_t in[4])
{
	int fd = uhcav_dm_export_dmabuf_fd(dm);
	uint32_t out[4] = {0}, more = 77;
	struct ibv_mr *mr;

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(pread(fd, out, sizeof(out), 240), sizeof(out));
	assert_memory_equal(in, out, sizeof(out));
	assert_int_equal(pwrite(fd, &more, sizeof(more), 0), sizeof(more));
	assert_int_equal(ibv_memcpy_from_dm(out, dm, 0, 4), 0);
	assert_int_equal(out[0], more);
	mr = ibv_reg_dmabuf_mr(pd, 0, 256, 0x10000, fd, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	close(fd);
}

static void test_device_memory(void **state)
{
	struct ibv_alloc_dm_attr attr = {.length = 256};
	const uint32_t in[4] = {1, 2, 3, 4};
	uint32_t out[4] = {0};
	struct ibv_dm *dm = ibv_alloc_dm(context, &attr);
	struct ibv_mr *mr;

	(void)state;
	assert_non_null(dm);
	assert_int_equal(ibv_memcpy_to_dm(dm, 240, in, 16), 0);
	assert_int_equal(ibv_memcpy_from_dm(out, dm, 240, 16), 0);
	assert_memory_equal(in, out, 16);
	assert_int_equal(ibv_memcpy_to_dm(dm, 244, in, 16), EINVAL); /* beyond its end */
	assert_int_equal(ibv_memcpy_to_dm(dm, 2, in, 4), EINVAL);
	assert_int_equal(ibv_memcpy_to_dm(dm, 0, in, 6), EINVAL);
	assert_int_equal(ibv_memcpy_from_dm(out, dm, 260, 4), EINVAL);
	export_dm(dm, in);
	mr = ibv_reg_dm_mr(pd, dm, 16, 32, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(mr->length, 32);
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_free_dm(dm), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	errno = 0;
	assert_null(ibv_reg_dm_mr(pd, dm, 240, 32, IBV_ACCESS_ZERO_BASED));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_free_dm(dm), 0);
	attr.length = UINT64_C(1) << 60;
	errno = 0;
	assert_null(ibv_alloc_dm(context, &attr));
	assert_int_not_equal(errno, 0);
	attr = (struct ibv_alloc_dm_attr){.length = 64, .comp_mask = 1};
	errno = 0;
	assert_null(ibv_alloc_dm(context, &attr));
	assert_int_equal(errno, EINVAL);
}

static void test_xrc_domain(void **state)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1};
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.cq = cq};
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t number = 0;

	(void)state;
	errno = 0;
	assert_null(ibv_open_xrcd(context, &attr)); /* without a file it can only be made */
	assert_int_not_equal(errno, 0);
	attr.oflags = O_CREAT;
	xrcd = ibv_open_xrcd(context, &attr);
	assert_non_null(xrcd);
	srq_attr.xrcd = xrcd;
	srq = ibv_create_srq_ex(context, &srq_attr);
	assert_non_null(srq);
	assert_int_equal(ibv_get_srq_num(srq, &number), 0);
	assert_int_not_equal(number, 0);
	assert_int_equal(ibv_close_xrcd(xrcd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
}

static int create_srq(const struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq_init_attr_ex a = *attr;
	struct ibv_srq *srq = ibv_create_srq_ex(context, &a);

	if (!srq)
		return errno;
	assert_ptr_equal(srq->context, context);
	assert_ptr_equal(srq->pd, attr->pd);
	assert_ptr_equal(srq->srq_context, attr->srq_context);
	assert_true(a.attr.max_wr >= attr->attr.max_wr);
	return ibv_destroy_srq(srq);
}

/* Which kinds there are, what each needs, and that it is of the same context. */
static void test_srq_ex(void **state)
{
	const uint32_t xrc = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex a = {
		.srq_context = &domain, .attr = {.max_wr = 4, .max_sge = 1}, .pd = pd};
	struct ibv_context *other = verbs_fixture_open();
	struct ibv_pd *foreign = ibv_alloc_pd(other);

	(void)state;
	assert_non_null(foreign);
	assert_int_equal(create_srq(&a), EINVAL); /* no PD is said */
	a.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	assert_int_equal(create_srq(&a), 0);
	a.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
	assert_int_equal(create_srq(&a), 0);
	a.comp_mask |= IBV_SRQ_INIT_ATTR_CQ; /* nothing to a basic one */
	assert_int_equal(create_srq(&a), EOPNOTSUPP);
	a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	a.srq_type = IBV_SRQT_TM;
	assert_int_equal(create_srq(&a), EOPNOTSUPP);
	a.srq_type = IBV_SRQT_XRC;
	a.xrcd = ibv_open_xrcd(context, &domain);
	assert_non_null(a.xrcd);
	a.cq = cq;
	assert_int_equal(create_srq(&a), EINVAL); /* neither domain nor CQ are said */
	a.comp_mask = xrc & ~(uint32_t)IBV_SRQ_INIT_ATTR_CQ;
	assert_int_equal(create_srq(&a), EINVAL);
	a.comp_mask = xrc;
	assert_int_equal(create_srq(&a), 0);
	a.comp_mask = xrc | IBV_SRQ_INIT_ATTR_TM;
	assert_int_equal(create_srq(&a), EOPNOTSUPP);
	a.comp_mask = xrc;
	a.pd = foreign;
	assert_int_equal(create_srq(&a), EINVAL);
	a.pd = pd;
	a.cq = NULL;
	assert_int_equal(create_srq(&a), EINVAL);
	assert_int_equal(ibv_close_xrcd(a.xrcd), 0);
	assert_int_equal(ibv_dealloc_pd(foreign), 0);
	assert_int_equal(ibv_close_device(other), 0);
}

/* A receiving QP of a domain has a second handle for whoever knows its number. */
static void test_shared_qp(void **state)
{
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &domain);
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};
	struct ibv_qp_open_attr open = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						     IBV_QP_OPEN_ATTR_TYPE |
						     IBV_QP_OPEN_ATTR_CONTEXT,
					.xrcd = xrcd,
					.qp_context = &open,
					.qp_type = IBV_QPT_XRC_RECV};
	struct ibv_qp *qp, *second;

	(void)state;
	assert_non_null(xrcd);
	qp = ibv_create_qp_ex(context, &init);
	assert_non_null(qp);
	open.qp_num = qp->qp_num;
	second = ibv_open_qp(context, &open);
	assert_non_null(second);
	assert_int_equal(second->qp_num, qp->qp_num);
	open.comp_mask &= ~(uint32_t)IBV_QP_OPEN_ATTR_TYPE;
	errno = 0;
	assert_null(ibv_open_qp(context, &open));
	assert_int_equal(errno, EINVAL);
	open.comp_mask |= IBV_QP_OPEN_ATTR_TYPE | 1u << 20;
	errno = 0;
	assert_null(ibv_open_qp(context, &open));
	assert_int_equal(errno, EINVAL);
	open.comp_mask &= ~(1u << 20);
	open.xrcd = NULL;
	errno = 0;
	assert_null(ibv_open_qp(context, &open));
	assert_int_equal(errno, EINVAL);
	open.xrcd = xrcd;
	init.comp_mask = 0;
	errno = 0;
	assert_null(ibv_create_qp_ex(context, &init));
	assert_int_equal(errno, EINVAL);
	init.comp_mask = IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	errno = 0;
	assert_null(ibv_create_qp_ex(context, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(second->qp_type, IBV_QPT_XRC_RECV);
	assert_ptr_equal(second->qp_context, &open);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_close_xrcd(xrcd), EBUSY);
	assert_int_equal(ibv_destroy_qp(second), 0);
	errno = 0;
	assert_null(ibv_open_qp(context, &open)); /* it is gone with its last handle */
	assert_int_not_equal(errno, 0);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
}

/* Another connection of the program uses what the first has made. */
static void test_import(void **state)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(context, &attr), *dm2;
	struct ibv_context *other = ibv_import_device(dup(context->cmd_fd));
	static char memory[64];
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), 0), *mr2;
	struct ibv_pd *pd2;
	uint32_t in = 7, out = 0;

	(void)state;
	assert_non_null(dm);
	assert_non_null(mr);
	assert_non_null(other);
	pd2 = ibv_import_pd(other, pd->handle);
	assert_non_null(pd2);
	assert_ptr_equal(pd2->context, other);
	mr2 = ibv_import_mr(pd2, mr->handle);
	assert_non_null(mr2);
	assert_int_equal(mr2->lkey, mr->lkey);
	dm2 = ibv_import_dm(other, dm->handle);
	assert_non_null(dm2);
	assert_int_equal(ibv_memcpy_to_dm(dm2, 60, &in, 4), 0);
	assert_int_equal(ibv_memcpy_from_dm(&out, dm, 60, 4), 0);
	assert_int_equal(out, 7);
	errno = 0;
	assert_null(ibv_import_pd(other, pd->handle + 1000));
	assert_int_equal(errno, ENOENT);
	errno = 0;
	assert_null(ibv_import_dm(other, dm->handle + 1000));
	assert_int_equal(errno, ENOENT);
	ibv_unimport_dm(dm2);
	ibv_unimport_mr(mr2);
	ibv_unimport_pd(pd2);
	assert_int_equal(ibv_close_device(other), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_free_dm(dm), 0);
}

/* ---- what brings frames ---- */

static struct ibv_wq *make_wq(void)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = pd, .cq = cq};
	struct ibv_wq *wq = ibv_create_wq(context, &init);

	assert_non_null(wq);
	assert_true(init.max_wr >= 8);
	assert_true(init.max_sge >= 1);
	return wq;
}

static void test_work_queue(void **state)
{
	struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_wq_attr error = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_ERR};
	struct ibv_wq_init_attr none = {.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .cq = cq};
	struct ibv_recv_wr wr = {.wr_id = 5}, *bad = NULL;
	struct ibv_wq *wq = make_wq();
	struct ibv_wc wc;
	int n;

	(void)state;
	assert_ptr_equal(wq->pd, pd);
	assert_ptr_equal(wq->cq, cq);
	assert_int_equal(wq->state, IBV_WQS_RESET);
	assert_int_equal(ibv_post_wq_recv(wq, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(ibv_modify_wq(wq, &ready), 0);
	assert_int_equal(wq->state, IBV_WQS_RDY);
	assert_int_equal(ibv_post_wq_recv(wq, &wr, &bad), 0);
	assert_int_equal(ibv_modify_wq(wq, &error), 0);
	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	assert_int_equal(n, 1);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.qp_num, wq->wq_num);
	ready.wq_state = 77;
	assert_int_equal(ibv_modify_wq(wq, &ready), EINVAL);
	assert_int_equal(wq->state, IBV_WQS_ERR);
	assert_int_equal(ibv_destroy_wq(wq), 0);
	errno = 0;
	assert_null(ibv_create_wq(context, &none));
	assert_int_equal(errno, EINVAL);
}

/* A QP without rings that spreads over the queues of a table. */
static void test_spread(void **state)
{
	static uint8_t key[40] = {1, 2, 3};
	struct ibv_wq *wq[2] = {make_wq(), make_wq()};
	struct ibv_rwq_ind_table_init_attr init = {.log_ind_tbl_size = 1, .ind_tbl = wq};
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = &key,
		.cap = {.max_send_wr = 3},
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = pd,
		.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key, IBV_RX_HASH_SRC_IPV4},
	};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_qp *qp;

	(void)state;
	attr.rwq_ind_tbl = ibv_create_rwq_ind_table(context, &init);
	assert_non_null(attr.rwq_ind_tbl);
	qp = ibv_create_qp_ex(context, &attr);
	if (!qp && errno == EPERM) {
		print_message("raw packets need CAP_NET_RAW\n");
	} else {
		assert_non_null(qp);
		assert_ptr_equal(qp->pd, pd);
		assert_ptr_equal(qp->qp_context, &key);
		assert_int_equal(qp->qp_type, IBV_QPT_RAW_PACKET);
		assert_int_not_equal(qp->qp_num, 0);
		assert_int_equal(attr.cap.max_send_wr, 0);
		assert_int_not_equal(ibv_post_send(qp, &wr, &bad), 0);
		assert_int_equal(ibv_destroy_rwq_ind_table(attr.rwq_ind_tbl), EBUSY);
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
	attr.rx_hash_conf.rx_hash_key_len = 39;
	errno = 0;
	assert_null(ibv_create_qp_ex(context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.rx_hash_conf.rx_hash_key_len = 40;
	attr.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_RX_HASH;
	assert_null(ibv_create_qp_ex(context, &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_wq(wq[0]), EBUSY);
	assert_int_equal(ibv_destroy_rwq_ind_table(attr.rwq_ind_tbl), 0);
	wq[1]->context = NULL; /* of another device, by mistake */
	init.log_ind_tbl_size = 30;
	errno = 0;
	assert_null(ibv_create_rwq_ind_table(context, &init));
	assert_int_equal(errno, EINVAL);
	wq[1]->context = context;
	assert_int_equal(ibv_destroy_wq(wq[0]), 0);
	assert_int_equal(ibv_destroy_wq(wq[1]), 0);
}

/* Specifications follow the attributes without a gap. */
struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4_ext ip;
};

static void test_flow(void **state)
{
	struct rule r = {
		.attr = {.type = IBV_FLOW_ATTR_NORMAL, .num_of_specs = 2, .port = 1},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(r.eth)},
		.ip = {.type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof(r.ip)},
	};
	struct ibv_qp *qp = make_qp(IBV_QPT_RAW_PACKET);
	struct ibv_flow *flow;

	(void)state;
	if (!qp && errno == EPERM) {
		print_message("raw packets need CAP_NET_RAW\n");
		return;
	}
	assert_non_null(qp);
	flow = ibv_create_flow(qp, &r.attr);
	assert_non_null(flow);
	assert_ptr_equal(flow->context, context);
	assert_int_equal(ibv_destroy_qp(qp), EBUSY);
	assert_int_equal(ibv_destroy_flow(flow), 0);
	r.attr.comp_mask = 1;
	errno = 0;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EOPNOTSUPP);
	r.attr.comp_mask = 0;
	r.ip.size = 3;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r.ip.size = sizeof(r.ip) - 1;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r.ip.size = sizeof(r.ip);
	r.ip.type = 0xff;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EOPNOTSUPP);
	r.ip.type = IBV_FLOW_SPEC_ACTION_TAG; /* its number is its only field */
	r.ip.size = sizeof(struct ibv_flow_spec_action_tag);
	flow = ibv_create_flow(qp, &r.attr);
	assert_non_null(flow);
	assert_int_equal(ibv_destroy_flow(flow), 0);
	r.ip.size--;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r.ip.type = IBV_FLOW_SPEC_ACTION_DROP;
	r.ip.size = sizeof(struct ibv_flow_spec_action_drop);
	flow = ibv_create_flow(qp, &r.attr);
	assert_non_null(flow);
	assert_int_equal(ibv_destroy_flow(flow), 0);
	r.attr.num_of_specs = 9;
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	r.attr.num_of_specs = 1;
	r.attr.port = 2; /* the device refuses it */
	assert_null(ibv_create_flow(qp, &r.attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_handle), cmocka_unit_test(test_window),
		cmocka_unit_test(test_device_memory),  cmocka_unit_test(test_xrc_domain),
		cmocka_unit_test(test_shared_qp),      cmocka_unit_test(test_import),
		cmocka_unit_test(test_work_queue),     cmocka_unit_test(test_spread),
		cmocka_unit_test(test_flow),           cmocka_unit_test(test_srq_ex),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, start, finish);
}
