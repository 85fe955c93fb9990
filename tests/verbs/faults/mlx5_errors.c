/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --profile cx5: failed completions have the vendor errors that were measured on ConnectX-5 and
 * ConnectX-6 (emu/core/base/vendor_err.h has the source), and hw_counters mlx5's names, of which
 * those move that moved there. Each failure has a QP of its own. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct world *w;

static void connect(struct ibv_qp *qp, uint32_t peer, unsigned access, unsigned rnr_retry)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};

	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 1,
				 .ah_attr = world_own_address(w->ctx)};
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = WORLD_TIMEOUT,
				 .retry_cnt = 2,
				 .rnr_retry = (uint8_t)rnr_retry,
				 .max_rd_atomic = 1};
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static struct ibv_qp *create(void)
{
	struct ibv_qp_init_attr init = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	assert_non_null(qp);
	return qp;
}

/* A requester and who answers it. */
static struct pair {
	struct ibv_qp *qp, *peer;
} make(unsigned access, unsigned rnr_retry)
{
	struct pair p = {create(), create()};

	connect(p.peer, p.qp->qp_num, access, rnr_retry);
	connect(p.qp, p.peer->qp_num, access, rnr_retry);
	return p;
}

static void destroy(const struct pair *p)
{
	assert_int_equal(ibv_destroy_qp(p->qp), 0);
	assert_int_equal(ibv_destroy_qp(p->peer), 0);
}

#define ALL (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static void expect(enum ibv_wc_status status, uint32_t vendor_err)
{
	struct ibv_wc wc;

	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, status);
	assert_int_equal(wc.vendor_err, vendor_err);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, struct ibv_sge sge,
		 const struct ibv_mr *remote, uint32_t beyond)
{
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &sge, .num_sge = 1}, *bad;

	if (remote) {
		wr.wr.rdma.remote_addr = (uintptr_t)remote->addr + beyond;
		wr.wr.rdma.rkey = remote->rkey;
	}
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static struct ibv_sge good(void)
{
	return (struct ibv_sge){(uintptr_t)w->memory, 64, w->mr->lkey};
}

/* ---- one failure each ---- */

static void local(void)
{
	struct ibv_mr *read_only = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, 0);
	struct ibv_mr *remote = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE,
					   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_sge sge = good();
	struct pair p[3];

	sge.lkey ^= 0x77777700;
	p[0] = make(ALL, 7);
	post(p[0].qp, IBV_WR_SEND, sge, NULL, 0);
	expect(IBV_WC_LOC_PROT_ERR, 0x52);
	sge = good();
	sge.length = WORLD_SIZE + 1;
	p[1] = make(ALL, 7);
	post(p[1].qp, IBV_WR_SEND, sge, NULL, 0);
	expect(IBV_WC_LOC_PROT_ERR, 0x53);
	sge = good();
	sge.lkey = read_only->lkey;
	p[2] = make(ALL, 7);
	post(p[2].qp, IBV_WR_RDMA_READ, sge, remote, 0);
	expect(IBV_WC_LOC_PROT_ERR, 0x33);
	for (unsigned i = 0; i < 3; i++)
		destroy(&p[i]);
	assert_int_equal(ibv_dereg_mr(remote), 0);
	assert_int_equal(ibv_dereg_mr(read_only), 0);
}

static void remote(void)
{
	struct ibv_mr bad = *w->mr;
	struct pair p[3];

	bad.rkey ^= 0x77777700;
	p[0] = make(ALL, 7);
	post(p[0].qp, IBV_WR_RDMA_WRITE, good(), &bad, 0);
	expect(IBV_WC_REM_ACCESS_ERR, 0x88);
	p[1] = make(ALL, 7);
	post(p[1].qp, IBV_WR_RDMA_WRITE, good(), w->mr, WORLD_SIZE);
	expect(IBV_WC_REM_ACCESS_ERR, 0x88);
	p[2] = make(0, 7);
	post(p[2].qp, IBV_WR_RDMA_WRITE, good(), w->mr, 0);
	expect(IBV_WC_REM_INV_REQ_ERR, 0x8a);
	for (unsigned i = 0; i < 3; i++)
		destroy(&p[i]);
}

static void retries(void)
{
	struct pair p[2];

	p[0] = make(ALL, 0);
	post(p[0].qp, IBV_WR_SEND, good(), NULL, 0);
	expect(IBV_WC_RNR_RETRY_EXC_ERR, 0x87);
	p[1] = make(ALL, 7);
	assert_int_equal(ibv_destroy_qp(p[1].peer), 0);
	post(p[1].qp, IBV_WR_SEND, good(), NULL, 0);
	expect(IBV_WC_RETRY_EXC_ERR, 0x81);
	/* Behind that error. */
	post(p[1].qp, IBV_WR_SEND, good(), NULL, 0);
	expect(IBV_WC_WR_FLUSH_ERR, 0xf9);
	assert_int_equal(ibv_destroy_qp(p[1].qp), 0);
	destroy(&p[0]);
}

static void flushed_by_program(void)
{
	struct pair p = make(ALL, 7);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};

	assert_int_equal(ibv_modify_qp(p.qp, &a, IBV_QP_STATE), 0);
	post(p.qp, IBV_WR_SEND, good(), NULL, 0);
	expect(IBV_WC_WR_FLUSH_ERR, 0xf5);
	destroy(&p);
}

static void test_vendor_errors(void **state)
{
	w = *state;
	local();
	remote();
	retries();
	flushed_by_program();
}

/* ---- what they move ---- */

static long counter(const char *name)
{
	char path[512];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/ports/1/hw_counters/%s",
		 getenv("UHCA_DIR"), name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld", &value) != 1)
		fail_msg("%s cannot be read", name);
	fclose(f);
	return value;
}

/* The files follow within a second. */
static void expect_counter(const char *name, long value)
{
	uint64_t end = faulty_now() + FAULTY_DEADLINE;

	while (counter(name) != value) {
		if (faulty_now() > end)
			fail_msg("%s: %ld, not %ld", name, counter(name), value);
		poll(NULL, 0, 10);
	}
}

/* Of all failures above; the responder, which is the same device, counts none of its own. */
static void test_counters(void **state)
{
	(void)state;
	expect_counter("req_cqe_error", 10);
	expect_counter("req_cqe_flush_error", 1);
	expect_counter("req_remote_access_errors", 2);
	expect_counter("req_remote_invalid_request", 1);
	expect_counter("req_transport_retries_exceeded", 1);
	expect_counter("req_rnr_retries_exceeded", 1);
	expect_counter("rnr_nak_retry_err", 1);
	expect_counter("out_of_buffer", 1);
	expect_counter("rx_write_requests", 2);
	expect_counter("local_ack_timeout_err", 3);
	expect_counter("resp_remote_access_errors", 0);
	expect_counter("resp_cqe_error", 0);
	expect_counter("roce_adp_retrans", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_vendor_errors, faulty_setup, faulty_teardown),
		cmocka_unit_test(test_counters),
	};

	return cmocka_run_group_tests_name("mlx5_errors", tests, NULL, NULL);
}
