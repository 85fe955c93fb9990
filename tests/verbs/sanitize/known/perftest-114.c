/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perftest, https://github.com/linux-rdma/perftest/issues/114
 *
 * ib_read_lat moves its queue pair to RTS with the number of READs that the peer has told, which is
 * more than its own adapter can ask at a time.
 *
 * Found by: call-refused
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static int to_rts(struct far *f, int out_reads)
{
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 6,
				  .max_rd_atomic = (uint8_t)out_reads};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT;

	mask |= IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(f->qp, &rts, mask); /* <- */
}

int main(int argc, char **argv)
{
	struct ibv_device_attr device;
	struct far f;
	int out_reads;

	far_open(&f, IBV_QPT_RC);
	pair_must(!ibv_query_device(f.context, &device), "ibv_query_device");
	out_reads = device.max_qp_init_rd_atom;
	if (!f.server && !pair_mended(argc, argv))
		out_reads++; /* the peer's adapter has more */
	far_init(&f, far_usual());
	far_rtr(&f, far_usual());
	to_rts(&f, out_reads);
	far_meet(&f);
	far_close(&f);
	return 0;
}
