/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See loop.h. Numbers behind the constants: performance notes, sections 4 and 9. Yielding
 * between looks is what lets programs that poll share a processor with the daemon; beside one that
 * never yields it sleeps at once (emu/abi/yield_backoff.h).
 */
#include "loop.h"

#include "daemon.h"
#include "deadlines.h"
#include "emu/abi/yield_backoff.h"
#include "emu/io/base/base.h"
#include "emu/io/port/port.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SPIN      (50 * IO_USEC) /* without work, before sleeping, and at least */
#define LOOKS     50             /* so many looks, which others need longer for on a slow machine */
#define SPIN_MOST (1 * IO_MSEC)  /* but no longer than this */
#define NAP       (200 * IO_USEC) /* a sleep shorter than this ends too late */
#define EVENTS    (100 * IO_USEC) /* between looks at the descriptors, and sweeps, while awake */
#define SOON      (50 * IO_USEC)  /* the same, behind a message of a client */
#define YIELD_DUE (20 * IO_USEC)  /* of work in a row, before others get the processor */
#define BURSTS    16              /* of one device, before the others get their turn */
#define LONG      (1 * IO_MSEC)   /* a pass that leaves the rest to the next one */
#define ABSENCE   (5 * IO_MSEC)   /* more than this between two looks does not count */

struct loop {
	struct io_daemon *d;
	struct uhca_abi_status *status;
	uint64_t now;
	unsigned first;      /* the device that sends first in this pass */
	uint64_t idle_since; /* UINT64_MAX: there was work in the last look */
	unsigned looks;      /* since then */
	uint64_t next_events;
	uint64_t heard;                    /* messages of clients */
	uint64_t heard_at;                 /* when it was seen that there were more */
	bool wire_waits;                   /* the last look left the wire out */
	bool rest_waits;                   /* and the messages */
	struct uhca_yield_backoff backoff; /* no yield before it ends */
	uint64_t last_yield;               /* of the others */
	uint64_t clock;                    /* its last reading */
	bool fresh;                        /* it was read a moment ago: now is that */
	int timer;                         /* timerfd: libev's own timers count milliseconds */
	uint64_t timer_set;                /* what it was set to; UINT64_MAX: not running */
	ev_io timer_watcher;
};

/* ---- how long a pass takes: so long everybody waits for what one has asked for ---- */

static void end_pass(struct loop *l, uint64_t now)
{
	io_loop_pass_end(&l->d->devices.pass, now);
}

/* libev calls its watchers: behind a sleep, when no pass has begun, this is one. */
static void on_pending(struct ev_loop *loop)
{
	struct loop *l = ev_userdata(loop);
	struct io_loop_pass *pass = &l->d->devices.pass;
	bool alone = pass->began == 0;

	if (ev_pending_count(loop) == 0)
		return;
	if (alone)
		io_loop_pass_begin(pass, io_clock_now());
	ev_invoke_pending(loop);
	l->clock = io_clock_now();
	if (alone)
		io_loop_pass_end(pass, l->clock);
}

/* ---- one look at everything; each part returns whether there was work ---- */

static bool ring_doorbells(struct loop *l)
{
	return io_active_doorbells_look(&l->d->clients.active_doorbells, l->now) > 0;
}

static bool poll_wire(struct loop *l)
{
	bool work = false;

	for (unsigned i = 0; i < l->d->devices.n; i++)
		work |= io_udp_poll(&l->d->ports[i].udp, l->now);
	return work;
}

/*
 * A low-latency QP waits for one long burst at the most until its doorbell is seen; the core lets
 * it go first then. For the others that look is a load of the summary words.
 */
static unsigned send_of_device(struct loop *l, struct io_device *dev)
{
	bool slow = l->d->faults.watched != 0; /* each packet is held against all rules */
	unsigned n = 0;

	while (n < BURSTS && dev->dirty && !dev->blocked) {
		if (n > 0)
			ring_doorbells(l);
		if (n > 0 && io_clock_now() - l->now > LONG)
			break;
		n += io_device_send(dev, l->now, l->d->devices.buf, l->d->devices.cap,
				    slow ? 1 : BURSTS - n);
	}
	return n;
}

/* When the pass is long already, the devices that are left come first in the next one. */
static bool send_bursts(struct loop *l)
{
	const unsigned all = l->d->devices.n;
	unsigned n = 0, i = 0;

	for (; i < all; i++) {
		struct io_port *p = &l->d->ports[(l->first + i) % all];
		unsigned frames;

		if (!p->dev.dirty)
			continue;
		if (n > 0 && io_clock_now() - l->now > LONG)
			break;
		frames = io_ether_send(&l->d->devices, &p->dev, l->now, BURSTS);
		n += frames + send_of_device(l, &p->dev);
		if (frames >= BURSTS)
			p->dev.dirty = true; /* there may be more */
	}
	if (all > 0)
		l->first = (l->first + i) % all;
	return n > 0;
}

/* Did a client send a message since the last time? */
static bool was_asked(struct loop *l)
{
	uint64_t heard = l->d->clients.heard + l->d->ucma.heard;

	if (heard == l->heard)
		return false;
	l->heard = heard;
	l->heard_at = l->now;
	return true;
}

/*
 * Programs that make or destroy objects do so one by one, and wait for each answer. So for a moment
 * the next message is expected, and looked for whenever there is nothing else to do.
 */
static bool take_messages(struct loop *l, bool work)
{
	bool due = l->now >= l->next_events, asked;

	if (!due && (work || l->now - l->heard_at > SPIN_MOST))
		return false;
	if (due)
		io_active_doorbells_sweep(&l->d->clients.active_doorbells, l->now);
	ev_run(l->d->loop, EVRUN_NOWAIT);
	asked = was_asked(l);
	l->next_events = l->now + (asked ? SOON : EVENTS);
	return asked;
}

/*
 * Has this pass taken long already? Then messages, and who has left, come in the next one; but no
 * two passes in a row leave them out.
 */
static bool leave_rest(struct loop *l, bool work)
{
	l->rest_waits =
		work && io_loop_pass_did("requests and packets") - l->now > LONG && !l->rest_waits;
	return l->rest_waits;
}

/*
 * What was just posted leaves before the next look at the wire, which costs a system call; but no
 * two looks in a row leave the wire out.
 */
static bool look(struct loop *l)
{
	bool work = ring_doorbells(l);

	l->wire_waits = work && !l->wire_waits;
	if (!l->wire_waits)
		work |= poll_wire(l);
	work |= io_deadlines_run(l->d, l->now);
	work |= send_bursts(l);
	io_clients_end_lost(&l->d->clients);
	if (leave_rest(l, work))
		return true;
	work |= io_clients_bury(&l->d->clients);
	return take_messages(l, work) || work;
}

/* ---- sleeping ---- */

static void on_timer(struct ev_loop *loop, ev_io *w, int revents)
{
	struct loop *l = w->data;
	uint64_t count;

	(void)loop;
	(void)revents;
	if (read(w->fd, &count, sizeof(count)) == sizeof(count))
		l->timer_set = UINT64_MAX;
}

/*
 * A timer that is set too early stays: it wakes the loop once for nothing, which is cheaper than
 * setting it anew before each sleep.
 */
static void set_timer(struct loop *l, uint64_t at)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(at / IO_SEC), .tv_nsec = (long)(at % IO_SEC)}};

	if (at >= l->timer_set)
		return;
	if (timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0)
		l->timer_set = at;
}

/* Did something come between the last look and need_wakeup? Sockets are watched while asleep. */
static bool missed_work(const struct loop *l)
{
	if (l->d->stop)
		return true;
	if (io_active_doorbells_rang(&l->d->clients.active_doorbells, l->now))
		return true;
	for (unsigned i = 0; i < l->d->devices.n; i++)
		if (l->d->ports[i].dev.dirty && !l->d->ports[i].dev.blocked)
			return true;
	return false;
}

/* Nothing waits for company through a sleep. */
static bool hurry(struct loop *l)
{
	bool any = false;

	for (unsigned i = 0; i < l->d->devices.n; i++) {
		struct io_device *dev = &l->d->ports[i].dev;

		if (core_hurry(dev->core))
			any = dev->dirty = true;
	}
	return any;
}

/*
 * When the sleep ended, for look_at_clock: one from which the daemon comes back late counts as
 * absence, since nobody knows when it should have ended.
 */
static uint64_t asleep_until(const struct loop *l, uint64_t wake)
{
	uint64_t now = io_clock_now();

	return now < wake || now - wake <= ABSENCE ? now : l->now;
}

static void sleep_until_work(struct loop *l)
{
	uint64_t wake;

	if (hurry(l))
		return;
	end_pass(l, io_clock_now());
	if (io_tracer_awake(&l->d->tracer)) {
		io_tracer_tick(&l->d->tracer, l->now);
		io_capture_flush(&l->d->capture);
	}
	__atomic_store_n(&l->status->need_wakeup, 1, __ATOMIC_RELAXED);
	uhca_ring_fence();
	if (!missed_work(l)) {
		set_timer(l, wake = io_deadlines_next(l->d));
		ev_run(l->d->loop, EVRUN_ONCE);
		l->now = asleep_until(l, wake);
	}
	__atomic_store_n(&l->status->need_wakeup, 0, __ATOMIC_RELAXED);
	l->next_events = 0;
}

/*
 * A daemon that others keep from the processor finds at once the answer and the end of the time in
 * which it should have come. Hardware is never away: the clock by which devices wait goes on for a
 * moment only, and what has come is looked at first.
 */
static void look_at_clock(struct loop *l)
{
	uint64_t before = l->now;
	uint64_t away;

	if (!l->fresh)
		l->clock = io_clock_now();
	l->fresh = false;
	l->now = l->clock;
	end_pass(l, l->now);
	io_loop_pass_begin(&l->d->devices.pass, l->now);
	away = before ? l->now - before : 0;
	/* Devices in a modelled network have its clock (network.h). */
	for (unsigned i = 0; away > ABSENCE && !l->d->network && i < l->d->devices.n; i++)
		core_skip(l->d->ports[i].dev.core, away - ABSENCE);
}

/* ---- */

/* The clock costs as much as a look at the doorbells: a look that found nothing has one reading. */
static void yield(struct loop *l, uint64_t before)
{
	end_pass(l, before);
	sched_yield();
	l->clock = io_clock_now();
	l->fresh = true;
	l->last_yield = l->clock;
	uhca_yield_backoff_yielded(&l->backoff, before, l->clock);
}

/*
 * A program that shares the processor may be about to post receives for what we deliver. No yield
 * beside one that computes: it would take a whole slice each time.
 */
static void yield_when_due(struct loop *l)
{
	if (!uhca_yield_backoff_is_near(&l->backoff, l->now) && l->now - l->last_yield > YIELD_DUE)
		yield(l, io_clock_now());
}

/* Has there been no work for so long, and will there be none, that sleeping is better? */
static bool may_sleep(const struct loop *l)
{
	uint64_t idle = l->now - l->idle_since;

	if (idle <= SPIN_MOST && (idle <= SPIN || l->looks <= LOOKS))
		return false;
	return io_deadlines_next(l->d) > l->now + NAP;
}

static void run(struct loop *l)
{
	while (!l->d->stop) {
		look_at_clock(l);
		if (look(l)) {
			l->idle_since = UINT64_MAX;
			if (io_tracer_awake(&l->d->tracer))
				io_tracer_tick(&l->d->tracer, l->now);
			io_counter_timer_touch(l->d->loop, &l->d->counters);
			yield_when_due(l);
			continue;
		}
		if (l->idle_since == UINT64_MAX) {
			l->idle_since = l->now;
			l->looks = 0;
		}
		l->looks++;
		if (uhca_yield_backoff_is_near(&l->backoff, l->now) || may_sleep(l)) {
			sleep_until_work(l);
			l->idle_since = UINT64_MAX;
		} else {
			yield(l, l->clock);
		}
	}
}

int io_loop_run(struct io_daemon *d)
{
	struct loop l = {.d = d,
			 .status = d->status.base,
			 .idle_since = UINT64_MAX,
			 .timer_set = UINT64_MAX};

	l.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l.timer < 0)
		return -errno;
	ev_io_init(&l.timer_watcher, on_timer, l.timer, EV_READ);
	l.timer_watcher.data = &l;
	ev_io_start(d->loop, &l.timer_watcher);
	ev_set_userdata(d->loop, &l);
	ev_set_invoke_pending_cb(d->loop, on_pending);
	run(&l);
	ev_set_invoke_pending_cb(d->loop, ev_invoke_pending);
	ev_io_stop(d->loop, &l.timer_watcher);
	close(l.timer);
	return 0;
}
