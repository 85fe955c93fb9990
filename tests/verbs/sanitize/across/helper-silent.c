/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The word that the server waits for is its client's helper's to say, a process without verbs that
 * has the socket, too. The helper leaves without a word, and the client polls for an answer: this
 * waits for ever. A helper that takes its time may still speak.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TAKES_S 3

/* Waits until it is to begin. */
static int start_helper(struct far *f, bool speaks, pid_t *child)
{
	const struct timespec t = {.tv_sec = TAKES_S};
	int begin[2];
	char byte;

	pair_must(!pipe(begin), "a pipe");
	*child = fork();
	pair_must(*child >= 0, "fork");
	if (*child) {
		close(begin[0]);
		return begin[1];
	}
	close(begin[1]);
	pair_must(read(begin[0], &byte, 1) == 1, "a begin");
	if (speaks)
		nanosleep(&t, NULL);
	_exit(speaks && send(f->sock, "", 1, MSG_NOSIGNAL) != 1);
}

static void await_answer(struct far *f)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	pid_t helper = 0;
	int begin = -1;
	struct far f;
	char byte;

	far_fork(&f);
	if (!f.server)
		begin = start_helper(&f, mended, &helper);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	far_exchange(&f);
	far_connect(&f, far_usual());
	if (!f.server)
		far_recv(&f, 64);
	far_meet(&f);
	if (f.server) {
		pair_must(recv(f.sock, &byte, 1, 0) == 1, "a word"); /* <- */
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	} else {
		pair_must(write(begin, "", 1) == 1, "the begin");
		close(begin);
		await_answer(&f);
		waitpid(helper, NULL, 0);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
