/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules that are in force, in the order in which they were given, with their counts. The
 * callers (packets, calls, completions, events) ask the plan with a subject: which rules hit it?
 *
 * One seed drives every random choice. Each rule has a random stream of its own, so its decisions
 * depend only on the subjects that it matched. The plan reports every hit to its owner (ops.hit).
 * These reports are the trace. A rule with the trace's "nth" list in place of its limits hits the
 * same subjects again.
 */
#ifndef FAULT_PLAN_H
#define FAULT_PLAN_H

#include "emu/fault/rule/rules.h"
#include "wire/udpip.h"

/* What is asked about. Only the fields of its layer are filled in, and those that are known. */
struct fault_subject {
	enum fault_layer layer;
	const char *device;  /* name */
	const char *program; /* NULL: not known */
	uint32_t client;
	uint32_t qpn;      /* the device's own; 0: none */
	uint32_t peer_qpn; /* 0: not known */
	uint32_t srq, pd, cq;
	uint32_t key;
	uint64_t address, length;
	/* Packets. */
	enum fault_direction direction;
	const struct roce_packet *pkt;
	const struct roce_flow *flow;
	uint32_t offset; /* of the message */
	bool retry;
	const char *port; /* at a switch of the modelled network: "leaf0/port3" */
	/* Calls. */
	const char *call;
	/* Completions. */
	uint32_t wc_status, wc_opcode;
};

#define FAULT_QUESTIONS 28 /* what a rule's words can ask of a subject */

/* A rule and its history. */
struct fault_entry {
	struct fault_rule rule;
	uint32_t number;  /* for life, from 1, never given twice */
	uint64_t added;   /* when */
	uint64_t seen;    /* subjects that the selectors let through, also while not in force */
	uint64_t matched; /* those of them that came while it was in force: what nth counts */
	uint64_t hits;
	/* Until the first hit: subjects of its moment, and those that each of its words let
	 * through. */
	uint64_t looked;
	uint64_t passed[FAULT_QUESTIONS];
	uint32_t questions; /* bits of passed that the rule asks */
	uint64_t rng;       /* state */
	uint64_t draws;     /* fault_plan_random since the last hit */
	uint64_t tick;      /* every=TIME: when by the clock the last hit was due */
	bool bad;           /* burst: in the bad state */
};

struct fault_hit {
	uint64_t now;
	const struct fault_entry *entry; /* matched and hits count this one already */
	const struct fault_subject *subject;
};

struct fault_plan_ops {
	/* Is there such a file? (while_file=) */
	bool (*exists)(void *user, const char *path);
	/* Optional. */
	void (*hit)(void *user, const struct fault_hit *hit);
	/*
	 * Optional, both or none: the name of device i, NULL when there are no more; its address k,
	 * false when it has no more. Of these devices dev= and peer= can speak.
	 */
	const char *(*device)(void *user, unsigned i);
	bool (*address)(void *user, unsigned i, unsigned k, uint8_t out[16]);
	/*
	 * Optional: name i of the parts of this kind of a modelled network, NULL behind the last.
	 * There is no network where there is none at all. Of these link=, switch= and host= speak.
	 */
	const char *(*part)(void *user, enum fault_part kind, unsigned i);
};

struct fault_plan;

/* The random numbers of a rule without stream=; never 0. */
uint64_t fault_plan_stream(uint64_t seed, uint32_t number);

/* NULL: no memory. ops must live as long as the plan. */
struct fault_plan *fault_plan_create(uint64_t seed, const struct fault_plan_ops *ops, void *user);
void fault_plan_destroy(struct fault_plan *p);

uint64_t fault_plan_seed(const struct fault_plan *p);

#define FAULT_RULES_MAX 1000 /* of a plan */

/*
 * A rule that is parsed and in no plan. Any thread may make one, which is most of the work of
 * adding it. 0, or -EINVAL (see *error), -ENOMEM. The caller frees it, or a plan takes it.
 */
struct fault_record;
int fault_record_make(const char *text, struct fault_record **out, struct fault_error *error);
void fault_record_free(struct fault_record *r);

/*
 * The number of the new rule, which the plan owns then; -EINVAL (see *error: a name that is taken,
 * a rule named in "after" that does not exist, too many rules), -ENOMEM.
 */
int fault_plan_take(struct fault_plan *p, struct fault_record *r, uint64_t now,
		    struct fault_error *error);

/* Both: makes the rule and takes it. */
int fault_plan_add(struct fault_plan *p, const char *text, uint64_t now, struct fault_error *error);

/* As add, but in place of rule "number", whose history starts anew. -ENOENT: no such rule. */
int fault_plan_change(struct fault_plan *p, uint32_t number, const char *text, uint64_t now,
		      struct fault_error *error);
int fault_plan_remove(struct fault_plan *p, uint32_t number); /* 0 or -ENOENT */
/* All but the n oldest go. */
void fault_plan_cut(struct fault_plan *p, unsigned n);
void fault_plan_clear(struct fault_plan *p);

/* By number, or by name ("3", "lost-ack"); NULL. Valid until the plan changes. */
const struct fault_entry *fault_plan_find(const struct fault_plan *p, const char *name);
unsigned fault_plan_count(const struct fault_plan *p);
const struct fault_entry *fault_plan_entry(const struct fault_plan *p, unsigned index);

/* The word that asks question i of a rule: "opcode", "qp" ... */
const char *fault_plan_question(unsigned i);

/*
 * Is any rule of this layer there that can still hit? So cheap that it can stand in front of
 * everything.
 */
bool fault_plan_watches(const struct fault_plan *p, enum fault_layer layer);

#define FAULT_HITS_MAX 8

/*
 * The rules that hit the subject, at most FAULT_HITS_MAX of them, up to and including the first
 * that takes it away. Their counters move; entries are valid until the plan changes.
 */
unsigned fault_plan_decide(struct fault_plan *p, const struct fault_subject *s, uint64_t now,
			   const struct fault_entry *hit[FAULT_HITS_MAX]);

/*
 * When a rule of FAULT_LAYER_TIME wants to be asked next; UINT64_MAX: none does. May come nearer
 * whenever a rule is added or hits (after=NAME). The subject has nothing but that layer: dev=, qp=,
 * cq=, srq=, key= of such a rule do not match something, they name what it happens to.
 */
uint64_t fault_plan_deadline(const struct fault_plan *p);

/*
 * Is the packet one of the line that the rule is about? Its direction apart, that are the words
 * that name one end or the other: dev, program, client, qp, peer_qp, peer, srq, pd.
 */
bool fault_plan_is_of_line(struct fault_plan *p, const struct fault_entry *e,
			   const struct fault_subject *s);

/*
 * A random number below "below" (> 0) for what the rule's last hit does: jitter, which bit. It
 * depends on the seed, the rule's stream, which of the matching subjects it was (entry.seen) and
 * how often this was called since then.
 */
uint64_t fault_plan_random(struct fault_plan *p, uint32_t number, uint64_t below);

#endif
