/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of a sweep: for people on standard output, as JUnit, and as a page. */
#ifndef SWEEP_REPORT_H
#define SWEEP_REPORT_H

#include "sweep_group.h"
#include "sweep_plan.h"

struct sweep_report {
	const struct sweep_plan *plan;
	const struct sweep_result *result; /* those that were run, in any order */
	unsigned n;
	const struct sweep_groups *groups;
	char *const *command;
	double seconds;
	bool interrupted;
};

void sweep_report_text(FILE *out, const struct sweep_report *r);

/* Each to a file ("-": standard output). 0, -EIO: said why. */
int sweep_report_junit(const struct sweep_report *r, const char *file);
int sweep_report_html(const struct sweep_report *r, const char *file);

/* The command as a shell reads it. */
void sweep_report_command(FILE *out, char *const *command);

/* How runs ended that found nothing. */
struct sweep_tally {
	unsigned failed;    /* with an error, as they should */
	unsigned recovered; /* with 0 */
	unsigned missed;    /* their fault never came */
	unsigned found;
};
struct sweep_tally sweep_report_tally(const struct sweep_report *r);

#endif
