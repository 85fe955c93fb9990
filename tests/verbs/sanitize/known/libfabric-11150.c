/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/11150
 *
 * The efa provider emulates a write by a READ of the other side. Memory that was registered for
 * remote writes only becomes the target of a READ, without the right of local writes.
 *
 * Found by: key-access
 */
#include "tests/verbs/sanitize/pair.h"

/* What was asked for in libfabric's words, in those of verbs. */
static int access_of(bool remote_write, bool mended)
{
	return remote_write && mended ? IBV_ACCESS_LOCAL_WRITE : 0;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	ibv_dereg_mr(p.b.mr);
	p.b.mr = ibv_reg_mr(p.pd, p.b.memory, PAIR_MEMORY, access_of(true, mended));
	pair_must(p.b.mr != NULL, "a region");
	pair_post(&p.b, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.b);
	pair_close(&p);
	return 0;
}
