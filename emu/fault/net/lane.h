/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a packet may go on that a rule holds back for a time: delay, rate and pause. Each rule is a
 * lane of its own for each direction, and what drives in one lane keeps its order. A lane with a
 * limit has room for so many packets, or bytes of them; who finds none is lost, as at the tail of
 * the queue of a switch. A pause is of the line: all that drives there waits for its end, and not
 * only the packet that the rule hit.
 */
#ifndef FAULT_LANE_H
#define FAULT_LANE_H

#include "emu/fault/plan/plans.h"

struct fault_lane_waiting {
	uint64_t leaves;
	uint32_t bytes;
};

/* Who waits in a lane with a limit, in the order of leaving. */
struct fault_lane_queue {
	struct fault_lane_waiting *at;
	unsigned first, n, room;
	uint64_t bytes;
};

struct fault_lane {
	uint32_t rule;
	enum fault_direction dir;
	uint64_t added;   /* of the rule: another one, other history */
	uint64_t last;    /* when the packet before leaves */
	uint64_t free_at; /* rate: the line is idle from then on */
	uint64_t until;   /* pause: the end of the last one; 0: there was none */
	struct fault_lane_queue queue;
};

struct fault_lanes {
	struct fault_lane *lane;
	unsigned count, room;
	uint64_t paused_until; /* the latest end of a pause; 0: nothing waits for one */
};

/*
 * The lane of a rule, made where it is new; lanes of rules that are gone are given up. NULL: no
 * memory. Valid until the next call.
 */
struct fault_lane *fault_lane_of(struct fault_lanes *l, const struct fault_plan *p,
				 const struct fault_entry *e, enum fault_direction dir);
void fault_lanes_clear(struct fault_lanes *l);

/* Each returns when a packet that could leave at "at" leaves. */
uint64_t fault_lane_delay(struct fault_lane *l, uint64_t at, uint64_t delay);
/* So many bits take their time at "rate" bits per second (> 0); the first one goes at once. */
uint64_t fault_lane_rate(struct fault_lane *l, uint64_t at, uint64_t rate, uint64_t bits);
/* Who finds the lane paused leaves at the end of the pause, else at once. */
uint64_t fault_lane_wait(struct fault_lane *l, uint64_t at);

/* A pause of "time" begins at "at", or behind the one that is under way. */
void fault_lane_pause(struct fault_lanes *all, struct fault_lane *l, uint64_t at, uint64_t time);

/* The rule of a lane; NULL: it is not there any more. */
const struct fault_entry *fault_lane_rule(const struct fault_plan *p, const struct fault_lane *l);

/* 0: no limit. */
struct fault_lane_limit {
	uint64_t packets, bytes;
};

/*
 * A packet that comes at "at" takes its place until it leaves. False: there is no room, or no
 * memory, and it must be lost. One that leaves at once needs no place.
 */
bool fault_lane_enter(struct fault_lane *l, const struct fault_lane_limit *limit, uint64_t at,
		      const struct fault_lane_waiting *packet);

#endif
