/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See keys.h. The device refuses such requests, too, when their turn comes: with a completion that
 * says LOC_PROT_ERR and no more.
 */
#include "keys.h"

#include "provider/diagnostic/diagnostic.h"
#include "provider/portability/portability.h"
#include "provider/queues/queues.h"
#include "words.h"

static void report(enum uhca_check check, const char *what, const struct uhcav_shadow *s,
		   const struct uhcav_request *r, const struct ibv_sge *e,
		   const struct uhcav_object *mr)
{
	uhcav_diagnostic_begin(check, "%s", what);
	uhcav_words_request(s, r);
	uhcav_words_piece(
		&(struct uhcav_piece){.at = e->addr, .length = e->length, .lkey = e->lkey});
	uhcav_words_region(mr);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(mr->gone, "memory region 0x%x deregistered by", mr->number);
	uhcav_diagnostic_stack(mr->made, "memory region 0x%x registered by", mr->number);
	uhcav_diagnostic_report();
}

static bool is_inside(const struct uhcav_object_mr *mr, const struct ibv_sge *e)
{
	return e->addr >= mr->iova && e->addr - mr->iova <= mr->length &&
	       e->length <= mr->length - (e->addr - mr->iova);
}

/* The first mistake that the device would find, or UHCA_CHECK_COUNT. */
static enum uhca_check mistake(const struct uhcav_shadow *s, const struct uhcav_request *r,
			       const struct ibv_sge *e, const struct uhcav_object *mr)
{
	if (mr->gone)
		return UHCA_CHECK_KEY_DEAD;
	if (mr->mr.pd != s->pd)
		return UHCA_CHECK_KEY_FOREIGN;
	if (!is_inside(&mr->mr, e))
		return UHCA_CHECK_KEY_RANGE;
	if (r->direction == UHCAV_LOCAL_WRITE && !(mr->mr.access & IBV_ACCESS_LOCAL_WRITE))
		return UHCA_CHECK_KEY_ACCESS;
	return UHCA_CHECK_COUNT;
}

static void report_swapped(const struct uhcav_shadow *s, const struct uhcav_request *r,
			   const struct uhcav_object *o)
{
	char words[UHCAV_OBJECT_WORDS];

	uhcav_diagnostic_begin(UHCA_CHECK_KEY_SWAPPED,
			       "an element has an R_Key instead of an L_Key");
	uhcav_words_request(s, r);
	if (o->kind == UHCAV_KIND_MR)
		uhcav_diagnostic_fact("%s: L_Key 0x%x, R_Key 0x%x", uhcav_object_words(o, words),
				      o->mr.lkey, o->mr.rkey);
	else
		uhcav_diagnostic_fact("%s has an R_Key, not an L_Key",
				      uhcav_object_words(o, words));
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(o->made, "%s made by", uhcav_object_words(o, words));
	uhcav_diagnostic_report();
}

/* An L_Key that no region has: is it the other key of one that lives, or a window's? */
static bool look_for_rkey(const struct uhcav_shadow *s, const struct uhcav_request *r, uint32_t key)
{
	struct uhcav_object o;
	bool found;

	if (!key || !uhcav_check_on(UHCA_CHECK_KEY_SWAPPED))
		return false;
	found = (uhcav_object_by_rkey(s->context, key, &o) && !o.gone) ||
		uhcav_object_window(s->context, key, &o);
	if (found && uhcav_diagnostic_is_new(UHCA_CHECK_KEY_SWAPPED, r->posted, o.made))
		report_swapped(s, r, &o);
	return found;
}

/* ---- of another device, or another context ---- */

static const char *name_of(const struct ibv_context *context)
{
	return context->device->name;
}

static void report_device(const char *what, const struct uhcav_shadow *s,
			  const struct uhcav_request *r, const struct uhcav_object *mr,
			  const struct uhcav_stack *polled)
{
	const struct ibv_context *own = s->context;

	if (!uhcav_diagnostic_is_new(UHCA_CHECK_KEY_DEVICE, r->posted, mr->made))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_KEY_DEVICE, "%s", what);
	uhcav_words_request(s, r);
	uhcav_words_region(mr);
	if (own->device == mr->context->device)
		uhcav_diagnostic_fact("the queue and the region are of two contexts of %s",
				      name_of(own));
	else
		uhcav_diagnostic_fact("the queue is on %s, the region on %s", name_of(own),
				      name_of(mr->context));
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(polled, "its error was polled by");
	uhcav_diagnostic_stack(mr->made, "memory region 0x%x registered by", mr->number);
	uhcav_diagnostic_report();
}

/* Of an imported domain nothing is known: its regions may be another context's, and good. */
static bool is_of_own_domain(const struct uhcav_shadow *s)
{
	struct uhcav_object owner, domain;

	return uhcav_object_find(s->owner, &owner) && uhcav_object_find(owner.uses[0], &domain);
}

/* An L_Key that is not good here: is it a region's of another context, which has the bytes? */
static bool look_elsewhere(const struct uhcav_shadow *s, const struct uhcav_request *r,
			   const struct ibv_sge *e)
{
	const struct uhcav_object_bytes bytes = {e->addr, e->length};
	struct uhcav_object mr;

	if (!e->lkey || !uhcav_check_on(UHCA_CHECK_KEY_DEVICE) ||
	    !uhcav_object_elsewhere(s->context, e->lkey, bytes, &mr) ||
	    (mr.context->device == s->context->device && !is_of_own_domain(s)))
		return false;
	report_device("an element has the L_Key of a region of another context", s, r, &mr, NULL);
	return true;
}

bool uhcav_keys_elsewhere(struct uhcav_here here, const struct uhcav_shadow *s,
			  const struct uhcav_request *r, const struct uhcav_asker *who)
{
	const struct uhcav_object_bytes bytes = {r->remote_addr, r->remote_length};
	struct uhca_cmd_query_peer_reply peer;
	struct uhcav_object mr;

	if (!r->rkey || !uhcav_check_on(UHCA_CHECK_KEY_DEVICE) ||
	    !uhcav_ask(who, IBV_WC_REM_ACCESS_ERR, &peer) || peer.found != UHCA_ABI_PEER_KNOWN ||
	    uhcav_object_on_device(peer.peer.device, true, r->rkey, bytes, &mr) ||
	    !uhcav_object_on_device(peer.peer.device, false, r->rkey, bytes, &mr))
		return false;
	report_device(
		"a remote request has the R_Key of a region of another device than its peer's", s,
		r, &mr, uhcav_stack_take(here));
	return true;
}

/* ---- that nothing has ---- */

static void report_unknown(struct uhcav_here here, const struct uhcav_shadow *s,
			   const struct uhcav_request *r, const struct uhcav_piece *p,
			   const struct uhca_abi_cause *cause)
{
	struct uhcav_object near;

	uhcav_diagnostic_begin(UHCA_CHECK_KEY_UNKNOWN, "a request has an L_Key that names nothing");
	uhcav_words_request(s, r);
	uhcav_diagnostic_fact("an element of %llu bytes has L_Key 0x%x",
			      (unsigned long long)p->length, p->lkey);
	uhcav_diagnostic_cause(cause);
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(uhcav_stack_take(here), "its error was polled by");
	if (uhcav_object_by_key(s->context, cause->near, &near))
		uhcav_diagnostic_stack(near.made, "memory region 0x%x registered by", near.number);
	uhcav_diagnostic_report();
}

void uhcav_keys_unknown(struct uhcav_here here, const struct uhcav_shadow *s,
			const struct uhcav_request *r, const struct uhcav_asker *who)
{
	struct uhca_cmd_query_peer_reply reply;
	struct uhcav_object mr;

	if (!uhcav_check_on(UHCA_CHECK_KEY_UNKNOWN) ||
	    !uhcav_ask(who, IBV_WC_LOC_PROT_ERR, &reply) ||
	    reply.cause.kind != UHCA_ABI_CAUSE_KEY_UNKNOWN)
		return;
	for (uint32_t i = 0; i < r->n_pieces; i++) {
		const struct uhcav_piece *p = &r->pieces[i];
		const struct ibv_sge e = {.lkey = p->lkey}; /* anywhere */

		if (p->length && p->lkey == reply.cause.key &&
		    !uhcav_object_by_key(s->context, p->lkey, &mr) && !look_elsewhere(s, r, &e) &&
		    !look_for_rkey(s, r, p->lkey) &&
		    uhcav_diagnostic_is_new(UHCA_CHECK_KEY_UNKNOWN, r->posted, NULL))
			report_unknown(here, s, r, p, &reply.cause);
	}
}

uint64_t uhcav_keys_look(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 const struct ibv_sge *e)
{
	static const char *const what[UHCA_CHECK_COUNT] = {
		[UHCA_CHECK_KEY_DEAD] = "a request names a deregistered region",
		[UHCA_CHECK_KEY_FOREIGN] =
			"a request names a region outside its queue's protection domain",
		[UHCA_CHECK_KEY_RANGE] = "an element of a request is not inside its region",
		[UHCA_CHECK_KEY_ACCESS] =
			"a request writes to a region without IBV_ACCESS_LOCAL_WRITE",
	};
	struct uhcav_object mr;
	enum uhca_check check;

	if (!e->length)
		return 0;
	if (!uhcav_object_by_key(s->context, e->lkey, &mr)) {
		if (!look_elsewhere(s, r, e))
			look_for_rkey(s, r, e->lkey);
		return 0;
	}
	check = mistake(s, r, e, &mr);
	if (check != UHCA_CHECK_COUNT && (mr.gone || !is_inside(&mr.mr, e)) &&
	    look_elsewhere(s, r, e))
		return 0;
	if (check == UHCA_CHECK_COUNT && s->is_send && r->opcode == IBV_WR_RDMA_READ)
		uhcav_portability_sink(r->posted, mr.mr.access);
	if (check == UHCA_CHECK_COUNT)
		return mr.mr.in_memory ? mr.mr.addr + (e->addr - mr.mr.iova) : 0;
	if (uhcav_diagnostic_is_new(check, r->posted, mr.made))
		report(check, what[check], s, r, e, &mr);
	return 0;
}

struct gone {
	struct uhcav_here here;
	const struct uhcav_object *o;
	enum uhca_check check;
	bool (*names)(const struct uhcav_shadow *s, const struct uhcav_request *r, uint32_t number);
};

static bool names_region(const struct uhcav_shadow *s, const struct uhcav_request *r, uint32_t lkey)
{
	(void)s;
	for (uint32_t i = 0; i < r->n_pieces; i++)
		if (r->pieces[i].lkey == lkey && r->pieces[i].length)
			return true;
	return false;
}

/*
 * Many programs never learn of the end of unsignaled datagrams, and destroy the handle when they
 * end: that is wrong only where the device has not sent them.
 */
static bool names_handle(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 uint32_t handle)
{
	uint32_t retired = s->retired ? __atomic_load_n(s->retired, __ATOMIC_ACQUIRE) : 0;

	return r->ah == handle &&
	       (r->signaled || (s->retired && (int32_t)(r->index - retired) >= 0));
}

/* The oldest request that names what is gone; its pieces are not to be looked at. */
static bool find_user(struct uhcav_shadow *s, const struct gone *g, struct uhcav_request *out)
{
	bool found = false;

	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		found = !r->done && g->names(s, r, g->o->number);
		if (found)
			*out = *r;
	}
	uhcav_unlock(&s->lock);
	return found;
}

/* An SRQ whose queue pairs are gone gives its receives to nobody. */
static bool is_served(const struct uhcav_shadow *s)
{
	return s->state || uhcav_object_users(s->owner, NULL, 0);
}

static void report_user(const struct gone *g, const struct uhcav_shadow *s,
			const struct uhcav_request *r)
{
	const struct uhcav_stack *stack = uhcav_stack_take(g->here);
	bool is_region = g->o->kind == UHCAV_KIND_MR;
	char words[UHCAV_OBJECT_WORDS];

	if (!uhcav_diagnostic_is_new(g->check, stack, r->posted))
		return;
	uhcav_diagnostic_begin(g->check, "%s while an outstanding request names it",
			       is_region ? "a region was deregistered"
					 : "an address handle was destroyed");
	uhcav_words_request(s, r);
	if (is_region)
		uhcav_words_region(g->o);
	else
		uhcav_diagnostic_fact("%s", uhcav_object_words(g->o, words));
	uhcav_diagnostic_stack(stack, is_region ? "deregistered by" : "destroyed by");
	uhcav_diagnostic_stack(r->posted, "%s posted by", uhcav_words_opcode(s, r));
	uhcav_diagnostic_stack(g->o->made, "%s %s by", uhcav_object_words(g->o, words),
			       is_region ? "registered" : "made");
	uhcav_diagnostic_report();
}

static void look_for_users(struct uhcav_shadow *s, void *arg)
{
	const struct gone *g = arg;
	struct uhcav_request r;

	if (s->context == g->o->context && !uhcav_shadow_is_idle(s) && find_user(s, g, &r) &&
	    is_served(s))
		report_user(g, s, &r);
}

void uhcav_keys_gone(struct uhcav_here here, const struct uhcav_object *o)
{
	bool is_region = o->kind == UHCAV_KIND_MR;
	struct gone g = {.here = here,
			 .o = o,
			 .check = is_region ? UHCA_CHECK_DEREG_POSTED : UHCA_CHECK_AH_POSTED,
			 .names = is_region ? names_region : names_handle};

	if (uhcav_check_on(g.check))
		uhcav_shadow_each(look_for_users, &g);
}
