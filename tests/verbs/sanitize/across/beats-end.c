/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server answers when it has had so many signs of life on a socket. Its client gives them while
 * it polls for the answer; it stops too early, and this waits for ever. As long as they come the
 * server is in the same call at each look, and goes on all the same.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#define BEATS 100 /* for 3 s, which is longer than a standstill may be */

static volatile sig_atomic_t due;

static void on_alarm(int number)
{
	(void)number;
	due = 1;
}

/* By signals: a call for the time would tell that the loop may have a limit. */
static void poll_and_beat(struct far *f, int beats)
{
	const struct itimerval often = {{0, 30000}, {0, 30000}}, never = {0};
	struct ibv_wc wc;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (!ibv_poll_cq(f->cq, 1, &wc)) { /* <- */
		if (!due || !beats)
			continue;
		due = 0;
		beats--;
		pair_must(send(f->sock, "", 1, MSG_NOSIGNAL) == 1, "a sign of life");
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static void hear_beats(struct far *f)
{
	char byte;

	for (int i = 0; i < BEATS; i++)
		pair_must(recv(f->sock, &byte, 1, 0) == 1, "a sign of life"); /* <- */
}

int main(int argc, char **argv)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server)
		far_recv(&f, 64);
	far_meet(&f);
	if (f.server) {
		hear_beats(&f);
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	} else {
		poll_and_beat(&f, pair_mended(argc, argv) ? BEATS : 2);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
