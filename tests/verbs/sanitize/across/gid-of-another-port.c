/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server has opened its second device, and tells the GID of the first one.
 *
 * Needs two devices.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static union ibv_gid gid_of_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *first = ibv_open_device(list[0]);
	union ibv_gid gid;

	pair_must(first && !ibv_query_gid(first, 1, 0, &gid), "the first device's GID");
	ibv_close_device(first);
	ibv_free_device_list(list);
	return gid;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, NULL);
	if (f.server && !mended)
		f.here.gid = gid_of_first();
	far_exchange(&f);
	far_connect(&f, far_usual()); /* <- */
	if (!f.server) {
		far_post(&f, IBV_WR_RDMA_WRITE, 64); /* <- */
		far_wait(&f);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
