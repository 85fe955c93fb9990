/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/4267
 *
 * A message that nobody waits for yet keeps its receive, and no other is posted in its place: with
 * as many of them as there are receives the queue is empty.
 *
 * Found by: recv-missing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define RECEIVES 3

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far_link how = far_usual();
	struct far f;

	how.rnr_retry = 2;
	far_open(&f, IBV_QPT_RC);
	far_connect(&f, how);
	for (int i = 0; f.server && i < RECEIVES; i++)
		far_recv(&f, 64); /* <- */
	far_meet(&f);
	for (int i = 0; i < RECEIVES + 1; i++) {
		if (!f.server)
			far_post(&f, IBV_WR_SEND, 64); /* <- */
		if (!f.server || i < RECEIVES)
			far_wait(&f); /* at the server: kept, nobody has asked for it */
		if (f.server && i < RECEIVES && mended)
			far_recv(&f, 64);
		far_meet(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
