/* SPDX-License-Identifier: BSD-2-Clause */
/* The completion queues and queue pairs that the watchdog knows. See book.h. */
#include "book.h"

#include "hang.h"
#include "judge.h"
#include "provider/base/base.h"
#include "watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct uhcav_hang_cqs uhcav_hang_cqs = LIST_HEAD_INITIALIZER(uhcav_hang_cqs);
struct uhcav_hang_qps uhcav_hang_qps = LIST_HEAD_INITIALIZER(uhcav_hang_qps);
#define ASKED 64u /* polls, each tick: of all threads that poll alike */

pthread_mutex_t uhcav_hang_book_lock = PTHREAD_MUTEX_INITIALIZER;

static pid_t self(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* ---- coming and going ---- */

void uhcav_hang_cq_made(struct uhcav_cq *cq, const struct uhcav_stack *made)
{
	struct uhcav_hang_cq *h = uhcav_hang_is_on() ? calloc(1, sizeof(*h)) : NULL;

	if (!h)
		return;
	h->cq = cq;
	h->made = made;
	h->handle = cq->cq.handle;
	pthread_mutex_lock(&uhcav_hang_book_lock);
	LIST_INSERT_HEAD(&uhcav_hang_cqs, h, link);
	cq->hang = h;
	pthread_mutex_unlock(&uhcav_hang_book_lock);
	uhcav_hang_watch();
}

void uhcav_hang_cq_gone(struct uhcav_cq *cq)
{
	struct uhcav_hang_cq *h;

	pthread_mutex_lock(&uhcav_hang_book_lock);
	h = cq->hang;
	cq->hang = NULL;
	if (h) {
		uhcav_hang_judge_cq(h);
		LIST_REMOVE(h, link);
	}
	pthread_mutex_unlock(&uhcav_hang_book_lock);
	free(h);
}

void uhcav_hang_qp_made(struct uhcav_qp *qp, const struct uhcav_stack *made)
{
	struct uhcav_hang_qp *h = uhcav_hang_is_on() ? calloc(1, sizeof(*h)) : NULL;

	if (!h)
		return;
	h->qp = qp;
	h->made = made;
	pthread_mutex_lock(&uhcav_hang_book_lock);
	LIST_INSERT_HEAD(&uhcav_hang_qps, h, link);
	qp->hang = h;
	pthread_mutex_unlock(&uhcav_hang_book_lock);
}

void uhcav_hang_qp_gone(struct uhcav_qp *qp)
{
	struct uhcav_hang_qp *h;

	pthread_mutex_lock(&uhcav_hang_book_lock);
	h = qp->hang;
	if (h)
		uhcav_hang_qp_ends(qp);
	qp->hang = NULL;
	if (h)
		LIST_REMOVE(h, link);
	pthread_mutex_unlock(&uhcav_hang_book_lock);
	free(h);
}

void uhcav_hang_qp_modified(struct uhcav_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			    uint32_t dropped, struct uhcav_here here)
{
	bool reset = (attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET;
	const struct uhcav_stack *stack = reset && dropped ? uhcav_stack_take(here) : NULL;
	struct uhcav_hang_qp *h;

	pthread_mutex_lock(&uhcav_hang_book_lock);
	h = qp->hang;
	if (h && (attr_mask & IBV_QP_AV) && attr->ah_attr.is_global) {
		memcpy(h->dgid, attr->ah_attr.grh.dgid.raw, sizeof(h->dgid));
		h->has_peer = true;
	}
	if (h && reset) {
		h->has_peer = false;
		h->reset = stack ? stack : h->reset;
		h->dropped = stack ? dropped : h->dropped;
	}
	pthread_mutex_unlock(&uhcav_hang_book_lock);
}

/* A child's copies are the parent's affair. */
void uhcav_hang_forget(void)
{
	struct uhcav_hang_cq *c;
	struct uhcav_hang_qp *q;

	while ((c = LIST_FIRST(&uhcav_hang_cqs))) {
		LIST_REMOVE(c, link);
		c->cq->hang = NULL;
		free(c);
	}
	while ((q = LIST_FIRST(&uhcav_hang_qps))) {
		LIST_REMOVE(q, link);
		q->qp->hang = NULL;
		free(q);
	}
	uhcav_hang_watch_forget();
}

/* ---- between two polls ---- */

uint32_t uhcav_hang_measures;
static __thread uint64_t last_poll; /* this thread's, ns; 0: it is not known */

void uhcav_hang_measure_begin(struct uhcav_hang_cq *h)
{
	uint64_t now = uhcav_clock_ns(CLOCK_MONOTONIC), gap = now - last_poll;

	if (last_poll && gap < __atomic_load_n(&h->gap, __ATOMIC_RELAXED))
		__atomic_store_n(&h->gap, (uint32_t)gap, __ATOMIC_RELAXED);
	if (last_poll)
		__atomic_fetch_add(&h->measured, 1, __ATOMIC_RELAXED);
}

void uhcav_hang_measure_end(void)
{
	last_poll = uhcav_clock_ns(CLOCK_MONOTONIC);
}

/* ---- what threads of the program leave ---- */

static const struct uhcav_hang_poller *poller(const struct uhcav_hang_poller *among, pid_t tid)
{
	for (unsigned i = 0; i < UHCAV_HANG_POLLERS; i++)
		if (__atomic_load_n(&among[i].tid, __ATOMIC_RELAXED) == tid)
			return &among[i];
	return NULL;
}

const struct uhcav_hang_poller *uhcav_hang_poller(const struct uhcav_hang_cq *h, pid_t tid)
{
	return h->polls ? poller(h->pollers, tid) : NULL;
}

void uhcav_hang_leave_stack(struct uhcav_hang_cq *h, struct uhcav_here here)
{
	uint32_t left = __atomic_load_n(&h->ask, __ATOMIC_RELAXED), i;
	pid_t tid = self();

	if (left)
		__atomic_store_n(&h->ask, left - 1, __ATOMIC_RELAXED);
	if (poller(h->asked, tid))
		return;
	i = __atomic_fetch_add(&h->next, 1, __ATOMIC_RELAXED) % UHCAV_HANG_POLLERS;
	__atomic_store_n(&h->asked[i].stack, uhcav_stack_take(here), __ATOMIC_RELAXED);
	__atomic_store_n(&h->asked[i].tid, tid, __ATOMIC_RELEASE);
}

void uhcav_hang_armed(struct uhcav_cq *cq, struct uhcav_here here)
{
	struct uhcav_hang_cq *h = cq->hang;

	if (!h)
		return;
	__atomic_store_n(&h->armed_by, self(), __ATOMIC_RELAXED);
	__atomic_store_n(&h->armed, uhcav_stack_take(here), __ATOMIC_RELEASE);
	__atomic_fetch_add(&h->arms, 1, __ATOMIC_RELAXED);
}

/* ---- looking ---- */

uint32_t uhcav_hang_used(const struct uhcav_work_queue *wq)
{
	uint32_t n;

	if (!wq->entries)
		return 0;
	n = __atomic_load_n(&wq->producer, __ATOMIC_RELAXED) -
	    __atomic_load_n(&wq->polled, __ATOMIC_ACQUIRE) -
	    uhca_ring_observe(&wq->ring->abandoned);
	return n <= 2 * (wq->mask + 1) ? n : 0;
}

uint32_t uhcav_hang_outstanding(const struct uhcav_qp *qp)
{
	return uhcav_hang_used(&qp->sq) + uhcav_hang_used(&qp->rq);
}

static void add_sends(struct uhcav_hang_state *s, const struct uhcav_qp *qp)
{
	uint32_t n = uhcav_hang_used(&qp->sq),
		 end = __atomic_load_n(&qp->sq.producer, __ATOMIC_RELAXED);

	s->sends += n;
	for (uint32_t i = end - n; i != end && qp->sq.posted; i++)
		s->signaled += uhcav_work_queue_posted(&qp->sq, i)->signaled;
	s->posts += end;
}

static void add_recvs(struct uhcav_hang_state *s, const struct uhcav_qp *qp)
{
	const struct uhcav_work_queue *rq = uhcav_qp_rq(qp);

	s->recvs += uhcav_hang_used(rq);
	s->posts += __atomic_load_n(&rq->producer, __ATOMIC_RELAXED);
}

static void add_qps(struct uhcav_hang_state *s, const struct uhcav_cq *cq)
{
	struct uhcav_hang_qp *h;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct uhcav_qp *qp = h->qp;
		uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);

		if (qp->qp.send_cq != &cq->cq && qp->qp.recv_cq != &cq->cq)
			continue;
		s->qps++;
		s->connected += state == IBV_QPS_RTR || state == IBV_QPS_RTS;
		s->posts += state;
		if (qp->qp.send_cq == &cq->cq)
			add_sends(s, qp);
		if (qp->qp.recv_cq == &cq->cq)
			add_recvs(s, qp);
	}
}

/* Under the CQ's lock, unless it has none. */
static void add_pending(struct uhcav_hang_state *s, const struct uhcav_cq *cq)
{
	uint32_t i = cq->consumer + (cq->current != NULL);
	const struct uhca_abi_cqe *e;

	for (uint32_t n = 0; n <= cq->mask && uhcav_cqe_valid(e = uhcav_cq_slot(cq, i), i);
	     n++, i++) {
		if (e->flags & UHCA_ABI_WC_SKIP)
			continue;
		s->pending++;
		s->solicited +=
			e->status != UHCA_ABI_WC_SUCCESS || e->flags & UHCA_ABI_WC_SOLICITED;
	}
	s->arm = uhcav_life(cq->ctx) == UHCAV_ALIVE
			 ? __atomic_load_n(&cq->page->arm, __ATOMIC_ACQUIRE)
			 : 0;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents;
}

static struct uhcav_hang_state state_of(struct uhcav_hang_cq *h)
{
	struct uhcav_cq *cq = h->cq;
	struct uhcav_hang_state s = {.taken = __atomic_load_n(&h->taken, __ATOMIC_RELAXED),
				     .empty = __atomic_load_n(&h->empty, __ATOMIC_RELAXED),
				     .arms = __atomic_load_n(&h->arms, __ATOMIC_RELAXED)};

	add_qps(&s, cq);
	if (!uhcav_try_lock(&cq->lock)) {
		s.busy = true;
		return s;
	}
	s.busy = cq->resizing || cq->flushing;
	if (!s.busy)
		add_pending(&s, cq);
	uhcav_unlock(&cq->lock);
	s.event = cq->channel && is_readable(cq->channel->events.read_fd);
	return s;
}

static bool is_as_before(const struct uhcav_hang_state *a, const struct uhcav_hang_state *b)
{
	return a->taken == b->taken && a->arms == b->arms && a->posts == b->posts &&
	       a->qps == b->qps && a->sends == b->sends && a->recvs == b->recvs &&
	       (a->busy || b->busy || (a->pending == b->pending && a->arm == b->arm)) &&
	       !a->event && !b->event;
}

/* Those that polled since the last tick are known; who polls next is asked again. */
static void ask_pollers(struct uhcav_hang_cq *h)
{
	for (unsigned i = 0; i < UHCAV_HANG_POLLERS; i++) {
		h->pollers[i].tid = __atomic_exchange_n(&h->asked[i].tid, 0, __ATOMIC_ACQUIRE);
		h->pollers[i].stack = __atomic_load_n(&h->asked[i].stack, __ATOMIC_RELAXED);
	}
	if (h->polls)
		__atomic_store_n(&h->ask, ASKED, __ATOMIC_RELAXED);
}

static void look_at(struct uhcav_hang_cq *h, uint64_t now)
{
	struct uhcav_hang_state s = state_of(h);

	h->polls = s.empty != h->state.empty;
	if (!h->since || !is_as_before(&s, &h->state)) {
		h->since = now;
		h->polls_since = 0;
	} else if (h->polls && !h->polls_since) {
		h->polls_since = now;
	}
	if (s.busy) { /* who polls without end is met in it now and then */
		s.pending = h->state.pending;
		s.solicited = h->state.solicited;
		s.arm = h->state.arm;
	}
	if (!s.event || !h->state.event || s.taken != h->state.taken)
		h->event_since = s.event ? now : 0;
	h->state = s;
	ask_pollers(h);
}

void uhcav_hang_look(uint64_t now)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	look_at(h, now);
}

bool uhcav_hang_look_at_polled(const struct uhcav_qp *qp, uint64_t now)
{
	bool any = false;
	struct ibv_cq *const cqs[] = {qp->qp.send_cq, qp->qp.recv_cq};

	for (size_t i = 0; i < sizeof(cqs) / sizeof(cqs[0]); i++) {
		struct uhcav_hang_cq *h = cqs[i] ? uhcav_cq_of(cqs[i])->hang : NULL;

		if (h && __atomic_load_n(&h->empty, __ATOMIC_RELAXED) != h->state.empty) {
			look_at(h, now);
			any = true;
		}
	}
	return any;
}

bool uhcav_hang_queues_stay(void)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		const struct uhcav_hang_state s = state_of(h);

		if (!is_as_before(&s, &h->state))
			return false;
	}
	return true;
}

bool uhcav_hang_polls_on(const struct uhcav_hang_cq *h, uint64_t now, uint64_t after)
{
	return h->polls && h->polls_since && now - h->polls_since >= after;
}

struct uhcav_hang_cq *uhcav_hang_of_channel(int fd, const struct uhcav_hang_cq *after)
{
	struct uhcav_hang_cq *h = after ? LIST_NEXT(after, link) : LIST_FIRST(&uhcav_hang_cqs);

	for (; h; h = LIST_NEXT(h, link))
		if (h->cq->channel && h->cq->channel->events.read_fd == fd)
			return h;
	return NULL;
}
