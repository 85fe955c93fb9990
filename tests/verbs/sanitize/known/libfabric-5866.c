/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/5866
 *
 * The size of rxm's buffers may be set so low that the message which announces a large transfer
 * does not fit into them: the transport below fails, and rxm with it.
 *
 * Found by: recv-short
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define ANNOUNCEMENT 168 /* bytes: what a rendezvous begins with */

int main(int argc, char **argv)
{
	uint32_t buffer_size =
		pair_mended(argc, argv) ? ANNOUNCEMENT : 128; /* FI_OFI_RXM_BUFFER_SIZE */
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server)
		far_recv(&f, buffer_size); /* <- */
	far_meet(&f);
	if (!f.server) {
		far_post(&f, IBV_WR_SEND, ANNOUNCEMENT);
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
