/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libevpl, https://github.com/chimera-nas/libevpl/pull/89
 *
 * An R_Key is asked for before the queue pair is bound to a device: it is that of the first
 * device's region, and the queue pair comes to be on another one, in another protection domain.
 *
 * Found by: rkey-foreign
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct ibv_pd *domain[2];
	struct ibv_mr *mr[2];
	int bound = 0; /* as it is before the device is known */
	uint32_t key;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	for (int i = 0; i < 2; i++) {
		domain[i] = ibv_alloc_pd(f.context);
		mr[i] = ibv_reg_mr(domain[i], f.memory, FAR_MEMORY, FAR_ALL); /* <- */
		pair_must(mr[i] != NULL, "ibv_reg_mr");
	}
	key = mr[bound]->rkey;
	bound = 1;
	f.qp = far_qp(&f, IBV_QPT_RC, domain[bound], NULL);
	f.here.rkey = mended ? mr[bound]->rkey : key;
	far_tell(&f);
	far_connect(&f, far_usual());
	if (!f.server) {
		ibv_dereg_mr(f.mr);
		f.mr = mr[bound];
		far_post(&f, IBV_WR_RDMA_READ, 64); /* <- */
		far_wait(&f);
		f.mr = NULL;
	}
	far_meet(&f);
	pair_must(!ibv_destroy_qp(f.qp), "ibv_destroy_qp");
	f.qp = NULL;
	for (int i = 0; i < 2; i++)
		pair_must(!ibv_dereg_mr(mr[i]) && !ibv_dealloc_pd(domain[i]), "destroying");
	far_close(&f);
	return 0;
}
