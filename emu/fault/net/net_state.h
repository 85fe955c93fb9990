/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the net share: net.c cuts bursts, net_apply.c does what rules say, net_leave.c
 * is the way out. */
#ifndef FAULT_NET_STATE_H
#define FAULT_NET_STATE_H

#include "hold.h"
#include "lane.h"
#include "net.h"
#include "packet_change.h"
#include "responders.h"

struct fault_net {
	struct fault_plan *plan;
	const struct fault_net_ops *ops;
	void *user;
	char device[FAULT_WORD_MAX];
	bool frozen;
	bool ticking;           /* what is due is leaving */
	uint64_t speed;         /* bits per second at which all that leaves does; 0: at once */
	struct fault_lane port; /* that waits for it */
	struct fault_hold hold;
	struct fault_lanes lanes;
	struct fault_responders responders;
	struct fault_net_counters counters;
};

/* One packet on its way through the rules. */
struct fault_passage {
	struct fault_net *net;
	uint64_t now;
	struct fault_subject subject; /* points to packet */
	struct fault_packet packet;
	bool gone;       /* taken away, and told */
	bool held;       /* for a person */
	uint64_t due;    /* when it goes on; now or before: at once */
	uint64_t behind; /* so many packets go first, but it waits no longer than ... */
	uint64_t behind_time;
};

/* The rule that refused a request before this one, which goes the same way; 0: none did. */
uint32_t fault_net_refused(struct fault_passage *w);

/* What one rule does to the packet. */
void fault_net_apply(struct fault_passage *w, const struct fault_entry *e);

/* What the rules have left of the packet waits where its line is paused. */
void fault_net_stand_by(struct fault_passage *w);

/* The packet goes where the rules sent it. */
void fault_net_finish(struct fault_passage *w);

/* ---- the way out ---- */

/* Goes on now; in step mode it waits for a person. */
void fault_net_leave(struct fault_net *n, const struct fault_to_hold *what, uint64_t now);

/* Goes on at what->due, or earlier when it is overtaken; lost where there is no room. */
void fault_net_leave_later(struct fault_net *n, const struct fault_to_hold *what, uint64_t now);

/* Waits for a person. */
void fault_net_wait(struct fault_net *n, const struct fault_to_hold *what, uint64_t now);

/* Finds no room to wait: goes nowhere. */
void fault_net_overflow(struct fault_net *n, const struct fault_to_hold *what, uint64_t now);

/* Goes nowhere. */
void fault_net_lose(struct fault_net *n, const struct fault_packet *p, bool malformed,
		    uint64_t now);

void fault_net_note(struct fault_net *n, enum fault_note note, const struct core_burst *t,
		    uint64_t now);

#endif
