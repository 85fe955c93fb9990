/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NCCL, https://github.com/NVIDIA/nccl/issues/426
 *
 * The ends tell each other the GID of the index that is the default, which is not that of the
 * network between them. The connection is made, and the first request gets no answer.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define NETWORK 13 /* a byte of the GID, which has an IPv4 address */

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	if (f.server && !mended)
		f.here.gid.raw[NETWORK] ^= 1;
	far_exchange(&f);
	far_connect(&f, far_usual()); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
