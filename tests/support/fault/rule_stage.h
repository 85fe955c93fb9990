/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of rules, taken or refused. */
#ifndef TESTS_RULE_STAGE_H
#define TESTS_RULE_STAGE_H

#include "emu/fault/rule/rule.h"

/* The rule that the text means; whatever the struct held before. */
struct fault_rule rule_parsed(const char *text);

/* The text is no rule: the mistake is in that column (from 1), and "part" stands in the message. */
void rule_refused(const char *text, unsigned column, const char *part);

#endif
