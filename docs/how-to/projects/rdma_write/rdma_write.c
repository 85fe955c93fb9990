/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma_write.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define MOST    65536u
#define ACCESS  (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                                     \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                                     \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)

struct loop {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr; /* of memory: what is written, and behind it where it goes */
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* connected with itself */
};

static unsigned char memory[2 * MOST];

static int open_loop(struct loop *l)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	int made;

	errno = ENODEV;
	made = list && list[0] && (l->context = ibv_open_device(list[0])) &&
	       (l->pd = ibv_alloc_pd(l->context)) &&
	       (l->mr = ibv_reg_mr(l->pd, memory, sizeof(memory), ACCESS)) &&
	       (init.send_cq = init.recv_cq = l->cq =
			ibv_create_cq(l->context, 4, NULL, NULL, 0)) &&
	       (l->qp = ibv_create_qp(l->pd, &init));
	made = made ? 0 : -errno;
	if (list)
		ibv_free_device_list(list);
	return made;
}

static void close_loop(struct loop *l)
{
	if (l->qp)
		ibv_destroy_qp(l->qp);
	if (l->cq)
		ibv_destroy_cq(l->cq);
	if (l->mr)
		ibv_dereg_mr(l->mr);
	if (l->pd)
		ibv_dealloc_pd(l->pd);
	if (l->context)
		ibv_close_device(l->context);
}

/* timeout 8: a packet that is lost is sent again after 4.096 us * 2^8, a millisecond. */
static int connect_loop(struct loop *l)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.qp_access_flags = ACCESS,
		.dest_qp_num = l->qp->qp_num,
		.timeout = 8,
		.retry_cnt = 7,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 1}}};
	int ret = ibv_query_gid(l->context, 1, 0, &a.ah_attr.grh.dgid) ? EIO : 0;

	ret = ret ? ret : ibv_modify_qp(l->qp, &a, TO_INIT);
	a.qp_state = IBV_QPS_RTR;
	ret = ret ? ret : ibv_modify_qp(l->qp, &a, TO_RTR);
	a.qp_state = IBV_QPS_RTS;
	return ret ? -ret : -ibv_modify_qp(l->qp, &a, TO_RTS);
}

static int write_and_compare(struct loop *l, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)memory, length, l->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;
	int n, ret;

	for (uint32_t i = 0; i < length; i++)
		memory[i] = (unsigned char)(i % 251 + 1);
	memset(memory + MOST, 0, MOST);
	wr.wr.rdma.remote_addr = (uintptr_t)memory + MOST;
	wr.wr.rdma.rkey = l->mr->rkey;
	if ((ret = ibv_post_send(l->qp, &wr, &bad)) != 0)
		return -ret;
	while ((n = ibv_poll_cq(l->cq, 1, &wc)) == 0)
		;
	return n == 1 && wc.status == IBV_WC_SUCCESS && !memcmp(memory, memory + MOST, length)
		       ? 0
		       : -EIO;
}

int rdma_write_loopback(size_t length)
{
	struct loop l = {0};
	int ret = length < 1 || length > MOST ? -EINVAL : open_loop(&l);

	ret = ret ? ret : connect_loop(&l);
	ret = ret ? ret : write_and_compare(&l, (uint32_t)length);
	close_loop(&l);
	return ret;
}
