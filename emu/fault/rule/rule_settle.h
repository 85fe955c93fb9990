/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the words of a rule say together: the moment at which it fires, what is left to choose, and
 * whether it can ever fire.
 */
#ifndef FAULT_RULE_SETTLE_H
#define FAULT_RULE_SETTLE_H

#include "rule_words.h"

#define FAULT_WORDS_MAX 48

/* The words behind the action, of which no two are the same. */
struct fault_given {
	struct fault_token action;
	unsigned n;
	struct {
		const struct fault_word *word;
		struct fault_token token;
	} item[FAULT_WORDS_MAX];
};

/* Completes the rule whose words have been parsed. 0, or -EINVAL with the error filled in. */
int fault_rule_settle(const struct fault_text *t, const struct fault_given *g,
		      struct fault_rule *r);

#endif
