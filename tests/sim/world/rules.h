/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter for named tests: rules that hurt chosen packets, and a log of all that passed by. A
 * rule that never fired fails its test (rules_check).
 */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include "world.h"

#define RULES_MAX 8

/* Which packets, and what happens to them. */
struct rule {
	unsigned from; /* sending device */
	enum roce_operation op;
	uint32_t positions;    /* bits 1 << ROCE_POS_*; 0: any */
	uint8_t syndrome_mask; /* with op ACK: only where (syndrome & mask) == value */
	uint8_t syndrome;
	unsigned skip;  /* so many matching packets pass first */
	unsigned count; /* then so many are hit; 0: all */
	enum world_verdict verdict;
	uint64_t delay;                         /* added */
	void (*change)(struct world_packet *p); /* optional: rewrites it */
	unsigned seen, hits;                    /* counted */
};

/* One packet that was sent. */
struct logged {
	uint64_t time;
	unsigned from;
	struct roce_packet pkt;
	enum world_verdict verdict;
};

struct rules {
	struct world *world;
	struct rule rule[RULES_MAX];
	unsigned n;
	struct logged *log;
	unsigned n_log, log_room;
};

/* Becomes the world's filter, without rules. */
void rules_attach(struct rules *r, struct world *w);
void rules_detach(struct rules *r);

/* Adds a rule, first match wins; returns it. */
struct rule *rules_add(struct rules *r, const struct rule *rule);
void rules_clear(struct rules *r);

/* Fails the test when a rule never fired. */
void rules_check(struct rules *r);

/* Number of logged packets of this kind from a device; dropped ones count too. */
unsigned rules_count(const struct rules *r, unsigned from, enum roce_operation op);

/* The n-th such packet (from 0), or NULL. */
const struct logged *rules_nth(const struct rules *r, unsigned from, enum roce_operation op,
			       unsigned n);

#endif
