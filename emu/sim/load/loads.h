/* SPDX-License-Identifier: BSD-2-Clause */
/* What kinds of workloads consist of, and what they share. */
#ifndef SIM_LOADS_H
#define SIM_LOADS_H

#include "load.h"

#define LOAD_ENDLESS (UINT64_C(1) << 40) /* bytes of a message that does not end */

struct load_kind {
	const char *name;
	const char *help;
	/* Keys of load->value; the first one may be left out. A row of zeros ends them. */
	struct {
		const char *name;
		enum fabric_unit unit;
		uint64_t usual, min, max;
	} key[6];
	bool passing; /* a connection has one message, and is closed */
	int (*start)(struct load_set *set, struct load *l, struct fabric_error *e);
	void (*received)(struct load_set *set, struct load *l, struct sim_connection *c,
			 uint64_t now);
	void (*done)(struct load_set *set, struct load *l, struct sim_connection *c, uint64_t now);
	void (*timer)(struct load_set *set, struct load *l, uint64_t now);
};

struct load {
	const struct load_kind *kind;
	uint8_t number;
	uint64_t value[6];
	/* Kinds with fixed pairs. */
	uint32_t *left; /* messages of each connection, by its tag */
	uint32_t n;
	/* All-reduce. */
	struct sim_connection **edges;
	uint32_t *sent, *got; /* of each edge */
	uint32_t rounds;
	uint32_t open; /* edges that have more to get */
	uint64_t began;
	/* Arrivals. */
	struct fabric_events arrivals; /* by host */
	uint32_t *positions;
	uint64_t *mean_gap; /* ps, of each host */
};

extern const struct load_kind load_incast, load_pair, load_permutation, load_all_to_all, load_ring,
	load_tree, load_websearch, load_hadoop, load_storage;

static inline uint32_t load_hosts(const struct load_set *set)
{
	return set->sim->topology->n_hosts;
}

/* Bytes of the largest message: PSNs of a connection are not to wrap. */
static inline uint64_t load_largest(const struct load_set *set)
{
	const uint64_t most = (uint64_t)set->sim->settings.mtu << 30;

	return most < LOAD_ENDLESS ? most : LOAD_ENDLESS;
}

/* A connection of the workload with a random source port, and this tag. */
struct sim_connection *load_open(struct load_set *set, struct load *l, uint32_t src, uint32_t dst,
				 uint32_t tag);

#endif
