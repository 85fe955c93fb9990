/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/3547
 *
 * rxm registers the buffer of a large message for a write, and reads the message into it. That is
 * enough on InfiniBand and RoCE; iWARP wants the right of remote writes for the target of a READ.
 *
 * Found by: portable
 */
#include "tests/verbs/sanitize/pair.h"

enum access { TO_READ = 1, TO_WRITE = 2 };

static int rights_for(int access)
{
	int rights = IBV_ACCESS_LOCAL_WRITE;

	if (access & TO_READ)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	return rights;
}

int main(int argc, char **argv)
{
	int access = pair_mended(argc, argv) ? TO_READ : TO_WRITE;
	struct ibv_mr *all, *target;
	struct pair p;

	pair_open(&p);
	all = p.a.mr;
	target = ibv_reg_mr(p.pd, p.a.memory, PAIR_MEMORY, rights_for(access));
	pair_must(target != NULL, "a region");
	p.a.mr = target;
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 32768); /* <- */
	pair_must(pair_wait(&p.a) == IBV_WC_SUCCESS, "the message");

	p.a.mr = all;
	pair_must(!ibv_dereg_mr(target), "ibv_dereg_mr");
	pair_close(&p);
	return 0;
}
