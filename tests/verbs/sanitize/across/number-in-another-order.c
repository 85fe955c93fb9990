/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The number of the queue pair is told in network byte order, and taken as it came.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <arpa/inet.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	if (!f.server && !mended) {
		uint32_t turned = htonl(f.there.qpn) >> 8;
		/* One of 256 numbers is the same in both orders. */
		f.there.qpn = turned != f.there.qpn ? turned : turned ^ 0x10000;
	}
	far_connect(&f, far_usual()); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
