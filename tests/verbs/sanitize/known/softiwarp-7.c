/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ib_send_bw, https://github.com/zrlio/softiwarp/issues/7
 *
 * One side is through with telling its keys and polls for data; the other one still polls for the
 * keys, which were never sent: two processes, each with a processor at its full speed.
 *
 * Found by: peer-waits
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

static void take(struct end *e, int n)
{
	struct ibv_wc wc;

	while (n)
		n -= ibv_poll_cq(e->cq, 1, &wc);
}

static int serve(int sock, bool mended)
{
	struct pair p;
	struct end *e = connect_to(&p, sock);

	meet(sock);
	if (mended)
		pair_post(e, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
	take(e, mended ? 2 : 1);
	meet(sock); /* who has the data goes on */
	pair_close(&p);
	return 0;
}

static void ask(int sock)
{
	struct pair p;
	struct end *e = connect_to(&p, sock);

	meet(sock);
	take(e, 1);
	pair_post(e, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
	take(e, 1);
	meet(sock); /* who has the data goes on */
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
