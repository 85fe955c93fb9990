/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open MPI, https://github.com/open-mpi/ompi/pull/7871
 *
 * To know when a get has come, osc/ucx adds 0 to the window behind it, at the address of the get,
 * which is anywhere: the target of an atomic of 8 bytes is not aligned to 8.
 *
 * Found by: atomic-unaligned
 */
#include "tests/verbs/sanitize/kinds.h"

#define GET_AT 20

int main(int argc, char **argv)
{
	uint32_t fetched = pair_mended(argc, argv) ? GET_AT & ~7u : GET_AT;
	struct pair p;

	pair_open(&p);
	pair_post(&p.a, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, GET_AT, 4);
	pair_wait(&p.a);
	pair_add(&p, fetched);
	pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
