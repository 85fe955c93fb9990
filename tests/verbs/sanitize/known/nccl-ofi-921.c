/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aws-ofi-nccl, https://github.com/aws/aws-ofi-nccl/pull/921
 *
 * On an error NCCL deregisters the memory of its channels while requests name it. It closes the
 * communicator with its queues only later.
 *
 * Found by: dereg-posted
 */
#include "tests/verbs/sanitize/pair.h"

static char channel[4096];

static void close_communicator(struct end *e)
{
	pair_must(!ibv_destroy_qp(e->qp), "ibv_destroy_qp");
	e->qp = NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_mr *mr;
	struct end e;
	struct pair p;

	pair_open(&p);
	mr = ibv_reg_mr(p.pd, channel, sizeof(channel), IBV_ACCESS_LOCAL_WRITE);
	pair_must(mr != NULL, "a region");
	e = p.b;
	e.mr = mr;
	e.memory = channel;
	pair_recv(&e, 1, 0, sizeof(channel)); /* nothing will come: this is an abort */

	if (mended)
		close_communicator(&p.b);
	pair_must(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	if (!mended)
		close_communicator(&p.b);
	pair_close(&p);
	return 0;
}
