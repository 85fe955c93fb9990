/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Umbrella header of rule: one fault rule, its words, and its text both ways. All modules of fault
 * and the daemon call; it calls none. Begin at rule.h, then rule_words.h.
 */
#ifndef FAULT_RULE_MODULE_H
#define FAULT_RULE_MODULE_H

#include "rule.h"
#include "rule_names.h"
#include "rule_opcode.h"
#include "rule_text.h"
#include "rule_value.h"
#include "rule_words.h"

#endif
