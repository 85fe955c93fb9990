/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a simulation measures while it runs: messages that ended, samples of queues. Nothing here
 * depends on the machine's speed, so that a run prints the same bytes again.
 */
#ifndef SIM_RESULTS_H
#define SIM_RESULTS_H

#include "emu/sim/load/load.h"

struct result_flow {
	uint64_t began; /* ps */
	uint64_t time;  /* ps, to the last ACK */
	uint64_t ideal; /* ps, in an empty network */
	uint64_t bytes;
	uint32_t src, dst;
};

struct results {
	const struct sim *sim;
	struct result_flow *flows;
	uint32_t n_flows, flows_size;
	uint64_t *reduces; /* ps that each all-reduce took */
	uint32_t n_reduces, reduces_size;
	uint64_t *queues; /* bytes of the longest queue of a switch, each sample */
	uint32_t n_queues, queues_size;
	uint32_t n_queues_last; /* n_queues when the last message ended */
	uint64_t last;          /* ps, when the last message ended */
	uint64_t measure_begin; /* ps */
	uint64_t measured;      /* bytes delivered before it */
	FILE *series;           /* a line for each sample; NULL: none */
	struct sim_counters before;
	uint64_t sample;
	bool no_memory;
};

void results_init(struct results *r, const struct sim *s);
void results_free(struct results *r);

/* Of load_set: a message or an all-reduce has ended. user: the results. */
void results_finished(void *user, const struct sim_connection *c, uint64_t began, uint64_t now);

/* Looks at the queues, after so many ps since the last time. */
void results_sample(struct results *r, uint64_t now, uint64_t since);

/* Throughput and fairness count from now on. */
void results_measure(struct results *r, uint64_t now);

/* The value at a part (in 1/1000) of n sorted ones: element n x part / 1000. 0 for none. */
uint64_t results_part(const uint64_t *sorted, uint32_t n, uint32_t part);
void results_sort(uint64_t *values, uint32_t n);

#endif
