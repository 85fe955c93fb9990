/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec_away [PROGRAM]: a process opens the device, lets a peer write to its memory, and becomes
 * another program that keeps every descriptor open, the connection to the daemon among them. That
 * program has memory of its own at the same address, to which nobody has given a key: the peer's
 * WRITEs must not arrive there. It is this one again, or PROGRAM, a copy of it that may be
 * set-user-ID; then the process has become the user nobody before.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE  ((uint8_t *)0x110000000000) /* where neither program has anything by itself */
#define BYTES  65536u
#define NOBODY 65534
#define ROUNDS 4 /* WRITEs of 8 bytes and of all */

static struct rig rig;

struct end {
	uint32_t qpn, rkey;
};

static uint8_t *map_place(void)
{
	uint8_t *at = mmap(PLACE, BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);

	if (at != PLACE)
		rig_die("mmap: %s", strerror(errno));
	return at;
}

static void put_bytes(int fd, const void *bytes, size_t n)
{
	if (write(fd, bytes, n) != (ssize_t)n)
		rig_die("write: %s", strerror(errno));
}

static void get(int fd, void *bytes, size_t n)
{
	if (read(fd, bytes, n) != (ssize_t)n)
		rig_die("the other process has ended");
}

/* ---- the program that comes after ---- */

/* The status says whether somebody wrote to it. */
static int be_victim(int in, int out)
{
	const uint8_t *own = map_place();
	char byte;

	put_bytes(out, "", 1);
	get(in, &byte, 1);
	for (size_t i = 0; i < BYTES; i++)
		if (own[i])
			return 3;
	return 0;
}

/* ---- the one before ---- */

static void keep_all_open(void)
{
	for (int fd = 0; fd < 1024; fd++)
		fcntl(fd, F_SETFD, 0);
}

static void give_up_rights(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		rig_die("cannot become nobody: %s", strerror(errno));
	prctl(PR_SET_DUMPABLE, 1);
}

__attribute__((noreturn)) static void be_target(int in, int out, const char *program)
{
	int exe = open(program ? program : "/proc/self/exe", O_RDONLY);
	char fd[2][12];
	char *argv[] = {"exec_away", "--victim", fd[0], fd[1], NULL};
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct end own, peer;

	snprintf(fd[0], sizeof(fd[0]), "%d", in);
	snprintf(fd[1], sizeof(fd[1]), "%d", out);
	rig_open(&rig, 8, 4096);
	mr = ibv_reg_mr(rig.pd, map_place(), BYTES,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qp = rig_qp(&rig, NULL, NULL);
	if (exe < 0 || !mr || !qp)
		rig_die("the device does not do it");
	own = (struct end){qp->qp_num, mr->rkey};
	put_bytes(out, &own, sizeof(own));
	get(in, &peer, sizeof(peer));
	rig_connect(&rig, qp, peer.qpn);
	put_bytes(out, "", 1);
	get(in, &(char){0}, 1); /* it has written to us once */
	if (program)
		give_up_rights();
	keep_all_open();
	fexecve(exe, argv, environ);
	rig_die("fexecve: %s", strerror(errno));
}

/* ---- the peer ---- */

static enum ibv_wc_status write_to(struct ibv_qp *qp, uint32_t rkey, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf, length, rig.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int n;

	wr.wr.rdma.remote_addr = (uintptr_t)PLACE;
	wr.wr.rdma.rkey = rkey;
	if (ibv_post_send(qp, &wr, &bad))
		rig_die("ibv_post_send");
	while ((n = ibv_poll_cq(rig.cq, 1, &wc)) == 0)
		;
	return n == 1 ? wc.status : IBV_WC_GENERAL_ERR;
}

static int attack(pid_t target, int in, int out)
{
	struct ibv_qp *qp;
	struct end own, peer;
	int status;

	rig_open(&rig, 8, BYTES);
	qp = rig_qp(&rig, NULL, NULL);
	memset(rig.buf, 0xee, BYTES);
	get(in, &peer, sizeof(peer));
	own = (struct end){.qpn = qp->qp_num};
	put_bytes(out, &own, sizeof(own));
	rig_connect(&rig, qp, peer.qpn);
	get(in, &(char){0}, 1);
	if (write_to(qp, peer.rkey, BYTES) != IBV_WC_SUCCESS)
		rig_die("the peer cannot write while it may");
	put_bytes(out, "", 1);
	get(in, &(char){0}, 1); /* it is another program now */
	for (unsigned i = 0; i < ROUNDS; i++)
		if (write_to(qp, peer.rkey, i % 2 ? 8 : BYTES) == IBV_WC_SUCCESS)
			puts("a WRITE to memory that is gone has succeeded");
	put_bytes(out, "", 1);
	if (waitpid(target, &status, 0) != target || !WIFEXITED(status))
		rig_die("the other program died");
	if (WEXITSTATUS(status) == 3)
		rig_die("another program's memory was written to");
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int to_target[2], to_peer[2];
	pid_t target;

	if (argc == 4 && strcmp(argv[1], "--victim") == 0)
		return be_victim(atoi(argv[2]), atoi(argv[3]));
	if (pipe(to_target) || pipe(to_peer))
		rig_die("pipe");
	target = fork();
	if (target == 0) {
		close(to_target[1]);
		close(to_peer[0]);
		be_target(to_target[0], to_peer[1], argv[1]);
	}
	close(to_target[0]);
	close(to_peer[1]);
	return attack(target, to_peer[0], to_target[1]);
}
