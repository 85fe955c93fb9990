/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client and server were built with different sizes of a message.
 *
 * Found by: recv-short
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server)
		far_recv(&f, mended ? 4096 : 1000); /* <- */
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, 4096);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
