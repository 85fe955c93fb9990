/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ceph, https://github.com/ceph/ceph/pull/25447
 *
 * A queue pair that is given up is destroyed when its last request has completed, and a last one,
 * the beacon, says when that is. In a queue pair that was not moved to ERR the receives stay.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/pair.h"

#define RECEIVES 2

static void drain(struct end *e, int n)
{
	struct ibv_wc wc;

	while (n)
		n -= ibv_poll_cq(e->cq, 1, &wc);
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 9, 1024, 64);
	for (unsigned i = 0; i < RECEIVES; i++)
		pair_recv(&p.a, i, 64 * i, 64);
	if (pair_mended(argc, argv))
		pair_must(!ibv_modify_qp(p.a.qp, &error, IBV_QP_STATE), "moving to ERR");
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1024, 64); /* the beacon */
	drain(&p.a, RECEIVES + 1);
	pair_close(&p);
	return 0;
}
