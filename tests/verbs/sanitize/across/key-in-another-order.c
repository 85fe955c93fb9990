/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server sends its key in network byte order, and the client takes it as it came.
 *
 * Found by: rkey-unknown
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <arpa/inet.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	f.here.rkey = htonl(f.here.rkey);
	far_exchange(&f);
	if (mended)
		f.there.rkey = ntohl(f.there.rkey);
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
