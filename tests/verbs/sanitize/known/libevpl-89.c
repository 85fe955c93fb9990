/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libevpl, https://github.com/chimera-nas/libevpl/pull/89
 *
 * Memory is registered with each device. The R_Key is asked for before the connection is bound to
 * its device, and is that of the first one: the peer finds no such key where the queue pair is.
 *
 * Found by: key-device
 * Needs: --private --devices 2
 */
#include "tests/verbs/sanitize/pair.h"

/* One end of the pair, on the second device. */
static void open_far(struct pair *far)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	struct ibv_device **list = ibv_get_device_list(NULL);

	far->context = list && list[0] && list[1] ? ibv_open_device(list[1]) : NULL;
	ibv_free_device_list(list);
	far->pd = far->context ? ibv_alloc_pd(far->context) : NULL;
	far->a.cq = far->pd ? ibv_create_cq(far->context, 4, NULL, NULL, 0) : NULL;
	attr.send_cq = attr.recv_cq = far->a.cq;
	far->a.qp = far->a.cq ? ibv_create_qp(far->pd, &attr) : NULL;
	pair_must(far->a.qp != NULL, "an end on the second device");
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	bool mended = pair_mended(argc, argv);
	struct pair near, far;
	struct ibv_mr *on_second, *on_first;

	pair_open(&near);
	open_far(&far);
	pair_must(!ibv_modify_qp(near.a.qp, &reset, IBV_QP_STATE), "a reset");
	pair_connect(&far, near.a.qp, far.a.qp);
	pair_connect(&near, far.a.qp, near.a.qp);

	on_first = near.b.mr;
	on_second = ibv_reg_mr(far.pd, near.b.memory, PAIR_MEMORY,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_must(on_second != NULL, "a region of the second device");
	near.b.mr = mended ? on_second : on_first; /* what the peer is told of */
	pair_post(&near.a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&near.a);

	near.b.mr = on_first;
	pair_must(!ibv_dereg_mr(on_second) && !ibv_destroy_qp(far.a.qp) &&
			  !ibv_destroy_cq(far.a.cq) && !ibv_dealloc_pd(far.pd) &&
			  !ibv_close_device(far.context),
		  "the end of the second device");
	pair_close(&near);
	return 0;
}
