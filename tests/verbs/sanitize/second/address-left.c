/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An address handle is made for each datagram, and the last one is left.
 *
 * Found by: left-at-exit
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_ah *ah;
	struct pair p;

	pair_open(&p);
	for (unsigned i = 0; i < 3; i++) {
		ah = pair_address(&p); /* <- */
		if (i < 2 || mended)
			pair_must(!ibv_destroy_ah(ah), "ibv_destroy_ah");
	}
	if (!mended)
		p.pd = NULL; /* it cannot go */
	pair_close(&p);
	return 0;
}
