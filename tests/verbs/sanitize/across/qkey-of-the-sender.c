/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Q_Key with its highest bit set stands for the sender's own one, and not for itself.
 *
 * Found by: qkey-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define SERVER_QKEY 0x80010000u

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far_link how = far_usual();
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_UD,
					   .cap = {FAR_DEPTH, FAR_DEPTH, 1, 1, 0},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.hop_limit = 1};
	struct ibv_qp_ex *qpx;
	struct ibv_ah *ah;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	attr.send_cq = attr.recv_cq = f.cq;
	attr.pd = f.pd;
	f.qp = ibv_create_qp_ex(f.context, &attr);
	pair_must(f.qp != NULL, "ibv_create_qp_ex");
	far_exchange(&f);
	how.qkey = f.server || mended ? SERVER_QKEY : FAR_QKEY;
	far_connect(&f, how); /* <- */
	to.grh.dgid = f.there.gid;
	ah = ibv_create_ah(f.pd, &to);
	qpx = ibv_qp_to_qp_ex(f.qp);
	if (!f.server) {
		ibv_wr_start(qpx);
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_ud_addr(qpx, ah, f.there.qpn, SERVER_QKEY);
		ibv_wr_set_sge(qpx, f.mr->lkey, (uintptr_t)f.memory, 64);
		pair_must(!ibv_wr_complete(qpx), "ibv_wr_complete"); /* <- */
		far_wait(&f);
	}
	ibv_destroy_ah(ah);
	far_meet(&f);
	far_close(&f);
	return 0;
}
