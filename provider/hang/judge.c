/* SPDX-License-Identifier: BSD-2-Clause */
/* See judge.h: which judgement applies. What is said stands in report.c. */
#include "judge.h"

#include "asks.h"
#include "emu/abi/event.h"
#include "files.h"
#include "provider/gone/gone.h"
#include "report.h"
#include "sockets.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

#define POLLS      32u /* that are measured */
#define MEASURE_MS 500
#define AT_ONCE_NS 120u /* a call of the system takes longer */

/* ---- of one thread: what it does ---- */

static bool is_channel(int fd)
{
	return uhcav_hang_of_channel(fd, NULL) != NULL;
}

static bool is_of_others(int fd)
{
	return !is_channel(fd) && !uhcav_hang_is_async(fd) && !uhcav_hang_is_cm(fd);
}

/* Only the device, peers and those that ask for a connection can end its wait. */
static bool is_of_verbs(const struct uhcav_hang_thread *t)
{
	return t->n_fds && !uhcav_hang_waits_for(t, is_of_others);
}

/*
 * Adds the other ends of sockets that it waits for beside. False: it waits for something else, or
 * has had data meanwhile.
 */
static bool takes_sockets(const struct uhcav_hang_thread *t, uint64_t now, uint64_t after,
			  struct uhcav_hang_hope *hope)
{
	for (unsigned i = 0; i < t->n_fds; i++) {
		uint64_t peer;

		if (!is_of_others(t->fds[i]))
			continue;
		if (now - t->quiet < after || hope->n_sockets == UHCAV_HANG_SOCKETS)
			return false;
		peer = uhcav_hang_socket_peer(t->fds[i]);
		if (!peer)
			return false;
		hope->sockets[hope->n_sockets++] = peer;
	}
	return t->n_fds;
}

/* A new connection may end its wait. */
static bool expects_strangers(const struct uhcav_hang_thread *t)
{
	return uhcav_hang_waits_for(t, uhcav_hang_is_cm) && uhcav_hang_listens();
}

static bool waits_for_others(const struct uhcav_hang_thread *t)
{
	return t->does == UHCAV_HANG_LOCK ||
	       (t->does == UHCAV_HANG_FILES && !t->limited && is_of_verbs(t));
}

static bool is_passive(const struct uhcav_hang_thread *t)
{
	return waits_for_others(t) && !expects_strangers(t);
}

static bool others_are_passive(const struct uhcav_hang_threads *all,
			       const struct uhcav_hang_thread *but)
{
	for (unsigned i = 0; i < all->n; i++)
		if (&all->at[i] != but && !is_passive(&all->at[i]))
			return false;
	return all->all;
}

/* ---- of one thread: events that cannot come ---- */

static bool is_stable(const struct uhcav_hang_cq *h, uint64_t now, uint64_t after)
{
	return now - h->since >= after && !h->polls && !h->state.event;
}

/* Armed, and yet what it was armed for waits: it was there before. */
static bool is_lost(const struct uhcav_hang_state *s)
{
	return s->arm & UHCA_ABI_ARM_NEXT ? s->pending : s->arm && s->solicited;
}

struct channel {
	bool stable, armed, expects, mine;
	struct uhcav_hang_cq *lost, *first;
};

static struct channel channel_of(const struct uhcav_hang_thread *t, int fd, uint64_t now,
				 uint64_t after)
{
	struct channel c = {.stable = true, .mine = true};
	struct uhcav_hang_cq *h = NULL;

	while ((h = uhcav_hang_of_channel(fd, h))) {
		const struct uhcav_hang_state *s = &h->state;
		bool stable = is_stable(h, now, after);

		c.stable &= stable;
		c.armed |= s->arm != 0;
		c.mine &= h->armed_by == t->tid;
		if (s->connected && (s->pending || s->recvs || s->signaled)) {
			c.expects = true;
			c.first = h;
		}
		if (stable && is_lost(s))
			c.lost = h;
	}
	return c;
}

/* Events wait in the channel, and its edge is over: epoll(7) about EPOLLET. */
static struct uhcav_hang_cq *overslept(const struct uhcav_hang_thread *t, unsigned f, uint64_t now,
				       uint64_t after)
{
	struct uhcav_hang_cq *h = NULL;

	while (t->edges & 1u << f && (h = uhcav_hang_of_channel(t->fds[f], h)))
		if (h->state.pending && !h->polls && h->event_since &&
		    now - h->event_since >= after)
			return h;
	return NULL;
}

static void judge_edge(const struct uhcav_hang_threads *all, const struct uhcav_hang_thread *t,
		       unsigned f, uint64_t now, uint64_t after)
{
	struct uhcav_hang_cq *h = overslept(t, f, now, after);

	if (h && !t->limited && others_are_passive(all, t))
		uhcav_hang_report_wait(t, h, UHCAV_HANG_OVERSLEPT);
}

/* True: it is known why nothing comes, and was told. */
static bool judge_channel(const struct uhcav_hang_threads *all, const struct uhcav_hang_thread *t,
			  int fd, uint64_t now, uint64_t after)
{
	struct channel c = channel_of(t, fd, now, after);

	if (c.lost && (c.lost->armed_by == t->tid || others_are_passive(all, t))) {
		uhcav_hang_report_wait(t, c.lost, UHCAV_HANG_LOST);
		return uhcav_check_on(UHCA_CHECK_LOST_WAKEUP);
	}
	if (c.expects && c.stable && !c.armed && (c.mine || others_are_passive(all, t))) {
		uhcav_hang_report_wait(t, c.first, UHCAV_HANG_UNARMED);
		return uhcav_check_on(UHCA_CHECK_WAIT_UNARMED);
	}
	return false;
}

static bool waits_for_queue(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *of)
{
	for (unsigned f = 0; f < t->n_fds; f++) {
		struct uhcav_hang_cq *h = NULL;

		while ((h = uhcav_hang_of_channel(t->fds[f], h)))
			if (h == of)
				return true;
	}
	return false;
}

/* Its event waits in a channel that no thread reads. */
static bool is_unread(const struct uhcav_hang_threads *all, const struct uhcav_hang_cq *h,
		      uint64_t now, uint64_t after)
{
	if (!h->state.pending || h->polls || !h->event_since || now - h->event_since < after)
		return false;
	for (unsigned i = 0; i < all->n; i++)
		if (waits_for_queue(&all->at[i], h))
			return false;
	return true;
}

static void judge_others(const struct uhcav_hang_threads *all, const struct uhcav_hang_thread *t,
			 uint64_t now, uint64_t after)
{
	struct uhcav_hang_cq *h;

	if (!is_passive(t) || !uhcav_hang_waits_for(t, is_channel) || !others_are_passive(all, t))
		return;
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (is_unread(all, h, now, after))
		uhcav_hang_report_wait(t, h, UHCAV_HANG_UNREAD);
}

static bool judge_threads(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	bool reported = false;

	for (unsigned i = 0; i < all->n; i++) {
		const struct uhcav_hang_thread *t = &all->at[i];

		if (t->does != UHCAV_HANG_FILES || now - t->since < after)
			continue;
		for (unsigned f = 0; f < t->n_fds; f++) {
			reported |= judge_channel(all, t, t->fds[f], now, after);
			judge_edge(all, t, f, now, after);
		}
		judge_others(all, t, now, after);
	}
	return reported;
}

/* The preload library has seen it end the id; what it does since is seen in its stack. */
void uhcav_hang_judge_destroy(const struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	static int (*destroying)(void);
	int tid;

	if (!destroying)
		*(void **)&destroying = dlsym(RTLD_DEFAULT, "uhca_preload_destroying");
	tid = destroying ? destroying() : 0;
	for (unsigned i = 0; tid && i < all->n; i++) {
		const struct uhcav_hang_thread *t = &all->at[i];

		if (t->tid == tid && t->does == UHCAV_HANG_LOCK && now - t->since >= after &&
		    (others_are_passive(all, t) ||
		     (now - t->since >= 2 * after && uhcav_unacked_by(tid))))
			uhcav_hang_report_destroy(t);
	}
}

/* ---- of one queue ---- */

/* Only the first event can be seen without taking it. */
void uhcav_hang_judge_cq(struct uhcav_hang_cq *h)
{
	struct uhca_abi_async_event event;

	if (recv(h->cq->cq.context->async_fd, &event, sizeof(event), MSG_PEEK | MSG_DONTWAIT) ==
		    (ssize_t)sizeof(event) &&
	    event.type == UHCA_ABI_EVENT_CQ_ERR && event.element == (uintptr_t)&h->cq->cq)
		uhcav_hang_report_overflow(h);
}

void uhcav_hang_judge_overflow(void)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	uhcav_hang_judge_cq(h);
}

/* ---- of the process ---- */

static void mark_pollers(struct uhcav_hang_threads *all)
{
	struct uhcav_hang_cq *h;

	for (unsigned i = 0; i < all->n; i++) {
		all->at[i].polls = false;
		LIST_FOREACH(h, &uhcav_hang_cqs, link)
		all->at[i].polls |= uhcav_hang_poller(h, all->at[i].tid) != NULL;
	}
}

/* A datagram may come from anybody. */
static bool hears_strangers(const struct uhcav_hang_qp *h)
{
	const struct uhcav_qp *qp = h->qp;
	uint32_t state = __atomic_load_n(&qp->state, __ATOMIC_ACQUIRE);

	if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_ERR)
		return false;
	if (qp->qp.qp_type == IBV_QPT_RC || qp->qp.qp_type == IBV_QPT_UC)
		return !h->has_peer;
	return qp->qp.qp_type != IBV_QPT_UD || uhcav_hang_outstanding(qp);
}

/* Queues that are not in the book complete there: XRC, WQs, queue pairs of direct verbs. */
static bool has_unknown_queues(const struct uhcav_hang_cq *h)
{
	return h->cq->queues.n || h->cq->qps.n != h->state.qps;
}

static bool queues_stand_still(uint64_t now, uint64_t after)
{
	struct uhcav_hang_cq *c;
	struct uhcav_hang_qp *q;

	LIST_FOREACH(c, &uhcav_hang_cqs, link)
	if (now - c->since < after || c->state.event || has_unknown_queues(c))
		return false;
	LIST_FOREACH(q, &uhcav_hang_qps, link)
	if (hears_strangers(q))
		return false;
	return true;
}

static bool polls_on(const struct uhcav_hang_thread *t, uint64_t now, uint64_t after)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (uhcav_hang_poller(h, t->tid) && uhcav_hang_polls_on(h, now, after))
		return true;
	return false;
}

static bool waits_on(const struct uhcav_hang_thread *t, uint64_t now, uint64_t after,
		     struct uhcav_hang_hope *hope)
{
	if (now - t->since < (expects_strangers(t) ? 2 * after : after))
		return false;
	return waits_for_others(t) ||
	       (t->does == UHCAV_HANG_FILES && !t->limited && takes_sockets(t, now, after, hope));
}

/*
 * The first thread that waits for completions, or else for an event of rdma_cm, or else for data
 * of a socket, or else for an asynchronous event. NULL: the process may go on by itself. One that
 * takes connections may hold a request until more of them have come, so it is given more time.
 */
static const struct uhcav_hang_thread *who_is_stuck(const struct uhcav_hang_threads *all,
						    uint64_t now, uint64_t after,
						    struct uhcav_hang_hope *hope)
{
	const struct uhcav_hang_thread *found = NULL, *by_cm = NULL, *by_data = NULL,
				       *by_async = NULL;

	if (!all->all || !queues_stand_still(now, after))
		return NULL;
	for (unsigned i = 0; i < all->n; i++) {
		const struct uhcav_hang_thread *t = &all->at[i];

		if (t->polls ? !polls_on(t, now, after) : !waits_on(t, now, after, hope))
			return NULL;
		if (!found && (t->polls || uhcav_hang_waits_for(t, is_channel)))
			found = t;
		if (!by_cm && uhcav_hang_waits_for(t, uhcav_hang_is_cm))
			by_cm = t;
		if (!by_async && uhcav_hang_waits_for(t, uhcav_hang_is_async))
			by_async = t;
		else if (!by_data && !t->polls && t->does == UHCAV_HANG_FILES)
			by_data = t;
	}
	found = found ? found : by_cm;
	hope->events = found && found == by_cm;
	hope->data = !found && hope->n_sockets;
	hope->async = !found && !hope->n_sockets;
	return found ? found : hope->n_sockets ? by_data : by_async;
}

static bool any_expects_strangers(const struct uhcav_hang_threads *all)
{
	for (unsigned i = 0; i < all->n; i++)
		if (!all->at[i].polls && expects_strangers(&all->at[i]))
			return true;
	return false;
}

static bool has_all_taken(const struct uhcav_cq *cq)
{
	const struct uhcav_hang_qp *h;

	LIST_FOREACH(h, &uhcav_hang_qps, link)
	{
		const struct uhcav_work_queue *sq = &h->qp->sq;

		if (h->qp->qp.send_cq == &cq->cq && sq->entries &&
		    uhca_ring_observe(&sq->ring->consumer) != sq->producer)
			return false;
	}
	return true;
}

/* Whatever the peers do, no completion comes there. */
static bool is_dry(const struct uhcav_hang_cq *h)
{
	const struct uhcav_hang_state *s = &h->state;

	return s->connected && !s->pending && !s->signaled && !s->recvs && has_all_taken(h->cq);
}

/* All threads that do not wait for one another wait for events of queues that are dry. */
static bool is_dry_wait(const struct uhcav_hang_threads *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		const struct uhcav_hang_thread *t = &all->at[i];

		if (t->polls)
			return false;
		for (unsigned f = 0; f < t->n_fds; f++) {
			struct uhcav_hang_cq *h = uhcav_hang_of_channel(t->fds[f], NULL);

			if (!h)
				return false;
			for (; h; h = uhcav_hang_of_channel(t->fds[f], h))
				if (!is_dry(h))
					return false;
		}
	}
	return true;
}

/* A poll of a queue follows the one before at once: there is no call of the system between. */
static bool polls_alone(const struct uhcav_hang_cq *h)
{
	return !h->polls || __atomic_load_n(&h->gap, __ATOMIC_RELAXED) < AT_ONCE_NS;
}

static bool all_are_measured(void)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (h->polls && __atomic_load_n(&h->measured, __ATOMIC_RELAXED) < POLLS)
		return false;
	return true;
}

static void measure_polls(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		__atomic_store_n(&h->gap, UINT32_MAX, __ATOMIC_RELAXED);
		__atomic_store_n(&h->measured, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&uhcav_hang_measures, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < MEASURE_MS && !all_are_measured(); i++)
		nanosleep(&ms, NULL);
	__atomic_store_n(&uhcav_hang_measures, 0, __ATOMIC_RELAXED);
}

/* About the process, while it stands still. */
struct judgement {
	uint64_t about;
	uint64_t listens; /* since then, for what its threads ask; 0: not yet */
	bool clock;       /* one that polls asks for the time */
	bool reported;
};

static bool all_poll_alone(void)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (!polls_alone(h))
		return false;
	return true;
}

static bool any_polls(void)
{
	struct uhcav_hang_cq *h;

	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	if (h->polls)
		return true;
	return false;
}

/*
 * A polling thread may ask something else between two polls, and go on by the answer. Where that is
 * possible, its calls are heard until the time is over. True: this is not known yet, or it asks.
 */
static bool asks_elsewhere(struct judgement *j, uint64_t now, uint64_t after)
{
	if (!any_polls() || (!uhcav_hang_has_foreign_files() && !uhcav_hang_listens()))
		return false;
	if (!j->listens) {
		uhcav_hang_asks_begin();
		j->listens = now;
	}
	if (now - j->listens < after)
		return true;
	j->clock = uhcav_hang_asks_time();
	return !all_poll_alone() && uhcav_hang_asks_any();
}

/*
 * Asks the collector each tick; when it says that the circle is closed the threads are asked where
 * they stand, once: that is no secret to them.
 */
static void judge_process(const struct uhcav_hang_threads *all,
			  const struct uhcav_hang_thread *stuck, struct uhcav_hang_hope *hope,
			  uint64_t now, uint64_t after)
{
	static struct judgement j;
	uint64_t about = (uint64_t)stuck->tid;
	struct uhcav_hang_cq *h;

	about ^= stuck->polls ? 0 : stuck->since << 20;
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	about = (about ^ h->since ^ (uintptr_t)h) * 0x9e3779b97f4a7c15ull;
	if (about == j.about && j.reported)
		return;
	if (about != j.about)
		j = (struct judgement){.about = about};
	if (is_dry_wait(all)) { /* the peers need not be asked */
		j.reported = uhcav_hang_report_dry(all, stuck);
		return;
	}
	hope->strangers = any_expects_strangers(all);
	hope->clock = j.clock;
	if (!uhcav_hang_is_closed(stuck, hope))
		return;
	if (!j.listens)
		measure_polls();
	/* On a busy machine each poll may come late: it is measured again next time. */
	if (!asks_elsewhere(&j, now, after) && j.clock == hope->clock)
		j.reported = uhcav_hang_report_stuck(all, stuck);
}

void uhcav_hang_judge(struct uhcav_hang_threads *all, uint64_t now, uint64_t after)
{
	struct uhcav_hang_hope hope = {.n_sockets = 0};
	const struct uhcav_hang_thread *stuck;

	mark_pollers(all);
	if (judge_threads(all, now, after))
		return;
	stuck = who_is_stuck(all, now, after, &hope);
	if (stuck)
		judge_process(all, stuck, &hope, now, after);
}

const struct uhcav_hang_thread *uhcav_hang_judge_end(struct uhcav_hang_threads *all, uint64_t now,
						     uint64_t after)
{
	struct uhcav_hang_cq *h;

	mark_pollers(all);
	LIST_FOREACH(h, &uhcav_hang_cqs, link)
	{
		if (!h->polls || now - h->since < after || !is_dry(h) || has_unknown_queues(h))
			continue;
		for (unsigned i = 0; i < all->n; i++)
			if (uhcav_hang_poller(h, all->at[i].tid))
				return &all->at[i];
	}
	return NULL;
}
