/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/6910
 *
 * fi_pingpong over datagrams posts its first receive as long as the message, and forgets the prefix
 * in front of it: what comes does not fit.
 *
 * Found by: ud-recv-short
 */
#include "tests/verbs/sanitize/kinds.h"

#define PREFIX 40
#define SIZE   256

int main(int argc, char **argv)
{
	struct ibv_qp *server, *client;
	struct pair p;

	pair_open(&p);
	server = pair_ud(&p, 0);
	client = pair_ud(&p, 0);
	pair_recv_at(&p.a, server, 0, pair_mended(argc, argv) ? PREFIX + SIZE : SIZE);
	pair_ud_send(&p, client, server, 0, SIZE);
	pair_must(!ibv_destroy_qp(client), "ibv_destroy_qp");
	pair_must(!ibv_destroy_qp(server), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
