/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server forks for each client, and the child uses the queue pair of its parent.
 *
 * Found by: fork-unsafe
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/wait.h>
#include <unistd.h>

static void answer(struct pair *p)
{
	if (!pair_try(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64)) /* <- */
		pair_wait(&p->a);
}

int main(int argc, char **argv)
{
	struct pair p;

	pair_must(!ibv_fork_init(), "ibv_fork_init");
	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);
	if (!fork()) {
		if (!pair_mended(argc, argv))
			answer(&p);
		_exit(0);
	}
	wait(NULL);
	answer(&p);
	pair_wait(&p.b);
	pair_close(&p);
	return 0;
}
