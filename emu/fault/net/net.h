/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a plan does to the packets of one device: stands between the device and its network, in the
 * daemon and in the simulator alike, and is told of each burst in both directions. While no rule
 * looks at packets a burst passes untouched, whole; otherwise it is taken to packets, each is
 * judged, and packets that nothing happened to are handed on one by one in their order.
 *
 * What a rule holds back keeps its order among what that rule holds back; others overtake it.
 * What finds its queue full is dropped, as at the tail of the queue of a switch. A packet that is
 * to be overtaken waits no longer than 100 ms. An answer in the name of a responder
 * is one that it could give: where it is known what the responder expects (look_up), no other
 * request is answered for it; what follows a refused request is dropped as the responder would.
 *
 * Also the step mode: while frozen, every packet waits in a queue from which a person lets them
 * go, drops or changes them. Time is an argument, delayed packets are copies of its own.
 */
#ifndef FAULT_NET_H
#define FAULT_NET_H

#include "emu/core/core.h"
#include "emu/fault/plan/plans.h"

struct fault_net;

/* What there is to know of a QP of the device. */
struct fault_qp {
	uint32_t peer_qpn; /* 0: none, or any */
	uint32_t pd, srq;  /* handles; 0: none */
	bool responds;     /* to requests of RC or XRC, of which the next is ... */
	uint32_t expected_psn;
	uint32_t client;
	const char *program; /* of its owner, valid for the call; NULL: not known */
};

/* What a person may want to be told besides. */
enum fault_note {
	FAULT_NOTE_OVERFLOW, /* its queue is full: the packet is lost */
	FAULT_NOTE_FULL,     /* too many wait for a person: the packet went on at once */
	FAULT_NOTE_UNFIT,    /* a rule hit what it cannot do this to: it went on as it was */
};

struct fault_net_ops {
	/* Carries on: towards the network (TX) or to the device (RX). t is valid for the call. */
	void (*pass)(void *user, enum fault_direction dir, const struct core_burst *t,
		     uint64_t now);
	/*
	 * A packet goes no further; t->model.rule says whose doing it is, 0: of step mode.
	 * malformed: as the rule left it no receiver can read it; t is as it was before.
	 */
	void (*dropped)(void *user, enum fault_direction dir, const struct core_burst *t,
			bool malformed, uint64_t now);
	/* A device action (fault_action_is_of_device) is to take place. */
	void (*device_action)(void *user, const struct fault_entry *e,
			      const struct fault_subject *s, uint64_t now);
	/* Optional: the packet that is passed next is one that no device sent. */
	void (*made)(void *user, enum fault_direction dir, const struct core_burst *t,
		     uint64_t now);
	/* Optional. */
	void (*note)(void *user, enum fault_note note, const struct core_burst *t, uint64_t now);
	/*
	 * Optional: one of the device's own QPs. Without it nothing can be answered that came by
	 * a network, and srq=, pd=, client=, proc= know nothing.
	 */
	bool (*look_up)(void *user, uint32_t qpn, struct fault_qp *out);
};

/* Packets. */
struct fault_net_counters {
	uint64_t dropped;   /* by rules and by people */
	uint64_t malformed; /* those of them that could not be read any more */
	uint64_t copies, made;
	uint64_t overflowed, full, unfit; /* FAULT_NOTE_; what overflowed is dropped, too */
};

/* NULL: no memory. plan may be shared by several nets and must outlive them. */
struct fault_net *fault_net_create(struct fault_plan *plan, const char *device,
				   const struct fault_net_ops *ops, void *user);
void fault_net_destroy(struct fault_net *n); /* what waits is lost */

/* True while a burst must be shown to the net; else whoever has it may pass it on by himself. */
bool fault_net_active(const struct fault_net *n);

/*
 * A burst of the device (TX) or for it (RX). program: of the QP's owner, NULL: not known, or
 * look_up tells. While ops are called the plan must not change; the net may be called again.
 */
void fault_net_burst(struct fault_net *n, enum fault_direction dir, const struct core_burst *t,
		     const char *program, uint64_t now);

/* From now on what leaves does so at this many bits per second; 0: at once. Nothing is lost by it
 * while the device's memory for waiting packets lasts. */
void fault_net_set_speed(struct fault_net *n, uint64_t bits);

/* Packets that are due leave. */
void fault_net_tick(struct fault_net *n, uint64_t now);
uint64_t fault_net_deadline(const struct fault_net *n);

const struct fault_net_counters *fault_net_counters(const struct fault_net *n);

/* ---- step mode ---- */

void fault_net_freeze(struct fault_net *n, bool on, uint64_t now); /* off: all go, in order */
bool fault_net_frozen(const struct fault_net *n);

struct fault_waiting {
	uint32_t number; /* for life */
	enum fault_direction direction;
	const struct core_burst *burst; /* one packet; valid until the net is called */
	uint64_t since;
};

unsigned fault_net_waiting(const struct fault_net *n, struct fault_waiting *out, unsigned max);

/* What a person does to packet "number": 0 or -ENOENT; change also -EINVAL. */
int fault_net_release(struct fault_net *n, uint32_t number, uint64_t now);
int fault_net_drop(struct fault_net *n, uint32_t number, uint64_t now);
/* field and value as in the action "set": "bth.psn", "payload:3". */
int fault_net_change(struct fault_net *n, uint32_t number, const char *field, uint64_t value);

#endif
