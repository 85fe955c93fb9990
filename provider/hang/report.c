/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a hang. See report.h. */
#include "report.h"

#include "files.h"
#include "provider/gone/gone.h"
#include "where.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QPS_REPORTED 6u
#define CQS_REPORTED 4u

static const char *type_of(const struct ibv_qp *qp)
{
	switch ((int)qp->qp_type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	default:
		return "XRC or raw packet";
	}
}

const char *uhcav_hang_state_name(const struct uhcav_qp *qp)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* ---- the state of queues ---- */

static const char *arm_words(const struct uhcav_hang_cq *h)
{
	const struct uhcav_hang_state *s = &h->state;

	if (!h->cq->channel)
		return "without a channel";
	if (s->arm & UHCA_ABI_ARM_NEXT)
		return "armed";
	return s->arm ? "armed for solicited events only" : "not armed";
}

const char *uhcav_hang_cq_words(const struct uhcav_hang_cq *h, char words[UHCAV_HANG_WORDS])
{
	snprintf(words, UHCAV_HANG_WORDS,
		 "completion queue 0x%x: %s, %u completions wait to be polled", h->handle,
		 arm_words(h), h->state.pending);
	return words;
}

static void report_cq(const struct uhcav_hang_cq *h)
{
	char words[UHCAV_HANG_WORDS];

	uhcav_diagnostic_fact("%s", uhcav_hang_cq_words(h, words));
}

static void report_ring(const struct uhcav_qp *qp, const char *name,
			const struct uhcav_work_queue *wq)
{
	if (!wq->entries)
		return;
	uhcav_diagnostic_fact("%s queue of %s QP 0x%x (%s): %u posted, %u taken by the device, "
			      "%u polled",
			      name, type_of(&qp->qp), qp->qp.qp_num, uhcav_hang_state_name(qp),
			      wq->producer, uhca_ring_observe(&wq->ring->consumer), wq->polled);
	if (wq == &qp->sq && __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) == IBV_QPS_SQD &&
	    uhca_ring_observe(&wq->ring->consumer) != wq->producer)
		uhcav_diagnostic_fact("in SQD the queue pair sends nothing until it is moved to "
				      "RTS");
}

/* Each completion is one thread's: another one, which waits for it, does not see it. */
static void report_pollers(const struct uhcav_hang_cq *h)
{
	unsigned n = 0;

	for (unsigned i = 0; h->polls && i < UHCAV_HANG_POLLERS; i++)
		n += h->pollers[i].tid != 0;
	if (n > 1 && h->state.taken && !h->state.signaled && !h->state.recvs)
		uhcav_diagnostic_fact("%u threads poll completion queue 0x%x, and each completion "
				      "goes to one of them, whichever polls first",
				      n, h->handle);
}

static void report_qps(const struct uhcav_hang_cq *of)
{
	struct uhcav_hang_qp *h;
	unsigned n = 0;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct uhcav_qp *qp = h->qp;

		if (n >= QPS_REPORTED)
			return;
		if (qp->qp.send_cq == &of->cq->cq) {
			report_ring(qp, "send", &qp->sq);
			n++;
		}
		if (qp->qp.recv_cq == &of->cq->cq) {
			report_ring(qp, "receive", uhcav_qp_rq(qp));
			n++;
		}
	}
}

/* ---- of one thread ---- */

static const struct {
	enum uhca_check check;
	const char *what, *fact; /* fact: NULL: none */
	const char *armed, *of;  /* titles */
} event_waits[] = {
	[UHCAV_HANG_LOST] = {UHCA_CHECK_LOST_WAKEUP,
			     "a thread waits for an event that does not come: completions were "
			     "there when their queue was armed",
			     NULL, "armed, and not polled to the end after that, by", ""},
	[UHCAV_HANG_OVERSLEPT] = {UHCA_CHECK_LOST_WAKEUP,
				  "a thread waits for an edge (EPOLLET) of a channel in which "
				  "events wait unread",
				  "an edge comes once for all events that wait: ibv_get_cq_event "
				  "is to be called until it fails with EAGAIN",
				  "armed by", ""},
	[UHCAV_HANG_UNREAD] = {UHCA_CHECK_LOST_WAKEUP,
			       "a thread waits for the events of one channel, and the event waits "
			       "in another channel, which no thread reads",
			       NULL, "armed by", ", whose event waits,"},
	[UHCAV_HANG_UNARMED] = {UHCA_CHECK_WAIT_UNARMED,
				"a thread waits for an event, and no queue of the channel is armed",
				NULL, "armed the last time, for one event, by", ""},
};

void uhcav_hang_report_wait(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h,
			    enum uhcav_hang_wait why)
{
	const struct uhcav_stack *waited;

	if (!uhcav_diagnostic_is_new(event_waits[why].check, h->armed, h->made))
		return;
	waited = uhcav_hang_where(t->tid);
	uhcav_diagnostic_of_thread(t->tid);
	uhcav_diagnostic_begin(event_waits[why].check, "%s", event_waits[why].what);
	report_cq(h);
	report_qps(h);
	if (event_waits[why].fact)
		uhcav_diagnostic_fact("%s", event_waits[why].fact);
	uhcav_diagnostic_stack(waited, "waited by");
	uhcav_diagnostic_stack(h->armed, "%s", event_waits[why].armed);
	uhcav_diagnostic_stack(h->made, "completion queue 0x%x%s made by", h->handle,
			       event_waits[why].of);
	uhcav_diagnostic_report();
}

void uhcav_hang_report_destroy(const struct uhcav_hang_thread *t)
{
	static uint64_t asked; /* since when that thread waited */
	const struct uhcav_stack *waits;

	if (asked == t->since)
		return;
	asked = t->since;
	waits = uhcav_hang_where(t->tid);
	if (!uhcav_stack_has(waits, "librdmacm") ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_EVENTS_UNACKED, waits, NULL))
		return;
	uhcav_diagnostic_of_thread(t->tid);
	uhcav_diagnostic_begin(UHCA_CHECK_EVENTS_UNACKED,
			       "an rdma_cm_id is destroyed, or moved to another channel, whose "
			       "events are not acknowledged: this waits for ever");
	uhcav_diagnostic_fact("rdma_destroy_id and rdma_migrate_id wait until rdma_ack_cm_event "
			      "was called for each event of the id that rdma_get_cm_event has "
			      "returned");
	uhcav_diagnostic_stack(waits, "destroyed by");
	uhcav_diagnostic_stack(uhcav_unacked_by(t->tid),
			       "the event was read by the same thread in");
	uhcav_diagnostic_report();
}

/* ---- of the process ---- */

static void put_peer(struct uhcav_line *l, const struct uhcav_hang_qp *h, bool more)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char address[INET6_ADDRSTRLEN] = "";

	if (!memcmp(h->dgid, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, h->dgid + sizeof(mapped), address, sizeof(address));
	else
		inet_ntop(AF_INET6, h->dgid, address, sizeof(address));
	uhcav_line_put(l, more ? ",[" : "[");
	uhcav_line_string(l, h->qp->qp.context->device->name);
	uhcav_line_put(l, ",");
	uhcav_line_number(l, h->qp->qp.qp_num);
	uhcav_line_put(l, ",");
	uhcav_line_string(l, address);
	uhcav_line_put(l, "]");
}

static void put_checks(struct uhcav_line *l)
{
	static const enum uhca_check checks[] = {
		UHCA_CHECK_PEER_GONE,      UHCA_CHECK_PEER_UNREADY,   UHCA_CHECK_CM_UNREAD,
		UHCA_CHECK_CM_UNANSWERED,  UHCA_CHECK_PEER_ELSEWHERE, UHCA_CHECK_OBJECT_GONE,
		UHCA_CHECK_CONN_UNANSWERED};
	bool more = false;

	uhcav_line_put(l, ",\"checks\":[");
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!uhcav_check_on(checks[i]))
			continue;
		uhcav_line_put(l, more ? "," : "");
		uhcav_line_string(l, uhcav_check_name(checks[i]));
		more = true;
	}
	uhcav_line_put(l, "]");
}

uint64_t uhcav_hang_since(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_cq *h;
	uint64_t since = t->polls ? 0 : t->since;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (t->polls && uhcav_hang_poller(h, t->tid) && h->since > since)
		since = h->since;
	return since;
}

/* emu/abi/sanitize.h: "hang". */
static void write_peers(struct uhcav_line *l, const struct uhcav_hang_thread *stuck,
			const char *why, const struct uhcav_hang_hope *hope)
{
	const char *dir = secure_getenv("UHCA_DIR");
	struct uhcav_hang_qp *h;
	bool more = false;

	l->n = 0;
	uhcav_line_put(l, "\"hang\":{\"dir\":");
	uhcav_line_string(l, dir ? dir : "");
	uhcav_line_put(l, ",\"since\":");
	uhcav_line_number(l, uhcav_hang_since(stuck));
	put_checks(l);
	uhcav_line_put(l, ",\"why\":");
	uhcav_line_string(l, why);
	uhcav_line_put(l, hope->strangers ? ",\"strangers\":true" : "");
	uhcav_line_put(l, hope->events ? ",\"events\":true" : "");
	uhcav_line_put(l, hope->data ? ",\"data\":true" : "");
	uhcav_line_put(l, hope->async ? ",\"async\":true" : "");
	uhcav_line_put(l, hope->clock ? ",\"clock\":true" : "");
	uhcav_line_put(l, ",\"sockets\":[");
	for (unsigned i = 0; i < hope->n_sockets; i++) {
		uhcav_line_put(l, i ? "," : "");
		uhcav_line_number(l, hope->sockets[i]);
	}
	uhcav_line_put(l, "],\"qps\":[");
	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		uint32_t state = __atomic_load_n(&h->qp->state, __ATOMIC_ACQUIRE);

		if (!h->has_peer || state == IBV_QPS_ERR || state == IBV_QPS_RESET ||
		    !uhcav_line_has_room(l))
			continue;
		put_peer(l, h, more);
		more = true;
	}
	uhcav_line_put(l, "]}");
}

static struct uhcav_line peers; /* the watching thread's */

/* Is it one of the queues that the thread waits for? */
static bool waits_for(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h)
{
	if (t->polls)
		return uhcav_hang_poller(h, t->tid);
	for (unsigned i = 0; h->cq->channel && i < t->n_fds; i++)
		if (t->fds[i] == h->cq->channel->events.read_fd)
			return true;
	return false;
}

struct reason {
	enum uhca_check check;
	const char *what;
	const struct uhcav_stack *cause;
	const char *title;
};

/* A reset has taken requests from one of the queue pairs that complete there. */
static const struct uhcav_hang_qp *reset_one(const struct uhcav_hang_cq *cq)
{
	struct uhcav_hang_qp *h;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	if (h->reset && (h->qp->qp.send_cq == &cq->cq->cq || h->qp->qp.recv_cq == &cq->cq->cq))
		return h;
	return NULL;
}

/* Why events of an SRQ do not come. */
static void report_async(void)
{
	const struct uhcav_hang_qp *h;
	unsigned n = 0;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct ibv_srq *srq = h->qp->qp.srq;

		if (!srq || n++ >= CQS_REPORTED)
			continue;
		if (!__atomic_load_n(&uhcav_srq_of(h->qp->qp.srq)->limited, __ATOMIC_RELAXED))
			uhcav_diagnostic_fact("SRQ 0x%x: no limit was ever armed; ibv_modify_srq "
					      "arms one for one IBV_EVENT_SRQ_LIMIT_REACHED",
					      srq->handle);
		if (__atomic_load_n(&h->qp->state, __ATOMIC_ACQUIRE) != IBV_QPS_ERR)
			uhcav_diagnostic_fact("QP 0x%x of SRQ 0x%x is in %s: "
					      "IBV_EVENT_QP_LAST_WQE_REACHED comes in ERR",
					      h->qp->qp.qp_num, srq->handle,
					      uhcav_hang_state_name(h->qp));
	}
}

static const char *what_else(const struct uhcav_hang_thread *t)
{
	if (uhcav_hang_waits_for(t, uhcav_hang_is_cm))
		return "an event of rdma_cm is awaited, and the peers wait as well";
	if (uhcav_hang_waits_for(t, uhcav_hang_is_async))
		return "an asynchronous event is awaited, and the peers wait as well";
	return "data of a socket is awaited, and the peers wait as well";
}

/* Completions wait there, and no thread polls it or waits for its events. */
static const struct uhcav_hang_cq *elsewhere(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (h->state.pending && !h->polls && !waits_for(t, h))
		return h;
	return NULL;
}

static bool waits_for_cq(const struct uhcav_hang_thread *t, const struct ibv_cq *cq)
{
	const struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (&h->cq->cq == cq)
		return waits_for(t, h);
	return false;
}

/* All receives that the thread waits for are of queue pairs that take no message yet. */
static bool all_before_rtr(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_qp *h;
	bool found = false;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct uhcav_qp *qp = h->qp;
		const uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);
		const bool is_before = state == IBV_QPS_RESET || state == IBV_QPS_INIT;

		if (waits_for_cq(t, qp->qp.send_cq) && uhcav_hang_used(&qp->sq))
			return false;
		if (!waits_for_cq(t, qp->qp.recv_cq) || !uhcav_hang_used(uhcav_qp_rq(qp)))
			continue;
		if (!is_before)
			return false;
		found = true;
	}
	return found;
}

/* All queue pairs that complete there have an SRQ, are in ERR, and nothing else is outstanding. */
static bool all_in_error(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_qp *h;
	bool found = false;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct uhcav_qp *qp = h->qp;

		if (!waits_for_cq(t, qp->qp.send_cq) && !waits_for_cq(t, qp->qp.recv_cq))
			continue;
		if (!qp->qp.srq || uhcav_hang_used(&qp->sq) ||
		    __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE) != IBV_QPS_ERR)
			return false;
		found = true;
	}
	return found;
}

static struct reason reason_of(const struct uhcav_hang_thread *t)
{
	bool by_completion = t->polls;
	struct uhcav_hang_state sum = {0};
	const struct uhcav_hang_qp *reset = NULL;
	const struct uhcav_hang_cq *h, *other, *unsolicited = NULL, *unarmed = NULL;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		const struct uhcav_hang_state *s = &h->state;

		if (!waits_for(t, h))
			continue;
		by_completion = true;
		sum.sends += s->sends;
		sum.signaled += s->signaled;
		sum.recvs += s->recvs;
		sum.posts += s->taken + s->sends + s->recvs;
		if (!reset)
			reset = reset_one(h);
		if (s->pending && s->arm == UHCA_ABI_ARM_SOLICITED && !s->solicited)
			unsolicited = h;
		if (s->pending && !s->arm && !t->polls)
			unarmed = h;
	}
	if (unsolicited)
		return (struct reason){UHCA_CHECK_WAIT_UNARMED,
				       "a thread waits for solicited events, and completions "
				       "without a solicited event wait to be polled",
				       unsolicited->armed, "armed for solicited events only by"};
	if (unarmed)
		return (struct reason){
			UHCA_CHECK_WAIT_UNARMED,
			"a thread waits for an event, and completions wait in a queue "
			"of the channel that is not armed",
			unarmed->made, "the queue that is not armed made by"};
	if (!by_completion)
		return (struct reason){UHCA_CHECK_PEER_WAITS, what_else(t), NULL, NULL};
	if (all_in_error(t))
		return (struct reason){UHCA_CHECK_POLL_NOTHING,
				       "flushes are awaited of a queue pair in ERR, and what is "
				       "outstanding are receives of its SRQ: an SRQ is not flushed",
				       NULL, NULL};
	if (all_before_rtr(t))
		return (struct reason){UHCA_CHECK_CONN_UNANSWERED,
				       "messages are awaited on a queue pair that was not moved to "
				       "RTR",
				       NULL, NULL};
	if (sum.signaled || sum.recvs)
		return (struct reason){UHCA_CHECK_PEER_WAITS,
				       "all threads wait, and so do the peers: neither end sends",
				       NULL, NULL};
	if (reset)
		return (struct reason){UHCA_CHECK_POLL_NOTHING,
				       "completions are awaited of requests that a move to RESET "
				       "has discarded",
				       reset->reset, "moved to RESET by"};
	other = sum.posts ? NULL : elsewhere(t);
	if (other)
		return (struct reason){UHCA_CHECK_POLL_NOTHING,
				       "completions are awaited of a queue that nothing was ever "
				       "posted to; they wait in another queue, which is not polled",
				       other->made, "the queue in which they wait made by"};
	return (struct reason){UHCA_CHECK_POLL_NOTHING,
			       sum.sends   ? "completions are awaited, and all outstanding "
					     "requests are unsignaled"
			       : sum.posts ? "completions are awaited, and nothing is outstanding"
					   : "completions are awaited, and nothing was ever posted",
			       NULL, NULL};
}

bool uhcav_hang_is_closed(const struct uhcav_hang_thread *stuck, const struct uhcav_hang_hope *hope)
{
	struct reason r = reason_of(stuck);

	write_peers(&peers, stuck,
		    r.check != UHCA_CHECK_PEER_WAITS ? r.what
		    : hope->async                    ? "an asynchronous event is awaited"
		    : hope->data                     ? "data of a socket is awaited"
		    : hope->events                   ? "an event of rdma_cm is awaited"
						     : "posted requests are not complete",
		    hope);
	return uhcav_diagnostic_ask(peers.text);
}

static const struct uhcav_stack *stack_of(const struct uhcav_hang_thread *t)
{
	const struct uhcav_hang_poller *p;
	const struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (t->polls && (p = uhcav_hang_poller(h, t->tid)) && p->stack)
		return p->stack;
	return uhcav_hang_where(t->tid);
}

/* ---- a queue that is full ---- */

void uhcav_hang_report_overflow(struct uhcav_hang_cq *h)
{
	if (h->overflow_reported)
		return;
	h->overflow_reported = true;
	uhcav_diagnostic_begin(UHCA_CHECK_CQ_OVERRUN,
			       "a completion queue has overflowed: completions are lost, and it "
			       "takes no more");
	uhcav_diagnostic_fact("completion queue 0x%x has %d entries", h->handle, h->cq->cq.cqe);
	report_qps(h);
	uhcav_diagnostic_stack(h->made, "completion queue 0x%x made by", h->handle);
	uhcav_diagnostic_report();
}

/* ---- a program that gives up ---- */

#define SOON_MS 3000u

static struct {
	uint64_t at; /* ms; 0: there is none */
	pid_t tid;
	uint64_t waited;
	uint32_t handle;
	struct reason reason;
	const struct uhcav_stack *polled, *made;
} suspicion;
static bool reported_stuck; /* it was no guess, and was told before */

void uhcav_hang_suspect(const struct uhcav_hang_thread *t, uint64_t now)
{
	const struct uhcav_hang_poller *p;
	const struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		p = uhcav_hang_poller(h, t->tid);
		if (!p || !p->stack)
			continue;
		suspicion.at = now;
		suspicion.tid = t->tid;
		suspicion.waited = now - h->since;
		suspicion.handle = h->handle;
		suspicion.reason = reason_of(t);
		suspicion.polled = p->stack;
		suspicion.made = h->made;
		return;
	}
}

void uhcav_hang_report_given_up(uint64_t now)
{
	const struct reason *r = &suspicion.reason;

	if (!suspicion.at || reported_stuck || now - suspicion.at > SOON_MS ||
	    !uhcav_check_on(r->check) ||
	    !uhcav_diagnostic_is_new(r->check, suspicion.polled, suspicion.made))
		return;
	uhcav_diagnostic_of_thread(suspicion.tid);
	uhcav_diagnostic_begin(r->check, "%s: the program gives up and fails", r->what);
	uhcav_diagnostic_fact("completion queue 0x%x was polled in vain for %.1f s",
			      suspicion.handle, (double)suspicion.waited / 1000);
	uhcav_diagnostic_stack(suspicion.polled, "polled by");
	uhcav_diagnostic_stack(r->cause, "%s", r->title);
	uhcav_diagnostic_stack(suspicion.made, "completion queue 0x%x made by", suspicion.handle);
	uhcav_diagnostic_report();
}

/* ---- both ends ---- */

static void report_queues(const struct uhcav_hang_threads *all)
{
	const struct uhcav_hang_cq *h;
	unsigned n = 0;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		bool waited = false;

		for (unsigned i = 0; i < all->n; i++)
			waited |= waits_for(&all->at[i], h);
		if (!waited || n++ >= CQS_REPORTED)
			continue;
		report_cq(h);
		report_qps(h);
		report_pollers(h);
	}
}

static void report_stacks(const struct uhcav_hang_threads *all,
			  const struct uhcav_hang_thread *stuck, const struct reason *r)
{
	const struct uhcav_hang_cq *h;

	uhcav_diagnostic_stack(stack_of(stuck), stuck->polls ? "polled by" : "waited by");
	uhcav_diagnostic_stack(r->cause, "%s", r->title);
	for (unsigned i = 0; i < all->n; i++)
		if (&all->at[i] != stuck)
			uhcav_diagnostic_stack(stack_of(&all->at[i]), "thread %d waits in",
					       (int)all->at[i].tid);
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (waits_for(stuck, h)) {
		uhcav_diagnostic_stack(h->made, "completion queue 0x%x made by", h->handle);
		break;
	}
}

enum begun { BEGUN, NOT_ASKED_FOR, GOES_ON };

/*
 * The threads were looked at some time ago. What they wait for may have come since: the stack is
 * of another place then, and there is no hang.
 */
static enum begun begin_stuck(const struct uhcav_hang_threads *all,
			      const struct uhcav_hang_thread *stuck)
{
	struct reason r = reason_of(stuck);

	if (!uhcav_check_on(r.check))
		return NOT_ASKED_FOR;
	uhcav_diagnostic_of_thread(stuck->tid);
	uhcav_diagnostic_begin(r.check, "%s", r.what);
	report_queues(all);
	if (!stuck->polls && uhcav_hang_waits_for(stuck, uhcav_hang_is_async))
		report_async();
	if (uhcav_hang_cm_waits())
		uhcav_diagnostic_fact("an event of rdma_cm waits to be read (rdma_get_cm_event): "
				      "the end of a connection is told there");
	report_stacks(all, stuck, &r);
	if (!uhcav_hang_threads_stay(all) || !uhcav_hang_queues_stay()) {
		uhcav_diagnostic_drop();
		return GOES_ON;
	}
	reported_stuck = true;
	return BEGUN;
}

bool uhcav_hang_report_stuck(const struct uhcav_hang_threads *all,
			     const struct uhcav_hang_thread *stuck)
{
	const enum begun begun = begin_stuck(all, stuck);

	return begun == BEGUN ? uhcav_diagnostic_report_with(peers.text) : begun == NOT_ASKED_FOR;
}

bool uhcav_hang_report_dry(const struct uhcav_hang_threads *all,
			   const struct uhcav_hang_thread *stuck)
{
	const enum begun begun = begin_stuck(all, stuck);

	if (begun == BEGUN)
		uhcav_diagnostic_report();
	return begun != GOES_ON;
}
