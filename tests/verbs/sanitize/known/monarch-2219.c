/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * monarch, https://github.com/meta-pytorch/monarch/pull/2219
 *
 * A function destroys a queue pair and its completion queues; its caller, which has their pointers,
 * destroys the completion queues again.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

static void destroy_end(struct end *e)
{
	ibv_destroy_qp(e->qp);
	ibv_destroy_cq(e->cq);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	destroy_end(&p.b); /* its queue is on a channel */
	if (!mended)
		ibv_destroy_cq(p.b.cq);
	p.b.qp = NULL;
	p.b.cq = NULL;
	pair_close(&p);
	return 0;
}
