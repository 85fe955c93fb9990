/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of queue and CQ capacity: stuck, overrun, posts after an error. */
#include "capacity.h"

#include "provider/diagnostic/diagnostic.h"
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

	uhcav_diagnostic_begin(check, "%s",
			       check == UHCA_CHECK_QUEUE_STUCK
				       ? "a send queue is full of unsignaled requests"
				       : "a request was refused with ENOMEM: the queue is full");
	uhcav_diagnostic_fact("%s queue of %s 0x%x: room for %u", s->is_send ? "send" : "receive",
			      s->type, s->number, s->max_wr);
	if (c->signaled)
		uhcav_diagnostic_fact("%u are outstanding, %u of them signaled", c->outstanding,
				      c->signaled);
	uhcav_diagnostic_stack(stack, "posted by");
	uhcav_diagnostic_stack(c->oldest, "oldest request posted by");
	if (uhcav_object_find(s->owner, &owner))
		uhcav_diagnostic_stack(owner.made, "%s 0x%x made by", s->type, s->number);
	uhcav_diagnostic_tell();
}

void uhcav_capacity_refused(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	struct census c = count(s);
	enum uhca_check check =
		s->is_send && !c.signaled ? UHCA_CHECK_QUEUE_STUCK : UHCA_CHECK_QUEUE_OVERRUN;

	if (c.outstanding && !uhcav_shadow_is_idle(s) &&
	    uhcav_diagnostic_is_new(check, stack, NULL))
		tell_full(check, s, &c, stack);
}

static void check_cq(struct uhcav_shadow *s, const struct uhcav_stack *stack)
{
	uint32_t expected = s->cq ? __atomic_load_n(&s->cq->expected, __ATOMIC_RELAXED) : 0;
	struct uhcav_object cq;

	if (!s->cq || expected <= (uint32_t)s->cq->cq.cqe || s->cq->ignore_overrun ||
	    !uhcav_object_find(&s->cq->cq, &cq) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_CQ_OVERRUN, stack, cq.made))
		return;
	uhcav_diagnostic_begin(
		UHCA_CHECK_CQ_OVERRUN,
		"more completions can arrive than the completion queue has room for");
	uhcav_diagnostic_fact("completion queue 0x%x: %d entries, %u requests outstanding",
			      cq.number, s->cq->cq.cqe, expected);
	uhcav_diagnostic_stack(stack, "posted by");
	uhcav_diagnostic_stack(cq.made, "completion queue 0x%x made by", cq.number);
	uhcav_diagnostic_tell();
}

static void check_error(struct uhcav_shadow *s, const struct uhcav_stack *stack, uint32_t posted)
{
	const struct uhcav_stack *failed = __atomic_load_n(&s->failed, __ATOMIC_ACQUIRE);

	if (!failed)
		return;
	s->posted_since += posted;
	if (s->posted_since <= AFTER_ERROR ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_POST_AFTER_ERROR, stack, failed))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_POST_AFTER_ERROR,
			       "requests are posted to a queue pair in the error state");
	uhcav_diagnostic_fact("%s 0x%x: %u requests since the completion with status %d", s->type,
			      s->number, s->posted_since, (int)s->failed_status);
	uhcav_diagnostic_stack(stack, "posted by");
	uhcav_diagnostic_stack(failed, "the completion with the error was polled by");
	uhcav_diagnostic_tell();
}

void uhcav_capacity_posted(struct uhcav_shadow *s, const struct uhcav_stack *stack, uint32_t posted)
{
	check_cq(s, stack);
	check_error(s, stack, posted);
}

void uhcav_capacity_failed(struct uhcav_shadow *s, struct uhcav_here here,
			   enum ibv_wc_status status)
{
	if (!s || s->failed)
		return;
	uhcav_shadow_open(s);
	s->failed_status = status;
	__atomic_store_n(&s->failed, uhcav_stack_take(here), __ATOMIC_RELEASE);
}
