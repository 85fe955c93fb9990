/* SPDX-License-Identifier: BSD-2-Clause */
/* Arming, the events that come of it, and their acknowledgement. */
#include "watch.h"

#include "events.h"
#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"
#include "provider/hang/hang.h"
#include "provider/poll/poll.h"
#include "provider/queues/queues.h"

static int req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	uint32_t end = 0;
	bool waits = uhcav_check_on(UHCA_CHECK_LOST_WAKEUP) &&
		     uhcav_events_wait(cq, solicited_only, &end);
	int err = uhcav_req_notify_cq(ibcq, solicited_only);
	const struct uhcav_stack *stack;

	if (!err)
		uhcav_hang_armed(cq, UHCAV_HERE);
	if (err || !waits)
		return err;
	stack = uhcav_stack_take(UHCAV_HERE);
	uhcav_cq_lock(cq); /* both at once: several threads may arm */
	cq->armed_by = pthread_self();
	cq->armed_end = end;
	cq->armed_polled = false;
	__atomic_store_n(&cq->armed_late, stack, __ATOMIC_RELEASE);
	uhcav_unlock(&cq->lock);
	return 0;
}

/*
 * The library has read an event, which the program has waited for. A thread may do so while another
 * one, which has armed, is about to poll. One that has polled a part may be about to go on, and
 * just look whether there is an event: only where it waits for one it has given up the rest.
 */
static void cq_event(struct ibv_cq *ibcq)
{
	struct uhcav_cq *cq = uhcav_cq_of(ibcq);
	const struct uhcav_stack *armed;
	bool mine, some;

	uhcav_cq_lock(cq);
	armed = __atomic_exchange_n(&cq->armed_late, NULL, __ATOMIC_ACQ_REL);
	mine = pthread_equal(cq->armed_by, pthread_self());
	some = cq->armed_polled;
	uhcav_unlock(&cq->lock);
	uhcav_cq_event(ibcq);
	if (armed && mine && (!some || uhcav_events_block(cq)))
		uhcav_events_lost(UHCAV_HERE, ibcq, armed, some);
}

const struct uhcav_watch uhcav_watch_events[] = {
	{"cq_event", (void *)cq_event},
	{"req_notify_cq", (void *)req_notify_cq},
	{NULL, NULL},
};
