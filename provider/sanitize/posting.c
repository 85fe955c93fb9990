/* SPDX-License-Identifier: BSD-2-Clause */
/* Enters posted requests into the shadow of their queue, and checks them. */
#include "posting.h"

#include "capacity.h"
#include "emu/abi/wqe.h"
#include "inflight.h"
#include "keys.h"
#include "provider/connection/connection.h"
#include "provider/page_watch/page_watch.h"
#include "provider/portability/portability.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>

#define BIT(opcode) (1u << (opcode))

enum uhcav_direction uhcav_posting_direction(unsigned opcode)
{
	const uint32_t reads = BIT(IBV_WR_SEND) | BIT(IBV_WR_SEND_WITH_IMM) |
			       BIT(IBV_WR_SEND_WITH_INV) | BIT(IBV_WR_RDMA_WRITE) |
			       BIT(IBV_WR_RDMA_WRITE_WITH_IMM) | BIT(UHCA_ABI_WR_ATOMIC_WRITE);
	const uint32_t writes = BIT(IBV_WR_RDMA_READ) | BIT(IBV_WR_ATOMIC_CMP_AND_SWP) |
				BIT(IBV_WR_ATOMIC_FETCH_AND_ADD);

	if (opcode >= 32)
		return UHCAV_LOCAL_NONE;
	if (reads & BIT(opcode))
		return UHCAV_LOCAL_READ;
	return writes & BIT(opcode) ? UHCAV_LOCAL_WRITE : UHCAV_LOCAL_NONE;
}

static void take_pieces(const struct uhcav_shadow *s, struct uhcav_request *r,
			const struct ibv_sge *sge, size_t n_sge)
{
	if (r->direction == UHCAV_LOCAL_NONE || !n_sge)
		return;
	r->pieces = calloc(n_sge, sizeof(*r->pieces));
	for (size_t i = 0; i < n_sge && r->pieces; i++)
		r->pieces[r->n_pieces++] =
			(struct uhcav_piece){.at = uhcav_keys_look(s, r, &sge[i]),
					     .length = sge[i].length,
					     .lkey = sge[i].lkey};
}

/* ---- what the request asks ---- */

static struct uhcav_misuse_request as_misuse(const struct uhcav_shadow *s,
					     const struct uhcav_request *r)
{
	return (struct uhcav_misuse_request){
		.name = uhcav_words_name(s, r), .posted = r->posted, .length = r->remote_length};
}

static bool is_atomic(const struct uhcav_request *r)
{
	return r->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       r->opcode == UHCA_ABI_WR_ATOMIC_WRITE;
}

void uhcav_posting_takes_datagrams(struct uhcav_shadow *srq)
{
	struct uhcav_misuse_request shortest = {.length = UHCAV_GRH_LENGTH};

	uhcav_lock(&srq->lock);
	srq->datagrams = true;
	for (uint32_t i = 0; i < srq->n; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(srq, i);

		if (!r->done && r->remote_length < shortest.length)
			shortest = as_misuse(srq, r);
	}
	uhcav_unlock(&srq->lock);
	uhcav_misuse_recv(&shortest);
}

struct target {
	const struct uhcav_shadow *from;
	struct uhcav_misuse_receive longest;
};

static void note_longest_receive(struct uhcav_shadow *s, void *arg)
{
	struct target *t = arg;

	if (s->is_send || !s->datagrams || s->number != t->longest.qp_num || !s->state ||
	    s->context->device != t->from->context->device)
		return;
	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);

		if (r->done || r->remote_length < t->longest.length)
			continue;
		t->longest.length = r->remote_length;
		t->longest.posted = r->posted;
	}
	uhcav_unlock(&s->lock);
}

/* Where the address handle leads to the port itself, its target may be one of this process. */
static void look_at_datagram(const struct uhcav_shadow *s, const struct uhcav_request *r,
			     const struct uhcav_misuse_request *m)
{
	struct target t = {.from = s, .longest.qp_num = r->to_qp};
	struct uhcav_object ah;

	if (!uhcav_check_on(UHCA_CHECK_UD_RECV_SHORT) || !uhcav_object_find(r->to, &ah) ||
	    !ah.loops)
		return;
	uhcav_shadow_each(note_longest_receive, &t);
	uhcav_misuse_datagram(m, &t.longest);
}

static void look_at_inline(const struct uhcav_shadow *s, const struct uhcav_misuse_request *m)
{
	struct uhcav_object owner;

	if (m->length > s->max_inline && uhcav_object_find(s->owner, &owner))
		uhcav_misuse_inline(m, s->max_inline, owner.made);
}

static void look_at_request(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	const struct uhcav_misuse_request m = as_misuse(s, r);

	if (!s->is_send && s->datagrams)
		uhcav_misuse_recv(&m);
	if (!s->is_send)
		return;
	if (r->direction == UHCAV_LOCAL_WRITE && __atomic_load_n(&s->no_reads, __ATOMIC_RELAXED))
		uhcav_misuse_read(&m);
	if (is_atomic(r))
		uhcav_misuse_atomic(&m, r->remote_addr);
	else if (r->inlined)
		look_at_inline(s, &m);
	if (r->to)
		look_at_datagram(s, r, &m);
}

/* ---- protected pages ---- */

static enum uhca_check use_of(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	if (r->direction == UHCAV_LOCAL_READ)
		return UHCA_CHECK_SEND_WRITTEN;
	return s->is_send ? UHCA_CHECK_READ_USED : UHCA_CHECK_RECV_USED;
}

/* Memory on demand may come and go: what is mapped there is the program's affair. */
static void watch_piece(const struct uhcav_shadow *s, const struct uhcav_request *r,
			struct uhcav_piece *p)
{
	struct uhcav_object mr;

	if (!p->at || !uhcav_object_by_key(s->context, p->lkey, &mr) ||
	    (mr.mr.access & IBV_ACCESS_ON_DEMAND))
		return;
	p->page_watch = uhcav_page_watch_begin(
		&(struct uhcav_page_watch_post){.check = use_of(s, r),
						.is_target = r->direction == UHCAV_LOCAL_WRITE,
						.is_recv = !s->is_send,
						.request = uhcav_words_name(s, r),
						.lkey = p->lkey,
						.at = p->at,
						.length = p->length,
						.stack = r->posted,
						.made = mr.made});
}

static void watch_pieces(const struct uhcav_shadow *s, struct uhcav_request *r)
{
	if (r->direction == UHCAV_LOCAL_NONE || !uhcav_check_on(use_of(s, r)) ||
	    uhcav_shadow_is_idle(s))
		return;
	for (uint32_t i = 0; i < r->n_pieces; i++)
		watch_piece(s, r, &r->pieces[i]);
}

/* A peer whose message fits none is to know who has posted them: each place once. */
static void leave_place(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	static const char *const what[UHCAV_PLACES] = {"receive 0", "receive 1", "receive 2"};
	struct uhcav_context *ctx = uhcav_context_of((struct ibv_context *)(uintptr_t)s->context);
	uint32_t i = 0;

	while (i < UHCAV_PLACES && s->places[i] && s->places[i] != stack)
		i++;
	if (i == UHCAV_PLACES || s->places[i])
		return;
	s->places[i] = stack;
	uhcav_left_add(ctx, s->state ? "qp" : "srq", s->number, what[i], stack);
}

void uhcav_posting_begin(struct uhcav_posting *p, struct uhcav_shadow *s,
			 const struct uhcav_stack *stack)
{
	*p = (struct uhcav_posting){.s = s, .stack = stack};
	pthread_mutex_lock(&s->posting);
}

void uhcav_posting_add(struct uhcav_posting *p, const struct uhcav_request *r,
		       const struct ibv_sge *sge, size_t n_sge)
{
	struct uhcav_request copy = *r;

	if (!sge)
		n_sge = 0; /* the library refuses more */
	copy.posted = p->stack;
	copy.signaled |= p->s->all_signaled;
	for (size_t i = 0; i < n_sge; i++)
		copy.remote_length += sge[i].length;
	if (p->s->is_send)
		uhcav_portability_send(p->stack, r->opcode, (uint32_t)n_sge);
	look_at_request(p->s, &copy);
	take_pieces(p->s, &copy, sge, n_sge);
	uhcav_capacity_again(p->s, &copy);
	uhcav_inflight_begin(p->s, &copy);
	watch_pieces(p->s, &copy);
	if (uhcav_shadow_enter(p->s, &copy))
		p->entered++;
	else
		uhcav_request_free(&copy);
}

/*
 * By what the first request that was not posted is known again; its pieces are gone with it. Of one
 * that was never entered only the wr_id is known.
 */
static struct uhcav_refusal first_left(struct uhcav_posting *p, uint32_t left)
{
	struct uhcav_refusal c = {.stack = p->stack, .wr_id = p->wr_id};
	const struct uhcav_request *r;

	if (!left)
		return c;
	uhcav_lock(&p->s->lock);
	r = uhcav_shadow_at(p->s, p->s->n - left);
	c.wr_id = r->wr_id;
	c.remote_addr = r->remote_addr;
	c.at = r->n_pieces ? r->pieces[0].at : 0;
	uhcav_unlock(&p->s->lock);
	return c;
}

void uhcav_posting_end(struct uhcav_posting *p, uint32_t posted, int err)
{
	uint32_t left = p->entered - posted;
	struct uhcav_refusal refused;

	if (err == ENOMEM)
		refused = first_left(p, left);
	if (left)
		uhcav_shadow_take_back(p->s, left);
	if (posted && !p->s->is_send)
		leave_place(p->s, p->stack);
	if (posted)
		uhcav_capacity_posted(p->s, p->stack, posted);
	if (posted && __atomic_load_n(&p->s->unmatched, __ATOMIC_ACQUIRE) &&
	    uhcav_connection_look(p->s->owner))
		__atomic_store_n(&p->s->unmatched, false, __ATOMIC_RELAXED);
	if (err == ENOMEM)
		uhcav_capacity_refused(p->s, &refused);
	pthread_mutex_unlock(&p->s->posting);
}
