/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Execution of requests that passed the responder's stages (IBTA vol. 1, 9.7.4 and 9.7.5): keys and
 * ranges are judged, memory is read and written, receives complete, answers are queued.
 */
#include "execute.h"

#include "answer.h"
#include "atomic.h"
#include "emu/core/keys/keys.h"
#include "receive_wr.h"
#include "wire/psn.h"

#include <errno.h>
#include <string.h>

/* The key of a request does not open what it asks for, or what is behind it cannot be reached. */
static enum verdict refuse(struct qp *qp, enum verdict v, const struct key_access *a)
{
	if (!device_explains(qp->dev))
		return v;
	return request_fault(qp, v, key_cause(qp_key_user(qp), a));
}

/* Memory that is gone is an error; an owner that is gone answers nobody any more. */
static enum verdict memory_verdict(struct qp *qp, int err, const struct key_access *a)
{
	return err == -ESRCH ? V_DONE : refuse(qp, V_OPERATION, a);
}

/* The same of the receive request at hand. */
static enum verdict receive_verdict(struct qp *qp, int err)
{
	if (err == -ESRCH)
		return V_DONE;
	return request_fault(qp, V_OPERATION, receive_cause(qp));
}

/* Judges the access of a request; on V_OK *at is the address in the region *mr. */
static enum verdict open_key(struct qp *qp, const struct key_access *a, uint64_t *at,
			     struct mr **mr)
{
	*at = a->addr;
	if (remote_check(qp_key_user(qp), a->key, at, a->length, a->need, mr) == MR_OK)
		return V_OK;
	return refuse(qp, V_ACCESS, a);
}

static struct key_access access_of(uint32_t key, uint64_t addr, uint64_t length, uint32_t need)
{
	return (struct key_access){key, addr, length, need, true};
}

static enum verdict put_write(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;
	struct key_access a;
	bool judged = false; /* the bytes of this burst, with the whole range */
	struct mr *mr;
	uint64_t at;
	int err;

	if (roce_opcode_is_first(t->head.bth.opcode)) {
		r->write_addr = t->head.reth.va;
		r->write_rkey = t->head.reth.rkey;
		r->write_left = r->write_length = t->head.reth.length;
		/*
		 * The whole range is judged before its first byte moves; zero length needs no key.
		 */
		a = access_of(r->write_rkey, r->write_addr, r->write_left, MR_REMOTE_WRITE);
		if (r->write_left && open_key(qp, &a, &at, &mr) != V_OK)
			return V_ACCESS;
		judged = r->write_left && t->length <= r->write_left;
	}
	if (t->length) {
		a = access_of(r->write_rkey, r->write_addr, t->length, MR_REMOTE_WRITE);
		if (!judged && open_key(qp, &a, &at, &mr) != V_OK)
			return V_ACCESS;
		err = sgl_write_mr(qp->dev, mr, at, t->iov, t->n_iov);
		if (err)
			return memory_verdict(qp, err, &a);
	}
	r->write_addr += t->length;
	r->write_left -= t->length;
	return V_OK;
}

static void finish_receive(struct qp *qp, const struct core_burst *t, struct uhca_abi_cqe *e)
{
	const struct roce_opcode_info *last = request_last_info(t);

	e->src_qp = qp->attr.dest_qp_num;
	e->opcode = last->operation == ROCE_OP_WRITE ? UHCA_ABI_WC_RECV_RDMA_WITH_IMM
						     : UHCA_ABI_WC_RECV;
	receive_complete_last(qp, t, last, e);
}

/* The key goes before the receive completes; a message whose key may not be taken has failed. */
static enum verdict invalidate_for_peer(struct qp *qp, const struct core_burst *t,
					struct uhca_abi_cqe *e)
{
	if (!(request_last_info(t)->headers & ROCE_HDR_IETH))
		return V_OK;
	if (!(qp->dev->cfg.features & UHCA_ABI_HAS_INVALIDATE))
		return request_fault(qp, V_INVALID, CAUSE(OPERATION, .got = 0));
	if (!invalidate_key(qp_key_user(qp), t->head.ieth))
		return request_fault(qp, V_KEY, CAUSE(INVALIDATE, .key = t->head.ieth));
	e->imm = t->head.ieth;
	e->flags |= UHCA_ABI_WC_WITH_INV;
	return V_OK;
}

/* A message of one burst that takes no key with it. */
static bool may_copy_on_poll(const struct qp *qp, const struct core_burst *t)
{
	return qp->resp.received == 0 && request_ends_message(t) &&
	       !(request_last_info(t)->headers & ROCE_HDR_IETH);
}

static enum verdict execute_send(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;
	struct uhca_abi_cqe e = {.byte_len = r->received + t->length};
	int err = 0;
	enum verdict v;

	if (!may_copy_on_poll(qp, t) || !receive_copy_on_poll(qp, t->iov, t->n_iov, &e))
		err = receive_place(qp, r->received, t->iov, t->n_iov);
	if (err)
		return receive_verdict(qp, err);
	r->received += t->length;
	r->message = request_ends_message(t) ? MESSAGE_NONE : MESSAGE_SEND;
	if (!request_ends_message(t))
		return V_OK;
	v = invalidate_for_peer(qp, t, &e);
	if (v == V_OK)
		finish_receive(qp, t, &e);
	return v;
}

static enum verdict execute_write(struct qp *qp, const struct core_burst *t)
{
	struct responder *r = &qp->resp;
	enum verdict v = put_write(qp, t);
	struct uhca_abi_cqe e = {.byte_len = r->write_length};

	if (v != V_OK)
		return v;
	r->message = request_ends_message(t) ? MESSAGE_NONE : MESSAGE_WRITE;
	if (request_ends_message(t))
		qp_count(qp, UHCA_ABI_COMP_REMOTE_RDMA_WRITE, true, r->write_length);
	if (request_ends_message(t) && request_wants_receive(t))
		finish_receive(qp, t, &e);
	return V_OK;
}

static enum verdict execute_read(struct qp *qp, const struct core_burst *t)
{
	const struct roce_reth *h = &t->head.reth;
	const struct key_access a = access_of(h->rkey, h->va, h->length, MR_REMOTE_READ);
	struct mr *mr;
	uint64_t at;

	if (h->length && open_key(qp, &a, &at, &mr) != V_OK)
		return V_ACCESS;
	answer_new(qp, &(struct replay_entry){
			       .kind = REPLAY_READ,
			       .psn = t->head.bth.psn,
			       .n_psn = request_psns(qp, t),
			       .msn = psn_add(qp->resp.msn, 1),
			       .pd = qp->pd,
			       .va = h->va,
			       .rkey = h->rkey,
			       .length = h->length,
		       });
	return V_OK;
}

/* The bytes do not stand together where indirect memory keys lead (direct verbs). */
static enum verdict not_atomic(struct qp *qp, const struct key_access *a)
{
	return request_fault(qp, V_INVALID,
			     CAUSE(ALIGNMENT, .key = a->key, .at = a->addr, .bytes = a->length,
				   .expected = a->length));
}

static enum verdict execute_atomic(struct qp *qp, const struct core_burst *t)
{
	struct roce_atomiceth h = t->head.atomiceth;
	const struct key_access a = access_of(h.rkey, h.va, 8, MR_REMOTE_ATOMIC);
	bool cas = request_info(t)->operation == ROCE_OP_CMP_SWAP;
	uint64_t original;
	struct mr *mr;
	int err;

	if (open_key(qp, &a, &h.va, &mr) != V_OK)
		return V_ACCESS;
	if (!indirect_is_atomic(mr, h.va, 8))
		return not_atomic(qp, &a);
	err = atomic_execute(qp->dev, mr, &h, cas, &original);
	if (err)
		return memory_verdict(qp, err, &a);
	answer_new(qp, &(struct replay_entry){
			       .kind = REPLAY_ATOMIC,
			       .psn = t->head.bth.psn,
			       .n_psn = 1,
			       .msn = psn_add(qp->resp.msn, 1),
			       .pd = qp->pd,
			       .va = t->head.atomiceth.va,
			       .rkey = h.rkey,
			       .original = original,
		       });
	return V_OK;
}

static enum verdict execute_masked(struct qp *qp, const struct core_burst *t)
{
	const struct roce_reth *h = &t->head.reth;
	struct replay_entry e = {
		.kind = REPLAY_MASKED,
		.psn = t->head.bth.psn,
		.n_psn = 1,
		.msn = psn_add(qp->resp.msn, 1),
		.length = h->length,
	};
	struct masked_int original;
	struct masked_atomic m;
	struct key_access a;
	struct mr *mr;
	uint64_t at;
	int err;

	if (!masked_parse(qp->dev->cfg.features, t, &m))
		return V_INVALID;
	a = access_of(h->rkey, h->va, m.size, MR_REMOTE_ATOMIC);
	if (open_key(qp, &a, &at, &mr) != V_OK)
		return V_ACCESS;
	if (!indirect_is_atomic(mr, at, m.size))
		return not_atomic(qp, &a);
	err = masked_execute(qp->dev, mr, at, &m, &original);
	if (err)
		return memory_verdict(qp, err, &a);
	masked_store_be(&original, m.size, e.masked);
	answer_new(qp, &e);
	return V_OK;
}

static void answer_placed(struct qp *qp, const struct core_burst *t)
{
	answer_new(qp, &(struct replay_entry){
			       .kind = REPLAY_PLACED,
			       .psn = t->head.bth.psn,
			       .n_psn = 1,
			       .msn = psn_add(qp->resp.msn, 1),
		       });
}

/*
 * What came before in this QP is in the client's memory, for all to see, at the latest now: beyond
 * that a FLUSH has only to be allowed. Selectivity 1 means the whole region.
 */
static enum verdict execute_flush(struct qp *qp, const struct core_burst *t)
{
	const struct roce_reth *h = &t->head.reth;
	uint32_t length = t->head.feth.selectivity == 1 ? 0 : h->length;
	const struct key_access a = access_of(h->rkey, h->va, length, request_flush_rights(t));
	struct mr *mr;
	uint64_t at;

	if (t->head.feth.selectivity > 1)
		return request_fault(qp, V_INVALID, CAUSE(OPERATION, .got = 0));
	if (open_key(qp, &a, &at, &mr) != V_OK)
		return V_ACCESS;
	make_visible(qp->dev, BEFORE_ACCESS, NULL);
	answer_placed(qp, t);
	return V_OK;
}

static enum verdict execute_atomic_write(struct qp *qp, const struct core_burst *t)
{
	const struct roce_reth *h = &t->head.reth;
	const struct key_access a = access_of(h->rkey, h->va, 8, MR_REMOTE_WRITE);
	struct mr *mr;
	uint64_t at;
	int err;

	if (open_key(qp, &a, &at, &mr) != V_OK)
		return V_ACCESS;
	err = sgl_write_mr(qp->dev, mr, at, t->iov, t->n_iov);
	if (err)
		return memory_verdict(qp, err, &a);
	answer_placed(qp, t);
	return V_OK;
}

enum verdict execute_request(struct qp *qp, const struct core_burst *t)
{
	switch (request_info(t)->operation) {
	case ROCE_OP_SEND:
		return execute_send(qp, t);
	case ROCE_OP_WRITE:
		return execute_write(qp, t);
	case ROCE_OP_READ_REQ:
		return execute_read(qp, t);
	case ROCE_OP_CMP_SWAP:
	case ROCE_OP_FETCH_ADD:
		return execute_atomic(qp, t);
	case ROCE_OP_MASKED_CMP_SWAP:
	case ROCE_OP_MASKED_FETCH_ADD:
		return execute_masked(qp, t);
	case ROCE_OP_FLUSH:
		return execute_flush(qp, t);
	case ROCE_OP_ATOMIC_WRITE:
		return execute_atomic_write(qp, t);
	case ROCE_OP_READ_RESP:
	case ROCE_OP_ACK:
	case ROCE_OP_ATOMIC_ACK:
	case ROCE_OP_CNP:
	case ROCE_OP_COUNT:
		break;
	}
	return V_INVALID;
}
