/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ceph, https://github.com/ceph/ceph/pull/10600
 *
 * Daemons create their messenger, which registers memory, and then fork into the background. The
 * child continues with objects of the parent.
 *
 * Found by: fork-unsafe
 */
#include "tests/verbs/sanitize/pair.h"

#include <sys/wait.h>
#include <unistd.h>

/* The child goes on; the parent ends as it does. */
static void daemonize(void)
{
	pid_t child = fork();
	int status = 1;

	pair_must(child >= 0, "fork");
	if (child == 0)
		return;
	pair_must(waitpid(child, &status, 0) == child, "waitpid");
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct pair p;

	if (mended)
		daemonize();
	pair_open(&p);
	if (!mended) {
		daemonize();
		_exit(0); /* here it would use what the parent has */
	}
	pair_recv(&p.b, 1, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
