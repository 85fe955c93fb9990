/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a run as JSON. Ratios are computed from integers at the very end, and rounded to
 * thousandths, so that two builds print the same.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

#define BUCKETS 10u

/* A number of thousandths. */
static json_t *milli(uint64_t v)
{
	return json_real((double)v / 1000);
}

static json_t *whole(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static uint64_t ratio_milli(uint64_t a, uint64_t b)
{
	return b ? (uint64_t)((unsigned __int128)a * 1000 / b) : 0;
}

/* ---- flows ---- */

static int by_size(const void *a, const void *b)
{
	const struct result_flow *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return x->src < y->src ? -1 : x->src > y->src;
}

static uint64_t slowdown(const struct result_flow *f)
{
	const uint64_t v = ratio_milli(f->time, f->ideal);

	return v > 1000 ? v : 1000;
}

static json_t *percentiles(uint64_t *values, uint32_t n)
{
	uint64_t sum = 0;

	results_sort(values, n);
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean", milli(n ? sum / n : 0), "p50",
			 milli(results_part(values, n, 500)), "p99",
			 milli(results_part(values, n, 990)), "p999",
			 milli(results_part(values, n, 999)), "max", milli(n ? values[n - 1] : 0));
}

/* Buckets of equal count, by size. */
static json_t *buckets(struct results *r, uint64_t *values)
{
	json_t *all = json_array();

	if (r->n_flows < 10 * BUCKETS)
		return all;
	qsort(r->flows, r->n_flows, sizeof(r->flows[0]), by_size);
	for (uint32_t b = 0; b < BUCKETS; b++) {
		const uint32_t from = (uint32_t)((uint64_t)r->n_flows * b / BUCKETS);
		const uint32_t to = (uint32_t)((uint64_t)r->n_flows * (b + 1) / BUCKETS);

		for (uint32_t i = from; i < to; i++)
			values[i - from] = slowdown(&r->flows[i]);
		json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "up_to_bytes",
						     whole(r->flows[to - 1].bytes), "flows",
						     whole(to - from), "slowdown",
						     percentiles(values, to - from)));
	}
	return all;
}

static json_t *flows(struct results *r, uint32_t unfinished)
{
	uint64_t *values = malloc((r->n_flows + 1) * sizeof(*values));
	json_t *slow, *times, *sizes;

	if (!values)
		return NULL;
	for (uint32_t i = 0; i < r->n_flows; i++)
		values[i] = slowdown(&r->flows[i]);
	slow = percentiles(values, r->n_flows);
	for (uint32_t i = 0; i < r->n_flows; i++)
		values[i] = r->flows[i].time / 1000; /* ns: thousandths of us */
	times = percentiles(values, r->n_flows);
	sizes = buckets(r, values);
	free(values);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "finished", whole(r->n_flows), "unfinished",
			 whole(unfinished), "slowdown", slow, "fct_us", times, "sizes", sizes);
}

/* ---- throughput ---- */

/* kb/s of a connection from when measuring began, or it did, until it was done, or now. */
static uint64_t goodput(const struct results *r, const struct sim_connection *c, uint64_t end)
{
	const uint64_t from = c->first_began > r->measure_begin ? c->first_began : r->measure_begin;
	const uint64_t to = c->active ? end : c->last_done;
	const uint64_t kept = c->delivered - sim_unsure(r->sim, c);

	if (to <= from || kept <= c->measured)
		return 0;
	return (uint64_t)((unsigned __int128)(kept - c->measured) * UINT64_C(8000000000) /
			  (to - from));
}

/*
 * Of the connections of one workload; with "all" of all that stay. Fairness is that of Jain 1984:
 * (sum x)^2 / (n sum x^2).
 */
static json_t *fairness(const struct results *r, const struct load_set *l, unsigned load, bool all,
			uint64_t end)
{
	const struct sim *s = r->sim;
	unsigned __int128 sum = 0, squares = 0;
	uint64_t least = UINT64_MAX, most = 0, n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sim_connection *c = sim_at(s, i);
		const uint64_t x = goodput(r, c, end);

		if (!load_stays(l, c) || (!all && c->load != load))
			continue;
		sum += x;
		squares += (unsigned __int128)x * x;
		least = x < least ? x : least;
		most = x > most ? x : most;
		n++;
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "connections", whole(n), "jain",
			 milli(squares ? (uint64_t)(sum * sum * 1000 / (squares * n)) : 0),
			 "mean_gbps", milli(n ? (uint64_t)(sum / n / 1000) : 0), "least_gbps",
			 milli(n ? least / 1000 : 0), "most_gbps", milli(most / 1000));
}

static uint64_t all_unsure(const struct sim *s)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < s->n; i++)
		all += sim_unsure(s, sim_at(s, i));
	return all;
}

static json_t *throughput(const struct results *r, const struct load_set *l, uint64_t end)
{
	const uint64_t time = end > r->measure_begin ? end - r->measure_begin : 0;
	const uint64_t kept = r->sim->counters.delivered - all_unsure(r->sim);
	const uint64_t bytes = kept > r->measured ? kept - r->measured : 0;
	json_t *t = fairness(r, l, 0, true, end), *each = json_array();

	for (unsigned i = 0; i < l->n && l->n > 1; i++)
		json_array_append_new(each, fairness(r, l, i, false, end));
	json_object_set_new(
		t, "goodput_gbps",
		milli(time ? (uint64_t)((unsigned __int128)bytes * 8000000 / time) : 0));
	if (l->n > 1)
		json_object_set_new(t, "workloads", each);
	else
		json_decref(each);
	return t;
}

static json_t *queue(struct results *r, uint32_t n)
{
	uint64_t sum = 0;

	results_sort(r->queues, n);
	for (uint32_t i = 0; i < n; i++)
		sum += r->queues[i];
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "samples", whole(n), "mean_bytes",
			 whole(n ? sum / n : 0), "p50_bytes",
			 whole(results_part(r->queues, n, 500)), "p99_bytes",
			 whole(results_part(r->queues, n, 990)), "max_bytes",
			 whole(n ? r->queues[n - 1] : 0));
}

static json_t *network(const struct results *r, uint64_t now)
{
	struct fabric_counters c;
	json_t *dropped = json_object();
	uint32_t ports[64];

	fabric_count(r->sim->fabric, now, &c);
	if (!c.deadlocks && fabric_deadlock(r->sim->fabric, now, UINT64_C(1000000000), ports, 64))
		c.deadlocks = 1;
	for (unsigned d = 0; d < FABRIC_DROPS; d++)
		json_object_set_new(dropped, fabric_drop_name(d), whole(c.dropped[d]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "packet_hops",
			 whole(c.hops), "delivered", whole(c.delivered), "ecn_marked",
			 whole(c.marked), "pause_xoff", whole(c.xoff), "pause_xon", whole(c.xon),
			 "paused_us", milli(c.paused / 1000), "watchdog_storms", whole(c.storms),
			 "deadlocks", whole(c.deadlocks), "dropped", dropped, "events",
			 whole(c.events));
}

static json_t *transport(const struct sim_counters *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "data_packets", whole(c->data),
			 "retransmitted", whole(c->retransmits), "timeouts", whole(c->timeouts),
			 "packet_seq_err", whole(c->naks), "out_of_sequence",
			 whole(c->out_of_order), "np_ecn_marked_roce_packets", whole(c->ce),
			 "rp_cnp_handled", whole(c->cnps));
}

static json_t *reduces(struct results *r)
{
	uint64_t *values = malloc((r->n_reduces + 1) * sizeof(*values));
	json_t *times;

	if (!values)
		return NULL;
	for (uint32_t i = 0; i < r->n_reduces; i++)
		values[i] = r->reduces[i] / 1000;
	times = percentiles(values, r->n_reduces);
	free(values);
	return json_pack("{s:o, s:o}", "finished", whole(r->n_reduces), "time_us", times);
}

static uint32_t count_unfinished(const struct sim *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += sim_at(s, i)->active;
	return n;
}

json_t *report_make(const struct report_about *about, struct results *r, const struct load_set *l)
{
	const uint32_t unfinished = count_unfinished(r->sim);
	/* Timers and failures that come behind the last message are not measured. */
	const bool done = !unfinished && r->last;
	const uint64_t end = done ? r->last : about->stop;
	json_t *workloads = json_array();

	for (unsigned i = 0; i < about->n_workloads; i++)
		json_array_append_new(workloads, json_string(about->workloads[i]));
	return json_pack("{s:{s:s, s:o, s:s, s:s, s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o}", "run",
			 "topology", about->topology, "workloads", workloads, "cc", about->cc,
			 "retransmit", about->retransmit, "seed", whole(about->seed), "end_us",
			 milli(end / 1000), "flows", flows(r, unfinished), "all_reduce", reduces(r),
			 "throughput", throughput(r, l, end), "queue",
			 queue(r, done ? r->n_queues_last : r->n_queues), "network",
			 network(r, about->stop), "transport", transport(&r->sim->counters));
}

void report_flows(const struct results *r, FILE *out)
{
	fputs("began_us,src,dst,bytes,fct_us,ideal_us,slowdown\n", out);
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct result_flow *f = &r->flows[i];

		fprintf(out, "%.3f,%s,%s,%" PRIu64 ",%.3f,%.3f,%.3f\n", (double)f->began / 1e6,
			sim_host_name(r->sim, f->src), sim_host_name(r->sim, f->dst), f->bytes,
			(double)f->time / 1e6, (double)f->ideal / 1e6, (double)slowdown(f) / 1000);
	}
}
