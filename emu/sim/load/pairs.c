/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads of fixed pairs of hosts: incast, a permutation, all to all. Each connection sends
 * "count" messages of "size" bytes, one behind the other; 0: they do not end.
 */
#include "loads.h"

#include <errno.h>
#include <stdlib.h>

enum { SIZE, COUNT, QPS, SPREAD, SENDERS, FROM = SENDERS, TO };

#define COMMON_KEYS                                                                                \
	{"size", FABRIC_BYTES, 1000000, 0, LOAD_ENDLESS},                                          \
		{"count", FABRIC_COUNT, 1, 0, 1000000000}, {"qps", FABRIC_COUNT, 1, 1, 10000},     \
	{                                                                                          \
		"spread", FABRIC_TIME, 0, 0, UINT64_C(1000000000000)                               \
	}

#define CONNECTIONS_MAX UINT64_C(10000000)

static uint64_t size_of(const struct load_set *set, const struct load *l)
{
	return l->value[SIZE] ? l->value[SIZE] : load_largest(set);
}

/* Connections begin at random within the spread: the timer opens those whose time has come. */
static int begin(struct load_set *set, struct load *l, uint32_t src, uint32_t dst)
{
	for (uint64_t q = 0; q < l->value[QPS]; q++) {
		struct sim_connection *c = load_open(set, l, src, dst, l->n);

		if (!c)
			return -ENOMEM;
		l->left[l->n] = l->value[COUNT] ? (uint32_t)l->value[COUNT] : UINT32_MAX;
		if (l->value[SPREAD])
			fabric_events_set(&l->arrivals, l->n,
					  fabric_random(&set->random) % l->value[SPREAD]);
		l->edges[l->n++] = c;
	}
	return 0;
}

static int reserve(struct load *l, uint64_t pairs, struct fabric_error *e)
{
	const uint64_t n = pairs * l->value[QPS];

	if (n > CONNECTIONS_MAX)
		return fabric_refuse(e, "", "", "%s: %llu connections, and at most %llu can be",
				     l->kind->name, (unsigned long long)n,
				     (unsigned long long)CONNECTIONS_MAX);
	l->left = calloc(n, sizeof(*l->left));
	l->positions = calloc(n, sizeof(*l->positions));
	l->edges = calloc(n, sizeof(struct sim_connection *));
	if (!l->left || !l->positions || !l->edges)
		return -ENOMEM;
	return fabric_events_init(&l->arrivals, (uint32_t)n, l->positions);
}

/* All are open: now they begin, or when the timer says. */
static int go(struct load_set *set, struct load *l, int status)
{
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < l->n && !l->value[SPREAD]; i++)
		sim_message(set->sim, l->edges[i], size_of(set, l), 0);
	sim_timer(set->sim, l->number, fabric_events_next(&l->arrivals));
	return status;
}

static void timer(struct load_set *set, struct load *l, uint64_t now)
{
	while (fabric_events_next(&l->arrivals) <= now) {
		const uint32_t i = fabric_events_first(&l->arrivals);

		fabric_events_set(&l->arrivals, i, FABRIC_NEVER);
		if (now < set->stop)
			sim_message(set->sim, l->edges[i], size_of(set, l), now);
	}
	sim_timer(set->sim, l->number, fabric_events_next(&l->arrivals));
}

static void done(struct load_set *set, struct load *l, struct sim_connection *c, uint64_t now)
{
	if (l->left[c->tag] != UINT32_MAX)
		l->left[c->tag]--;
	if (l->left[c->tag] && now < set->stop)
		sim_message(set->sim, c, size_of(set, l), now);
}

static int start_incast(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t hosts = load_hosts(set);
	const uint64_t senders = l->value[SENDERS] ? l->value[SENDERS] : hosts - 1;
	int status;

	if (senders >= hosts)
		return fabric_refuse(e, "", "", "incast: %u senders need %u hosts, there are %u",
				     (unsigned)senders, (unsigned)senders + 1, hosts);
	status = reserve(l, senders, e);
	for (uint32_t i = 0; i < senders && status == 0; i++)
		status = begin(set, l, i + 1, 0);
	return go(set, l, status);
}

const struct load_kind load_incast = {
	.name = "incast",
	.help = "hosts 1 to SENDERS send to host 0; senders=0: all",
	.key = {COMMON_KEYS, {"senders", FABRIC_COUNT, 0, 0, 1u << 18}},
	.start = start_incast,
	.done = done,
	.timer = timer,
};

static int start_pair(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint64_t hosts = load_hosts(set);
	int status;

	if (l->value[FROM] >= hosts || l->value[TO] >= hosts || l->value[FROM] == l->value[TO])
		return fabric_refuse(e, "", "", "pair: from and to are two of hosts 0 to %u",
				     (unsigned)hosts - 1);
	status = reserve(l, 1, e);
	if (status == 0)
		status = begin(set, l, (uint32_t)l->value[FROM], (uint32_t)l->value[TO]);
	return go(set, l, status);
}

const struct load_kind load_pair = {
	.name = "pair",
	.help = "host FROM sends to host TO",
	.key = {COMMON_KEYS,
		{"from", FABRIC_COUNT, 0, 0, 1u << 18},
		{"to", FABRIC_COUNT, 1, 0, 1u << 18}},
	.start = start_pair,
	.done = done,
	.timer = timer,
};

/* A random order of hosts, each of which sends to the next: nobody sends to itself. */
static int start_permutation(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t hosts = load_hosts(set);
	uint32_t *order = malloc(hosts * sizeof(*order));
	int status = order ? reserve(l, hosts, e) : -ENOMEM;

	for (uint32_t i = 0; i < hosts && status == 0; i++)
		order[i] = i;
	for (uint32_t i = hosts - 1; i > 0 && status == 0; i--) {
		const uint32_t k = fabric_random_below(&set->random, i + 1), was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	for (uint32_t i = 0; i < hosts && status == 0; i++)
		status = begin(set, l, order[i], order[(i + 1) % hosts]);
	free(order);
	return go(set, l, status);
}

const struct load_kind load_permutation = {
	.name = "permutation",
	.help = "each host sends to one other, at random",
	.key = {COMMON_KEYS},
	.start = start_permutation,
	.done = done,
	.timer = timer,
};

static int start_all_to_all(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t hosts = load_hosts(set);
	int status = reserve(l, (uint64_t)hosts * (hosts - 1), e);

	/* Each host begins with its right neighbour, so that not all begin with the first one. */
	for (uint32_t step = 1; step < hosts; step++)
		for (uint32_t i = 0; i < hosts && status == 0; i++)
			status = begin(set, l, i, (i + step) % hosts);
	return go(set, l, status);
}

const struct load_kind load_all_to_all = {
	.name = "all-to-all",
	.help = "each host sends to all others",
	.key = {COMMON_KEYS},
	.start = start_all_to_all,
	.done = done,
	.timer = timer,
};
