/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of completion events and asynchronous events: lost wakeups, acknowledgements. */
#include "events.h"

#include "emu/abi/cqe.h"
#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/queues/queues.h"

#include <fcntl.h>
#include <time.h>

#define PAGE_WORKER_MS 1000

bool uhcav_events_wait(struct uhcav_cq *cq, bool solicited_only, uint32_t *end)
{
	const struct uhca_abi_cqe *e;
	bool waits = false;

	if (!cq->channel || uhcav_life(cq->ctx) != UHCAV_ALIVE)
		return false;
	/* An event of an earlier arming is on its way. */
	if (uhcav_device_count(cq->ctx, &cq->page->comp_events) !=
	    __atomic_load_n(&cq->comp_events_read, __ATOMIC_ACQUIRE))
		return false;
	uhcav_cq_lock(cq);
	for (uint32_t i = cq->consumer + (cq->current != NULL);
	     uhcav_cqe_valid(e = uhcav_cq_slot(cq, i), i); i++) {
		if (e->flags & UHCA_ABI_WC_SKIP ||
		    (solicited_only && e->status == UHCA_ABI_WC_SUCCESS &&
		     !(e->flags & UHCA_ABI_WC_SOLICITED)))
			continue;
		waits = true;
		*end = i + 1;
	}
	uhcav_unlock(&cq->lock);
	return waits;
}

bool uhcav_events_block(const struct uhcav_cq *cq)
{
	int flags = cq->channel ? fcntl(cq->channel->events.read_fd, F_GETFL) : -1;

	return flags >= 0 && !(flags & O_NONBLOCK);
}

void uhcav_events_lost(struct uhcav_here here, struct ibv_cq *ibcq, const struct uhcav_stack *armed,
		       bool some)
{
	const struct uhcav_stack *waited = uhcav_stack_take(here);
	struct uhcav_object cq;

	if (!uhcav_object_find(ibcq, &cq) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_LOST_WAKEUP, waited, armed))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_LOST_WAKEUP,
			       "the program waited for an event while a completion was not polled");
	uhcav_diagnostic_fact("completion queue 0x%x had completions when it was armed", cq.number);
	uhcav_diagnostic_fact(
		"other devices raise no event for those completions, and the wait may never end");
	uhcav_diagnostic_stack(waited, "waited by");
	uhcav_diagnostic_stack(armed, "armed, and not polled %safterwards, by",
			       some ? "to the end " : "");
	uhcav_diagnostic_stack(cq.made, "completion queue 0x%x made by", cq.number);
	uhcav_diagnostic_report();
}

/* Events that were read and not acknowledged; less than 0: the other way round. */
static int32_t missing(const struct uhcav_events *e)
{
	int32_t n;

	pthread_mutex_lock(e->mutex);
	n = (int32_t)(__atomic_load_n(e->read, __ATOMIC_ACQUIRE) - *e->acknowledged);
	pthread_mutex_unlock(e->mutex);
	return n;
}

static void report_events(struct uhcav_here here, const struct uhcav_events *e, int32_t n)
{
	enum uhca_check check = n < 0 ? UHCA_CHECK_EVENTS_OVERACKED : UHCA_CHECK_EVENTS_UNACKED;
	const struct uhcav_stack *stack = uhcav_stack_take(here);
	char words[UHCAV_OBJECT_WORDS];
	struct uhcav_object o;

	if (!uhcav_object_find(e->object, &o) || !uhcav_diagnostic_is_new(check, stack, o.made))
		return;
	uhcav_object_words(&o, words);
	uhcav_diagnostic_begin(check, "an object is destroyed %s: the call never returns",
			       n < 0 ? "with more events acknowledged than read"
				     : "whose events are not acknowledged");
	if (n < 0)
		uhcav_diagnostic_fact("%s: %s was called for %u events that were not read", words,
				      e->call, -(uint32_t)n);
	else
		uhcav_diagnostic_fact("%s: %u events were read and not acknowledged with %s", words,
				      (uint32_t)n, e->call);
	uhcav_diagnostic_stack(stack, "destroyed by");
	uhcav_diagnostic_stack(o.made, "%s made by", words);
	uhcav_diagnostic_report();
}

void uhcav_events_settle(struct uhcav_here here, const struct uhcav_events *e)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int32_t n = missing(e);

	if (!n || (!uhcav_check_on(UHCA_CHECK_EVENTS_UNACKED) &&
		   !uhcav_check_on(UHCA_CHECK_EVENTS_OVERACKED)))
		return;
	for (int i = 0; n && i < PAGE_WORKER_MS; i++) {
		nanosleep(&ms, NULL);
		n = missing(e);
	}
	if (n)
		report_events(here, e, n);
}
