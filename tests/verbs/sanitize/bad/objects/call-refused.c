/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

int main(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_ah_attr to = {.port_num = 1, .dlid = 7};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp;
	struct pair p;

	pair_open(&p);
	init.send_cq = init.recv_cq = p.a.cq;
	qp = ibv_create_qp(p.pd, &init);
	pair_must(qp != NULL, "a queue pair");

	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT); /* <- */
	ibv_create_ah(p.pd, &to);                             /* <- */

	ibv_destroy_qp(qp);
	pair_close(&p);
	return 0;
}
