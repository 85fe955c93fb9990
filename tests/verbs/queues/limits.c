/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every max_ that ibv_query_device(3) reports is real: so many objects can be made, so large each;
 * one more, or one larger, fails with the errno of the man page; and what was there goes on
 * working. Run below uhca-run with any profile and limits.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct limits {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t memory[64];
	struct ibv_ah_attr address;
};

static int setup(void **state)
{
	struct limits *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->ctx = world_open("uhca0");
	assert_int_equal(ibv_query_device(l->ctx, &l->attr), 0);
	l->pd = ibv_alloc_pd(l->ctx);
	assert_non_null(l->pd);
	l->cq = ibv_create_cq(l->ctx, 1, NULL, NULL, 0);
	l->mr = ibv_reg_mr(l->pd, l->memory, sizeof(l->memory), IBV_ACCESS_LOCAL_WRITE);
	assert_true(l->cq && l->mr);
	l->address = world_own_address(l->ctx);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct limits *l = *state;

	assert_int_equal(ibv_dereg_mr(l->mr), 0);
	assert_int_equal(ibv_destroy_cq(l->cq), 0);
	assert_int_equal(ibv_dealloc_pd(l->pd), 0);
	assert_int_equal(ibv_close_device(l->ctx), 0);
	free(l);
	return 0;
}

/* ---- how many ---- */

static void *make_pd(struct limits *l)
{
	return ibv_alloc_pd(l->ctx);
}

static int end_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *make_cq(struct limits *l)
{
	return ibv_create_cq(l->ctx, 1, NULL, NULL, 0);
}

static int end_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *make_mr(struct limits *l)
{
	return ibv_reg_mr(l->pd, l->memory, sizeof(l->memory), 0);
}

static int end_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *make_qp(struct limits *l)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = l->cq, .recv_cq = l->cq, .qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};

	return ibv_create_qp(l->pd, &attr);
}

static int end_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static void *make_srq(struct limits *l)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};

	return ibv_create_srq(l->pd, &attr);
}

static int end_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *make_ah(struct limits *l)
{
	return ibv_create_ah(l->pd, &l->address);
}

static int end_ah(void *ah)
{
	return ibv_destroy_ah(ah);
}

static void *make_mw(struct limits *l)
{
	bool type_1 = l->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW;

	return ibv_alloc_mw(l->pd, type_1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
}

static int end_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

/*
 * So many in all, "have" of which the world has already; the next is refused; when one has gone
 * there is room again.
 */
static void fill(struct limits *l, int max, int have, void *(*make)(struct limits *),
		 int (*end)(void *))
{
	void **all = calloc((size_t)max, sizeof(*all));

	assert_non_null(all);
	for (int i = have; i < max; i++) {
		all[i] = make(l);
		if (!all[i])
			fail_msg("number %d of %d: %s", i + 1, max, strerror(errno));
	}
	errno = 0;
	assert_null(make(l));
	assert_int_equal(errno, ENOMEM);
	if (max > have) {
		assert_int_equal(end(all[have]), 0);
		all[have] = make(l);
		assert_non_null(all[have]);
	}
	for (int i = have; i < max; i++)
		assert_int_equal(end(all[i]), 0);
	free(all);
}

static void test_pds(void **state)
{
	struct limits *l = *state;

	fill(l, l->attr.max_pd, 1, make_pd, end_pd);
}

static void test_cqs(void **state)
{
	struct limits *l = *state;

	fill(l, l->attr.max_cq, 1, make_cq, end_cq);
}

static void test_mrs(void **state)
{
	struct limits *l = *state;

	fill(l, l->attr.max_mr, 1, make_mr, end_mr);
}

static void test_qps(void **state)
{
	struct limits *l = *state;

	fill(l, l->attr.max_qp, 0, make_qp, end_qp);
}

static void test_ahs(void **state)
{
	struct limits *l = *state;

	fill(l, l->attr.max_ah, 0, make_ah, end_ah);
}

static void test_srqs(void **state)
{
	struct limits *l = *state;

	if (l->attr.max_srq > 0) {
		fill(l, l->attr.max_srq, 0, make_srq, end_srq);
		return;
	}
	assert_null(make_srq(l));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void test_mws(void **state)
{
	struct limits *l = *state;

	if (l->attr.max_mw > 0) {
		fill(l, l->attr.max_mw, 0, make_mw, end_mw);
		return;
	}
	assert_null(make_mw(l));
	assert_int_equal(errno, EOPNOTSUPP);
}

/* ---- how large ---- */

/* All device memory in one piece, and not a byte more. */
static void test_device_memory(void **state)
{
	struct limits *l = *state;
	struct ibv_alloc_dm_attr attr = {.length = 1};
	struct ibv_device_attr_ex ex;
	struct ibv_dm *dm;

	assert_int_equal(ibv_query_device_ex(l->ctx, NULL, &ex), 0);
	if (ex.max_dm_size == 0) {
		assert_null(ibv_alloc_dm(l->ctx, &attr));
		assert_int_equal(errno, EOPNOTSUPP);
		return;
	}
	attr.length = ex.max_dm_size;
	dm = ibv_alloc_dm(l->ctx, &attr);
	assert_non_null(dm);
	attr.length = 1;
	assert_null(ibv_alloc_dm(l->ctx, &attr));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(ibv_free_dm(dm), 0);
	attr.length = ex.max_dm_size + 1;
	assert_null(ibv_alloc_dm(l->ctx, &attr));
	assert_int_equal(errno, EINVAL);
}

/* The QP with these sizes; NULL with errno. What it reports is at least what was asked for. */
static void try_qp(struct limits *l, struct ibv_qp_cap cap, int error)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = l->cq, .recv_cq = l->cq, .qp_type = IBV_QPT_RC, .cap = cap};
	struct ibv_qp *qp = ibv_create_qp(l->pd, &attr);

	if (error) {
		assert_null(qp);
		assert_int_equal(errno, error);
		return;
	}
	assert_non_null(qp);
	assert_true(attr.cap.max_send_wr >= cap.max_send_wr);
	assert_true(attr.cap.max_recv_wr >= cap.max_recv_wr);
	assert_true(attr.cap.max_send_sge >= cap.max_send_sge);
	assert_true(attr.cap.max_recv_sge >= cap.max_recv_sge);
	assert_true(attr.cap.max_send_wr <= (uint32_t)l->attr.max_qp_wr);
	assert_true(attr.cap.max_recv_wr <= (uint32_t)l->attr.max_qp_wr);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_queue_sizes(void **state)
{
	struct limits *l = *state;
	const uint32_t wr = (uint32_t)l->attr.max_qp_wr, sge = (uint32_t)l->attr.max_sge;

	try_qp(l, (struct ibv_qp_cap){wr, wr, 1, 1, 0}, 0);
	try_qp(l, (struct ibv_qp_cap){1, 1, sge, sge, 0}, 0);
	try_qp(l, (struct ibv_qp_cap){wr + 1, 1, 1, 1, 0}, EINVAL);
	try_qp(l, (struct ibv_qp_cap){1, wr + 1, 1, 1, 0}, EINVAL);
	try_qp(l, (struct ibv_qp_cap){1, 1, sge + 1, 1, 0}, EINVAL);
	try_qp(l, (struct ibv_qp_cap){1, 1, 1, sge + 1, 0}, EINVAL);
	try_qp(l, (struct ibv_qp_cap){1, 1, 1, 1, 1u << 20}, EINVAL);
}

static void test_cq_size(void **state)
{
	struct limits *l = *state;
	struct ibv_cq *cq;

	assert_int_equal(ibv_destroy_cq(l->cq), 0);
	cq = ibv_create_cq(l->ctx, l->attr.max_cqe, NULL, NULL, 0);
	assert_non_null(cq);
	assert_int_equal(cq->cqe, l->attr.max_cqe);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_null(ibv_create_cq(l->ctx, l->attr.max_cqe + 1, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	l->cq = make_cq(l);
	assert_non_null(l->cq);
}

static void test_srq_size(void **state)
{
	struct limits *l = *state;
	const uint32_t wr = (uint32_t)l->attr.max_srq_wr, sge = (uint32_t)l->attr.max_srq_sge;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = wr, .max_sge = sge}};
	struct ibv_srq *srq;

	if (l->attr.max_srq == 0) {
		assert_int_equal(wr | sge, 0);
		return;
	}
	srq = ibv_create_srq(l->pd, &attr);
	assert_non_null(srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	attr.attr = (struct ibv_srq_attr){.max_wr = wr + 1, .max_sge = 1};
	assert_null(ibv_create_srq(l->pd, &attr));
	assert_int_equal(errno, EINVAL);
	attr.attr = (struct ibv_srq_attr){.max_wr = 1, .max_sge = sge + 1};
	assert_null(ibv_create_srq(l->pd, &attr));
	assert_int_equal(errno, EINVAL);
}

static int set_responder(struct limits *l, struct ibv_qp *qp, int max_dest)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_256,
				.max_dest_rd_atomic = (uint8_t)max_dest,
				.ah_attr = l->address};

	return ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

static int set_initiator(struct ibv_qp *qp, int max)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS, .max_rd_atomic = (uint8_t)max};

	return ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* READs and atomics under way, of a QP: as responder and as initiator. */
static void test_read_depth(void **state)
{
	struct limits *l = *state;
	struct ibv_qp *qp = make_qp(l);

	assert_non_null(qp);
	world_connect(qp, 0, IBV_QPS_INIT);
	assert_int_equal(set_responder(l, qp, l->attr.max_qp_rd_atom + 1), EINVAL);
	assert_int_equal(set_responder(l, qp, l->attr.max_qp_rd_atom), 0);
	assert_int_equal(set_initiator(qp, l->attr.max_qp_init_rd_atom + 1), EINVAL);
	assert_int_equal(set_initiator(qp, l->attr.max_qp_init_rd_atom), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_gids_and_pkeys(void **state)
{
	struct limits *l = *state;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	assert_int_equal(ibv_query_port(l->ctx, 1, &port), 0);
	for (int i = 0; i < port.gid_tbl_len; i++)
		assert_int_equal(ibv_query_gid(l->ctx, 1, i, &gid), 0);
	assert_int_not_equal(ibv_query_gid(l->ctx, 1, port.gid_tbl_len, &gid), 0);
	assert_int_equal(port.pkey_tbl_len, l->attr.max_pkeys);
	assert_int_equal(ibv_query_pkey(l->ctx, 1, 0, &pkey), 0);
	assert_int_not_equal(ibv_query_pkey(l->ctx, 1, port.pkey_tbl_len, &pkey), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pds),
		TEST(test_cqs),
		TEST(test_mrs),
		TEST(test_mws),
		TEST(test_device_memory),
		TEST(test_qps),
		TEST(test_ahs),
		TEST(test_srqs),
		TEST(test_queue_sizes),
		TEST(test_cq_size),
		TEST(test_srq_size),
		TEST(test_read_depth),
		TEST(test_gids_and_pkeys),
	};

	alarm(300); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
