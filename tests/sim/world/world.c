/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h: devices, the clock and the event heap. Links are in link.c. */
#include "world.h"

#include "world_faults.h"

#include "tests/support/wire/cmocka_all.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* More events than this at one instant: something answers itself for ever. */
#define STUCK 200000u

struct world_event {
	uint64_t time;
	uint64_t number; /* events of one instant stay in order */
	unsigned from, to;
	struct core_burst burst;
	uint8_t payload[];
};

/* ---- the heap ---- */

static bool event_before(const struct world_event *a, const struct world_event *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void event_push(struct world *w, struct world_event *e)
{
	unsigned i = w->n_events++;

	if (w->n_events > w->event_room) {
		w->event_room = w->event_room ? w->event_room * 2 : 64;
		w->event = realloc(w->event, w->event_room * sizeof(struct world_event *));
		assert(w->event);
	}
	for (; i && event_before(e, w->event[(i - 1) / 2]); i = (i - 1) / 2)
		w->event[i] = w->event[(i - 1) / 2];
	w->event[i] = e;
}

static struct world_event *event_pop(struct world *w)
{
	struct world_event *first = w->event[0], *last = w->event[--w->n_events];
	unsigned i = 0, child;

	while ((child = 2 * i + 1) < w->n_events) {
		if (child + 1 < w->n_events && event_before(w->event[child + 1], w->event[child]))
			child++;
		if (!event_before(w->event[child], last))
			break;
		w->event[i] = w->event[child];
		i = child;
	}
	w->event[i] = last;
	return first;
}

void world_schedule(struct world *w, unsigned from, unsigned to, uint64_t at,
		    const struct core_burst *t)
{
	struct world_event *e = malloc(sizeof *e + t->length);
	uint8_t *p;

	assert(e);
	e->time = at;
	e->number = w->event_number++;
	e->from = from;
	e->to = to;
	e->burst = *t;
	p = e->payload;
	for (unsigned i = 0; i < t->n_iov; i++) {
		if (t->iov[i].iov_len)
			memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	assert((size_t)(p - e->payload) == t->length);
	e->burst.n_iov = t->length ? 1 : 0;
	e->burst.iov[0] = (struct iovec){e->payload, t->length};
	if (t->count == 1) { /* so that it can be joined with others on arrival */
		e->burst.head.payload = e->payload;
		e->burst.head.payload_len = t->length;
		e->burst.head.bth.ackreq = t->last_ackreq;
		e->burst.head.bth.solicited = t->last_solicited;
	}
	event_push(w, e);
}

/* ---- devices ---- */

static void op_random(void *user, void *buf, size_t len)
{
	prng_fill(&((struct world_device *)user)->rng, buf, len);
}

static void op_trace(void *user, const struct core_trace *t)
{
	struct world_device *d = user;

	journal_trace(&d->world->journal, d->world->now, d->host.index, t->point,
		      (const uint32_t[3]){t->qpn, t->a, t->b});
}

struct core_config world_config(void)
{
	struct core_config cfg;

	memset(&cfg, 0, sizeof cfg);
	core_config_default(&cfg);
	return cfg;
}

static void device_construct(struct world *w, unsigned i, const struct core_config *base)
{
	struct world_device *d = &w->device[i];
	struct core_config cfg = *base;
	const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = (uint8_t)(1 + i)};
	const uint8_t v6[16] = {[0] = 0xfd, [15] = (uint8_t)(1 + i)};

	memcpy(cfg.gid[0], v4, 16);
	memcpy(cfg.gid[1], v6, 16);
	cfg.node_guid = 0x0200000000000001ull + i;
	d->world = w;
	d->rng = (struct prng){w->seed * 31 + i};
	d->host.index = i;
	d->host.now = &w->now;
	memcpy(d->host.gid, cfg.gid, sizeof d->host.gid);
	d->cap = cfg.burst_bytes;
	d->buf = malloc(d->cap);
	d->host.dev = core_create(&w->ops, d, &cfg);
	assert(d->buf && d->host.dev);
}

/* Worlds come and go by the thousand: glibc shall not give the memory back between them. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

struct world *world_create(uint64_t seed, unsigned n_devices, const struct core_config *cfg)
{
	struct core_config base = cfg ? *cfg : world_config();
	struct world *w = calloc(1, sizeof *w);
	struct link l = link_default();

	assert(w && n_devices <= WORLD_MAX_DEVICES);
	keep_memory();
	w->seed = seed;
	w->rng = (struct prng){seed};
	journal_init(&w->journal);
	vclient_fill_ops(&w->ops);
	w->ops.random = op_random;
	w->ops.trace = op_trace;
	w->now = 1000000;
	w->interleave = 500000;
	w->losses = losses_create();
	w->flat = malloc(base.burst_bytes);
	assert(w->flat);
	w->n_devices = n_devices;
	for (unsigned i = 0; i < n_devices; i++)
		device_construct(w, i, &base);
	world_set_links(w, &l);
	return w;
}

void world_destroy(struct world *w)
{
	world_faults_destroy(w);
	for (unsigned i = 0; i < w->n_devices; i++) {
		core_destroy(w->device[i].host.dev);
		free(w->device[i].buf);
	}
	while (w->n_events)
		free(event_pop(w));
	free(w->event);
	losses_destroy(w->losses);
	free(w->flat);
	free(w);
}

void world_set_links(struct world *w, const struct link *l)
{
	for (unsigned i = 0; i < WORLD_MAX_DEVICES; i++)
		for (unsigned k = 0; k < WORLD_MAX_DEVICES; k++)
			w->link[i][k] = *l;
}

void world_fail(struct world *w, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "---- seed %" PRIu64 ", at %.3f us: ", w->seed, (double)w->now / 1000.0);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	if (!w->journal.live)
		journal_print(&w->journal, stderr, 120);
	fprintf(stderr, "---- reproduce with SIM_SEED=%" PRIu64 " (SIM_TRACE=1: everything)\n",
		w->seed);
	if (!w->abort_on_failure)
		fail();
	abort();
}

/* ---- time ---- */

static bool device_send(struct world *w, struct world_device *d)
{
	struct core_burst t;

	if (!core_tx_next(d->host.dev, w->now, d->buf, d->cap, &t))
		return false;
	if (w->faults)
		world_faults_send(w, d->host.index, &t);
	else
		world_send(w, d->host.index, &t);
	if (w->lossy)
		core_tx_left(d->host.dev, &t, w->now);
	return true;
}

static bool device_settle(struct world *w, struct world_device *d)
{
	if (!d->host.dirty || d->resume_at)
		return false;
	d->host.dirty = false;
	while (device_send(w, d)) {
		if (++w->steps_at_now > STUCK)
			world_fail(w, "device %u sends for ever at one instant", d->host.index);
		if (prng_chance(&w->rng, w->stall)) {
			d->resume_at = w->now + 1 + prng_below(&w->rng, 20000);
			return false;
		}
	}
	return true;
}

void world_pump(struct world *w)
{
	bool more = true;

	while (more) {
		more = false;
		for (unsigned i = 0; i < w->n_devices; i++)
			more |= device_settle(w, &w->device[i]);
	}
}

void world_deliver(struct world *w, unsigned to, const struct core_burst *t)
{
	struct core_burst arrived = *t;

	arrived.from_network = true;
	if (w->faults)
		world_faults_arrive(w, to, &arrived);
	else
		core_rx(w->device[to].host.dev, w->now, &arrived);
	w->device[to].host.dirty = true;
}

/* Adds what arrives at the same instant at the same device, as UDP GRO would. */
static void join_arrivals(struct world *w, struct core_burst *t, unsigned to,
			  struct world_event **joined, unsigned *n)
{
	while (w->n_events && *n < CORE_BURST_IOV) {
		struct world_event *e = w->event[0];

		if (e->time != w->now || e->to != to || e->burst.count != 1 ||
		    e->burst.model.bad_icrc ||
		    !core_burst_append(t, &e->burst.head, &e->burst.flow))
			return;
		joined[(*n)++] = event_pop(w);
	}
}

static void deliver_next(struct world *w)
{
	struct world_event *joined[CORE_BURST_IOV], *e = event_pop(w);
	struct core_burst t = e->burst;
	unsigned n = 0;

	if (t.count == 1 && !t.model.bad_icrc &&
	    prng_chance(&w->rng, w->link[e->from][e->to].join)) {
		core_burst_start(&t, &e->burst.head, &e->burst.flow);
		join_arrivals(w, &t, e->to, joined, &n);
	}
	world_deliver(w, e->to, &t);
	free(e);
	while (n)
		free(joined[--n]);
}

static uint64_t next_time(struct world *w)
{
	uint64_t next = w->n_events ? w->event[0]->time : UINT64_MAX;
	uint64_t faults = world_faults_deadline(w);

	next = faults < next ? faults : next;
	for (unsigned i = 0; i < w->n_devices; i++) {
		uint64_t t = core_next_deadline(w->device[i].host.dev);

		next = t < next ? t : next;
		t = w->device[i].resume_at;
		next = t && t < next ? t : next;
	}
	return next;
}

static void run_device(struct world *w, struct world_device *d)
{
	if (d->resume_at && d->resume_at <= w->now) {
		d->resume_at = 0;
		d->host.dirty = true;
	}
	if (core_next_deadline(d->host.dev) > w->now)
		return;
	core_tick(d->host.dev, w->now);
	d->host.dirty = true;
	if (++w->steps_at_now > STUCK)
		world_fail(w, "device %u: the deadline does not move on", d->host.index);
}

static void run_now(struct world *w)
{
	while (w->n_events && w->event[0]->time <= w->now) {
		deliver_next(w);
		if (prng_chance(&w->rng, w->interleave))
			world_pump(w);
		if (++w->steps_at_now > STUCK)
			world_fail(w, "packets answer each other for ever at one instant");
	}
	world_faults_tick(w);
	for (unsigned i = 0; i < w->n_devices; i++)
		run_device(w, &w->device[i]);
	world_pump(w);
}

bool world_step(struct world *w)
{
	uint64_t next;

	world_pump(w);
	next = next_time(w);
	if (next == UINT64_MAX)
		return false;
	if (next > w->now) {
		w->now = next;
		w->steps_at_now = 0;
	}
	run_now(w);
	return true;
}

void world_run(struct world *w, uint64_t until)
{
	world_pump(w);
	while (next_time(w) <= until)
		world_step(w);
	if (w->now < until) {
		w->now = until;
		w->steps_at_now = 0;
	}
}

void world_run_idle(struct world *w, uint64_t limit)
{
	uint64_t end = w->now + limit;

	while (world_step(w))
		if (w->now > end)
			world_fail(w, "not idle after %.3f ms", (double)limit / 1e6);
}

bool world_run_until(struct world *w, bool (*cond)(void *arg), void *arg, uint64_t limit)
{
	uint64_t end = w->now + limit;

	world_pump(w);
	while (!cond(arg)) {
		if (next_time(w) > end)
			return false;
		world_step(w);
	}
	return true;
}
