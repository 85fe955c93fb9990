/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mooncake, https://github.com/kvcache-ai/Mooncake/issues/3868
 *
 * Each end takes the MTU of its own port, and the handshake does not tell it: with ports of 4096
 * and of 1024 bytes READs and WRITEs fail, and connections are made again and again.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

/* What the port of this end can do. */
static enum ibv_mtu active_mtu(const struct far *f)
{
	return f->server ? IBV_MTU_1024 : IBV_MTU_4096;
}

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	how.mtu = pair_mended(argc, argv) ? IBV_MTU_1024 : active_mtu(&f);
	far_connect(&f, how); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_READ, 32768);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
