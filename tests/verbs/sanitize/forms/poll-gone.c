/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A completion queue with functions of its own is polled after it was destroyed.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <errno.h>

int main(int argc, char **argv)
{
	struct ibv_cq_init_attr_ex init = {.cqe = 4};
	struct ibv_poll_cq_attr attr = {0};
	bool mended = pair_mended(argc, argv);
	struct ibv_cq_ex *cq;
	struct pair p;

	pair_open(&p);
	cq = ibv_create_cq_ex(p.context, &init);
	pair_must(cq && ibv_start_poll(cq, &attr) == ENOENT, "a queue, empty");
	pair_must(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
	if (!mended)
		pair_must(ibv_start_poll(cq, &attr) == EINVAL, "being refused");
	pair_close(&p);
	return 0;
}
