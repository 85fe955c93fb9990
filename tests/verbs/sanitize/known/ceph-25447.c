/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ceph, https://github.com/ceph/ceph/pull/25447
 *
 * The messenger destroys the queue pair of a connection that is closed without moving it to the
 * error state first: receives of the SRQ that it has taken never come back.
 *
 * Found by: srq-undrained
 */
#include "tests/verbs/sanitize/kinds.h"

int main(int argc, char **argv)
{
	struct ibv_qp *closed, *other;
	struct ibv_srq *srq;
	struct pair p;

	pair_open(&p);
	srq = pair_srq(&p);
	closed = pair_shared(&p, srq);
	other = pair_shared(&p, srq);
	if (pair_mended(argc, argv))
		pair_drain(&p, closed);
	else
		pair_must(!ibv_destroy_qp(closed), "ibv_destroy_qp");
	/* The daemon serves on: what a connection has used is posted again. */
	pair_srq_recv(&p, srq, pair_use(&p, other));
	pair_drain(&p, other);
	pair_must(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	pair_close(&p);
	return 0;
}
