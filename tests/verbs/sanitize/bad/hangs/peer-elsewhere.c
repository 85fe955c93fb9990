/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <unistd.h>

#define LONG_S 6

static void wait_for_message(struct far *f)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(f->cq, 1, &wc))
		;
}

int main(void)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	far_recv(&f, 64);
	far_meet(&f);
	if (f.server) {
		sleep(LONG_S); /* it waits for something else */
		far_post(&f, IBV_WR_SEND, 64);
	}
	wait_for_message(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
