/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See keys.h. The device refuses such requests, too, when their turn comes: with a completion that
 * says LOC_PROT_ERR and no more.
 */
#include "keys.h"

#include "provider/diagnostic/diagnostic.h"
#include "provider/queues/queues.h"
#include "words.h"

static void tell(enum uhca_check check, const char *what, const struct uhcav_shadow *s,
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
	uhcav_diagnostic_tell();
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

static void tell_swapped(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 const struct uhcav_object *o)
{
	char words[UHCAV_OBJECT_WORDS];

	uhcav_diagnostic_begin(UHCA_CHECK_KEY_SWAPPED,
			       "an element has an R_Key where an L_Key belongs");
	uhcav_words_request(s, r);
	if (o->kind == UHCAV_KIND_MR)
		uhcav_diagnostic_fact("%s: L_Key 0x%x, R_Key 0x%x", uhcav_object_words(o, words),
				      o->mr.lkey, o->mr.rkey);
	else
		uhcav_diagnostic_fact("%s has an R_Key and no L_Key", uhcav_object_words(o, words));
	uhcav_diagnostic_stack(r->posted, "posted by");
	uhcav_diagnostic_stack(o->made, "%s made by", uhcav_object_words(o, words));
	uhcav_diagnostic_tell();
}

/* An L_Key that no region has: is it the other key of one that lives, or a window's? */
static void look_for_rkey(const struct uhcav_shadow *s, const struct uhcav_request *r, uint32_t key)
{
	struct uhcav_object o;
	bool found;

	if (!key || !uhcav_check_on(UHCA_CHECK_KEY_SWAPPED))
		return;
	found = (uhcav_object_by_rkey(s->context, key, &o) && !o.gone) ||
		uhcav_object_window(s->context, key, &o);
	if (found && uhcav_diagnostic_is_new(UHCA_CHECK_KEY_SWAPPED, r->posted, o.made))
		tell_swapped(s, r, &o);
}

uint64_t uhcav_keys_look(const struct uhcav_shadow *s, const struct uhcav_request *r,
			 const struct ibv_sge *e)
{
	static const char *const what[UHCA_CHECK_COUNT] = {
		[UHCA_CHECK_KEY_DEAD] = "a request names a region that was deregistered",
		[UHCA_CHECK_KEY_FOREIGN] =
			"a request names a region of another protection domain than its queue's",
		[UHCA_CHECK_KEY_RANGE] = "an element of a request is not inside its region",
		[UHCA_CHECK_KEY_ACCESS] =
			"a request writes to a region that was registered for reading",
	};
	struct uhcav_object mr;
	enum uhca_check check;

	if (!e->length)
		return 0;
	if (!uhcav_object_by_key(s->context, e->lkey, &mr)) {
		look_for_rkey(s, r, e->lkey);
		return 0;
	}
	check = mistake(s, r, e, &mr);
	if (check == UHCA_CHECK_COUNT)
		return mr.mr.in_memory ? mr.mr.addr + (e->addr - mr.mr.iova) : 0;
	if (uhcav_diagnostic_is_new(check, r->posted, mr.made))
		tell(check, what[check], s, r, e, &mr);
	return 0;
}

struct gone {
	struct uhcav_here here;
	const struct uhcav_object *mr;
};

static bool names(const struct uhcav_request *r, uint32_t lkey)
{
	for (uint32_t i = 0; i < r->n_pieces; i++)
		if (r->pieces[i].lkey == lkey && r->pieces[i].length)
			return true;
	return false;
}

/* The oldest request that names the region; its pieces are not to be looked at. */
static bool find_user(struct uhcav_shadow *s, uint32_t lkey, struct uhcav_request *out)
{
	bool found = false;

	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n && !found; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		found = !r->done && names(r, lkey);
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

static void look_for_users(struct uhcav_shadow *s, void *arg)
{
	const struct gone *g = arg;
	const struct uhcav_stack *stack;
	struct uhcav_request r;

	if (s->context != g->mr->context || uhcav_shadow_is_idle(s) ||
	    !find_user(s, g->mr->mr.lkey, &r) || !is_served(s))
		return;
	stack = uhcav_stack_take(g->here);
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_DEREG_POSTED, stack, r.posted))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_DEREG_POSTED,
			       "a region was deregistered while an outstanding request names it");
	uhcav_words_request(s, &r);
	uhcav_words_region(g->mr);
	uhcav_diagnostic_stack(stack, "deregistered by");
	uhcav_diagnostic_stack(r.posted, "%s posted by", uhcav_words_opcode(s, &r));
	uhcav_diagnostic_stack(g->mr->made, "memory region 0x%x registered by", g->mr->number);
	uhcav_diagnostic_tell();
}

void uhcav_keys_gone(struct uhcav_here here, const struct uhcav_object *mr)
{
	struct gone g = {here, mr};

	if (uhcav_check_on(UHCA_CHECK_DEREG_POSTED))
		uhcav_shadow_each(look_for_users, &g);
}
