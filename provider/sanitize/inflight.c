/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See inflight.h. Of what the device reads there is a sum for each piece; of receives a sum for
 * each of some parts of a piece, because a message may fill it only in part.
 */
#include "inflight.h"

#include "bytes.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/memory_watch/memory_watch.h"
#include "provider/qp/qp.h"
#include "words.h"

#include <string.h>

#define PAGE_MIN 4096u

static void find_mr(const struct uhcav_shadow *s, const struct uhcav_piece *p,
		    struct uhcav_object *mr)
{
	if (!uhcav_object_by_key(s->context, p->lkey, mr))
		*mr = (struct uhcav_object){.kind = UHCAV_KIND_MR};
}

/* On demand, pages may come and go. */
static void report_unmapped(const struct uhcav_shadow *s, const struct uhcav_request *r,
			    const struct uhcav_piece *p, const struct uhcav_stack *polled)
{
	struct uhcav_object mr;
	struct uhcav_change c;

	/* The device refuses the request in its turn, as adapters do; a copy here crashes. */
	if (!polled && s->is_send)
		uhcav_qp_of((struct ibv_qp *)(uintptr_t)s->owner)->gather_limit = 0;
	find_mr(s, p, &mr);
	if ((mr.mr.access & IBV_ACCESS_ON_DEMAND) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_MEMORY_UNMAPPED, r->posted, mr.made))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_MEMORY_UNMAPPED, "%s",
			       polled ? "memory of a request was unmapped before it completed"
				      : "a request names memory that is no longer mapped");
	uhcav_words_request(s, r);
	uhcav_words_piece(p);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(polled, "its completion was polled by");
	if (uhcav_ranges_look(mr.self, p->at, p->length, &c))
		uhcav_diagnostic_stack(c.stack, "%s by", uhcav_memory_verb(c.kind));
	uhcav_diagnostic_stack(mr.made, "memory region 0x%x registered by", mr.number);
	uhcav_diagnostic_report();
}

/* ---- memory that is another by now ---- */

static void look_at_memory(const struct uhcav_shadow *s, const struct uhcav_request *r,
			   const struct uhcav_object *mr, struct uhcav_memory_use *use)
{
	const struct uhcav_request_name name = uhcav_words_name(s, r);
	struct uhcav_change c;

	if (!uhcav_ranges_look(mr->self, use->at, use->length, &c))
		return;
	use->request = &name;
	use->number = mr->number;
	use->made = mr->made;
	use->stack = r->posted;
	use->title = "posted by";
	uhcav_memory_report(use, &c);
}

/* The pieces of a request that is posted, or has completed. */
static void look_at_pieces(const struct uhcav_shadow *s, const struct uhcav_request *r,
			   const char *what)
{
	struct uhcav_object mr;

	for (uint32_t i = 0; i < r->n_pieces && uhcav_ranges_any(); i++) {
		const struct uhcav_piece *p = &r->pieces[i];
		struct uhcav_memory_use use = {.what = what, .at = p->at, .length = p->length};

		if (p->at && p->length && uhcav_bytes_are_there(p->at) &&
		    uhcav_object_by_key(s->context, p->lkey, &mr) && !mr.gone)
			look_at_memory(s, r, &mr, &use);
	}
}

/* Where its remote part is in this process, too. */
void uhcav_inflight_target(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	struct uhcav_memory_use use = {.what = r->opcode == IBV_WR_RDMA_READ ? "a READ took"
									     : "a request went to",
				       .length = r->remote_length};
	struct uhcav_object mr;

	if (!s->is_send || !r->rkey || !r->remote_length || !uhcav_ranges_any() ||
	    !uhcav_object_by_rkey(s->context, r->rkey, &mr) || mr.gone || !mr.mr.in_memory ||
	    r->remote_addr < mr.mr.iova)
		return;
	use.at = mr.mr.addr + (r->remote_addr - mr.mr.iova);
	look_at_memory(s, r, &mr, &use);
}

/* ---- before the post ---- */

/* Sums the parts; false: some of it cannot be read. */
static bool sum_parts(struct uhcav_piece *p, uint32_t parts)
{
	if (!uhcav_bytes_sums(p->at, p->length, parts, 0, p->sums))
		return false;
	p->summed = parts;
	return true;
}

/* Are the ends there? */
static bool is_mapped(const struct uhcav_piece *p)
{
	uint64_t last = p->at + p->length - 1;

	return uhcav_bytes_are_there(last) &&
	       ((p->at ^ last) < PAGE_MIN || uhcav_bytes_are_there(p->at));
}

static bool overlap(const struct uhcav_request *a, const struct uhcav_request *b)
{
	for (uint32_t i = 0; i < a->n_pieces; i++)
		for (uint32_t j = 0; j < b->n_pieces; j++) {
			const struct uhcav_piece *p = &a->pieces[i], *q = &b->pieces[j];
			if (p->at && q->at && p->at < q->at + q->length &&
			    q->at < p->at + p->length)
				return true;
		}
	return false;
}

/* Has the last receive the same buffer? A program that takes one for all does not look at it. */
static bool is_shared(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	bool shared = false;

	uhcav_lock(&s->lock);
	if (s->n)
		shared = overlap(uhcav_shadow_at(s, s->n - 1), r);
	uhcav_unlock(&s->lock);
	return shared;
}

/* Do both go to the same remote memory, by the same key? */
static bool meet_there(const struct uhcav_request *a, const struct uhcav_request *b)
{
	return a->rkey == b->rkey && a->remote_addr < b->remote_addr + b->remote_length &&
	       b->remote_addr < a->remote_addr + a->remote_length;
}

/*
 * The first outstanding request that brings something here, and that meets r; its pieces are not to
 * be looked at.
 */
static bool find_outstanding(struct uhcav_shadow *s, const struct uhcav_request *r,
			     bool (*meet)(const struct uhcav_request *,
					  const struct uhcav_request *),
			     struct uhcav_request *out)
{
	bool found = false;

	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		const struct uhcav_request *o = uhcav_shadow_at(s, i);
		bool before_fence = s->fenced && (int32_t)(o->index - s->fence) < 0;
		found = !o->done && o->direction == UHCAV_LOCAL_WRITE &&
			(!s->is_send || !before_fence) && meet(o, r);
		if (found)
			*out = *o;
	}
	uhcav_unlock(&s->lock);
	return found;
}

/*
 * Is what r sends to be brought by an outstanding request, for which it waits? Then it changes
 * behind the post, and must.
 */
static bool is_awaited(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	struct uhcav_request other;

	return r->fenced && s->reads && find_outstanding(s, r, overlap, &other);
}

static bool look_at(struct uhcav_shadow *s, const struct uhcav_request *r, struct uhcav_piece *p)
{
	if (r->direction == UHCAV_LOCAL_READ && uhcav_check_on(UHCA_CHECK_SEND_CHANGED) &&
	    !is_awaited(s, r))
		return sum_parts(p, 1);
	if (!s->is_send && uhcav_check_on(UHCA_CHECK_RECV_CHANGED) && !is_shared(s, r))
		return sum_parts(p, UHCAV_PARTS);
	return !uhcav_check_on(UHCA_CHECK_MEMORY_UNMAPPED) || is_mapped(p);
}

static void report_overlap(enum uhca_check check, const char *what, const struct uhcav_shadow *s,
			   const struct uhcav_request *r, const struct uhcav_request *other)
{
	if (!uhcav_diagnostic_is_new(check, r->posted, other->posted))
		return;
	uhcav_diagnostic_begin(check, "%s", what);
	uhcav_words_request(s, r);
	if (r->n_pieces)
		uhcav_words_piece(&r->pieces[0]);
	uhcav_words_request(s, other);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(other->posted, "the outstanding %s posted by",
			       uhcav_words_opcode(s, other));
	uhcav_diagnostic_report();
}

static bool is_write(const struct uhcav_shadow *s, const struct uhcav_request *r)
{
	return s->is_send &&
	       (r->opcode == IBV_WR_RDMA_WRITE || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
}

/* A request behind outstanding READs or atomics that does not wait for them. */
static void look_for_reads(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	struct uhcav_request other;

	if (!s->reads || r->fenced)
		return;
	if (r->direction == UHCAV_LOCAL_READ && uhcav_check_on(UHCA_CHECK_READ_UNFENCED) &&
	    find_outstanding(s, r, overlap, &other))
		report_overlap(UHCA_CHECK_READ_UNFENCED,
			       "a request without fence sends data that an outstanding READ or "
			       "atomic fills",
			       s, r, &other);
	if (is_write(s, r) && uhcav_check_on(UHCA_CHECK_WRITE_UNFENCED) &&
	    find_outstanding(s, r, meet_there, &other))
		report_overlap(
			UHCA_CHECK_WRITE_UNFENCED,
			"a WRITE without fence goes to memory that an outstanding request reads", s,
			r, &other);
}

/* ---- wr_ids ---- */

/* What is smaller is a number; a process has nothing there (vm.mmap_min_addr). */
#define POINTER_MIN 65536u

/*
 * The outstanding request that completes with the same wr_id. What is unsignaled does not: a chain
 * may have one for all, with the last one signaled.
 */
static bool find_same_id(struct uhcav_shadow *s, const struct uhcav_request *r,
			 struct uhcav_request *out)
{
	bool found = false;

	uhcav_lock(&s->lock);
	s->has_wr_ids |= s->wr_id && s->wr_id != r->wr_id;
	s->wr_id = r->wr_id;
	for (uint32_t i = 0; i < s->n && s->has_wr_ids && !found; i++) {
		const struct uhcav_request *o = uhcav_shadow_at(s, i);
		found = !o->done && o->signaled && o->wr_id == r->wr_id;
		if (found)
			*out = *o;
	}
	uhcav_unlock(&s->lock);
	return found;
}

/* A queue whose requests all have one wr_id names itself by it, and no request. */
static void look_for_id(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	struct uhcav_request other;

	if (!uhcav_check_on(UHCA_CHECK_WR_ID_REUSED) || !r->signaled || r->wr_id < POINTER_MIN ||
	    !find_same_id(s, r, &other) || !uhcav_bytes_are_there(r->wr_id) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_WR_ID_REUSED, r->posted, other.posted))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_WR_ID_REUSED,
			       "a request reuses a wr_id, a pointer, of an outstanding request");
	uhcav_words_request(s, r);
	uhcav_words_request(s, &other);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(other.posted, "the outstanding %s posted by",
			       uhcav_words_opcode(s, &other));
	uhcav_diagnostic_report();
}

/* ---- all that is before the post ---- */

static void look_for_others(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	struct uhcav_request other;

	look_for_reads(s, r);
	look_for_id(s, r);
	if (!s->is_send && uhcav_check_on(UHCA_CHECK_RECV_OVERLAP) &&
	    find_outstanding(s, r, overlap, &other))
		report_overlap(UHCA_CHECK_RECV_OVERLAP,
			       "a receive names memory of another outstanding receive", s, r,
			       &other);
}

void uhcav_inflight_begin(struct uhcav_shadow *s, struct uhcav_request *r)
{
	for (uint32_t i = 0; i < r->n_pieces; i++) {
		struct uhcav_piece *p = &r->pieces[i];
		if (p->at && p->length && !look_at(s, r, p))
			report_unmapped(s, r, p, NULL);
	}
	look_at_pieces(s, r, "a request names");
	look_for_others(s, r);
}

/* ---- behind the completion ---- */

struct search {
	const struct uhcav_request *send;
	const struct uhcav_shadow *of;
	const struct uhcav_stack *posted; /* of a receive that names memory of it; NULL: none */
};

static void search_receives(struct uhcav_shadow *s, void *arg)
{
	struct search *find = arg;
	struct uhcav_request other;

	if (!find->posted && !s->is_send && s->context == find->of->context &&
	    find_outstanding(s, find->send, overlap, &other))
		find->posted = other.posted;
}

static void report_changed(enum uhca_check check, const struct uhcav_stack *polled,
			   const struct uhcav_shadow *s, const struct uhcav_request *r,
			   const struct uhcav_piece *p)
{
	struct search receive = {.send = r, .of = s};
	struct uhcav_object mr;

	uhcav_shadow_each(search_receives, &receive);
	if (!s->is_send && receive.posted) /* recv-overlap is what that is called */
		return;
	if (!uhcav_diagnostic_is_new(check, r->posted, polled))
		return;
	find_mr(s, p, &mr);
	uhcav_diagnostic_begin(
		check, "%s",
		check == UHCA_CHECK_SEND_CHANGED
			? "a send buffer was changed between the post and its completion"
			: "a receive buffer was changed behind the end of the message before its "
			  "completion");
	uhcav_words_request(s, r);
	uhcav_words_piece(p);
	if (mr.mr.access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
		uhcav_diagnostic_fact(
			"the region is open to remote writes: a peer may have done it");
	if (receive.posted)
		uhcav_diagnostic_fact(
			"a receive names the same memory: a message may have done it");
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(polled, "changed before its completion was polled by");
	uhcav_diagnostic_stack(receive.posted, "the receive posted by");
	uhcav_diagnostic_stack(mr.made, "memory region 0x%x registered by", mr.number);
	uhcav_diagnostic_report();
}

/* The first part of a piece, which begins at "before" of the message, that no byte came to. */
static uint32_t first_untouched(const struct uhcav_piece *p, uint64_t before, uint64_t came)
{
	uint32_t i = 0;
	uint64_t length;

	while (i < p->summed && before + uhcav_bytes_part(p->length, p->summed, i, &length) < came)
		i++;
	return i;
}

/* Has a part changed from the first-th on? */
static bool has_changed(const struct uhcav_piece *p, uint32_t first, bool *gone)
{
	uint64_t sums[UHCAV_PARTS];

	if (first == p->summed)
		return false;
	memcpy(sums, p->sums, sizeof(sums));
	*gone = !uhcav_bytes_sums(p->at, p->length, p->summed, first, sums);
	return *gone || memcmp(sums, p->sums, p->summed * sizeof(*sums));
}

/* A message may have filled a receive's piece, of which no part has a sum then. */
void uhcav_inflight_unmapped(struct uhcav_here here, const struct uhcav_shadow *s,
			     const struct uhcav_request *r)
{
	struct uhcav_object mr;

	for (uint32_t i = 0; i < r->n_pieces && uhcav_ranges_any(); i++) {
		const struct uhcav_piece *p = &r->pieces[i];

		if (p->at && p->length && uhcav_object_by_key(s->context, p->lkey, &mr) &&
		    !mr.gone && !uhcav_bytes_are_there(p->at))
			report_unmapped(s, r, p, uhcav_stack_take(here));
	}
}

void uhcav_inflight_end(struct uhcav_here here, const struct uhcav_shadow *s,
			const struct uhcav_request *r, uint64_t came)
{
	uint64_t before = 0;

	look_at_pieces(s, r, "a request was outstanding on");
	uhcav_inflight_unmapped(here, s, r);
	uhcav_inflight_target(s, r);
	for (uint32_t i = 0; i < r->n_pieces; before += r->pieces[i++].length) {
		const struct uhcav_piece *p = &r->pieces[i];
		bool gone = false;

		if (!has_changed(p, s->is_send ? 0 : first_untouched(p, before, came), &gone))
			continue;
		if (gone)
			report_unmapped(s, r, p, uhcav_stack_take(here));
		else
			report_changed(s->is_send ? UHCA_CHECK_SEND_CHANGED
						  : UHCA_CHECK_RECV_CHANGED,
				       uhcav_stack_take(here), s, r, p);
	}
}
