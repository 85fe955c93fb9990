/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory is registered in a protection domain that was deallocated.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <errno.h>

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_pd *pd;
	struct pair p;
	static char memory[64];

	pair_open(&p);
	pd = ibv_alloc_pd(p.context);
	pair_must(pd && !ibv_dealloc_pd(pd), "a domain, deallocated");
	if (!mended)
		pair_must(!ibv_reg_mr(pd, memory, sizeof(memory), 0) && errno == EINVAL,
			  "being refused");
	pair_close(&p);
	return 0;
}
