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

#include <sys/socket.h>
#include <time.h>

#define BEATS   12
#define BEAT_MS 250

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void poll_and_beat(struct far *f, int beats)
{
	long next = now_ms();
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		if (beats && now_ms() >= next) {
			pair_must(send(f->sock, "", 1, MSG_NOSIGNAL) == 1, "a sign of life");
			next += BEAT_MS;
			beats--;
		}
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
