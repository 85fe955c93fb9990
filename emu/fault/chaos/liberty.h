/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The liberties: what the specification allows a device, and adapters hardly ever do. One table;
 * docs/chaos.md shows it, and a test compares the two. Each is legal: a correct program works with
 * it. Most are fault rules (uhca-fault(7)), whose numbers a seed chooses: "{2..9}" in their text is
 * a number from 2 to 9.
 */
#ifndef FAULT_LIBERTY_H
#define FAULT_LIBERTY_H

#include <stdbool.h>

/* What of the device itself a liberty changes, where no rule can: options of uhcad(8). */
enum liberty_setting {
	LIBERTY_BY_RULES,
	LIBERTY_STRICT_MEMORY,
	LIBERTY_STRICT_ORDER,
	LIBERTY_STRICT_ARMING,
	LIBERTY_EARLY_LOCAL_INV,
};

struct liberty {
	const char *name;
	const char *what;   /* the device does: for people */
	const char *clause; /* that allows it */
	const char *rule;   /* NULL: it is a setting */
	enum liberty_setting setting;
	/* No seed takes it, it must be named: well-known programs lean on its absence. */
	bool asked_only;
};

#define LIBERTIES_MAX 32

extern const struct liberty liberties[];
extern const unsigned n_liberties;

#endif
