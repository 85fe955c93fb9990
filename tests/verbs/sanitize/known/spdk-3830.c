/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/3830
 *
 * The first failed completion tears the queue pair down, which frees what its requests are kept
 * in; the completions behind it have wr_ids that point there.
 *
 * Found by: wr-id-freed
 */
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

#define REQUESTS 4

struct request {
	int number;
	char rest[60];
};

static struct request *requests;

static void fail_all(void)
{
	free(requests);
	requests = NULL;
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	bool mended = pair_mended(argc, argv);
	struct pair p;

	requests = calloc(REQUESTS, sizeof(*requests));
	pair_must(requests != NULL, "memory");
	pair_open(&p);
	for (unsigned i = 0; i < REQUESTS; i++)
		pair_recv(&p.b, (uintptr_t)&requests[i], 64 * i, 64);
	ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE);
	for (unsigned i = 0; i < REQUESTS; i++)
		if (pair_wait(&p.b) != IBV_WC_SUCCESS && requests && !mended)
			fail_all();
	if (mended)
		fail_all();
	pair_close(&p);
	return 0;
}
