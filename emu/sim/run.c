/* SPDX-License-Identifier: BSD-2-Clause */
/* One simulation: network, hosts, workloads, failures, measurements put together. */
#include "run.h"

#include "emu/fabric/file/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Timers of a run, behind those of workloads. */
enum { TIMER_CHANGE = SIM_LOADS_MAX, TIMER_REROUTE, TIMER_SAMPLE, TIMER_WARMUP };

struct run {
	const struct sim_options *o;
	struct fabric_topology topology;
	struct sim *sim;
	struct load_set loads;
	struct results results;
	struct change changes[SIM_CHANGES_MAX];
	unsigned n_changes, next_change;
	uint64_t last_sample;
	int status;
};

/* ---- the network ---- */

static void say(char *error, size_t cap, const char *where, const struct fabric_error *e)
{
	fabric_error_text(e, where, error, cap);
}

int run_topology(struct fabric_topology *t, const struct sim_options *o, char *error, size_t cap)
{
	struct fabric_error e;
	int status = 0;

	fabric_topology_init(t);
	for (unsigned i = 0; i < o->n_set && status == 0; i++) {
		status = fabric_topology_set(t, o->set[i], &e);
		e.line = 0;
		if (status == -EINVAL)
			say(error, cap, "--set", &e);
	}
	if (status == 0)
		status = fabric_topology_load(t, o->topology, error, cap);
	for (unsigned c = 0; c < FABRIC_CLASSES && o->no_pfc; c++)
		t->classes[c].lossless = 0;
	return status;
}

/* ---- while it runs ---- */

static void received(void *user, struct sim_connection *c, uint64_t now)
{
	load_received(&((struct run *)user)->loads, c, now);
}

static void done(void *user, struct sim_connection *c, uint64_t now)
{
	load_done(&((struct run *)user)->loads, c, now);
}

static void change(struct run *r, uint64_t now)
{
	while (r->next_change < r->n_changes && r->changes[r->next_change].time <= now)
		if (change_apply(&r->changes[r->next_change++], r->sim, now))
			sim_timer(r->sim, TIMER_REROUTE, now + r->o->reroute);
	if (r->next_change < r->n_changes)
		sim_timer(r->sim, TIMER_CHANGE, r->changes[r->next_change].time);
}

/* While something else is to come. */
static void sample(struct run *r, uint64_t now)
{
	results_sample(&r->results, now, now - r->last_sample);
	r->last_sample = now;
	if (fabric_next(r->sim->fabric) != FABRIC_NEVER)
		sim_timer(r->sim, TIMER_SAMPLE, now + r->o->sample);
}

static void timer(void *user, uint32_t number, uint64_t now)
{
	struct run *r = user;

	if (number < SIM_LOADS_MAX)
		load_timer(&r->loads, number, now);
	else if (number == TIMER_CHANGE)
		change(r, now);
	else if (number == TIMER_REROUTE)
		r->status = fabric_reroute(r->sim->fabric);
	else if (number == TIMER_SAMPLE)
		sample(r, now);
	else
		results_measure(&r->results, now);
}

/* ---- from begin to end ---- */

/* Is this behind the end of the run? It would never happen. */
static int check_time(const struct run *r, const char *what, uint64_t time, char *error, size_t cap)
{
	if (time <= r->o->duration + r->o->drain)
		return 0;
	snprintf(error, cap, "%s: the run ends before that time; see --duration and --drain", what);
	return -EINVAL;
}

static int read_parts(struct run *r, char *error, size_t cap)
{
	struct fabric_error e;
	int status = 0;

	for (unsigned i = 0; i < r->o->n_workloads && status == 0; i++) {
		status = load_add(&r->loads, r->o->workloads[i], &e);
		if (status == -EINVAL)
			say(error, cap, r->o->workloads[i], &e);
	}
	for (unsigned i = 0; i < r->o->n_changes && status == 0; i++) {
		status = change_read(&r->changes[i], r->o->changes[i], &r->topology, &e);
		if (status == -EINVAL)
			say(error, cap, r->o->changes[i], &e);
		else if (status == 0)
			status = check_time(r, r->o->changes[i], r->changes[i].time, error, cap);
	}
	if (status == 0)
		status = check_time(r, "--warmup", r->o->warmup, error, cap);
	r->n_changes = r->o->n_changes;
	change_sort(r->changes, r->n_changes);
	return status;
}

static int start(struct run *r, char *error, size_t cap)
{
	static const struct sim_ops ops = {received, done, timer};
	struct fabric_error e;
	int status = sim_create(&r->sim, &r->topology, &r->o->sim, fabric_mix(r->o->seed), &e);

	if (status == -EINVAL)
		say(error, cap, r->o->topology, &e);
	if (status < 0)
		return status;
	r->sim->ops = &ops;
	r->sim->user = r;
	results_init(&r->results, r->sim);
	r->loads.sim = r->sim;
	r->loads.random = fabric_mix(r->o->seed + UINT64_C(0x10000));
	r->loads.stop = r->o->duration;
	r->loads.finished = results_finished;
	r->loads.user = &r->results;
	if (r->n_changes)
		sim_timer(r->sim, TIMER_CHANGE, r->changes[0].time);
	if (r->o->warmup)
		sim_timer(r->sim, TIMER_WARMUP, r->o->warmup);
	r->results.measure_begin = r->o->warmup;
	sim_timer(r->sim, TIMER_SAMPLE, r->o->sample);
	status = load_start(&r->loads, &e);
	if (status == -EINVAL)
		say(error, cap, "--workload", &e);
	return status;
}

/* What a file has goes when the run begins, not before all is known to be right. */
static void empty(FILE *out)
{
	if (out && ftruncate(fileno(out), 0) < 0)
		errno = 0; /* not a regular file, which has nothing */
}

static void begin_files(struct run *r, FILE *flows, FILE *series)
{
	empty(flows);
	empty(series);
	r->results.series = series;
	if (series)
		fputs("time_us,longest_queue_bytes,node,to,goodput_mbps,marked,paused_ports,xoff,"
		      "retransmitted\n",
		      series);
}

static json_t *report(struct run *r, FILE *flows)
{
	const uint64_t until = r->o->duration + r->o->drain;
	const struct report_about about = {
		.topology = r->o->topology,
		.workloads = r->o->workloads,
		.n_workloads = r->o->n_workloads,
		.cc = r->o->cc,
		.retransmit = sim_retransmit_names[r->o->retransmit],
		.seed = r->o->seed,
		.stop = until,
	};

	if (flows)
		report_flows(&r->results, flows);
	return report_make(&about, &r->results, &r->loads);
}

json_t *run_simulation(const struct sim_options *o, FILE *flows, FILE *series, char *error,
		       size_t cap)
{
	struct run *r = calloc(1, sizeof(*r));
	json_t *said = NULL;
	int status;

	if (!r)
		return NULL;
	r->o = o;
	snprintf(error, cap, "out of memory");
	status = run_topology(&r->topology, o, error, cap);
	if (status == 0)
		status = read_parts(r, error, cap);
	if (status == 0)
		status = start(r, error, cap);
	if (status == 0) {
		begin_files(r, flows, series);
		fabric_run(r->sim->fabric, o->duration + o->drain);
		if (r->status == 0 && !r->results.no_memory)
			said = report(r, flows);
	}
	results_free(&r->results);
	load_free(&r->loads);
	if (r->sim)
		sim_destroy(r->sim);
	fabric_topology_fini(&r->topology);
	free(r);
	return said;
}
