/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Workloads: which host sends how much to which other one, and when. A workload is made of a text
 * such as "incast:senders=20,size=1M" (fabric_spec_read). Several may run side by side; they share
 * the hosts and the seed.
 */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include "emu/sim/host/host.h"

#include <stdio.h>

#define SIM_LOADS_MAX 8u

struct load;

struct load_set {
	struct sim *sim;
	struct load *loads[SIM_LOADS_MAX];
	unsigned n;
	uint64_t random;
	uint64_t stop; /* ps: no message begins at or after it */
	/* A message has its last ACK, or all of an all-reduce is done (c is NULL). */
	void (*finished)(void *user, const struct sim_connection *c, uint64_t began, uint64_t now);
	void *user;
};

/* Adds the workload of the text. 0, -EINVAL (said in e) or -ENOMEM. */
int load_add(struct load_set *set, const char *text, struct fabric_error *e);

/* They begin at time 0. 0, -EINVAL (the network has too few hosts) or -ENOMEM. */
int load_start(struct load_set *set, struct fabric_error *e);
void load_free(struct load_set *set);

/* What a simulation tells: handed on to the workload. Timers 0 to SIM_LOADS_MAX - 1 are theirs. */
void load_received(struct load_set *set, struct sim_connection *c, uint64_t now);
void load_done(struct load_set *set, struct sim_connection *c, uint64_t now);
void load_timer(struct load_set *set, uint32_t number, uint64_t now);

/* Is the connection one of a workload whose connections stay? */
bool load_stays(const struct load_set *set, const struct sim_connection *c);

/* One line for each workload, for --help. */
void load_help(FILE *out);

#endif
