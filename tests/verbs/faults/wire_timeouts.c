/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thousand RC queue pairs of one device, each with 32 WRITEs under way, a timeout of 17 ms and
 * one retry: by UDP more lies in the daemon's socket than it handles in that time, and nothing is
 * lost. An alarm ends a program that hangs.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEADLINE_S 300
#define PAIRS      1000
#define WINDOW     32
#define WRITES     100000
#define SIZE       32
#define TIMEOUT    12
#define PSN        1

static struct ibv_context *device;
static struct ibv_cq *cq;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_qp *qp[2 * PAIRS]; /* each is connected with its neighbour */
static union ibv_gid gid;
static uint8_t memory[2 * SIZE];

static void check_(int ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "wire_timeouts.c:%d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(cond) check_(!!(cond), #cond, __LINE__)

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	device = ibv_open_device(list[0]);
	CHECK(device && ibv_query_gid(device, 1, 0, &gid) == 0);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(device);
	cq = ibv_create_cq(device, PAIRS * WINDOW, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(pd && cq && mr);
}

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = WINDOW, .max_recv_wr = 1, .max_send_sge = 1}};

	return ibv_create_qp(pd, &attr);
}

static void connect_qp(struct ibv_qp *q, uint32_t to)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	CHECK(ibv_modify_qp(q, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
	      0);
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to,
		.rq_psn = PSN,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}}};
	CHECK(ibv_modify_qp(q, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER) == 0);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = TIMEOUT,
				 .retry_cnt = 1,
				 .rnr_retry = 7,
				 .sq_psn = PSN};
	CHECK(ibv_modify_qp(q, &a,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

static void post(unsigned pair)
{
	struct ibv_sge sge = {(uintptr_t)memory, SIZE, mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = pair,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = (uintptr_t)memory + SIZE;
	wr.wr.rdma.rkey = mr->rkey;
	CHECK(ibv_post_send(qp[2 * pair], &wr, &bad) == 0);
}

/* The pair whose WRITE is done. */
static unsigned take_completions(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	if (wc.status != IBV_WC_SUCCESS)
		fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status));
	CHECK(wc.status == IBV_WC_SUCCESS);
	return (unsigned)wc.wr_id;
}

int main(void)
{
	unsigned posted = 0;

	alarm(DEADLINE_S);
	open_device();
	for (unsigned i = 0; i < 2 * PAIRS; i++)
		CHECK((qp[i] = make_qp()));
	for (unsigned i = 0; i < 2 * PAIRS; i++)
		connect_qp(qp[i], qp[i ^ 1]->qp_num);
	for (; posted < PAIRS * WINDOW; posted++)
		post(posted % PAIRS);
	for (unsigned done = 0; done < WRITES; done++) {
		unsigned pair = take_completions();

		if (posted < WRITES) {
			post(pair);
			posted++;
		}
	}
	return 0;
}
