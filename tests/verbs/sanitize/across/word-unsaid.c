/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client polls for a message that the server sends when it is asked for it, on a socket. The
 * client asks when it has polled for a while in vain; without a limit this waits for ever.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <sys/socket.h>
#include <time.h>

#define LIMIT_S 3

static bool poll_for(struct far *f, time_t s)
{
	const time_t begin = time(NULL);
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		if (s && time(NULL) - begin >= s)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct far f;
	char byte;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server)
		far_recv(&f, 64);
	far_meet(&f);
	if (f.server) {
		pair_must(recv(f.sock, &byte, 1, 0) == 1, "a word"); /* <- */
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	} else if (!poll_for(&f, pair_mended(argc, argv) ? LIMIT_S : 0)) {
		pair_must(send(f.sock, "", 1, MSG_NOSIGNAL) == 1, "a word");
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
