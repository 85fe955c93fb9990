/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ticket is drawn by an atomic, and sent on before it has come.
 *
 * Found by: read-unfenced
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	unsigned fence = pair_mended(argc, argv) ? IBV_SEND_FENCE : 0;
	struct pair p;

	pair_open(&p);
	pair_recv(&p.b, 1, 4096, 64);

	pair_post(&p.a, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, 8);         /* <- */
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED | fence, 8, 8); /* <- */
	pair_wait(&p.a);
	pair_wait(&p.b);

	pair_close(&p);
	return 0;
}
