/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <sys/mman.h>

int main(void)
{
	struct pair p;
	char *more = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pair_open(&p);
	ibv_dereg_mr(p.a.mr);
	p.a.mr = ibv_reg_mr(p.pd, more, 4096, 0);
	pair_must(p.a.mr != NULL, "a region");
	pair_recv(&p.b, 1, 0, 4096);

	munmap(more, 4096);                                             /* <- */
	pair_post_at(&p.a, IBV_WR_SEND, IBV_SEND_SIGNALED, more, 4096); /* <- */
	pair_wait(&p.a);

	pair_close(&p);
	return 0;
}
