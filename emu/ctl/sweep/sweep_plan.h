/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sweep runs: a good run of the test counts its calls, completions and packets by rules that
 * only count, and each of them, or some of many, fails once.
 */
#ifndef SWEEP_PLAN_H
#define SWEEP_PLAN_H

#include "sweep_item.h"

#include <jansson.h>
#include <stdio.h>

#define SWEEP_EACH 3u /* of the same call of a client: so many, and the last */

/* How often something happened in the good run. */
struct sweep_count {
	bool is_packet;
	char what[SWEEP_WORD_MAX];
	unsigned client;
	unsigned n;
	char program[SWEEP_WORD_MAX]; /* "": not known */
};

struct sweep_counts {
	struct sweep_count *at; /* in the order in which they came */
	unsigned n;
	bool lost; /* the daemon has forgotten some of it */
};

struct sweep_plan {
	struct sweep_item *item;
	unsigned n;
	unsigned happened; /* calls, completions and packets that there were */
	unsigned tried;    /* those of them that fail in some run */
};

/* Writes the rules for the good run, one on a line. */
void sweep_plan_rules(unsigned kinds, FILE *out);

/*
 * Reads what a run has left: {"rules": [...], "lines": [...]}, as the daemon tells them (ctl.h). 0,
 * -ENOMEM.
 */
int sweep_counts_read(const json_t *record, struct sweep_counts *out);
void sweep_counts_free(struct sweep_counts *counts);

/* How often it happened to the client of the item, and the name of the program (or ""). */
unsigned sweep_counts_of(const struct sweep_counts *counts, const struct sweep_item *item,
			 const char **program);

/* each: as SWEEP_EACH; 0: all. 0, -ENOMEM. The same counts make the same plan. */
int sweep_plan_make(const struct sweep_counts *counts, unsigned kinds, unsigned each,
		    struct sweep_plan *out);

/* Only the runs whose name matches the pattern (fnmatch(3)) stay. */
void sweep_plan_only(struct sweep_plan *plan, const char *pattern);
void sweep_plan_free(struct sweep_plan *plan);

#endif
