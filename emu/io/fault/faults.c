/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the plan of the daemon: adds and removes rules, and executes device actions. */
#include "faults.h"

#include "emu/fault/plan/plans.h"
#include "emu/fault/rule/rules.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/local/local.h"
#include "emu/io/network/network.h"
#include "emu/io/serve/serve.h"
#include "fault_box.h"
#include "fault_call.h"
#include "fault_file.h"
#include "fault_fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- what the plan asks of us ---- */

struct question {
	char path[FAULT_TEXT_MAX];
	bool is_there;
};

static void ask(void *arg)
{
	struct question *q = arg;

	q->is_there = access(q->path, F_OK) == 0;
}

static struct io_fault_path *path_of(struct io_faults *f, const char *path)
{
	struct io_fault_path *p;

	for (unsigned i = 0; i < IO_FAULT_PATHS_MAX; i++)
		if (strcmp(f->path[i].path, path) == 0)
			return &f->path[i];
	p = &f->path[f->next_path++ % IO_FAULT_PATHS_MAX];
	*p = (struct io_fault_path){.is_there = false};
	snprintf(p->path, sizeof(p->path), "%s", path);
	return p;
}

/* As it was, where its file system does not answer. */
static bool exists(void *user, const char *path)
{
	struct io_faults *f = user;
	struct io_fault_path *known = path_of(f, path);
	struct question q = {.is_there = false};

	snprintf(q.path, sizeof(q.path), "%s", path);
	if (!f->files)
		ask(&q);
	else if (!io_prompt_ask(f->files, ask, &q, sizeof(q), IO_PROMPT_MS))
		return known->is_there;
	return known->is_there = q.is_there;
}

static void hit(void *user, const struct fault_hit *h)
{
	struct io_faults *f = user;
	char line[FAULT_TRACE_MAX];

	f->stale = f->armed = true;
	io_tracer_hit(f->env.tracer, h);
	fault_trace_hit(h, line);
	io_fault_trace_add(&f->trace, line, true);
}

static const char *device(void *user, unsigned i)
{
	const struct io_faults *f = user;

	return i < f->env.devices->n ? f->env.devices->at[i]->id.name : NULL;
}

static bool address(void *user, unsigned i, unsigned k, uint8_t out[16])
{
	const struct io_faults *f = user;
	const struct io_address_list *all = &f->env.devices->at[i]->id.addresses;

	if (k >= all->count)
		return false;
	memcpy(out, all->a[k].gid, 16);
	return true;
}

static const char *part(void *user, enum fault_part kind, unsigned i)
{
	const struct io_faults *f = user;
	uint32_t node;

	if (!f->env.network)
		return NULL;
	if (kind == FAULT_PART_LINK)
		return io_network_link_name(f->env.network, i);
	if (kind == FAULT_PART_PORT)
		return io_network_switch_port(f->env.network, i);
	return io_network_node_name(f->env.network, kind == FAULT_PART_SWITCH, i, &node);
}

static const struct fault_plan_ops plan_ops = {
	.exists = exists,
	.hit = hit,
	.device = device,
	.address = address,
	.part = part,
};

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

int io_faults_create(struct io_faults *f, const struct io_faults_env *env)
{
	uint64_t seed = choose_seed(env->settings);

	f->env = *env;
	TAILQ_INIT(&f->cqes);
	f->plan = fault_plan_create(seed, &plan_ops, f);
	if (!f->plan)
		return -ENOMEM;
	f->env.tracer->plan = f->plan;
	f->files = io_prompt_open();
	f->ports = io_prompt_open();
	if (f->files && f->ports)
		return 0;
	io_faults_destroy(f);
	return -ENOMEM;
}

/* ---- rules come and go ---- */

/*
 * Times of a trace count from the first rule. Later ones are told as if they had come with it: a
 * replay would else wait as long as a person took to type them, which is not what programs saw.
 */
static void trace_rule(struct io_faults *f, const struct fault_entry *e, const char *what,
		       uint64_t now)
{
	char line[FAULT_TRACE_MAX];

	if (f->began == 0) {
		f->began = now;
		io_log(IO_LOG_INFO, "fault rules: seed %llu",
		       (unsigned long long)fault_plan_seed(f->plan));
		fault_trace_plan(f->plan, now, line);
		io_fault_trace_add(&f->trace, line, false);
	}
	fault_trace_rule(e, what, strcmp(what, "added") == 0 ? f->began : now, line);
	io_fault_trace_add(&f->trace, line, false);
}

static const struct fault_entry *entry_of(const struct io_faults *f, uint32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	return fault_plan_find(f->plan, name);
}

void io_faults_trace_added(struct io_faults *f, unsigned n, uint64_t now)
{
	unsigned count = fault_plan_count(f->plan);

	for (unsigned i = count - n; i < count; i++)
		trace_rule(f, fault_plan_entry(f->plan, i), "added", now);
}

int io_faults_add(struct io_faults *f, const char *text, uint64_t now, struct fault_error *error)
{
	int number = fault_plan_add(f->plan, text, now, error);

	if (number > 0)
		io_faults_trace_added(f, 1, now);
	return number;
}

int io_faults_change(struct io_faults *f, uint32_t number, const char *text, uint64_t now,
		     struct fault_error *error)
{
	int status = fault_plan_change(f->plan, number, text, now, error);

	if (status == 0)
		trace_rule(f, entry_of(f, number), "changed", now);
	return status;
}

int io_faults_remove(struct io_faults *f, uint32_t number, uint64_t now)
{
	const struct fault_entry *e = entry_of(f, number);

	if (!e)
		return -ENOENT;
	trace_rule(f, e, "removed", now);
	return fault_plan_remove(f->plan, number);
}

void io_faults_clear(struct io_faults *f, uint64_t now)
{
	for (unsigned i = 0; i < fault_plan_count(f->plan); i++)
		trace_rule(f, fault_plan_entry(f->plan, i), "removed", now);
	fault_plan_clear(f->plan);
	io_reaper_trim();
}

static int add_rule(struct io_faults *f, const char *text, uint64_t now)
{
	struct fault_error error;
	int number = io_faults_add(f, text, now, &error);

	if (number > 0)
		return 0;
	if (number == -EINVAL)
		io_log(IO_LOG_ERROR, "--fault '%s': column %u: %s", text, error.column, error.text);
	return number;
}

static int add_file(struct io_faults *f, const char *path, uint64_t now)
{
	struct io_fault_loaded loaded;
	int error = io_fault_load(f, path, now, &loaded);

	if (error < 0 && loaded.line > 0)
		io_log(IO_LOG_ERROR, "--fault-file %s: line %u, column %u: %s", path, loaded.line,
		       loaded.error.column, loaded.error.text);
	else if (error < 0)
		io_log(IO_LOG_ERROR, "--fault-file %s", loaded.error.text);
	return error;
}

int io_faults_start(struct io_faults *f)
{
	uint64_t now = io_clock_now();
	int error = 0;

	for (unsigned i = 0; i < f->env.settings->n_faults && error == 0; i++) {
		const char *text = f->env.settings->faults[i].text;

		error = f->env.settings->faults[i].is_file ? add_file(f, text, now)
							   : add_rule(f, text, now);
	}
	if (error < 0)
		return error;
	io_faults_changed(f);
	return 0;
}

void io_faults_destroy(struct io_faults *f)
{
	if (f->plan)
		fault_plan_destroy(f->plan);
	io_fault_trace_destroy(&f->trace);
	io_fault_cqe_destroy(f);
	io_prompt_close(f->files);
	io_prompt_close(f->ports);
	free(f->late);
	*f = (struct io_faults){.plan = NULL};
}

/* ---- who must ask ---- */

/* The device asks before it completes. */
static void set_hooks(struct io_faults *f)
{
	bool asks = io_faults_watch(f, FAULT_LAYER_COMPLETION) || f->n_cqes > 0;
	uint32_t hooks = (asks ? CORE_HOOK_COMPLETION : 0) |
			 (io_faults_watch(f, FAULT_LAYER_MEMORY) ? CORE_HOOK_MEMORY : 0);

	for (unsigned i = 0; i < f->env.devices->n; i++)
		io_device_hook(f->env.devices->at[i], CORE_HOOK_COMPLETION | CORE_HOOK_MEMORY,
			       hooks);
}

static void arm(struct io_faults *f)
{
	bool armed = f->stale || f->n_pending > 0 || f->n_returns > 0 || f->n_cqes > 0 ||
		     io_faults_watch(f, FAULT_LAYER_TIME);

	for (unsigned i = 0; i < f->env.devices->n; i++)
		armed = armed || f->env.devices->at[i]->fault->active;
	f->armed = armed;
}

void io_faults_changed(struct io_faults *f)
{

	f->stale = false;
	f->watched = 0;
	for (unsigned l = 0; l < FAULT_LAYERS; l++)
		if (fault_plan_watches(f->plan, l))
			f->watched |= 1u << l;
	for (unsigned i = 0; i < f->env.devices->n; i++)
		io_fault_box_update(f->env.devices->at[i]->fault);
	set_hooks(f);
	io_tracer_rules(f->env.tracer);
	io_fault_call_changed(f);
	io_fault_network_watch(f);
	arm(f);
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

unsigned io_faults_decide(struct io_faults *f, struct io_device *dev, const struct fault_subject *s,
			  uint64_t now, const struct fault_entry *hits[FAULT_HITS_MAX])
{
	unsigned n = fault_plan_decide(f->plan, s, now, hits);
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		if (fault_action_is_of_device(hits[i]->rule.action))
			io_fault_device_action(f, dev, hits[i], s, now);
		else
			hits[kept++] = hits[i];
	}
	return kept;
}

uint64_t io_faults_delay(const struct io_faults *f, const struct fault_entry *e)
{
	const struct fault_value *v = &e->rule.value;

	return v->number + (v->jitter ? fault_plan_random(f->plan, e->number, v->jitter + 1) : 0);
}

/* ---- when something is due ---- */

static void run_pending(struct io_faults *f, uint64_t now)
{

	/* What happens may let more happen, which then waits for the next time. */
	for (unsigned n = f->n_pending; n > 0; n--) {
		struct io_fault_pending p = f->pending[0];

		memmove(f->pending, f->pending + 1, --f->n_pending * sizeof(p));
		io_fault_execute(f, &p, now);
	}
}

/* The device's name is one that the rule asks for. */
static bool selects_device(const struct fault_rule *r, const struct io_device *dev)
{
	return r->select.device[0] == '\0' || fault_glob_any(r->select.device, dev->id.name);
}

static uint32_t first_of(const struct fault_list *l)
{
	return l->n > 0 ? (uint32_t)l->range[0].low : 0;
}

/* Selectors of such a rule name what it happens to. */
static void time_rule(struct io_faults *f, const struct fault_entry *e, uint64_t now)
{
	const struct fault_select *select = &e->rule.select;
	const struct fault_subject s = {.layer = FAULT_LAYER_TIME,
					.qpn = first_of(&select->qp),
					.srq = first_of(&select->srq),
					.cq = first_of(&select->cq),
					.key = first_of(&select->key)};

	for (unsigned i = 0; i < f->env.devices->n; i++) {
		if (!selects_device(&e->rule, f->env.devices->at[i]))
			continue;
		io_fault_device_action(f, f->env.devices->at[i], e, &s, now);
		if (fault_action_part(e->rule.action) != FAULT_PARTS)
			return; /* the network is there once */
	}
}

/* The plan looks at it as at any rule, and then it goes. */
static int check_now(struct io_faults *f, const char *text, uint64_t now, struct fault_error *error)
{
	int number = fault_plan_add(f->plan, text, now, error);
	const struct fault_rule *r;

	if (number < 0)
		return number;
	r = &entry_of(f, (uint32_t)number)->rule;
	error->column = 1;
	error->text[0] = '\0';
	if (!fault_action_is_of_device(r->action))
		snprintf(error->text, sizeof(error->text),
			 "'%s' needs a packet, call or completion: use fault add",
			 fault_action_name(r->action));
	else if (r->layer != FAULT_LAYER_TIME || r->limit.after || r->limit.after_rule[0] ||
		 r->limit.period || r->limit.while_file[0] || r->limit.until)
		snprintf(error->text, sizeof(error->text),
			 "what is done now has no other condition: use fault add");
	if (!error->text[0])
		return number;
	fault_plan_remove(f->plan, (uint32_t)number);
	return -EINVAL;
}

int io_faults_now(struct io_faults *f, const char *text, uint64_t now, struct fault_error *error)
{
	int number = check_now(f, text, now, error);
	const struct fault_entry *e;
	unsigned n = 0;

	if (number < 0)
		return number;
	e = entry_of(f, (uint32_t)number);
	for (unsigned i = 0; i < f->env.devices->n; i++)
		n += selects_device(&e->rule, f->env.devices->at[i]);
	if (fault_action_part(e->rule.action) != FAULT_PARTS)
		n = io_fault_parts(f, &e->rule);
	time_rule(f, e, now);
	/* The program looks at the device as soon as it has the answer. */
	if (e->rule.action != FAULT_DEV_EXIT)
		run_pending(f, now);
	fault_plan_remove(f->plan, (uint32_t)number);
	io_faults_changed(f);
	return (int)n;
}

static void run_time_rules(struct io_faults *f, uint64_t now)
{
	const struct fault_subject s = {.layer = FAULT_LAYER_TIME};
	const struct fault_entry *hits[FAULT_HITS_MAX];
	unsigned n;

	if (fault_plan_deadline(f->plan) > now)
		return;
	n = fault_plan_decide(f->plan, &s, now, hits);
	for (unsigned i = 0; i < n; i++)
		time_rule(f, hits[i], now);
}

static void run_returns(struct io_faults *f, uint64_t now)
{

	for (unsigned i = f->n_returns; i-- > 0;) {
		const struct io_fault_return r = f->returns[i];

		if (r.at > now)
			continue;
		f->returns[i] = f->returns[--f->n_returns];
		io_fault_go_on(f, &r, now);
	}
}

void io_faults_tick(struct io_faults *f, uint64_t now)
{
	if (f->stale)
		io_faults_changed(f);
	run_returns(f, now);
	if (io_faults_watch(f, FAULT_LAYER_TIME))
		run_time_rules(f, now);
	run_pending(f, now);
	io_fault_cqe_tick(f, now);
	for (unsigned i = 0; i < f->env.devices->n; i++)
		if (f->env.devices->at[i]->fault->active)
			io_fault_box_tick(f->env.devices->at[i]->fault, now);
	arm(f);
}

uint64_t io_faults_deadline(const struct io_faults *f)
{
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
	for (unsigned i = 0; i < f->env.devices->n; i++) {
		uint64_t at = io_fault_box_deadline(f->env.devices->at[i]->fault);

		if (at < next)
			next = at;
	}
	return next;
}
