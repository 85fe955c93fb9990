/* SPDX-License-Identifier: BSD-2-Clause */
/* See room.h. */
#include "room.h"

#include "provider/finding/finding.h"
#include "provider/queues/queues.h"

/*
 * So many may come behind an error: a thread that has not heard of it, and what is posted to know
 * when all is flushed.
 */
#define AFTER_ERROR 16u

struct census {
	uint32_t outstanding, signaled;
	const struct uhcav_stack *oldest;
};

static struct census count(struct uhcav_shadow *s)
{
	struct census c = {0};

	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		if (r->done)
			continue;
		c.outstanding++;
		c.signaled += r->signaled;
		if (!c.oldest)
			c.oldest = r->posted;
	}
	uhcav_unlock(&s->lock);
	return c;
}

static void tell_full(enum uhca_check check, const struct uhcav_shadow *s, const struct census *c,
		      const struct uhcav_stack *stack)
{
	struct uhcav_object owner;

	uhcav_finding_begin(check, "%s",
			    check == UHCA_CHECK_QUEUE_STUCK
				    ? "a send queue is full of unsignaled requests"
				    : "more requests are outstanding than the queue has room for");
	uhcav_finding_fact("%s queue of %s 0x%x: room for %u", s->is_send ? "send" : "receive",
			   s->type, s->number, s->max_wr);
	if (c->signaled)
		uhcav_finding_fact("%u are outstanding, %u of them signaled", c->outstanding,
				   c->signaled);
	uhcav_finding_stack(stack, "posted by");
	uhcav_finding_stack(c->oldest, "oldest request posted by");
	if (uhcav_object_find(s->owner, &owner))
		uhcav_finding_stack(owner.made, "%s 0x%x made by", s->type, s->number);
	uhcav_finding_tell();
}

/* Not of an SRQ: what queue pairs took that went is not given back. */
static void check_room(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	enum uhca_check check;
	struct census c;

	if (__atomic_load_n(&s->n, __ATOMIC_RELAXED) <= s->max_wr || !s->state)
		return;
	c = count(s);
	check = c.signaled ? UHCA_CHECK_QUEUE_OVERRUN : UHCA_CHECK_QUEUE_STUCK;
	if (c.outstanding > s->max_wr && !uhcav_shadow_is_idle(s) &&
	    uhcav_finding_is_new(check, stack, NULL))
		tell_full(check, s, &c, stack);
}

void uhcav_room_refused(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	struct census c = count(s);

	if (s->is_send && c.outstanding && !c.signaled && !uhcav_shadow_is_idle(s) &&
	    uhcav_finding_is_new(UHCA_CHECK_QUEUE_STUCK, stack, NULL))
		tell_full(UHCA_CHECK_QUEUE_STUCK, s, &c, stack);
}

static void check_cq(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	uint32_t expected = s->cq ? __atomic_load_n(&s->cq->expected, __ATOMIC_RELAXED) : 0;
	struct uhcav_object cq;

	if (!s->cq || expected <= (uint32_t)s->cq->cq.cqe || s->cq->ignore_overrun ||
	    !uhcav_object_find(&s->cq->cq, &cq) ||
	    !uhcav_finding_is_new(UHCA_CHECK_CQ_OVERRUN, stack, cq.made))
		return;
	uhcav_finding_begin(UHCA_CHECK_CQ_OVERRUN,
			    "more completions can come than the completion queue has room for");
	uhcav_finding_fact("completion queue 0x%x: %d entries, %u requests outstanding", cq.number,
			   s->cq->cq.cqe, expected);
	uhcav_finding_stack(stack, "posted by");
	uhcav_finding_stack(cq.made, "completion queue 0x%x made by", cq.number);
	uhcav_finding_tell();
}

static void check_error(struct uhcav_shadow *s, const struct uhcav_stack *stack, uint32_t posted)
{
	const struct uhcav_stack *failed = __atomic_load_n(&s->failed, __ATOMIC_ACQUIRE);

	if (!failed)
		return;
	s->posted_since += posted;
	if (s->posted_since <= AFTER_ERROR ||
	    !uhcav_finding_is_new(UHCA_CHECK_POST_AFTER_ERROR, stack, failed))
		return;
	uhcav_finding_begin(UHCA_CHECK_POST_AFTER_ERROR,
			    "requests are posted to a queue pair that has failed");
	uhcav_finding_fact("%s 0x%x: %u requests since the completion with status %d", s->type,
			   s->number, s->posted_since, (int)s->failed_status);
	uhcav_finding_stack(stack, "posted by");
	uhcav_finding_stack(failed, "the completion with the error was polled by");
	uhcav_finding_tell();
}

void uhcav_room_posted(struct uhcav_shadow *s, const struct uhcav_stack *stack, uint32_t posted)
{
	check_room(s, stack);
	check_cq(s, stack);
	check_error(s, stack, posted);
}

void uhcav_room_failed(struct uhcav_shadow *s, struct uhcav_here here, enum ibv_wc_status status)
{
	if (!s || s->failed)
		return;
	uhcav_shadow_open(s);
	s->failed_status = status;
	__atomic_store_n(&s->failed, uhcav_stack_take(here), __ATOMIC_RELEASE);
}
