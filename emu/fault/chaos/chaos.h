/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legal chaos: which relaxations (relaxation.h) a device takes, and how far it goes. One seed
 * chooses both. What it chooses for one relaxation does not depend on the others, so that a run can
 * be repeated with fewer of them. Pure: no I/O, no clock.
 */
#ifndef FAULT_CHAOS_H
#define FAULT_CHAOS_H

#include "emu/fault/rule/rules.h"
#include "relaxation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of relaxations: bit i is relaxations[i]. */
typedef uint32_t chaos_set;

struct chaos {
	bool has_seed;
	uint64_t seed;
	bool only;         /* the named ones, not what the seed chooses */
	chaos_set named;   /* NAME */
	chaos_set added;   /* +NAME */
	chaos_set removed; /* -NAME */
};

/*
 * Reads "SEED,WORD,...": the seed may be left out; a word is NAME (only these), +NAME (these as
 * well), -NAME (not these) or none (none at all). 0, or -EINVAL with what is wrong in error. "" is
 * what a seed chooses.
 */
int chaos_parse(const char *text, struct chaos *out, char *error, size_t cap);

/* The relaxations that are taken, for its seed. A seed alone takes at least one. */
chaos_set chaos_taken(const struct chaos *c);

/*
 * What relaxation i is under a seed: true, a rule that is named after it, or false, an option of
 * uhcad(8) with its dashes. out has FAULT_TEXT_MAX bytes.
 */
bool chaos_rule(uint64_t seed, unsigned i, char out[FAULT_TEXT_MAX]);

/* Writes "SEED,NAME,..." that takes exactly these; the length as of snprintf. */
int chaos_print(uint64_t seed, chaos_set taken, char *out, size_t cap);

#endif
