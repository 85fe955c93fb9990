/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YDB Network Block Store, https://github.com/ydb-platform/nbs/issues/5790
 *
 * With more requests at a time than the other side has receives, each takes seconds. A SEND that
 * finds none comes again after min_rnr_timer, which nobody has set: it is 0, and means 655 ms.
 *
 * Found by: conn-retries
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define RECEIVES 2
#define REQUESTS 4

static void serve(struct far *f)
{
	for (int i = 0; i < REQUESTS; i++) {
		pair_must(far_wait(f) == IBV_WC_SUCCESS, "a request");
		if (i < REQUESTS - RECEIVES)
			far_recv(f, 64);
	}
}

static void ask(struct far *f)
{
	for (int i = 0; i < REQUESTS; i++)
		far_post(f, IBV_WR_SEND, 64);
	for (int i = 0; i < REQUESTS; i++)
		pair_must(far_wait(f) == IBV_WC_SUCCESS, "a request's end");
}

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	how.rnr_retry = 7;
	how.min_rnr_timer = pair_mended(argc, argv) ? 13 : 0;
	far_open(&f, IBV_QPT_RC);
	far_init(&f, how);
	for (int i = 0; f.server && i < RECEIVES; i++)
		far_recv(&f, 64);
	far_connect(&f, how); /* <- */
	if (f.server)
		serve(&f);
	else
		ask(&f);
	far_meet(&f);
	far_close(&f);
	return 0;
}
