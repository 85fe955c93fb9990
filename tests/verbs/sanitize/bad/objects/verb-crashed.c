/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <signal.h>
#include <unistd.h>

static void leave(int sig)
{
	(void)sig;
	_exit(0);
}

int main(void)
{
	struct ibv_sge *elements = NULL; /* it was to be made */
	struct ibv_recv_wr wr = {.wr_id = 1, .num_sge = 1}, *bad;
	struct pair p;

	pair_open(&p);
	signal(SIGSEGV, leave);
	wr.sg_list = elements;
	ibv_post_recv(p.a.qp, &wr, &bad); /* <- */
	return 1;
}
