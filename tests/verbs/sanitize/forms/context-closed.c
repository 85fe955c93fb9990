/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device is closed by one part of a program, and another one uses it.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	struct ibv_device_attr attr;
	bool mended = pair_mended(argc, argv);
	struct pair p;

	pair_open(&p);
	if (mended)
		pair_must(!ibv_query_device(p.context, &attr), "ibv_query_device");
	pair_close(&p);
	if (!mended)
		pair_must(!ibv_alloc_pd(p.context), "being refused");
	return 0;
}
