/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Surroundings for tests of a net: a plan, bursts to put in, and a list of what came out, each
 * packet with its payload.
 */
#ifndef TESTS_SUPPORT_NET_STAGE_H
#define TESTS_SUPPORT_NET_STAGE_H

#include "emu/fault/net/net.h"

#define STAGE_MAX     8192u
#define STAGE_PAYLOAD 1024u /* of each packet but the last */
#define STAGE_QPN     0x11u /* the device's own */
#define STAGE_PEER    0x22u
#define STAGE_PSN     1000u

enum stage_fate { STAGE_PASSED, STAGE_DROPPED, STAGE_MALFORMED, STAGE_MADE, STAGE_NOTED };

/* One packet that was passed or dropped, or one call of note (code: which). */
struct stage_event {
	enum stage_fate fate;
	enum fault_direction dir;
	const struct core_burst *given; /* the very pointer */
	uint32_t run;                   /* packets of the burst it was passed in */
	uint64_t now;
	struct roce_packet pkt;
	struct roce_flow flow;
	struct core_burst_model model;
	uint32_t check; /* sum over the payload's bytes */
	int code;
};

struct stage {
	struct fault_plan *plan;
	struct fault_net *net;
	unsigned n;
	struct stage_event event[STAGE_MAX];
	uint64_t now;
	/* Called with each burst that is passed, after it was written down. */
	void (*then)(struct stage *s, enum fault_direction dir, const struct core_burst *t);
	bool knows_qps;
	struct fault_qp qp; /* what look_up says then */
	struct core_burst burst;
	uint8_t payload[64 * STAGE_PAYLOAD];
};

void stage_open(struct stage *s);
void stage_close(struct stage *s);

/* Adds a rule, which must be right. */
uint32_t stage_rule(struct stage *s, const char *text);

/*
 * A WRITE of so many packets, with other payload each time, from STAGE_QPN, in pieces of odd
 * lengths; its last packet is half as long. In s->burst.
 */
const struct core_burst *stage_write(struct stage *s, uint32_t packets, uint32_t psn);
/* A SEND ONLY, or an Acknowledge. */
const struct core_burst *stage_send(struct stage *s, uint32_t psn);
const struct core_burst *stage_ack(struct stage *s, uint32_t psn);

/* To the net. */
void stage_give(struct stage *s, enum fault_direction dir, const struct core_burst *t);

/* The sum of the payload of packet i of s->burst, as it is now. */
uint32_t stage_sum(const struct stage *s, uint32_t i);

/* The n-th event (from 0) is this one; fails the test otherwise. */
const struct stage_event *stage_expect(struct stage *s, unsigned n, enum stage_fate fate,
				       uint32_t psn);

#endif
