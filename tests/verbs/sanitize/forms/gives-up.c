/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program polls for a while for the completion of an unsignaled request, and then fails.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/pair.h"

#include <time.h>

#define TIMEOUT_MS 2200

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long end = now_ms() + TIMEOUT_MS;
	struct ibv_wc wc;
	struct pair p;
	int n = 0;

	pair_open(&p);
	pair_post(&p.a, IBV_WR_RDMA_WRITE, pair_mended(argc, argv) ? IBV_SEND_SIGNALED : 0, 0, 64);
	while (!n && now_ms() < end)
		n = ibv_poll_cq(p.a.cq, 1, &wc); /* <- */
	pair_close(&p);
	return !n;
}
