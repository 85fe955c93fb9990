/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests are counted by the slots of a ring, and more are outstanding than it has.
 *
 * Found by: wr-id-reused
 */
#include "tests/verbs/sanitize/pair.h"

#define SLOTS 4

int main(int argc, char **argv)
{
	unsigned n = pair_mended(argc, argv) ? SLOTS : SLOTS + 1;
	char *slots[SLOTS];
	struct pair p;

	pair_open(&p);
	for (unsigned i = 0; i < n; i++) {
		struct ibv_sge sge = {(uintptr_t)p.b.memory + i * 64, 64, p.b.mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = (uintptr_t)&slots[i % SLOTS],
					 .sg_list = &sge,
					 .num_sge = 1},
				   *bad;

		pair_must(!ibv_post_recv(p.b.qp, &wr, &bad), "a receive"); /* <- */
	}
	pair_close(&p);
	return 0;
}
