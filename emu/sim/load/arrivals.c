/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads of flows that arrive by chance: at each host, after exponential gaps, one flow to any
 * other host, of a size from a published distribution. Load counts payload. The distributions are
 * those of HPCC's traffic generator (WebSearch of DCTCP, Facebook's Hadoop, AliStorage2019), linear
 * between their points.
 */
#include "loads.h"

#include <errno.h>
#include <stdlib.h>

enum { LOAD };

struct point {
	uint32_t bytes;
	uint32_t below; /* flows not larger, in 1/100 % */
};

static const struct point websearch[] = {{1, 0},          {10000, 1500},    {20000, 2000},
					 {30000, 3000},   {50000, 4000},    {80000, 5300},
					 {200000, 6000},  {1000000, 7000},  {2000000, 8000},
					 {5000000, 9000}, {10000000, 9700}, {30000000, 10000}};
static const struct point hadoop[] = {
	{1, 0},         {100, 100},     {200, 200},      {300, 500},      {350, 1500},
	{400, 2000},    {500, 3000},    {600, 4000},     {700, 5000},     {1000, 6000},
	{2000, 6700},   {7000, 7000},   {30000, 7200},   {50000, 8200},   {80000, 8700},
	{120000, 9000}, {300000, 9500}, {1000000, 9750}, {2000000, 9900}, {10000000, 10000}};
static const struct point storage[] = {{1, 0},         {4000, 2293},   {8000, 6921},
				       {16000, 8061},  {32000, 9047},  {64000, 9353},
				       {128000, 9677}, {256000, 9753}, {2000000, 10000}};

static const struct point *points_of(const struct load *l)
{
	if (l->kind == &load_websearch)
		return websearch;
	return l->kind == &load_hadoop ? hadoop : storage;
}

/* The mean of what lies between two points is half way. */
static uint64_t mean_size(const struct point *p)
{
	uint64_t sum = 0;

	for (; p[0].below < 10000; p++)
		sum += (uint64_t)(p[0].bytes + p[1].bytes) * (p[1].below - p[0].below);
	return sum / 20000;
}

/* ps between the flows of a host whose link has this rate. */
static uint64_t mean_gap(const struct load *l, uint64_t rate)
{
	const uint64_t time = (uint64_t)((unsigned __int128)mean_size(points_of(l)) * 8 *
					 UINT64_C(1000000000000) / rate);

	return (uint64_t)(((unsigned __int128)time << 32) / l->value[LOAD]);
}

static uint64_t random_size(const struct point *p, uint64_t *random)
{
	const uint64_t u = (fabric_random(random) >> 32) * 10000; /* in 2^-32 of 1/100 % */

	while ((uint64_t)p[1].below << 32 <= u)
		p++;
	return p[0].bytes +
	       (uint64_t)((unsigned __int128)(u - ((uint64_t)p[0].below << 32)) *
			  (p[1].bytes - p[0].bytes) / ((uint64_t)(p[1].below - p[0].below) << 32));
}

/* None begins at or after the end. */
static void arrive_next(struct load_set *set, struct load *l, uint32_t host, uint64_t now)
{
	const uint64_t next = now + fabric_random_gap(&set->random, l->mean_gap[host]);

	fabric_events_set(&l->arrivals, host, next < set->stop ? next : FABRIC_NEVER);
}

static int start(struct load_set *set, struct load *l, struct fabric_error *e)
{
	const uint32_t hosts = load_hosts(set);

	(void)e;
	l->mean_gap = calloc(hosts, sizeof(*l->mean_gap));
	l->positions = calloc(hosts, sizeof(*l->positions));
	if (!l->mean_gap || !l->positions ||
	    fabric_events_init(&l->arrivals, hosts, l->positions) < 0)
		return -ENOMEM;
	for (uint32_t h = 0; h < hosts; h++) {
		l->mean_gap[h] = mean_gap(l, fabric_host_rate(set->sim->fabric, h));
		arrive_next(set, l, h, 0);
	}
	sim_timer(set->sim, l->number, fabric_events_next(&l->arrivals));
	return 0;
}

static void arrive(struct load_set *set, struct load *l, uint32_t host, uint64_t now)
{
	const uint32_t other = fabric_random_below(&set->random, load_hosts(set) - 1);
	struct sim_connection *c = load_open(set, l, host, other + (other >= host), 0);

	if (c)
		sim_message(set->sim, c, random_size(points_of(l), &set->random), now);
}

static void timer(struct load_set *set, struct load *l, uint64_t now)
{
	while (fabric_events_next(&l->arrivals) <= now) {
		const uint32_t host = fabric_events_first(&l->arrivals);

		arrive_next(set, l, host, now);
		arrive(set, l, host, now);
	}
	sim_timer(set->sim, l->number, fabric_events_next(&l->arrivals));
}

static void done(struct load_set *set, struct load *l, struct sim_connection *c, uint64_t now)
{
	(void)l;
	(void)now;
	sim_close(set->sim, c);
}

#define ARRIVALS(n, h)                                                                             \
	{                                                                                          \
		.name = n, .help = h,                                                              \
		.key = {{"load", FABRIC_RATIO, FABRIC_RATIO_ONE / 10 * 3,                          \
			 FABRIC_RATIO_ONE / 10000, 10 * FABRIC_RATIO_ONE}},                        \
		.passing = true, .start = start, .done = done, .timer = timer                      \
	}

const struct load_kind load_websearch =
	ARRIVALS("websearch", "web search flows, mean 1.7 MB, at LOAD of each host's link");
const struct load_kind load_hadoop =
	ARRIVALS("hadoop", "Facebook's Hadoop flows, mean 120 KB, at LOAD of each host's link");
const struct load_kind load_storage =
	ARRIVALS("storage", "storage flows, mean 41 KB, at LOAD of each host's link");
