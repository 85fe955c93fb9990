/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of a real daemon through the real libibverbs, misused: destroyed in the wrong order,
 * named by handles that are stale or another's, made of parts of two contexts. Each is refused
 * with the errno of the man page, and what was misused works as before: that is tried with
 * traffic.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- wrong order ---- */

static void test_pd_in_use(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_pd *pd = ibv_alloc_pd(w->ctx), *mine = w->pd;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_ah *ah;
	struct ibv_mr *mr;

	assert_non_null(pd);
	w->pd = pd;
	qp = world_qp(w, NULL);
	w->pd = mine;
	mr = ibv_reg_mr(pd, w->memory, WORLD_SIZE, 0);
	srq = ibv_create_srq(pd, &srq_attr);
	ah = ibv_create_ah(pd, &address);
	assert_true(mr && srq && ah);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_cq_in_use(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);

	assert_int_equal(ibv_destroy_cq(w->cq), EBUSY);
	assert_int_equal(ibv_dealloc_pd(w->pd), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(w->channel), EBUSY);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Send and receive queues on CQs of their own: each holds its CQ. */
static void test_two_cqs_in_use(void **state)
{
	struct world *w = *state;
	struct ibv_cq *send = ibv_create_cq(w->ctx, 4, NULL, NULL, 0);
	struct ibv_cq *recv = ibv_create_cq(w->ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_UC);
	struct ibv_qp *qp;

	attr.send_cq = send;
	attr.recv_cq = recv;
	qp = ibv_create_qp(w->pd, &attr);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_cq(send), EBUSY);
	assert_int_equal(ibv_destroy_cq(recv), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(send), 0);
	assert_int_equal(ibv_destroy_cq(recv), 0);
}

static void test_srq_in_use(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_qp *qp;

	assert_non_null(srq);
	qp = world_qp(w, srq);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* A region goes while a receive names it: the receive completes with an error, nothing else. */
static void test_region_in_use(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = {(uintptr_t)w->memory, 64, mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.wr_id = 2, .opcode = IBV_WR_SEND, .num_sge = 1}, *bad;
	struct ibv_sge from = {(uintptr_t)w->memory, 64, w->mr->lkey};
	enum ibv_wc_status status[3] = {0};
	struct ibv_wc wc;

	send.sg_list = &from;
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		world_poll(w->cq, &wc);
		assert_in_range(wc.wr_id, 1, 2);
		status[wc.wr_id] = wc.status;
	}
	assert_int_equal(status[1], IBV_WC_LOC_PROT_ERR);
	/* Its own peer, the QP is in error before the NAK comes back. */
	assert_int_equal(status[2], IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- handles ---- */

static void assert_unknown(int err)
{
	assert_int_equal(err, ENOENT);
}

static void test_stale_handles(void **state)
{
	struct world *w = *state;
	struct ibv_pd *pd = ibv_alloc_pd(w->ctx);
	struct ibv_mr *mr;
	uint32_t stale_pd = pd->handle, stale_mr, live;

	mr = ibv_reg_mr(pd, w->memory, WORLD_SIZE, 0);
	assert_non_null(mr);
	stale_mr = mr->handle;
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);

	pd = ibv_alloc_pd(w->ctx);
	live = pd->handle;
	pd->handle = stale_pd;
	assert_unknown(ibv_dealloc_pd(pd));
	assert_null(ibv_reg_mr(pd, w->memory, WORLD_SIZE, 0));
	assert_unknown(errno);
	pd->handle = live;

	mr = ibv_reg_mr(pd, w->memory, WORLD_SIZE, 0);
	assert_non_null(mr);
	live = mr->handle;
	mr->handle = stale_mr;
	assert_unknown(ibv_dereg_mr(mr));
	mr->handle = live;
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* The handle of a live object of another context means nothing here, and the object lives on. */
static void foreign_pd(struct world *w, struct ibv_context *theirs)
{
	struct ibv_pd *foreign = ibv_alloc_pd(theirs), *pd = ibv_alloc_pd(w->ctx);
	struct ibv_mr *mr = ibv_reg_mr(foreign, w->memory, WORLD_SIZE, 0);
	uint32_t live = pd->handle;

	assert_non_null(mr);
	if (theirs == w->same) {
		pd->handle = foreign->handle;
		assert_unknown(ibv_dealloc_pd(pd));
		pd->handle = live;
	}
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dealloc_pd(foreign), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(foreign), 0);
}

/* A CQ of another context; on another device one with our CQ's number, if it comes to that. */
static struct ibv_cq *make_foreign_cq(struct world *w, struct ibv_context *theirs)
{
	struct ibv_cq *cq = ibv_create_cq(theirs, 8, NULL, NULL, 0);

	for (unsigned i = 0; i < 64 && cq && cq->handle != w->cq->handle; i++) {
		assert_int_equal(ibv_destroy_cq(cq), 0);
		cq = ibv_create_cq(theirs, 8, NULL, NULL, 0);
	}
	return cq;
}

static void foreign_cq(struct world *w, struct ibv_context *theirs)
{
	struct ibv_cq *foreign = make_foreign_cq(w, theirs);
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);

	assert_non_null(foreign);
	attr.send_cq = foreign;
	assert_null(ibv_create_qp(w->pd, &attr));
	assert_int_equal(errno, EINVAL);
	attr.send_cq = w->cq;
	attr.recv_cq = foreign;
	assert_null(ibv_create_qp(w->pd, &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_cq(foreign), 0);
}

static void foreign_srq(struct world *w, struct ibv_context *theirs)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_pd *pd = ibv_alloc_pd(theirs);
	struct ibv_srq *foreign = ibv_create_srq(pd, &srq_attr);
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);

	assert_non_null(foreign);
	attr.srq = foreign;
	assert_null(ibv_create_qp(w->pd, &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_srq(foreign), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void foreign_channel(struct world *w, struct ibv_context *theirs)
{
	struct ibv_comp_channel *foreign = ibv_create_comp_channel(theirs);

	assert_non_null(foreign);
	assert_null(ibv_create_cq(w->ctx, 8, NULL, foreign, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_comp_channel(foreign), 0);
}

static void test_foreign_objects(void **state)
{
	struct world *w = *state;
	struct ibv_context *const theirs[] = {w->other, w->same};

	for (unsigned i = 0; i < 2; i++) {
		foreign_pd(w, theirs[i]);
		foreign_cq(w, theirs[i]);
		foreign_srq(w, theirs[i]);
		foreign_channel(w, theirs[i]);
	}
}

/* One of another context, on this device and on another, and one of nobody's. */
static void test_foreign_address(void **state)
{
	struct world *w = *state;
	struct ibv_context *const theirs[] = {w->same, w->other};
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_ah nobody = {.handle = 1234};
	struct ibv_wc wc;

	for (unsigned i = 0; i < 3; i++) {
		struct ibv_qp *qp = world_datagram_qp(w);
		struct ibv_pd *pd = ibv_alloc_pd(theirs[i % 2]);
		struct ibv_ah_attr address = world_own_address(theirs[i % 2]);
		struct ibv_ah *ah = ibv_create_ah(pd, &address);

		assert_non_null(ah);
		send.wr.ud.ah = i < 2 ? ah : &nobody;
		send.wr.ud.remote_qpn = qp->qp_num;
		assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_LOC_QP_OP_ERR);
		assert_int_equal(ibv_destroy_ah(ah), 0);
		assert_int_equal(ibv_dealloc_pd(pd), 0);
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
}

/* An address of another domain of the same context: that the device finds out (10.2.2.2). */
static void test_address_of_other_pd(void **state)
{
	struct world *w = *state;
	struct ibv_pd *pd = ibv_alloc_pd(w->ctx);
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_qp *qp = world_datagram_qp(w);
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_wc wc;

	send.wr.ud.ah = ibv_create_ah(pd, &address);
	assert_non_null(send.wr.ud.ah);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_LOC_QP_OP_ERR);
	assert_int_equal(ibv_destroy_ah(send.wr.ud.ah), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* A datagram is answered to where it came from (ibv_create_ah_from_wc(3)). */
static void datagram(struct world *w, struct ibv_qp *qp, struct ibv_ah *ah, struct ibv_wc *wc)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, WORLD_SIZE, w->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad;

	send.wr.ud.ah = ah;
	send.wr.ud.remote_qpn = qp->qp_num;
	send.wr.ud.remote_qkey = WORLD_QKEY;
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	do {
		world_poll(w->cq, wc);
		assert_int_equal(wc->status, IBV_WC_SUCCESS);
	} while (wc->opcode != IBV_WC_RECV);
	assert_int_equal(wc->byte_len, sizeof(struct ibv_grh));
	assert_true(wc->wc_flags & IBV_WC_GRH);
}

static void test_address_of_sender(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_datagram_qp(w);
	struct ibv_ah_attr address = world_own_address(w->ctx), from;
	struct ibv_ah *there = ibv_create_ah(w->pd, &address), *back;
	struct ibv_wc wc;

	assert_non_null(there);
	datagram(w, qp, there, &wc);
	assert_int_equal(wc.src_qp, qp->qp_num);
	assert_int_equal(ibv_init_ah_from_wc(w->ctx, 1, &wc, (void *)w->memory, &from), 0);
	assert_memory_equal(&from.grh.dgid, &address.grh.dgid, sizeof(from.grh.dgid));
	assert_int_equal(from.grh.sgid_index, 0);
	back = ibv_create_ah_from_wc(w->pd, &wc, (void *)w->memory, 1);
	assert_non_null(back);
	datagram(w, qp, back, &wc);
	assert_int_equal(ibv_destroy_ah(there), 0);
	assert_int_equal(ibv_destroy_ah(back), 0);
	/* The send's completion of the last datagram may stand behind its receive. */
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- wrong arguments ---- */

static void test_bad_regions(void **state)
{
	struct world *w = *state;
	const int remote_write = IBV_ACCESS_REMOTE_WRITE, atomic = IBV_ACCESS_REMOTE_ATOMIC;
	char *const text = (char *)(uintptr_t) "read-only";
	void *const nowhere = (void *)(uintptr_t)WORLD_SIZE;

	assert_null(ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, remote_write));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, atomic));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(w->pd, nowhere, WORLD_SIZE, 0));
	assert_int_equal(errno, EFAULT);
	assert_null(ibv_reg_mr(w->pd, NULL, WORLD_SIZE, 0));
	assert_int_equal(errno, EFAULT);
	assert_null(ibv_reg_mr(w->pd, text, 4, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EFAULT);
	assert_null(ibv_reg_mr(w->pd, w->memory, SIZE_MAX, 0));
	assert_int_equal(errno, EINVAL);
}

/* A request through the keys of a region of length 0. The QP talks to itself. */
static enum ibv_wc_status through(struct world *w, enum ibv_wr_opcode opcode,
				  const struct ibv_mr *mr, uint32_t length)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = {(uintptr_t)w->memory, length, mr->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = opcode,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .wr.rdma = {(uintptr_t)w->memory, mr->rkey}};
	struct ibv_wc wc;

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return wc.status;
}

static void test_region_of_no_length(void **state)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	struct world *w = *state;
	struct ibv_mr *mr[3] = {ibv_reg_mr(w->pd, w->memory, 0, all), ibv_reg_mr(w->pd, NULL, 0, 0),
				ibv_reg_mr_iova(w->pd, w->memory, 0, 0x1000, all)};
	const int access = IBV_REREG_MR_CHANGE_ACCESS;

	for (unsigned i = 0; i < 3; i++) {
		assert_non_null(mr[i]);
		assert_int_equal(mr[i]->length, 0);
		assert_int_equal(through(w, IBV_WR_RDMA_WRITE, mr[i], 0), IBV_WC_SUCCESS);
		assert_int_equal(through(w, IBV_WR_RDMA_READ, mr[i], 0), IBV_WC_SUCCESS);
		assert_int_equal(through(w, IBV_WR_RDMA_WRITE, mr[i], 1), IBV_WC_LOC_PROT_ERR);
		/* Its own peer, the QP may be in error before the NAK comes back. */
		assert_int_not_equal(through(w, IBV_WR_RDMA_READ, mr[i], 1), IBV_WC_SUCCESS);
	}
	assert_int_equal(ibv_rereg_mr(mr[1], access, NULL, NULL, 0, all), 0);
	assert_int_equal(ibv_rereg_mr(mr[0], IBV_REREG_MR_CHANGE_TRANSLATION | access, NULL,
				      w->memory, WORLD_SIZE, all),
			 0);
	assert_int_equal(through(w, IBV_WR_RDMA_WRITE, mr[0], 8), IBV_WC_SUCCESS);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
}

static void test_bad_sizes(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4}};
	struct ibv_qp_init_attr qp;
	struct ibv_device_attr d;

	assert_int_equal(ibv_query_device(w->ctx, &d), 0);
	for (unsigned i = 0; i < 5; i++) {
		qp = world_init_attr(w, IBV_QPT_RC);
		(&qp.cap.max_send_wr)[i] = i < 2   ? (uint32_t)d.max_qp_wr + 1
					   : i < 4 ? (uint32_t)d.max_sge + 1
						   : 1u << 20;
		assert_null(ibv_create_qp(w->pd, &qp));
		assert_int_equal(errno, EINVAL);
	}
	assert_null(ibv_create_cq(w->ctx, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(w->ctx, -1, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(w->ctx, d.max_cqe + 1, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(w->ctx, 1, NULL, NULL, w->ctx->num_comp_vectors));
	assert_int_equal(errno, EINVAL);
	srq.attr.max_wr = (uint32_t)d.max_srq_wr + 1;
	assert_null(ibv_create_srq(w->pd, &srq));
	assert_int_equal(errno, EINVAL);
	srq.attr.max_wr = 0;
	assert_null(ibv_create_srq(w->pd, &srq));
	assert_int_equal(errno, EINVAL);
}

static void test_bad_queries(void **state)
{
	struct world *w = *state;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	assert_int_equal(ibv_query_port(w->ctx, 0, &port), EINVAL);
	assert_int_equal(ibv_query_port(w->ctx, 2, &port), EINVAL);
	assert_int_equal(ibv_query_port(w->ctx, 1, &port), 0);
	assert_int_not_equal(ibv_query_gid(w->ctx, 1, port.gid_tbl_len, &gid), 0);
	assert_int_not_equal(ibv_query_gid(w->ctx, 2, 0, &gid), 0);
	assert_int_equal(ibv_query_pkey(w->ctx, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_not_equal(ibv_query_pkey(w->ctx, 1, port.pkey_tbl_len, &pkey), 0);
}

static void test_bad_addresses(void **state)
{
	struct world *w = *state;
	const struct ibv_ah_attr good = world_own_address(w->ctx);
	struct ibv_ah_attr a[5];

	for (unsigned i = 0; i < 5; i++)
		a[i] = good;
	a[0].is_global = 0;
	a[1].port_num = 2;
	a[2].grh.sgid_index = 15; /* empty */
	a[3].grh.sgid_index = 200;
	memset(&a[4].grh.dgid, 0, sizeof(a[4].grh.dgid));
	for (unsigned i = 0; i < 5; i++) {
		assert_null(ibv_create_ah(w->pd, &a[i]));
		assert_int_equal(errno, EINVAL);
	}
}

/*
 * An Ethernet port has no LID, and an address handle without a GRH leads nowhere. (One that
 * librdmacm's datagram sockets make is an exception: row "udpong" of rdmacm.)
 */
static void test_no_lid(void **state)
{
	struct world *w = *state;
	struct ibv_port_attr port;

	assert_int_equal(ibv_query_port(w->ctx, 1, &port), 0);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port.sm_lid, 0);
	assert_int_equal(port.lmc, 0);
	for (uint16_t dlid = 0; dlid < 4; dlid++) {
		struct ibv_ah_attr a = {.port_num = 1, .dlid = dlid};

		assert_null(ibv_create_ah(w->pd, &a));
		assert_int_equal(errno, EINVAL);
	}
}

/* ---- posting ---- */

static void test_bad_posts(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *fresh = ibv_create_qp(w->pd, &attr), *qp = world_qp(w, NULL);
	struct ibv_sge sge[32] = {{0}};
	struct ibv_send_wr bad_one = {.sg_list = sge, .opcode = IBV_WR_SEND}, *bad = NULL;
	struct ibv_send_wr first = {.opcode = IBV_WR_SEND, .next = &bad_one};
	struct ibv_recv_wr recv = {.sg_list = sge}, *bad_recv = NULL;

	assert_int_equal(ibv_post_send(fresh, &first, &bad), EINVAL);
	assert_ptr_equal(bad, &first);
	assert_int_equal(ibv_post_recv(fresh, &recv, &bad_recv), EINVAL);
	assert_ptr_equal(bad_recv, &recv);
	assert_int_equal(ibv_destroy_qp(fresh), 0);

	recv.num_sge = 32;
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	first.opcode = (enum ibv_wr_opcode)31; /* none */
	assert_int_equal(ibv_post_send(qp, &first, &bad), EINVAL);
	assert_ptr_equal(bad, &first);
	first = bad_one;
	first.num_sge = 32;
	assert_int_equal(ibv_post_send(qp, &first, &bad), EINVAL);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_full_queues(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &attr);
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad_recv;

	assert_non_null(qp);
	assert_int_equal(
		ibv_modify_qp(qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	for (unsigned i = 0; i < attr.cap.max_recv_wr; i++)
		assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), ENOMEM);
	assert_ptr_equal(bad_recv, &recv);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- the end ---- */

/* A context is closed with everything open: nothing hangs, and other contexts do not notice. */
static void test_close_with_all_open(void **state)
{
	struct world *w = *state;
	struct world all = {.ctx = world_open("uhca0"), .memory = w->memory};
	struct ibv_qp *mine = world_qp(w, NULL), *qp;

	all.pd = ibv_alloc_pd(all.ctx);
	assert_non_null(all.pd);
	all.mr = ibv_reg_mr(all.pd, all.memory, WORLD_SIZE, IBV_ACCESS_LOCAL_WRITE);
	all.cq = ibv_create_cq(all.ctx, 16, NULL, NULL, 0);
	assert_true(all.mr && all.cq);
	qp = world_qp(&all, NULL);
	world_assert_works(&all, qp);
	assert_int_equal(ibv_close_device(all.ctx), 0);
	world_assert_works(w, mine);
	assert_int_equal(ibv_destroy_qp(mine), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_foreign_objects), /* first: handles of two fresh devices coincide */
		TEST(test_pd_in_use),           TEST(test_cq_in_use),
		TEST(test_two_cqs_in_use),      TEST(test_srq_in_use),
		TEST(test_region_in_use),       TEST(test_stale_handles),
		TEST(test_foreign_address),     TEST(test_address_of_other_pd),
		TEST(test_address_of_sender),   TEST(test_bad_regions),
		TEST(test_region_of_no_length), TEST(test_bad_sizes),
		TEST(test_bad_queries),         TEST(test_bad_addresses),
		TEST(test_bad_posts),           TEST(test_no_lid),
		TEST(test_full_queues),         TEST(test_close_with_all_open),
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
