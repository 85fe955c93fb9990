/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See faults.h.
 */
#include "faults.h"

#include "clock.h"
#include "daemon.h"
#include "fault_file.h"
#include "log.h"
#include "ops.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- what the plan asks of us ---- */

static bool exists(void *user, const char *path)
{
	(void)user;
	return access(path, F_OK) == 0;
}

static void hit(void *user, const struct fault_hit *h)
{
	struct io_faults *f = &((struct io_daemon *)user)->faults;
	const struct fault_subject *s = h->subject;
	struct io_fault_trace *t;

	f->stale = f->armed = true;
	io_teller_hit(user, h);
	if (!f->trace)
		f->trace = calloc(IO_FAULT_TRACE_MAX, sizeof(*f->trace));
	if (!f->trace)
		return;
	t = &f->trace[f->hits++ % IO_FAULT_TRACE_MAX];
	*t = (struct io_fault_trace){.now = h->now,
				     .match = h->entry->matched,
				     .hit = h->entry->hits,
				     .rule = h->entry->number,
				     .layer = s->layer,
				     .qpn = s->qpn,
				     .psn = s->pkt ? s->pkt->bth.psn : 0};
	if (s->device)
		strncpy(t->device, s->device, sizeof(t->device) - 1);
	if (s->call)
		strncpy(t->what, s->call, sizeof(t->what) - 1);
}

bool io_fault_trace_line(const struct io_faults *f, uint64_t index, char out[IO_FAULT_LINE_MAX])
{
	const struct io_fault_trace *t;

	if (!f->trace || index < io_fault_trace_lost(f) || index >= f->hits)
		return false;
	t = &f->trace[index % IO_FAULT_TRACE_MAX];
	snprintf(out, IO_FAULT_LINE_MAX,
		 "t=%llu rule=%u match=%llu hit=%llu layer=%s dev=%s qp=0x%x psn=%u what=%s",
		 (unsigned long long)t->now, t->rule, (unsigned long long)t->match,
		 (unsigned long long)t->hit, fault_layer_name(t->layer), t->device, t->qpn, t->psn,
		 t->what);
	return true;
}

static const struct fault_plan_ops plan_ops = {.exists = exists, .hit = hit};

/* ---- making ---- */

static uint64_t choose_seed(const struct io_settings *s)
{
	uint64_t seed;

	if (s->has_fault_seed)
		return s->fault_seed;
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = io_clock_wall();
	return seed;
}

int io_faults_create(struct io_daemon *d)
{
	uint64_t seed = choose_seed(&d->settings);

	TAILQ_INIT(&d->faults.cqes);
	d->faults.plan = fault_plan_create(seed, &plan_ops, d);
	if (!d->faults.plan)
		return -ENOMEM;
	return 0;
}

static int add_rule(struct io_daemon *d, const char *text, uint64_t now)
{
	struct fault_error error;
	int number = fault_plan_add(d->faults.plan, text, now, &error);

	if (number > 0)
		return 0;
	if (number == -EINVAL)
		io_log(IO_LOG_ERROR, "--fault '%s': column %u: %s", text, error.column, error.text);
	return number;
}

static int add_file(struct io_daemon *d, const char *path, uint64_t now)
{
	struct io_fault_loaded loaded;
	int error = io_fault_load(&d->faults, path, now, &loaded);

	if (error < 0 && loaded.line > 0)
		io_log(IO_LOG_ERROR, "--fault-file %s: line %u, column %u: %s", path, loaded.line,
		       loaded.error.column, loaded.error.text);
	else if (error < 0)
		io_log(IO_LOG_ERROR, "--fault-file %s", loaded.error.text);
	return error;
}

int io_faults_start(struct io_daemon *d)
{
	uint64_t now = io_clock_now();
	int error = 0;

	for (unsigned i = 0; i < d->settings.n_faults && error == 0; i++) {
		const char *text = d->settings.faults[i].text;

		error = d->settings.faults[i].is_file ? add_file(d, text, now)
						      : add_rule(d, text, now);
	}
	if (error < 0)
		return error;
	io_faults_changed(d);
	if (d->settings.n_faults > 0)
		io_log(IO_LOG_INFO, "%u fault rules, seed %llu", fault_plan_count(d->faults.plan),
		       (unsigned long long)fault_plan_seed(d->faults.plan));
	return 0;
}

void io_faults_destroy(struct io_daemon *d)
{
	if (d->faults.plan)
		fault_plan_destroy(d->faults.plan);
	free(d->faults.trace);
	io_fault_cqe_destroy(&d->faults);
	d->faults = (struct io_faults){.plan = NULL};
}

/* ---- who must ask ---- */

/* The device asks before it completes. */
static void set_hooks(struct io_daemon *d)
{
	bool asks = io_faults_watch(&d->faults, FAULT_LAYER_COMPLETION) || d->faults.n_cqes > 0;

	for (unsigned i = 0; i < d->n_ports; i++)
		io_device_hook(&d->ports[i].dev, CORE_HOOK_COMPLETION,
			       asks ? CORE_HOOK_COMPLETION : 0);
}

static void arm(struct io_daemon *d)
{
	struct io_faults *f = &d->faults;
	bool armed = f->stale || f->n_pending > 0 || f->n_returns > 0 || f->n_cqes > 0 ||
		     io_faults_watch(f, FAULT_LAYER_TIME);

	for (unsigned i = 0; i < d->n_ports; i++)
		armed = armed || d->ports[i].fault.active;
	f->armed = armed;
}

void io_faults_changed(struct io_daemon *d)
{
	struct io_faults *f = &d->faults;

	f->stale = false;
	f->watched = 0;
	for (unsigned l = 0; l < FAULT_LAYERS; l++)
		if (fault_plan_watches(f->plan, l))
			f->watched |= 1u << l;
	for (unsigned i = 0; i < d->n_ports; i++)
		io_fault_box_update(&d->ports[i].fault);
	set_hooks(d);
	io_teller_rules(d);
	io_fault_call_changed(d);
	arm(d);
}

/* ---- asking ---- */

void io_fault_subject(struct fault_subject *s, enum fault_layer layer, const struct io_device *dev,
		      const struct io_client *c)
{
	*s = (struct fault_subject){.layer = layer, .device = dev->id.name};
	if (c) {
		s->client = c->id;
		s->program = c->program;
	}
}

unsigned io_faults_decide(struct io_daemon *d, struct io_device *dev, const struct fault_subject *s,
			  uint64_t now, const struct fault_entry *hits[FAULT_HITS_MAX])
{
	unsigned n = fault_plan_decide(d->faults.plan, s, now, hits);
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (fault_action_is_happening(hits[i]->rule.action))
			io_fault_happen(d, dev, hits[i], s, now);
		else
			hits[kept++] = hits[i];
	}
	return kept;
}

/* ---- when something is due ---- */

static void run_pending(struct io_daemon *d, uint64_t now)
{
	struct io_faults *f = &d->faults;

	/* What happens may let more happen, which then waits for the next time. */
	for (unsigned n = f->n_pending; n > 0; n--) {
		struct io_fault_pending p = f->pending[0];

		memmove(f->pending, f->pending + 1, --f->n_pending * sizeof(p));
		io_fault_execute(d, &p, now);
	}
}

bool io_fault_selects_device(const struct fault_rule *r, const struct io_device *dev)
{
	char list[FAULT_WORD_MAX];
	char *save;

	memcpy(list, r->select.device, sizeof(list));
	for (char *g = strtok_r(list, ",", &save); g; g = strtok_r(NULL, ",", &save))
		if (fnmatch(g, dev->id.name, 0) == 0)
			return true;
	return r->select.device[0] == '\0';
}

static uint32_t first_of(const struct fault_list *l)
{
	return l->n > 0 ? (uint32_t)l->range[0].low : 0;
}

/* Selectors of such a rule name what it happens to. */
static void time_rule(struct io_daemon *d, const struct fault_entry *e, uint64_t now)
{
	const struct fault_select *select = &e->rule.select;
	struct fault_subject s = {.layer = FAULT_LAYER_TIME,
				  .qpn = first_of(&select->qp),
				  .srq = first_of(&select->srq),
				  .cq = first_of(&select->cq),
				  .key = first_of(&select->key)};

	for (unsigned i = 0; i < d->n_ports; i++) {
		s.device = d->ports[i].dev.id.name;
		if (io_fault_selects_device(&e->rule, &d->ports[i].dev))
			io_fault_happen(d, &d->ports[i].dev, e, &s, now);
	}
}

static void run_time_rules(struct io_daemon *d, uint64_t now)
{
	const struct fault_subject s = {.layer = FAULT_LAYER_TIME};
	const struct fault_entry *hits[FAULT_HITS_MAX];
	unsigned n;

	if (fault_plan_deadline(d->faults.plan) > now)
		return;
	n = fault_plan_decide(d->faults.plan, &s, now, hits);
	for (unsigned i = 0; i < n; i++)
		time_rule(d, hits[i], now);
}

static void run_returns(struct io_daemon *d, uint64_t now)
{
	struct io_faults *f = &d->faults;

	for (unsigned i = f->n_returns; i-- > 0;) {
		struct io_device *dev = f->returns[i].dev;

		if (f->returns[i].at > now)
			continue;
		f->returns[i] = f->returns[--f->n_returns];
		io_fault_port(d, dev, true);
	}
}

void io_faults_tick(struct io_daemon *d, uint64_t now)
{
	if (d->faults.stale)
		io_faults_changed(d);
	run_returns(d, now);
	if (io_faults_watch(&d->faults, FAULT_LAYER_TIME))
		run_time_rules(d, now);
	run_pending(d, now);
	io_fault_cqe_tick(d, now);
	for (unsigned i = 0; i < d->n_ports; i++)
		if (d->ports[i].fault.active)
			io_fault_box_tick(&d->ports[i].fault, now);
	arm(d);
}

uint64_t io_faults_deadline(const struct io_daemon *d)
{
	const struct io_faults *f = &d->faults;
	uint64_t next = UINT64_MAX;

	if (!f->armed)
		return next;
	if (f->stale || f->n_pending > 0)
		return 1; /* long ago; 0 would stop a timer */
	if (io_faults_watch(f, FAULT_LAYER_TIME))
		next = fault_plan_deadline(f->plan);
	for (unsigned i = 0; i < f->n_returns; i++)
		if (f->returns[i].at < next)
			next = f->returns[i].at;
	if (io_fault_cqe_deadline(f) < next)
		next = io_fault_cqe_deadline(f);
	for (unsigned i = 0; i < d->n_ports; i++) {
		uint64_t at = io_fault_box_deadline(&d->ports[i].fault);

		if (at < next)
			next = at;
	}
	return next;
}
