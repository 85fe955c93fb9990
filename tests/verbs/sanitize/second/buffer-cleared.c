/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer is cleared after it was posted to receive.
 *
 * Found by: recv-used
 */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	if (mended)
		memset(p.b.memory, 0, 8192);
	pair_recv(&p.b, 1, 0, 8192);
	if (!mended)
		memset(p.b.memory, 0, 8192); /* <- */

	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8192);
	pair_wait(&p.a);
	pair_wait(&p.b);
	pair_close(&p);
	return 0;
}
