/* SPDX-License-Identifier: BSD-2-Clause */
/* See model.h: completions and memory against what was posted. */
#include "model.h"

#include "wire/grh.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(q, cond)                                                                             \
	do {                                                                                       \
		if (!(cond))                                                                       \
			world_fail((q)->m->w, "%s:%d: qp %u (0x%x): %s", __FILE__, __LINE__,       \
				   (q)->index, (q)->qp->qpn, #cond);                               \
	} while (0)

/* ---- requests ---- */

static uint8_t completion_opcode(uint8_t wr)
{
	static const uint8_t opcode[] = {
		[UHCA_ABI_WR_RDMA_WRITE] = UHCA_ABI_WC_RDMA_WRITE,
		[UHCA_ABI_WR_RDMA_WRITE_WITH_IMM] = UHCA_ABI_WC_RDMA_WRITE,
		[UHCA_ABI_WR_SEND] = UHCA_ABI_WC_SEND,
		[UHCA_ABI_WR_SEND_WITH_IMM] = UHCA_ABI_WC_SEND,
		[UHCA_ABI_WR_SEND_WITH_INV] = UHCA_ABI_WC_SEND,
		[UHCA_ABI_WR_BIND_MW] = UHCA_ABI_WC_BIND_MW,
		[UHCA_ABI_WR_RDMA_READ] = UHCA_ABI_WC_RDMA_READ,
		[UHCA_ABI_WR_ATOMIC_CMP_AND_SWP] = UHCA_ABI_WC_COMP_SWAP,
		[UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD] = UHCA_ABI_WC_FETCH_ADD,
		[UHCA_ABI_WR_LOCAL_INV] = UHCA_ABI_WC_LOCAL_INV,
		[UHCA_ABI_WR_REG_MR] = UHCA_ABI_WC_REG_MR,
		[UHCA_ABI_WR_REG_INTERLEAVED] = UHCA_ABI_WC_REG_INTERLEAVED,
		[UHCA_ABI_WR_REG_SG] = UHCA_ABI_WC_REG_SG,
		[UHCA_ABI_WR_READ_WITH_INV] = UHCA_ABI_WC_READ_WITH_INV,
	};

	return opcode[wr];
}

void model_retire(struct model_qp *q, unsigned i)
{
	struct model_send *s = &q->send[i];
	struct memory *mem = &q->qp->c->mem;

	/* A READ is complete: its bytes stand in the local elements. */
	if (model_is_read(s->wr.opcode)) {
		CHECK(q, model_holds(mem, &s->here, 0, s->data, s->length));
		model_expect(mem, &s->here, s->data, s->length);
	}
	if (s->cell) {
		model_load(mem, &s->here, &s->returned, 8);
		model_expect(mem, &s->here, &s->returned, 8);
	} else if (model_is_atomic(s->wr.opcode) && !s->fate) {
		CHECK(q, model_holds(mem, &s->here, 0, s->data, 8));
		model_expect(mem, &s->here, s->data, 8);
	}
}

/* Of a request that did not succeed: from its completion on the memory is the client's again. */
static void give_back(struct model_qp *q, unsigned i)
{
	const struct model_send *s = &q->send[i];

	if (model_is_atomic(s->wr.opcode) || model_is_read(s->wr.opcode))
		model_accept(&q->qp->c->mem, &s->here);
}

/* The first error of a QP. */
static void send_failed(struct model_qp *q, unsigned i, const struct uhca_abi_cqe *e)
{
	uint32_t may = q->may_fail & ~(1u << UHCA_ABI_WC_WR_FLUSH_ERR);

	if (q->stopped)
		may |= MODEL_STOPPED;
	may |= q->send[i].fate;
	/* A QP in ERR does not answer again (10.3.1.7): a lost NAK, or ACK before it, is lost. */
	if (q->doomed && q->m->loses)
		may |= 1u << UHCA_ABI_WC_RETRY_EXC_ERR;
	if (!(may & 1u << e->status))
		world_fail(q->m->w, "qp %u (0x%x): send %u completes with status %u", q->index,
			   q->qp->qpn, i, e->status);
	q->failed = true;
	for (; q->completed < i; q->completed++)
		model_retire(q, q->completed);
	q->good = i;
	give_back(q, i);
	q->completed = i + 1;
}

static void send_completion(struct model_qp *q, const struct uhca_abi_cqe *e)
{
	unsigned i = (uint32_t)e->wr_id;
	const struct model_send *s;

	CHECK(q, i < q->n_send && i >= q->completed);
	s = &q->send[i];
	if (q->failed) {
		CHECK(q, e->status == UHCA_ABI_WC_WR_FLUSH_ERR);
		CHECK(q, i == q->completed);
		give_back(q, i);
		q->completed = i + 1;
		return;
	}
	for (unsigned k = q->completed; k < i; k++)
		CHECK(q, !q->send[k].signaled && !q->send[k].fate);
	if (e->status != UHCA_ABI_WC_SUCCESS) {
		send_failed(q, i, e);
		return;
	}
	CHECK(q, s->signaled && !s->fate);
	CHECK(q, e->opcode == completion_opcode(s->wr.opcode));
	if (model_is_read(s->wr.opcode) || model_is_atomic(s->wr.opcode))
		CHECK(q, e->byte_len == s->length);
	CHECK(q,
	      !!(e->flags & UHCA_ABI_WC_WITH_INV) == (s->wr.opcode == UHCA_ABI_WR_READ_WITH_INV));
	if (s->wr.opcode == UHCA_ABI_WR_READ_WITH_INV)
		CHECK(q, e->imm == s->inv_key);
	for (; q->completed <= i; q->completed++)
		model_retire(q, q->completed);
}

/* ---- receives ---- */

/* A SEND behind the WRITE that must fail may have left bytes in the receive that both work on. */
static bool spilt_on(const struct model_qp *q, unsigned i)
{
	const struct model_recvs *rs = q->peer->recvs;
	bool spilt = false;

	for (unsigned k = i + 1; k < q->n_send; k++)
		spilt |= q->send[k].fate && model_is_send(q->send[k].wr.opcode);
	for (unsigned k = 0; spilt && k < rs->n; k++)
		if (rs->list[k].shared && model_overlap(&rs->list[k].at, &q->send[i].there))
			return true;
	return false;
}

/* RC: a WRITE that was posted before this message is in place (IBTA vol. 1, 10.8.3.3). */
static void check_write_visible(struct model_qp *q, unsigned i)
{
	const struct model_send *s = &q->send[i];

	if (s->wr.opcode != UHCA_ABI_WR_RDMA_WRITE || !s->length)
		return;
	if (model_holds(s->mem, &s->there, 0, s->data, s->length))
		return;
	for (unsigned k = i + 1; k < q->n_send; k++) {
		const struct model_send *o = &q->send[k];

		if (model_modifies(o) && model_overlap(&o->there, &s->there))
			return; /* overwritten since */
	}
	if (spilt_on(q, i))
		return;
	world_fail(q->m->w, "qp %u: WRITE %u is not visible before a later receive completes",
		   q->index, i);
}

/* What the device stored there is what is expected from now on. */
static void accept_bytes(struct memory *mem, const struct model_recv *r, uint32_t length)
{
	for (uint32_t i = 0; i < r->at.n && length; i++) {
		const struct uhca_abi_sge *g = &r->at.piece[i];
		uint32_t n = g->length < length ? g->length : length;

		if (n)
			memory_expect(mem, g->addr, memory_at(mem, g->addr, n), n);
		length -= n;
	}
}

static struct memory *recvs_memory(const struct model_recvs *rs)
{
	return rs->srq ? &rs->srq->c->mem : &rs->qp->c->mem;
}

static bool with_imm(const struct model_send *s)
{
	return s->wr.opcode == UHCA_ABI_WR_SEND_WITH_IMM ||
	       s->wr.opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
}

/* Everything but the bytes. */
static bool same_fields(const struct model_send *s, const struct uhca_abi_cqe *e, uint32_t extra)
{
	bool write = s->wr.opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;

	if (!!(e->flags & UHCA_ABI_WC_WITH_INV) != (s->wr.opcode == UHCA_ABI_WR_SEND_WITH_INV))
		return false;
	if (s->wr.opcode == UHCA_ABI_WR_SEND_WITH_INV && e->imm != s->wr.imm)
		return false;
	return e->opcode == (write ? UHCA_ABI_WC_RECV_RDMA_WITH_IMM : UHCA_ABI_WC_RECV) &&
	       e->byte_len == s->length + extra &&
	       !!(e->flags & UHCA_ABI_WC_WITH_IMM) == with_imm(s) &&
	       (!with_imm(s) || e->imm == s->wr.imm) &&
	       !!(e->flags & UHCA_ABI_WC_SOLICITED) == !!(s->wr.flags & UHCA_ABI_SEND_SOLICITED);
}

static bool holds_message(struct memory *mem, const struct model_recv *r, uint32_t extra,
			  struct model_qp *from, const struct model_send *s)
{
	if (r->shared && model_is_send(s->wr.opcode))
		return s->length == 0 || (s->there.n && model_holds_or_later(from, s));
	if (s->wr.opcode != UHCA_ABI_WR_RDMA_WRITE_WITH_IMM)
		return model_holds(mem, &r->at, extra, s->data, s->length);
	if (model_is_reliable(from) || !s->length)
		return true; /* the image at the end, and check_write_visible, see to it */
	return model_holds(mem, &s->there, 0, s->data, s->length);
}

/* The next message of the QP that takes one of these receives: all of RC, those to an XRC SRQ. */
static struct model_send *next_message(struct model_qp *from, const struct model_recvs *rs)
{
	for (unsigned i = from->base; i < from->n_send; i++) {
		struct model_send *s = &from->send[i];

		if (model_consumes_recv(s) && !s->delivered && (!rs->xrc || s->recvs == rs))
			return s;
	}
	return NULL;
}

static void rc_delivered(struct model_qp *q, const struct model_recvs *rs,
			 const struct model_recv *r, const struct uhca_abi_cqe *e)
{
	struct model_qp *from = q->peer;
	struct model_send *s = next_message(from, rs);

	CHECK(q, s != NULL);
	for (; from->send + from->delivered < s; from->delivered++)
		check_write_visible(from, from->delivered);
	CHECK(q, !s->fate && same_fields(s, e, 0));
	CHECK(q, holds_message(recvs_memory(rs), r, 0, from, s));
	s->delivered = true;
}

/* UC and UD: some message of the sender that was not delivered, later ones only if in order. */
static void lossy_delivered(struct model_qp *q, struct model_qp *from, const struct model_recv *r,
			    const struct uhca_abi_cqe *e)
{
	bool ud = q->qp->type == IBV_QPT_UD;
	uint32_t extra = ud ? ROCE_GRH_LENGTH : 0;
	/* Of a connection that has ended, messages may still come. */
	unsigned first = q->m->duplicates || from->base ? 0 : from->delivered;

	for (unsigned i = first; i < from->n_send; i++) {
		struct model_send *s = &from->send[i];

		if (!model_consumes_recv(s) || (ud && s->to != q))
			continue;
		if (s->delivered && !q->m->duplicates)
			continue;
		if (!same_fields(s, e, extra) || !holds_message(&q->qp->c->mem, r, extra, from, s))
			continue;
		s->delivered = true;
		if (!ud && i >= from->base)
			from->delivered = i + 1;
		return;
	}
	world_fail(q->m->w, "qp %u (0x%x): received a message that was not sent (%u bytes)",
		   q->index, q->qp->qpn, e->byte_len);
}

static bool has_address(const struct model_qp *q, const uint8_t addr[16])
{
	const struct vhost *h = q->qp->c->host;

	return !memcmp(h->gid[0], addr, 16) || !memcmp(h->gid[1], addr, 16);
}

/* The sender that source QP number and GRH name. */
static struct model_qp *ud_sender(struct model_qp *q, const struct model_recv *r,
				  const struct uhca_abi_cqe *e)
{
	uint8_t grh[ROCE_GRH_LENGTH];
	struct roce_flow flow;

	CHECK(q, e->flags & UHCA_ABI_WC_GRH);
	CHECK(q, e->byte_len >= ROCE_GRH_LENGTH);
	model_load(&q->qp->c->mem, &r->at, grh, sizeof grh);
	CHECK(q, roce_grh_parse(grh, &flow));
	CHECK(q, has_address(q, flow.dst));
	for (unsigned i = 0; i < q->m->n_qps; i++) {
		struct model_qp *from = q->m->qp[i];

		if (model_has_number(from, e->src_qp) && has_address(from, flow.src))
			return from;
	}
	world_fail(q->m->w, "qp %u: datagram from an unknown QP 0x%x", q->index, e->src_qp);
}

static struct model_recv *take_recv(struct model_qp *q, struct model_recvs *rs,
				    const struct uhca_abi_cqe *e)
{
	uint32_t i = (uint32_t)e->wr_id;

	CHECK(q, (e->wr_id >> 32 & 0x7fffffff) == rs->index);
	CHECK(q, i < rs->n && !rs->list[i].done);
	if (!rs->srq)
		CHECK(q, i == rs->done);
	rs->list[i].done = true;
	rs->done++;
	return &rs->list[i];
}

static uint32_t recv_may_fail(const struct model_qp *q)
{
	uint32_t may = q->may_fail;

	if (q->stopped || q->doomed)
		may |= MODEL_STOPPED;
	if (q->peer && q->peer->doomed)
		may |= MODEL_REFUSED;
	return may;
}

static void recv_completion(struct model_qp *q, struct model_recvs *rs,
			    const struct uhca_abi_cqe *e)
{
	struct model_recv *r = take_recv(q, rs, e);
	struct memory *mem = recvs_memory(rs);

	if (e->status != UHCA_ABI_WC_SUCCESS) {
		if (!(recv_may_fail(q) & 1u << e->status))
			world_fail(q->m->w, "qp %u (0x%x): receive completes with status %u",
				   q->index, q->qp->qpn, e->status);
		/* A message that never became complete may have left bytes there. */
		if (!rs->scribbled)
			model_accept(mem, &r->at);
		return;
	}
	if (q->qp->type == IBV_QPT_UD) {
		lossy_delivered(q, ud_sender(q, r, e), r, e);
	} else {
		CHECK(q, !(e->flags & UHCA_ABI_WC_GRH));
		if (model_is_reliable(q))
			rc_delivered(q, rs, r, e);
		else
			lossy_delivered(q, q->peer, r, e);
	}
	if (e->opcode == UHCA_ABI_WC_RECV && !r->shared)
		accept_bytes(mem, r, e->byte_len);
}

/* The receives of an XRC SRQ that a completion belongs to: whose QP it was says nothing then. */
static struct model_recvs *xrc_recvs(const struct model *m, const struct uhca_abi_cqe *e)
{
	uint32_t i = e->wr_id >> 32 & 0x7fffffff;

	return e->wr_id >> 63 && i < m->n_recvs && m->recvs[i]->xrc ? m->recvs[i] : NULL;
}

void model_completion(struct model *m, struct vclient *c, const struct uhca_abi_cqe *e)
{
	struct model_recvs *xrc = xrc_recvs(m, e);

	m->completions++;
	for (unsigned i = 0; i < m->n_qps; i++) {
		struct model_qp *q = m->qp[i];

		if ((xrc ? q->qp->c->host != c->host : q->qp->c != c) || q->qp->qpn != e->qpn)
			continue;
		if (e->wr_id >> 63) {
			recv_completion(q, xrc ? xrc : q->recvs, e);
		} else {
			CHECK(q, e->wr_id >> 32 == q->index);
			send_completion(q, e);
		}
		return;
	}
	world_fail(m->w, "completion of an unknown QP 0x%x", e->qpn);
}

/* ---- the end ---- */

/* Nothing is known about what a request did that did not complete. */
static void forget(struct model_qp *q, const struct model_send *s)
{
	if (s->cell)
		s->cell->uncertain = true;
	if (!s->length)
		return;
	if (model_modifies(s))
		model_ignore(s->mem, &s->there);
	if (!q->failed && (model_is_read(s->wr.opcode) || model_is_atomic(s->wr.opcode)))
		model_ignore(&q->qp->c->mem, &s->here);
}

static void check_uc_write(struct model_qp *q, const struct model_send *s)
{
	struct memory *mem = &q->peer->qp->c->mem;
	uint8_t *now, *old;

	if (!s->length || !model_is_write(s->wr.opcode))
		return;
	now = malloc(s->length);
	old = malloc(s->length);
	assert(now && old);
	model_load(mem, &s->there, now, s->length);
	model_load_expected(mem, &s->there, old, s->length);
	for (uint32_t i = 0; i < s->length; i++)
		CHECK(q, now[i] == s->data[i] || now[i] == old[i]);
	if (q->m->lossless)
		CHECK(q, memcmp(now, s->data, s->length) == 0);
	free(now);
	free(old);
}

static void forget_recvs(struct model_recvs *r)
{
	struct vclient *c = r->srq ? r->srq->c : r->qp->c;

	for (unsigned i = 0; i < r->n; i++)
		if (!r->list[i].done)
			model_ignore(&c->mem, &r->list[i].at);
}

static void finish_failed(struct model_qp *q)
{
	if (q->failed)
		CHECK(q, q->completed == q->n_send);
	for (unsigned i = q->failed ? q->good : q->completed; i < q->n_send; i++)
		forget(q, &q->send[i]);
	model_lost_with(q);
	forget_recvs(q->peer->recvs);
}

static void finish_rc(struct model_qp *q)
{
	if (q->failed || q->peer->failed) {
		finish_failed(q);
		return;
	}
	for (; q->completed < q->n_send; q->completed++) {
		CHECK(q, !q->send[q->completed].signaled);
		model_retire(q, q->completed);
	}
	for (unsigned i = q->base; i < q->n_send; i++)
		CHECK(q, q->send[i].delivered || !model_consumes_recv(&q->send[i]));
}

static void finish_lossy(struct model_qp *q)
{
	for (; q->completed < q->n_send; q->completed++)
		CHECK(q, !q->send[q->completed].signaled);
	for (unsigned i = 0; i < q->n_send; i++) {
		struct model_send *s = &q->send[i];

		if (q->qp->type == IBV_QPT_UC)
			check_uc_write(q, s);
		if (q->m->lossless && model_consumes_recv(s))
			CHECK(q, s->delivered);
	}
}

/* Of the client that has these receives, when none before has the same: every QP has receives. */
static void verify_memory(struct model *m, unsigned i)
{
	struct memory *mem = recvs_memory(m->recvs[i]);
	char why[200];

	for (unsigned k = 0; k < i; k++)
		if (recvs_memory(m->recvs[k]) == mem)
			return;
	if (!memory_verify(mem, why, sizeof why))
		world_fail(m->w, "client of receives %u: %s", i, why);
}

void model_finish(struct model *m)
{
	for (unsigned i = 0; i < m->n_qps; i++) {
		struct model_qp *q = m->qp[i];

		if (model_is_reliable(q))
			finish_rc(q);
		else
			finish_lossy(q);
		if (!q->failed && q->qp->type != IBV_QPT_XRC_RECV)
			CHECK(q, vqp_send_used(q->qp) == 0);
	}
	model_check_cells(m);
	for (unsigned i = 0; i < m->n_recvs; i++) {
		model_look_at_limit(m->recvs[i]);
		if (m->recvs[i]->lossy)
			forget_recvs(m->recvs[i]);
	}
	for (unsigned i = 0; i < m->n_recvs; i++)
		verify_memory(m, i);
}
