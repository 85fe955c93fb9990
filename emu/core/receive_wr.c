/* SPDX-License-Identifier: BSD-2-Clause */
#include "receive_wr.h"

#include "sgl.h"
#include "syndrome.h"
#include "vendor_err.h"
#include "wqe_fetch.h"

#include <string.h>

static struct sgl list_of(const struct qp *qp)
{
	/* With an SRQ the keys are those of the SRQ's protection domain (10.2.9.1). */
	return (struct sgl){qp->dev, qp->srq ? qp->srq->pd : qp->pd, qp->resp.wr.sge,
			    qp->resp.wr.num_sge};
}

static bool take_from_srq(struct qp *qp)
{
	struct srq *srq = qp->srq;

	if (srq->error)
		return false;
	switch (recv_fetch(&srq->rq, &qp->resp.wr)) {
	case FETCH_OK:
		srq_check_limit(srq);
		return true;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		srq_fail(srq);
		return false;
	}
	return false;
}

static bool take_from_rq(struct qp *qp)
{
	switch (recv_fetch(&qp->rq, &qp->resp.wr)) {
	case FETCH_OK:
		return true;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
		return false;
	}
	return false;
}

bool receive_take(struct qp *qp)
{
	struct responder *r = &qp->resp;

	if (!r->have_wr)
		r->have_wr = qp->srq ? take_from_srq(qp) : take_from_rq(qp);
	return r->have_wr;
}

uint64_t receive_capacity(const struct qp *qp)
{
	struct sgl l = list_of(qp);

	return sgl_length(&l);
}

int receive_place(struct qp *qp, uint32_t offset, const struct iovec *iov, unsigned n)
{
	struct sgl l = list_of(qp);

	return n ? sgl_write(&l, offset, iov, n) : 0;
}

void receive_complete(struct qp *qp, struct uhca_abi_cqe *e)
{
	e->wr_id = qp->resp.wr.wr_id;
	e->qpn = qp->qpn;
	e->vendor_err = vendor_err_receive(e->status);
	qp->resp.have_wr = false;
	if (!cq_push(qp->recv_cq, e))
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
}

uint8_t receive_credits(const struct qp *qp)
{
	if (qp->srq || qp->type == QPT_XRC_RECV)
		return ROCE_CREDITS_UNLIMITED;
	return roce_credits_encode(recv_available(&qp->rq));
}
