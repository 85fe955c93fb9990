/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes that connect with each other, for faulty programs. See far.h. */
#include "far.h"

#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 240

struct far_link far_usual(void)
{
	return (struct far_link){.mtu = IBV_MTU_1024,
				 .access = FAR_ALL,
				 .qkey = FAR_QKEY,
				 .max_rd_atomic = 4,
				 .max_dest_rd_atomic = 4,
				 .timeout = 12,
				 .retry_cnt = 4,
				 .rnr_retry = 6,
				 .min_rnr_timer = 1};
}

/*
 * The server may be another user's: its number is in the environment. The daemon takes a process
 * only while it may look at it (prctl(2), PR_SET_DUMPABLE), which setuid(2) ends.
 */
static void become_other(bool server)
{
	const char *user = getenv("FAR_SERVER_USER");

	if (server && user)
		pair_must(!setgid((gid_t)atol(user)) && !setuid((uid_t)atol(user)) &&
				  !prctl(PR_SET_DUMPABLE, 1),
			  "another user");
}

void far_fork(struct far *f)
{
	int pair[2];
	pid_t child;

	memset(f, 0, sizeof(*f));
	pair_must(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	child = fork();
	pair_must(child >= 0, "fork");
	f->server = !child;
	become_other(f->server);
	f->sock = pair[f->server];
	close(pair[!f->server]);
}

void far_open_device(struct far *f)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	pair_must(list && n > 0, "finding a device");
	f->context = ibv_open_device(list[f->server ? n - 1 : 0]);
	pair_must(f->context != NULL, "opening a device");
	ibv_free_device_list(list);
	f->pd = ibv_alloc_pd(f->context);
	f->cq = ibv_create_cq(f->context, 4 * FAR_DEPTH, NULL, NULL, 0);
	f->memory = aligned_alloc(4096, FAR_MEMORY);
	pair_must(f->pd && f->cq && f->memory, "a protection domain, a queue and memory");
	memset(f->memory, 0, FAR_MEMORY);
	f->mr = ibv_reg_mr(f->pd, f->memory, FAR_MEMORY, FAR_ALL);
	pair_must(f->mr && !ibv_query_gid(f->context, 1, 0, &f->here.gid), "a region and a GID");
	f->here.addr = (uintptr_t)f->memory;
	f->here.rkey = f->mr->rkey;
}

struct ibv_qp *far_qp(struct far *f, enum ibv_qp_type type, struct ibv_pd *pd, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {.qp_type = type,
					.send_cq = f->cq,
					.recv_cq = f->cq,
					.srq = srq,
					.cap = {FAR_DEPTH, srq ? 0 : FAR_DEPTH, 2, 2, 0}};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	pair_must(qp != NULL, "a queue pair");
	return qp;
}

void far_exchange(struct far *f)
{
	if (f->qp)
		f->here.qpn = f->qp->qp_num;
	pair_must(send(f->sock, &f->here, sizeof(f->here), MSG_NOSIGNAL) == sizeof(f->here) &&
			  recv(f->sock, &f->there, sizeof(f->there), MSG_WAITALL) ==
				  sizeof(f->there),
		  "telling each other");
}

void far_meet(struct far *f)
{
	char byte = 0;

	pair_must(send(f->sock, &byte, 1, MSG_NOSIGNAL) == 1 && recv(f->sock, &byte, 1, 0) == 1,
		  "meeting");
}

void far_open(struct far *f, enum ibv_qp_type type)
{
	far_fork(f);
	far_open_device(f);
	f->qp = far_qp(f, type, f->pd, NULL);
	far_exchange(f);
}

static void modify(struct far *f, struct ibv_qp_attr *attr, int mask)
{
	pair_must(!ibv_modify_qp(f->qp, attr, mask | IBV_QP_STATE), "ibv_modify_qp");
}

void far_init(struct far *f, struct far_link how)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = (unsigned)how.access,
				   .qkey = how.qkey};

	modify(f, &attr,
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (f->qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

void far_rtr(struct far *f, struct far_link how)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = how.mtu,
				   .dest_qp_num = f->there.qpn,
				   .rq_psn = how.rq_psn,
				   .max_dest_rd_atomic = how.max_dest_rd_atomic,
				   .min_rnr_timer = how.min_rnr_timer,
				   .ah_attr = {.is_global = 1,
					       .port_num = 1,
					       .grh = {.dgid = f->there.gid, .hop_limit = 1}}};
	int mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (f->qp->qp_type == IBV_QPT_UD)
		mask = 0;
	else if (f->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	modify(f, &attr, mask);
}

void far_rts(struct far *f, struct far_link how)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .sq_psn = how.sq_psn,
				   .timeout = how.timeout,
				   .retry_cnt = how.retry_cnt,
				   .rnr_retry = how.rnr_retry,
				   .max_rd_atomic = how.max_rd_atomic};

	modify(f, &attr,
	       f->qp->qp_type == IBV_QPT_RC ? IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						      IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
					    : IBV_QP_SQ_PSN);
}

void far_connect(struct far *f, struct far_link how)
{
	if (far_cm_connect && getenv("FAR_BY_CM")) {
		far_cm_connect(f, how);
	} else {
		far_init(f, how);
		far_rtr(f, how);
		far_rts(f, how);
	}
	far_meet(f);
}

void far_post_to(struct far *f, enum ibv_wr_opcode opcode, uint32_t length, uint64_t addr,
		 uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, length, f->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	} else if (opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	pair_must(!ibv_post_send(f->qp, &wr, &bad), "ibv_post_send");
}

void far_post(struct far *f, enum ibv_wr_opcode opcode, uint32_t length)
{
	far_post_to(f, opcode, length, f->there.addr, f->there.rkey);
}

void far_recv(struct far *f, uint32_t length)
{
	char *at = f->memory + FAR_MEMORY / 2 + f->received++ * 4096;
	struct ibv_sge sge = {(uintptr_t)at, length, f->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	pair_must(!ibv_post_recv(f->qp, &wr, &bad), "ibv_post_recv");
}

enum ibv_wc_status far_wait(struct far *f)
{
	time_t deadline = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(f->cq, 1, &wc);
	while (n == 0 && time(NULL) < deadline);
	pair_must(n == 1, "waiting for a completion");
	return wc.status;
}

void far_hear_end(struct far *f)
{
	char byte;

	pair_must(recv(f->sock, &byte, 1, 0) == 0, "the end of the other one");
}

static void wait_for_server(void)
{
	int status;

	pair_must(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status), "the server");
}

void far_close(struct far *f)
{
	bool server = f->server;

	if (f->id)
		far_cm_end(f);
	pair_must(!f->qp || !ibv_destroy_qp(f->qp), "ibv_destroy_qp");
	pair_must(!ibv_destroy_cq(f->cq), "ibv_destroy_cq");
	pair_must(!f->mr || !ibv_dereg_mr(f->mr), "ibv_dereg_mr");
	pair_must(!ibv_dealloc_pd(f->pd), "ibv_dealloc_pd");
	pair_must(!ibv_close_device(f->context), "ibv_close_device");
	free(f->memory);
	close(f->sock);
	if (server)
		exit(0);
	wait_for_server();
}
