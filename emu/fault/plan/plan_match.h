/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a rule's selection have a subject? What costs little is asked first, and only what the rule
 * says is asked at all.
 */
#ifndef FAULT_PLAN_MATCH_H
#define FAULT_PLAN_MATCH_H

#include "plan.h"
#include "plan_seen.h"

/* Which questions a rule asks: found once, when it enters the plan. */
uint32_t fault_match_tests(const struct fault_rule *r);

/* Those of them that ask about the ends of a packet's line, and not about the packet. */
uint32_t fault_match_line(void);

/* True when the rule wants to know of the QPs that were seen. */
bool fault_match_wants_seen(const struct fault_rule *r);

/* qp: of the subject, NULL when it is not known. */
bool fault_match(const struct fault_rule *r, uint32_t tests, const struct fault_subject *s,
		 const struct fault_seen_qp *qp);

/* The same; passed[i] is counted up for each question of the rule that is answered with yes. */
bool fault_match_count(const struct fault_rule *r, uint32_t tests, const struct fault_subject *s,
		       const struct fault_seen_qp *qp, uint64_t passed[FAULT_QUESTIONS]);

/* The word that asks question i. */
const char *fault_match_word(unsigned i);

bool fault_list_has(const struct fault_list *l, uint64_t v);

#endif
