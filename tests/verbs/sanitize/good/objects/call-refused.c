/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_ah_attr to = {.port_num = 1, .is_global = 1};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct pair p;

	pair_open(&p);
	init.send_cq = init.recv_cq = p.a.cq;
	qp = ibv_create_qp(p.pd, &init);
	pair_must(qp != NULL, "a queue pair");

	ibv_modify_qp(qp, &attr,
		      IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	ibv_query_gid(p.context, 1, 0, &to.grh.dgid);
	ah = ibv_create_ah(p.pd, &to);
	pair_must(ah != NULL, "an address handle");

	ibv_destroy_ah(ah);
	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
