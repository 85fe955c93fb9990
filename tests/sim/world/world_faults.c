/* SPDX-License-Identifier: BSD-2-Clause */
/* Fault rules between the devices of a world and its links. */
#include "world_faults.h"

#include "wire/print.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct world_port {
	struct world *world;
	unsigned device;
	struct fault_net *net;
	uint64_t bad_icrc;
};

struct world_faults {
	struct fault_plan *plan;
	struct world_port port[WORLD_MAX_DEVICES];
	FILE *trace;
};

/* ---- what is told ---- */

static void trace(const struct world_port *p, const char *what, enum fault_direction dir,
		  const struct core_burst *t)
{
	FILE *f = p->world->faults->trace;
	char text[ROCE_PRINT_LENGTH];

	if (!f)
		return;
	roce_print_packet(&t->head, text, sizeof text);
	fprintf(f, "%" PRIu64 " %u %s %s rule=%" PRIu32 " %s\n", p->world->now, p->device,
		dir == FAULT_TX ? "tx" : "rx", what, t->model.rule, text);
}

static void on_hit(void *user, const struct fault_hit *hit)
{
	const struct world *w = user;
	FILE *f = w->faults->trace;

	if (f)
		fprintf(f, "%" PRIu64 " hit rule=%" PRIu32 " hits=%" PRIu64 " match=%" PRIu64 "\n",
			hit->now, hit->entry->number, hit->entry->hits, hit->entry->matched);
}

static bool exists(void *user, const char *path)
{
	(void)user;
	(void)path;
	return false;
}

static const struct fault_plan_ops plan_ops = {.exists = exists, .hit = on_hit};

/* ---- what a net asks for ---- */

static void arrive(struct world_port *p, const struct core_burst *t)
{
	struct world *w = p->world;

	w->device[p->device].host.dirty = true;
	if (t->model.bad_icrc)
		p->bad_icrc += t->count;
	else
		core_rx(w->device[p->device].host.dev, w->now, t);
}

static void pass(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	struct world_port *p = user;

	(void)now;
	if (dir == FAULT_TX)
		world_send(p->world, p->device, t);
	else
		arrive(p, t);
}

static void dropped(void *user, enum fault_direction dir, const struct core_burst *t,
		    bool malformed, uint64_t now)
{
	(void)now;
	trace(user, malformed ? "malformed" : "dropped", dir, t);
}

static void device_action(void *user, const struct fault_entry *e, const struct fault_subject *s,
			  uint64_t now)
{
	const struct world_port *p = user;
	struct vhost *host = &p->world->device[p->device].host;
	uint64_t number = e->rule.value.number;

	if (e->rule.action == FAULT_QP_ERROR)
		core_inject_qp_error(host->dev, s->qpn, now);
	else if (e->rule.action == FAULT_KEY_REVOKE)
		core_inject_revoke(host->dev, number ? (uint32_t)number : s->key);
	else if (e->rule.action == FAULT_KEY_REUSE)
		core_inject_key_reuse(host->dev, true);
	else if (e->rule.action == FAULT_PORT_DOWN && !number)
		core_port_set(host->dev, false);
	else
		world_fail(p->world, "the simulator cannot do \"%s\"", e->rule.text);
	host->dirty = true;
}

static void made(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	(void)now;
	trace(user, "made", dir, t);
}

static void note(void *user, enum fault_note note, const struct core_burst *t, uint64_t now)
{
	static const char *const text[] = {[FAULT_NOTE_OVERFLOW] = "overflow",
					   [FAULT_NOTE_FULL] = "full",
					   [FAULT_NOTE_UNFIT] = "unfit"};

	(void)now;
	trace(user, text[note], FAULT_BOTH, t);
}

static bool look_up(void *user, uint32_t qpn, struct fault_qp *out)
{
	const struct world_port *p = user;
	struct core_qp_look look;

	if (!core_look_at_qp(p->world->device[p->device].host.dev, qpn, &look))
		return false;
	*out = (struct fault_qp){.peer_qpn = look.peer_qpn,
				 .pd = look.pd,
				 .srq = look.srq,
				 .responds = look.responds,
				 .expected_psn = look.expected_psn};
	return true;
}

static const struct fault_net_ops net_ops = {.pass = pass,
					     .dropped = dropped,
					     .device_action = device_action,
					     .made = made,
					     .note = note,
					     .look_up = look_up};

/* ---- */

void world_faults(struct world *w, uint64_t seed)
{
	struct world_faults *f = calloc(1, sizeof *f);

	assert(f && !w->faults);
	w->faults = f;
	f->plan = fault_plan_create(seed, &plan_ops, w);
	assert(f->plan);
	for (unsigned i = 0; i < w->n_devices; i++) {
		char name[16];

		snprintf(name, sizeof name, "uhca%u", i);
		f->port[i] = (struct world_port){.world = w, .device = i};
		f->port[i].net = fault_net_create(f->plan, name, &net_ops, &f->port[i]);
		assert(f->port[i].net);
	}
}

void world_faults_destroy(struct world *w)
{
	for (unsigned i = 0; w->faults && i < w->n_devices; i++)
		fault_net_destroy(w->faults->port[i].net);
	if (w->faults)
		fault_plan_destroy(w->faults->plan);
	free(w->faults);
	w->faults = NULL;
}

uint32_t world_rule(struct world *w, const char *text)
{
	struct fault_error error;
	unsigned count;
	int number;

	if (!w->faults)
		world_faults(w, w->seed);
	count = fault_plan_count(w->faults->plan);
	number = fault_plan_add(w->faults->plan, text, w->now, &error);
	if (number <= 0)
		world_fail(w, "rule \"%s\", column %u: %s", text, error.column, error.text);
	journal_note(&w->journal, w->now, fault_plan_entry(w->faults->plan, count)->rule.text,
		     (uint32_t)number, 0);
	return (uint32_t)number;
}

bool world_try_rule(struct world *w, const char *text)
{
	struct fault_error error;

	return fault_plan_add(w->faults->plan, text, w->now, &error) > 0;
}

const struct fault_entry *world_rule_entry(struct world *w, const char *name)
{
	const struct fault_entry *e = fault_plan_find(w->faults->plan, name);

	if (!e)
		world_fail(w, "no rule %s", name);
	return e;
}

void world_rule_remove(struct world *w, uint32_t number)
{
	world_assert(w, fault_plan_remove(w->faults->plan, number) == 0);
}

void world_rules_check(struct world *w)
{
	for (unsigned i = 0; w->faults && i < fault_plan_count(w->faults->plan); i++) {
		const struct fault_entry *e = fault_plan_entry(w->faults->plan, i);

		if (!e->hits)
			world_fail(w, "rule \"%s\" never fired", e->rule.text);
	}
}

struct fault_plan *world_plan(struct world *w)
{
	return w->faults->plan;
}

struct fault_net *world_net(struct world *w, unsigned i)
{
	return w->faults->port[i].net;
}

uint64_t world_bad_icrc(struct world *w, unsigned i)
{
	return w->faults->port[i].bad_icrc;
}

void world_trace(struct world *w, FILE *f)
{
	w->faults->trace = f;
	w->journal.copy = f;
}

/* ---- on the way ---- */

void world_faults_send(struct world *w, unsigned from, const struct core_burst *t)
{
	fault_net_burst(w->faults->port[from].net, FAULT_TX, t, NULL, w->now);
}

void world_faults_arrive(struct world *w, unsigned to, const struct core_burst *t)
{
	fault_net_burst(w->faults->port[to].net, FAULT_RX, t, NULL, w->now);
}

uint64_t world_faults_deadline(const struct world *w)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; w->faults && i < w->n_devices; i++) {
		uint64_t t = fault_net_deadline(w->faults->port[i].net);

		next = t < next ? t : next;
	}
	return next;
}

void world_faults_tick(struct world *w)
{
	for (unsigned i = 0; w->faults && i < w->n_devices; i++)
		fault_net_tick(w->faults->port[i].net, w->now);
}
