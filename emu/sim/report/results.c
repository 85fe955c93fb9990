/* SPDX-License-Identifier: BSD-2-Clause */
/* What a simulation measures while it runs. */
#include "results.h"

#include "emu/array/array.h"

#include <inttypes.h>
#include <stdlib.h>

void results_init(struct results *r, const struct sim *s)
{
	*r = (struct results){.sim = s};
}

void results_free(struct results *r)
{
	free(r->flows);
	free(r->reduces);
	free(r->queues);
}

static bool grow(struct results *r, void *array, uint32_t n, uint32_t *size, size_t each)
{
	const bool grown = array_make_room(array, n, size, each);

	r->no_memory = r->no_memory || !grown;
	return grown;
}

static void add(struct results *r, uint64_t **array, uint32_t *n, uint32_t *size, uint64_t value)
{
	if (grow(r, array, *n, size, sizeof(value)))
		(*array)[(*n)++] = value;
}

void results_finished(void *user, const struct sim_connection *c, uint64_t began, uint64_t now)
{
	struct results *r = user;

	r->last = now;
	r->n_queues_last = r->n_queues;
	if (!c) {
		add(r, &r->reduces, &r->n_reduces, &r->reduces_size, now - began);
		return;
	}
	if (!grow(r, &r->flows, r->n_flows, &r->flows_size, sizeof(*r->flows)))
		return;
	r->flows[r->n_flows++] = (struct result_flow){
		began, now - began, sim_ideal(r->sim, c, c->bytes), c->bytes, c->src, c->dst};
}

static void print_sample(struct results *r, uint64_t now, uint64_t since, uint64_t longest,
			 uint32_t port)
{
	const struct sim_counters *c = &r->sim->counters;
	struct fabric_counters net;
	struct fabric_port_state p;
	/* A restart takes back what was delivered. */
	const uint64_t bytes =
		c->delivered > r->before.delivered ? c->delivered - r->before.delivered : 0;
	unsigned paused = 0;

	fabric_count(r->sim->fabric, now, &net);
	for (uint32_t i = 0; i < fabric_ports(r->sim->fabric); i++) {
		fabric_port(r->sim->fabric, i, now, &p);
		paused += p.paused != 0;
	}
	fabric_port(r->sim->fabric, port, now, &p);
	fprintf(r->series,
		"%" PRIu64 ".%03" PRIu64 ",%" PRIu64 ",%s,%s,%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64
		",%" PRIu64 "\n",
		now / FABRIC_US, now % FABRIC_US / 1000, longest, p.node, p.peer,
		since ? (uint64_t)((unsigned __int128)bytes * 8000000 / since) : 0, net.marked,
		paused, net.xoff, c->retransmits);
	r->before = *c;
}

void results_sample(struct results *r, uint64_t now, uint64_t since)
{
	const struct fabric *f = r->sim->fabric;
	const unsigned class = r->sim->settings.data_class;
	uint64_t longest = 0;
	uint32_t port = 0;

	for (uint32_t i = 0; i < fabric_ports(f); i++) {
		const uint64_t queued = fabric_queued(f, i, class);

		if (queued > longest && fabric_is_switch_port(f, i)) {
			longest = queued;
			port = i;
		}
	}
	if (now >= r->measure_begin)
		add(r, &r->queues, &r->n_queues, &r->queues_size, longest);
	if (r->series)
		print_sample(r, now, since, longest, port);
}

void results_measure(struct results *r, uint64_t now)
{
	r->measure_begin = now;
	r->measured = r->sim->counters.delivered;
	for (uint32_t i = 0; i < r->sim->n; i++)
		sim_at(r->sim, i)->measured = sim_at(r->sim, i)->delivered;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void results_sort(uint64_t *values, uint32_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), compare);
}

uint64_t results_part(const uint64_t *sorted, uint32_t n, uint32_t part)
{
	const uint32_t i = (uint32_t)((uint64_t)n * part / 1000);

	return n ? sorted[i < n ? i : n - 1] : 0;
}
