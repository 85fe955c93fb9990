/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes a receive request of an RQ or SRQ, scatters data into it, completes it. */
#include "receive_wr.h"

#include "emu/core/base/base.h"
#include "emu/core/keys/keys.h"
#include "emu/core/queues/queues.h"
#include "wire/bytes.h"
#include "wire/syndrome.h"

static struct sgl list_of(const struct qp *qp)
{
	/* With an SRQ the keys are those of the SRQ's protection domain (10.2.9.1). */
	return (struct sgl){qp->dev, qp->srq ? qp->srq->pd : qp->pd, qp->resp.wr.sge,
			    qp->resp.wr.num_sge};
}

static struct recv_queue *queue_of(struct qp *qp)
{
	return qp->srq ? &qp->srq->rq : &qp->rq;
}

static void broken(struct qp *qp)
{
	if (qp->srq)
		srq_fail(qp->srq);
	else
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
}

/* Makes resp.wr a copy of the next request, which stays in its queue. */
static bool look(struct qp *qp)
{
	if (qp->srq && qp->srq->error)
		return false;
	switch (recv_peek(queue_of(qp), &qp->resp.wr)) {
	case FETCH_OK:
		return true;
	case FETCH_EMPTY:
		return false;
	case FETCH_BROKEN:
		broken(qp);
		return false;
	}
	return false;
}

static void recv_wr_take(struct qp *qp)
{
	recv_take(queue_of(qp));
	qp->resp.have_wr = true;
	if (qp->srq)
		srq_check_limit(qp->srq);
}

bool receive_take(struct qp *qp)
{
	if (!qp->resp.have_wr && look(qp))
		recv_wr_take(qp);
	return qp->resp.have_wr;
}

enum receive_fit receive_take_fitting(struct qp *qp, uint64_t length)
{
	if (!qp->resp.have_wr && !look(qp))
		return RECEIVE_NONE;
	if (length > receive_capacity(qp))
		return RECEIVE_TOO_SHORT;
	if (!qp->resp.have_wr)
		recv_wr_take(qp);
	return RECEIVE_TAKEN;
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

struct uhca_abi_cause receive_cause(const struct qp *qp)
{
	struct sgl l = list_of(qp);

	return sgl_cause(&l, MR_LOCAL_WRITE);
}

/* Where the first bytes of the request at hand are, if they stand together in such memory. */
static bool locate(const struct qp *qp, uint32_t length, uint64_t *addr)
{
	struct sgl l = list_of(qp);
	struct core_span span;
	uint32_t walked;
	struct mr *mr;

	if (l.n == 0 || length == 0 || length > l.sge[0].length ||
	    mr_check(l.pd, l.sge[0].lkey, l.sge[0].addr, length, MR_LOCAL_WRITE, &mr) != MR_OK ||
	    mr->kind != MR_KIND_MEMORY || (mr->access & MR_ON_DEMAND) ||
	    mr->obj.client != qp->recv_cq->obj.client ||
	    mr_spans(mr, l.sge[0].addr, length, &span, 1, &walked) != 1 || walked != length ||
	    span.space != CORE_SPACE_CLIENT)
		return false;
	*addr = span.addr;
	return !qp->dev->ops->mem_there || qp->dev->ops->mem_there(mr->obj.client->cookie, &span);
}

bool receive_copy_on_poll(struct qp *qp, const struct iovec *iov, unsigned n,
			  struct uhca_abi_cqe *e)
{
	uint64_t addr;

	/* Who goes by a counter does not poll, and would never copy. */
	if (qp->counter[UHCA_ABI_COMP_RECV])
		return false;
	return locate(qp, sgl_iov_length(iov, n), &addr) &&
	       cq_copy_on_poll(qp->recv_cq, addr, iov, n, e);
}

/* Returns the vendor error. */
static uint32_t account_failure(struct qp *qp, uint8_t status)
{
	struct core_counters *c = &qp->dev->counters;

	c->receive_errors++;
	c->receive_flushes += status == UHCA_ABI_WC_WR_FLUSH_ERR;
	c->receive_lengths += status == UHCA_ABI_WC_LOC_LEN_ERR;
	if (qp->dev->cfg.errors == CORE_ERRORS_MLX5)
		return vendor_err_mlx5(status, qp->dev->cause.kind, qp->failed);
	return vendor_err_receive(status);
}

void receive_complete(struct qp *qp, struct uhca_abi_cqe *e)
{
	e->wr_id = qp->resp.wr.wr_id;
	e->qpn = qp->qpn;
	e->srqn = qp->type == QPT_XRC_RECV ? qp->srq->srq_num : 0;
	e->vendor_err = e->status ? account_failure(qp, e->status) : 0;
	qp->resp.have_wr = false;
	if (!cq_push_counted(qp->recv_cq, e, qp->counter[UHCA_ABI_COMP_RECV]))
		qp_fail(qp, UHCA_ABI_EVENT_QP_FATAL);
}

void receive_complete_last(struct qp *qp, const struct core_burst *t,
			   const struct roce_opcode_info *last, struct uhca_abi_cqe *e)
{
	if (last->headers & ROCE_HDR_IMMDT) {
		roce_store_be32((uint8_t *)&e->imm, t->head.immdt);
		e->flags |= UHCA_ABI_WC_WITH_IMM;
	}
	if (t->last_solicited)
		e->flags |= UHCA_ABI_WC_SOLICITED;
	receive_complete(qp, e);
}

void receive_abandon(struct qp *qp)
{
	if (qp->resp.have_wr && qp->srq)
		srq_abandon(qp->srq);
	qp->resp.have_wr = false;
}

uint8_t receive_credits(const struct qp *qp)
{
	if (qp->srq || qp->type == QPT_XRC_RECV)
		return ROCE_CREDITS_UNLIMITED;
	return roce_credits_encode(recv_available(&qp->rq));
}
