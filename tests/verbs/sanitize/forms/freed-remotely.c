/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target of a WRITE is freed by its process; another process writes to it.
 *
 * Found by: memory-freed
 */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 1024

struct target {
	uint64_t at;
	uint32_t rkey, qpn;
};

static void exchange(int fd, const void *mine, void *theirs, size_t n)
{
	pair_must(write(fd, mine, n) == (ssize_t)n, "write");
	pair_must(recv(fd, theirs, n, MSG_WAITALL) == (ssize_t)n, "recv");
}

/* One end of the connection: p.a's. */
static void connect_to(struct pair *p, int fd, struct target *mine, struct target *theirs)
{
	struct ibv_qp peer = {0};

	mine->qpn = p->a.qp->qp_num;
	exchange(fd, mine, theirs, sizeof(*mine));
	peer.qp_num = theirs->qpn;
	pair_reset(&p->a);
	pair_connect(p, p->a.qp, &peer);
	exchange(fd, mine, theirs, sizeof(*mine));
}

static int write_there(int fd)
{
	struct target mine = {0}, theirs;
	struct ibv_send_wr wr = {.num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_sge sge;
	struct pair p;

	pair_open(&p);
	connect_to(&p, fd, &mine, &theirs);
	sge = (struct ibv_sge){(uintptr_t)p.a.memory, 64, p.a.mr->lkey};
	memset(p.a.memory, 'x', 64);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = theirs.at;
	wr.wr.rdma.rkey = theirs.rkey;
	pair_must(!ibv_post_send(p.a.qp, &wr, &bad), "ibv_post_send");
	pair_wait(&p.a);
	exchange(fd, &mine, &theirs, sizeof(mine));
	pair_close(&p);
	return 0;
}

static void be_written_to(int fd, bool mended)
{
	char *memory = calloc(1, LENGTH);
	struct target mine, theirs;
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p);
	mr = ibv_reg_mr(p.pd, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(mr != NULL, "ibv_reg_mr");
	mine = (struct target){(uintptr_t)memory, mr->rkey, 0};
	if (!mended)
		free(memory);
	connect_to(&p, fd, &mine, &theirs);
	exchange(fd, &mine, &theirs, sizeof(mine)); /* it has written */
	ibv_dereg_mr(mr);
	if (mended)
		free(memory);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	int fds[2], status = 1;
	pid_t child;

	pair_must(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "socketpair");
	child = fork();
	pair_must(child >= 0, "fork");
	if (child == 0)
		_exit(write_there(fds[1]));
	be_written_to(fds[0], pair_mended(argc, argv));
	pair_must(waitpid(child, &status, 0) == child && WIFEXITED(status), "the other process");
	return WEXITSTATUS(status);
}
