/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stage of fuzz_layout: two clients of one device, each with regions of different rights in two
 * protection domains, keys without memory, windows, and two QPs that are connected with those of
 * the other. And its oracle, which knows nothing of descriptions: each region is filled with a
 * colour of its own; what has changed when all is done may lie only in regions whose rights, in
 * the domain of the QPs that were used, allow it to one of the kinds of requests that were
 * posted, and may have only colours of regions that such a request may read.
 */
#ifndef FUZZ_LAYOUT_STAGE_H
#define FUZZ_LAYOUT_STAGE_H

#include "tests/sim/world/world.h"

#define ACTORS  2
#define REGIONS 7 /* with REGION_IMPLICIT 8 */
#define KEYS    6
#define WINDOWS 2
#define ENTRIES 8 /* of the longest list */

#define REGION_ALL    0 /* all rights, windows too */
#define REGION_DEVICE 5 /* device memory; not where clients share */
#define REGION_NULL   6

#define LOCAL_READ (1u << 16) /* beside the access flags: needs no right */
#define ANYTHING                                                                                   \
	(LOCAL_READ | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |  \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct region {
	struct vmr mr;
	unsigned pd;
	uint32_t access;
	uint8_t colour;
	uint8_t *device; /* device memory: where it is */
	bool live;
};

struct actor {
	struct vclient c;
	bool open;
	struct vcq cq;
	struct vqp qp[2]; /* with QP i of the other */
	unsigned qp_pd[2];
	struct region region[REGIONS];
	struct vmr implicit;
	struct vmr key[KEYS]; /* the last in the domain of qp[1], the others of qp[0] */
	struct vmw window[WINDOWS];
};

struct stage {
	struct world *w;
	struct actor actor[ACTORS];
	uint32_t pd[2 * ACTORS];  /* handles; actor i makes 2 * i and 2 * i + 1 */
	bool shared;              /* actor 1 has joined actor 0 and works in its second domain */
	bool implicit;            /* actor 1 has an implicit region, for reading */
	uint32_t may[2 * ACTORS]; /* per domain: what has been asked for since all was refilled */
	bool odd_values;          /* of bytes that no region was filled with */
};

void stage_create(struct stage *s, bool shared, bool implicit);

/*
 * Closes the clients that are open, the last first when so asked, and checks that nothing is left.
 */
void stage_finish(struct stage *s, bool last_first);

/* The client ends; what the other shares with it stays. */
void stage_close(struct stage *s, unsigned actor);

/* New QPs in place of the pair, connected. */
void stage_renew_qps(struct stage *s, unsigned pair);

/* What was taken away comes back. */
void stage_register(struct stage *s, unsigned actor, unsigned region);
void stage_deregister(struct stage *s, unsigned actor, unsigned region);

/* From now on requests on this QP may have such effects, here and at its peer. */
void stage_allow(struct stage *s, unsigned actor, unsigned qp, uint32_t here, uint32_t there);

/* No byte was touched that no registration covers; use counts and descriptions are in order. */
void stage_check(struct stage *s);

/* Lets the fabric work, a bounded number of steps, and looks at all memory. */
void stage_settle(struct stage *s, unsigned steps);

#endif
