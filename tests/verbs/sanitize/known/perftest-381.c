/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/pull/381
 *
 * Both sides tell each other their keys over the new connection. Where the server fails before and
 * ends, the client polls for its message without end.
 *
 * Found by: peer-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct name {
	uint32_t qp_num;
};

/* One end, in a process of its own: a pair of which one end alone is used. */
static struct end *connect_to(struct pair *p, int sock)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp there = {0};
	struct name mine;

	pair_open(p);
	mine.qp_num = p->a.qp->qp_num;
	pair_must(write(sock, &mine, sizeof(mine)) == sizeof(mine) &&
			  read(sock, &mine, sizeof(mine)) == sizeof(mine),
		  "telling each other the numbers");
	there.qp_num = mine.qp_num;
	pair_must(!ibv_modify_qp(p->a.qp, &reset, IBV_QP_STATE), "a reset");
	pair_must(!ibv_modify_qp(p->b.qp, &reset, IBV_QP_STATE), "a reset");
	pair_connect(p, p->a.qp, &there);
	pair_recv(&p->a, 1, 0, 64);
	return &p->a;
}

static void meet(int sock)
{
	char c = 0;

	pair_must(write(sock, &c, 1) == 1 && read(sock, &c, 1) == 1, "meeting");
}

static int serve(int sock, bool mended)
{
	struct pair p;
	struct end *e = connect_to(&p, sock);

	meet(sock);
	if (mended) {
		pair_post(e, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
		pair_wait(e);
	}
	pair_close(&p);
	return 0;
}

static void ask(int sock)
{
	struct ibv_wc wc;
	struct pair p;
	struct end *e = connect_to(&p, sock);

	meet(sock);
	while (!ibv_poll_cq(e->cq, 1, &wc))
		;
	pair_close(&p);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	int sock[2];

	pair_must(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock), "a socket pair");
	if (!fork())
		return serve(sock[1], mended);
	ask(sock[0]);
	wait(NULL);
	return 0;
}
