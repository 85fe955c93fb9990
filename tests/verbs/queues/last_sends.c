/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was posted last leaves, whatever the program does next: destroys the queue pair, moves it to
 * the error or the reset state, destroys the address handle, or ends without a word. Runs below
 * uhca-run; a process of its own sends each time, on the daemon of UHCA_PEER_DIR when there is one;
 * this one receives.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QKEY    0x11u
#define LENGTH  200u
#define BURST   4u   /* datagrams of each sender */
#define ROUNDS  100u /* of each way to end */
#define PATIENT 120  /* seconds */

static const char *const way_name[] = {"destroy", "error", "reset", "address handle", "exit"};
enum way { DESTROY, TO_ERROR, TO_RESET, FORGET_AH, EXIT, WAYS };

struct target { /* of the datagrams */
	union ibv_gid gid;
	uint32_t qpn;
};

static struct ibv_qp *datagram_qp(struct rig *r)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.send_cq = r->cq,
					.recv_cq = r->cq,
					.cap = {RIG_DEPTH, RIG_DEPTH, 1, 1, 0}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &init);
	int err;

	if (!qp)
		rig_die("ibv_create_qp: %s", strerror(errno));
	err = ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (!err)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (!err)
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (err)
		rig_die("ibv_modify_qp: %s", strerror(err));
	return qp;
}

static void post(struct rig *r, struct ibv_qp *qp, struct ibv_ah *ah, uint32_t to)
{
	struct ibv_sge sge = {(uintptr_t)r->buf, LENGTH, r->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .wr.ud = {ah, to, QKEY}};

	for (unsigned i = 0; i < BURST; i++)
		if (ibv_post_send(qp, &wr, &bad))
			rig_die("ibv_post_send failed");
}

/* A QP that never sent before, so that nothing but its last words can arrive. */
static void send_and_end(struct rig *r, enum way way, const struct target *to)
{
	struct ibv_ah_attr path = {
		.is_global = 1, .port_num = 1, .grh = {.dgid = to->gid, .hop_limit = 1}};
	struct ibv_ah *ah = ibv_create_ah(r->pd, &path);
	struct ibv_qp *qp = datagram_qp(r);
	struct ibv_qp_attr attr = {.qp_state = way == TO_RESET ? IBV_QPS_RESET : IBV_QPS_ERR};
	int err = 0;

	if (!ah)
		rig_die("ibv_create_ah: %s", strerror(errno));
	post(r, qp, ah, to->qpn);
	if (way == EXIT)
		_exit(0);
	if (way == DESTROY)
		err = ibv_destroy_qp(qp);
	else if (way == FORGET_AH)
		err = ibv_destroy_ah(ah);
	else
		err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	if (err)
		rig_die("%s: %s", way_name[way], strerror(err));
}

static void sender(enum way way)
{
	struct target to;
	struct rig r;

	rig_open(&r, RIG_DEPTH, 4096);
	if (read(STDIN_FILENO, &to, sizeof(to)) != (ssize_t)sizeof(to))
		rig_die("nobody says whereto");
	for (unsigned i = 0; i < (way == EXIT ? 1 : ROUNDS); i++) {
		char go;

		if (way != EXIT && read(STDIN_FILENO, &go, 1) != 1)
			rig_die("nobody waits any more");
		send_and_end(&r, way, &to);
	}
	exit(0);
}

static pid_t start(enum way way, const struct target *to, int *go)
{
	const char *dir = getenv("UHCA_PEER_DIR");
	char way_arg[16];
	int pipe_fd[2];
	pid_t pid;

	if (pipe(pipe_fd))
		rig_die("pipe: %s", strerror(errno));
	snprintf(way_arg, sizeof(way_arg), "%u", (unsigned)way);
	pid = fork();
	if (pid == 0) {
		dup2(pipe_fd[0], STDIN_FILENO);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		if (dir)
			setenv("UHCA_DIR", dir, 1);
		execl("/proc/self/exe", "last_sends", way_arg, (char *)NULL);
		_exit(127);
	}
	close(pipe_fd[0]);
	if (write(pipe_fd[1], to, sizeof(*to)) != (ssize_t)sizeof(*to))
		rig_die("write: %s", strerror(errno));
	*go = pipe_fd[1];
	return pid;
}

static void expect_burst(struct rig *r, struct ibv_qp *qp, enum way way)
{
	double end = rig_seconds() + PATIENT;
	struct ibv_wc wc;

	for (unsigned got = 0; got < BURST;) {
		int n = ibv_poll_cq(r->cq, 1, &wc);

		if (n < 0 || (n == 1 && (wc.status || wc.byte_len != 40 + LENGTH)))
			rig_die("%s: not what was sent", way_name[way]);
		if (n == 0 && rig_seconds() > end)
			rig_die("%s: %u of %u arrived", way_name[way], got, BURST);
		got += (unsigned)n;
	}
	for (unsigned i = 0; i < BURST; i++)
		rig_post_recv(r, qp, 0, 4096);
}

static void receiver(struct rig *r, struct ibv_qp *qp, enum way way)
{
	const struct target self = {r->gid, qp->qp_num};
	unsigned processes = way == EXIT ? ROUNDS : 1;

	for (unsigned p = 0; p < processes; p++) {
		int go, status;
		pid_t pid = start(way, &self, &go);

		for (unsigned i = 0; i < ROUNDS / processes; i++) {
			if (write(go, "", 1) != 1)
				rig_die("write: %s", strerror(errno));
			expect_burst(r, qp, way);
		}
		close(go);
		if (waitpid(pid, &status, 0) != pid || status)
			rig_die("%s: the sender failed", way_name[way]);
	}
	printf("%s: %u of %u\n", way_name[way], ROUNDS, ROUNDS);
}

int main(int argc, char **argv)
{
	struct ibv_qp *qp;
	struct rig r;

	if (argc == 2)
		sender((enum way)atoi(argv[1]));
	rig_open(&r, RIG_DEPTH, 4096);
	qp = datagram_qp(&r);
	for (unsigned i = 0; i < RIG_DEPTH; i++)
		rig_post_recv(&r, qp, 0, 4096);
	for (enum way way = 0; way < WAYS; way++)
		receiver(&r, qp, way);
	if (ibv_destroy_qp(qp))
		rig_die("ibv_destroy_qp failed");
	rig_close(&r);
	return 0;
}
