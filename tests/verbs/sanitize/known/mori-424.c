/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MORI, https://github.com/ROCm/mori/pull/424
 *
 * A transfer is announced by 16 bytes from the stack, which are not registered and so go inline.
 * The queue pair was created without a word of inline data: adapters that take it by the word
 * refuse the post.
 *
 * Found by: inline-unasked
 */
#include "tests/verbs/sanitize/pair.h"

struct notification {
	uint64_t id, status;
};

int main(int argc, char **argv)
{
	uint32_t asked = pair_mended(argc, argv) ? 64 : 0;
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_RC,
					   .cap = {4, 4, 1, 1, asked},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct notification n = {1, 0};
	struct ibv_qp_ex *qpx;
	struct pair p;

	pair_open(&p);
	attr.pd = p.pd;
	attr.send_cq = attr.recv_cq = p.a.cq;
	qpx = ibv_qp_to_qp_ex(ibv_create_qp_ex(p.context, &attr));
	pair_must(qpx != NULL, "a queue pair");
	pair_connect(&p, &qpx->qp_base, &qpx->qp_base);
	pair_recv(&(struct end){.qp = &qpx->qp_base, .memory = p.a.memory, .mr = p.a.mr}, 1, 0, 64);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, &n, sizeof(n));
	if (!ibv_wr_complete(qpx)) {
		pair_wait(&p.a);
		pair_wait(&p.a);
	}
	pair_must(!ibv_destroy_qp(&qpx->qp_base), "ibv_destroy_qp");
	pair_close(&p);
	return 0;
}
