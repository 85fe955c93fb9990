/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of queue and CQ capacity: stuck, overrun, posts after an error. */
#include "capacity.h"

#include "provider/diagnostic/diagnostic.h"
#include "provider/queues/queues.h"

#include <unistd.h>

/*
 * So many may come behind an error: a thread that has not heard of it, and what is posted to know
 * when all is flushed.
 */
#define AFTER_ERROR 16u

static void count(struct uhcav_shadow *s, struct uhcav_refusal *c)
{
	uhcav_lock(&s->lock);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct uhcav_request *r = uhcav_shadow_at(s, i);
		if (r->done)
			continue;
		c->outstanding++;
		c->signaled += r->signaled;
		if (!c->oldest)
			c->oldest = r->posted;
	}
	uhcav_unlock(&s->lock);
}

static void report_full(enum uhca_check check, const struct uhcav_shadow *s,
			const struct uhcav_refusal *c)
{
	struct uhcav_object owner;

	if (!uhcav_diagnostic_is_new(check, c->stack, NULL))
		return;
	uhcav_diagnostic_begin(check, "%s",
			       check == UHCA_CHECK_QUEUE_STUCK
				       ? "a send queue is full of unsignaled requests"
				       : "a request was refused with ENOMEM, because the queue is "
					 "full, and was not posted again");
	uhcav_diagnostic_fact("%s queue of %s 0x%x: room for %u", s->is_send ? "send" : "receive",
			      s->type, s->number, s->max_wr);
	if (c->signaled)
		uhcav_diagnostic_fact("%u are outstanding, %u of them signaled", c->outstanding,
				      c->signaled);
	uhcav_diagnostic_stack(c->stack, "posted by");
	uhcav_diagnostic_stack(c->oldest, "oldest request posted by");
	if (uhcav_object_find(s->owner, &owner))
		uhcav_diagnostic_stack(owner.made, "%s 0x%x made by", s->type, s->number);
	uhcav_diagnostic_report();
}

/*
 * A queue that is full of unsignaled requests stays so. From another one a program may take
 * completions, and go on with the request that was refused: that is known when it does, or not.
 */
void uhcav_capacity_refused(struct uhcav_shadow *s, const struct uhcav_refusal *one)
{
	struct uhcav_refusal c = *one;

	count(s, &c);
	if (!c.outstanding || uhcav_shadow_is_idle(s))
		return;
	if (s->is_send && !c.signaled)
		report_full(UHCA_CHECK_QUEUE_STUCK, s, &c);
	else if (!s->refused.stack && uhcav_check_on(UHCA_CHECK_QUEUE_OVERRUN))
		s->refused = c;
}

static bool is_same(uint64_t a, uint64_t b)
{
	return !a || a == b; /* 0: not known */
}

void uhcav_capacity_again(struct uhcav_shadow *s, const struct uhcav_request *r)
{
	const struct uhcav_refusal *c = &s->refused;

	if (c->stack && c->wr_id == r->wr_id && is_same(c->remote_addr, r->remote_addr) &&
	    is_same(c->at, r->n_pieces ? r->pieces[0].at : 0))
		s->refused.stack = NULL;
}

void uhcav_capacity_over(struct uhcav_shadow *s)
{
	if (!s || !s->refused.stack)
		return;
	report_full(UHCA_CHECK_QUEUE_OVERRUN, s, &s->refused);
	s->refused.stack = NULL;
}

/* Of the parent's queues, which a fork's child finds, nothing is known here. */
static void look_at_one(struct uhcav_shadow *s, void *arg)
{
	struct uhcav_object owner;

	(void)arg;
	if (!s->refused.stack || !uhcav_object_find(s->owner, &owner) || owner.pid != getpid() ||
	    pthread_mutex_trylock(&s->posting))
		return;
	uhcav_capacity_over(s);
	pthread_mutex_unlock(&s->posting);
}

static void __attribute__((destructor)) look_at_exit(void)
{
	if (uhcav_check_on(UHCA_CHECK_QUEUE_OVERRUN))
		uhcav_shadow_each(look_at_one, NULL);
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
	uhcav_diagnostic_report();
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
	uhcav_diagnostic_report();
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
