/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of simulations: JSON with all numbers, a table for people, CSV, and two runs side by
 * side.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "results.h"

#include <jansson.h>

/* What a report says about the run itself. */
struct report_about {
	const char *topology;
	const char *const *workloads;
	unsigned n_workloads;
	const char *cc;
	const char *retransmit;
	uint64_t seed;
	uint64_t stop; /* ps: so long the network ran */
};

/* The report; NULL: no memory. The caller frees it by json_decref. */
json_t *report_make(const struct report_about *about, struct results *r, const struct load_set *l);

/* Its numbers as lines for people, or as "metric,value". */
void report_text(json_t *report, FILE *out);
void report_csv(json_t *report, FILE *out);

/* Each finished message, a line. */
void report_flows(const struct results *r, FILE *out);

/* Is it one of these? */
bool report_is_one(const json_t *value);

/* Two reports that differ, a line for each number; "-": the report has none. */
void report_compare(json_t *before, json_t *after, FILE *out);

#endif
