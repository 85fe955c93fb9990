/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a plan did, as text: one line each for the plan, for a rule that comes, changes or goes, and
 * for a hit. Made of the words of model.h, so that a capture and a trace say the same:
 *
 *	plan time=0 seed=7
 *	rule time=0 number=1 what=added text="lost: drop opcode=rc.ack p=0.1"
 *	hit time=20480 rule=1 hits=1 match=3 layer=packet what=drop dev=uhca0 dir=tx qp=0x11 psn=5
 *
 * And back: a plan that does the same again, whatever the chance, the clock or a file said. Each
 * rule that depends on one of these becomes rules that count ("nth=" of the matches that it hit).
 */
#ifndef FAULT_PLAN_TRACE_H
#define FAULT_PLAN_TRACE_H

#include "plan.h"

#define FAULT_TRACE_MAX 1024 /* bytes of a line with its NUL */

/*
 * Each writes one line without its end to buf, which holds FAULT_TRACE_MAX bytes, and returns its
 * length. Times are in ns of the clock of "now". what: "added", "changed", "removed".
 */
size_t fault_trace_plan(const struct fault_plan *p, uint64_t now, char *buf);
size_t fault_trace_rule(const struct fault_entry *e, const char *what, uint64_t now, char *buf);
size_t fault_trace_hit(const struct fault_hit *hit, char *buf);

struct fault_replay_ops {
	/* A rule for the new plan, in their order. 0, or a -errno that ends it. */
	int (*rule)(void *user, const char *text);
	/* Optional: something that a person should know, as "rule 2 never hit". */
	void (*note)(void *user, const char *text);
};

struct fault_trace_error {
	unsigned line; /* from 1 */
	char text[FAULT_ERROR_MAX];
};

/*
 * Makes of a trace's text (length bytes) the rules that re-apply it; *seed is the plan's. Lines
 * that begin with another word are skipped, so are empty ones. 0; -EINVAL with *error filled in;
 * -ENOMEM; what ops->rule returned.
 */
int fault_trace_to_plan(const char *text, size_t length, uint64_t *seed,
			const struct fault_replay_ops *ops, void *user,
			struct fault_trace_error *error);

#endif
