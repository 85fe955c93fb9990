/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of numbers that a rule may say: statuses and opcodes of completions, events, errno values,
 * NAKs, CM messages and reasons, verbs.
 */
#ifndef FAULT_RULE_NAMES_H
#define FAULT_RULE_NAMES_H

#include "rule_text.h"

struct fault_constant {
	const char *name; /* NULL: end of the table */
	uint64_t value;
};

struct fault_constants {
	const char *what;   /* "status", for messages */
	const char *prefix; /* may stand in front: "IBV_WC_" */
	const struct fault_constant *table;
};

extern const struct fault_constants fault_wc_statuses;
extern const struct fault_constants fault_wc_opcodes;
extern const struct fault_constants fault_events;
extern const struct fault_constants fault_errnos;
extern const struct fault_constants fault_naks;        /* codes of NAKs */
extern const struct fault_constants fault_cm_messages; /* attribute ids */
extern const struct fault_constants fault_cm_reasons;  /* of a REJ */
extern const struct fault_constants fault_layers;      /* for at= */
extern const struct fault_constants fault_calls;       /* values are without meaning */

/* The entry of this name, with or without the prefix, whatever the case; NULL. */
const struct fault_constant *fault_constant_find(const struct fault_constants *c,
						 struct fault_piece p);

/* As find, or a number up to most (0: names only); 0, or -EINVAL with the error filled in. */
int fault_constant_parse(const struct fault_text *t, const struct fault_constants *c,
			 struct fault_piece p, uint64_t most, uint64_t *out);

/* The name of a value, or NULL. */
const char *fault_constant_name(const struct fault_constants *c, uint64_t value);

/* For fault_nearest: table is a struct fault_constant. */
const char *fault_constant_at(const void *table, unsigned i);

#endif
