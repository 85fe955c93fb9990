/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charm++, https://github.com/charmplusplus/charm/pull/2712
 *
 * A node whose queue pair is refused because of its retry_cnt tries again with other values, among
 * them an MTU that from then on only connections of later nodes have.
 *
 * Found by: conn-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_RC);
	how.retry_cnt = 7;
	far_init(&f, how);
	far_meet(&f);
	if (f.server && !mended) /* an earlier one was refused */
		how.mtu = IBV_MTU_2048;
	far_rtr(&f, how); /* <- */
	far_rts(&f, how);
	far_recv(&f, 4096);
	far_meet(&f);
	/* Two that send at once may both fail as receivers first, which says less. */
	if (!f.server || mended)
		far_post(&f, IBV_WR_SEND, 4096);
	far_wait(&f);
	if (mended)
		far_wait(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
