/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nfs-ganesha, https://github.com/nfs-ganesha/nfs-ganesha/pull/14
 *
 * The 9P server fills a reply buffer for the next request while the adapter may still read the
 * previous reply. Under load one client gets the answer of another.
 *
 * Found by: send-changed
 */
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

/* A reply to each request, all out of one buffer. */
static void answer(struct end *server, int requests, bool mended)
{
	int under_way = 0;

	for (int i = 0; i < requests; i++) {
		while (mended && under_way)
			under_way -= pair_wait(server) == IBV_WC_SUCCESS;
		memset(server->memory, 'a' + i, 64);
		pair_post(server, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
		under_way++;
	}
	while (under_way--)
		pair_wait(server);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_open(&p);
	pair_recv(&p.a, 1, 0, 64);
	pair_recv(&p.a, 2, 64, 64);
	answer(&p.b, 2, pair_mended(argc, argv));
	pair_close(&p);
	return 0;
}
