/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	/* timeout, retry_cnt, rnr_retry, min_rnr_timer */
	pair_reconnect(&p, &p.a, (struct pair_link){0, 0, 0, 0, 7, 0});  /* <- */
	pair_reconnect(&p, &p.b, (struct pair_link){0, 0, 31, 7, 0, 1}); /* <- */
	pair_close(&p);
	return 0;
}
