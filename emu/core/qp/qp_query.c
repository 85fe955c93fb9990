/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Query Queue Pair (IBTA vol. 1, chapter 11; ibv_query_qp(3)): what modify set, with the PSNs as
 * they stand now.
 */
#include "qp.h"
#include "qp_share.h"

static bool is_receiving(const struct qp *qp)
{
	return qp->state == QPS_RTR || qp->state == QPS_RTS || qp->state == QPS_SQD ||
	       qp->state == QPS_SQE;
}

static bool is_sending(const struct qp *qp)
{
	return qp->state == QPS_RTS || qp->state == QPS_SQD || qp->state == QPS_SQE;
}

static void fill(const struct qp *qp, struct uhca_abi_qp_attr *a)
{
	*a = qp->attr;
	a->qp_state = qp->state;
	a->cur_qp_state = qp->state;
	if (qp->type != QPT_UD && is_receiving(qp))
		a->rq_psn = qp->resp.epsn;
	if (is_sending(qp))
		a->sq_psn = qp->req.next_psn;
	a->sq_draining = qp->state == QPS_SQD && qp->req.draining;
	a->max_send_wr = qp->max_send_wr;
	a->max_recv_wr = qp->max_recv_wr;
	a->max_send_sge = qp->max_send_sge;
	a->max_recv_sge = qp->max_recv_sge;
	a->max_inline_data = qp->max_inline_data;
}

int core_query_qp(struct client *c, uint32_t handle, struct uhca_cmd_query_qp_reply *out)
{
	struct qp *qp;
	int err = qp_find(c, handle, &qp);
	if (err)
		return err;
	fill(qp, &out->attr);
	out->sq_sig_all = qp->sq_sig_all;
	out->reserved = 0;
	return 0;
}
