/* SPDX-License-Identifier: BSD-2-Clause */
/* What the reports of a scenario share: for people, TAP, JUnit, a CI's own forms. */
#ifndef CTL_SCENARIO_REPORT_H
#define CTL_SCENARIO_REPORT_H

#include "scenario_run.h"

#include <stdio.h>

/* What a report says of a scenario that could not be carried out. */
#define SCENARIO_CARRIED_OUT "the scenario runs"

unsigned scenario_failures(const struct scenario_run *r);
const char *scenario_title(const struct scenario_run *r);
bool scenario_was_stopped(const struct scenario_run *r);

/* What was found instead of what a check wants. */
const char *scenario_why(const struct scenario_check *c);

/* "-" is standard output. NULL, or -EIO: said why. */
FILE *scenario_open_report(const char *file);
int scenario_close_report(FILE *f, const char *file);

#endif
