/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct pair p;

	pair_open(&p);
	pair_reconnect(&p, &p.a, (struct pair_link){100, 200, 14, 7, 6, 1}); /* <- */
	pair_reconnect(&p, &p.b, (struct pair_link){100, 200, 14, 7, 6, 1}); /* <- */

	pair_recv(&p.b, 1, 0, 64);
	pair_post(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p.a); /* with an error, or b has heard nothing */

	pair_close(&p);
	return 0;
}
