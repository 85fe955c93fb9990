/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/issues/6244
 *
 * A program frees memory while a peer may still write to it: no order of freeing and deregistering
 * makes that right. The message is lost, or goes to who has the memory next.
 *
 * Found by: memory-freed
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server && !mended) {
		free(f.memory);
		f.memory = NULL;
	}
	far_meet(&f);
	if (!f.server) {
		f.memory[0] = 1;
		far_post(&f, IBV_WR_RDMA_WRITE, 256);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
