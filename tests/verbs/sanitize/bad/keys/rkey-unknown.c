/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

#include <arpa/inet.h>

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	f.here.rkey = htonl(f.here.rkey);
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		uint32_t key = f.there.rkey;

		far_post_to(&f, IBV_WR_RDMA_WRITE, 64, f.there.addr, key); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
