/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The relaxations: what the specification allows a device, and adapters hardly ever do. One table;
 * docs/explanation/chaos.md shows it, and a test compares the two. Each is legal: a correct program
 * works with it. Most are fault rules (uhca-fault(7)), the others options of uhcad(8); "{2..9}" in
 * their text is a number from 2 to 9 that the seed chooses.
 */
#ifndef FAULT_RELAXATION_H
#define FAULT_RELAXATION_H

#include <stdbool.h>

struct relaxation {
	const char *name;
	const char *what;   /* the device does: for people */
	const char *clause; /* that allows it */
	const char *rule;   /* NULL: it is an option of uhcad(8), */
	const char *option; /* this one, without the dashes */
	/* No seed takes it, it must be named: well-known programs lean on its absence. */
	bool asked_only;
};

#define RELAXATIONS_MAX 32

extern const struct relaxation relaxations[];
extern const unsigned n_relaxations;

#endif
