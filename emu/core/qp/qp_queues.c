/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs as those who use queues: what the queues ask of them (queue_users.h). */
#include "emu/core/queues/queues.h"
#include "qp.h"

/* A QP that is being destroyed is in no table any more. */
static void count_error(const struct device *dev, uint32_t qpn)
{
	struct qp *qp = device_find_qp(dev, qpn);

	if (qp)
		qp->counters.errors++;
}

/* All queues of an rsocket complete to one CQ, and all its requests are signaled. */
static bool is_like_rsocket(const struct device *dev, uint32_t qpn)
{
	const struct qp *qp = device_find_qp(dev, qpn);

	return qp && qp->type == QPT_RC && !qp->srq && qp->send_cq == qp->recv_cq && qp->sq_sig_all;
}

void qp_use_srq(struct qp *qp, struct srq *srq)
{
	qp->srq = srq;
	qp->pd = srq ? srq->pd : NULL;
	qp->recv_cq = srq ? srq->cq : NULL;
}

/* READs that are being answered with rights of this protection domain lose them. */
static void forget_pd(struct replay *r, const struct pd *pd)
{
	for (uint32_t i = 0; i < r->size; i++)
		if (r->entry[i].pd == pd)
			r->entry[i].pd = NULL;
}

static void forget_srq(struct device *dev, const struct srq *srq)
{
	uint32_t cursor = 0;
	for (struct qp *qp; (qp = table_next(&dev->qps, &cursor));) {
		if (qp->type != QPT_XRC_RECV || qp->domain != srq->xrcd->domain)
			continue;
		forget_pd(&qp->resp.replay, srq->pd);
		if (qp->srq != srq)
			continue;
		qp->resp.have_wr = false;
		qp_use_srq(qp, NULL);
	}
}

const struct queue_users qp_queue_users = {
	.count_error = count_error,
	.is_like_rsocket = is_like_rsocket,
	.forget_srq = forget_srq,
};
