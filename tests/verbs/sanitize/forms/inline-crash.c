/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair was never made; the verb that crashes is part of the program.
 *
 * Found by: verb-crashed
 */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_qp *volatile qp = NULL;
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	if (mended)
		qp = p.a.qp;
	pair_must(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
	pair_close(&p);
	return 0;
}
