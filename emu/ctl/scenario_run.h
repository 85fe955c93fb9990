/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries a scenario out against a running daemon and judges it.
 */
#ifndef CTL_SCENARIO_RUN_H
#define CTL_SCENARIO_RUN_H

#include "scenario.h"
#include "scenario_process.h"
#include "scenario_story.h"

#include <limits.h>

#define SCENARIO_CHECKS_MAX (2 * SCENARIO_STEPS_MAX)
#define SCENARIO_LIMIT      60000000000ull /* ns, when the file says nothing */

/* One judgement. */
struct scenario_check {
	unsigned line; /* 0: of no line */
	bool passed;
	bool judged;
	char text[256];   /* what was expected */
	char detail[256]; /* what was found instead */
	double seconds;   /* when it was judged, since the start */
};

/* A rule of the scenario, by the number that the daemon gave it. */
struct scenario_rule {
	uint64_t number;
	bool optional;
	bool removed;
	uint64_t hits; /* when it was looked at last */
	const struct scenario_step *step;
	char name[SCENARIO_NAME_MAX];
};

struct scenario_run {
	const struct scenario *s;
	const char *dir;          /* of the instance */
	char *const *command;     /* NULL: none */
	uint64_t start, deadline; /* ns of the monotonic clock */
	uint16_t port;            /* $UHCA_PORT: nobody had it when the scenario began */
	struct scenario_story story;
	struct scenario_process process[SCENARIO_RUNS_MAX];
	unsigned n_processes;
	struct scenario_rule rule[SCENARIO_STEPS_MAX];
	unsigned n_rules;
	struct scenario_check check[SCENARIO_CHECKS_MAX];
	unsigned n_checks;
	/* The check of each step that is judged when all has ended; NULL: not of that kind. */
	struct scenario_check *late[SCENARIO_STEPS_MAX];
};

/*
 * Does the steps, waits for the programs to end, judges. 0: all that was expected was seen; 1: not
 * so; 125: it could not be done (printed). All checks are in r->check.
 */
int scenario_run(struct scenario_run *r, const struct scenario *s, const char *dir,
		 char *const *command);
void scenario_run_close(struct scenario_run *r);

/* Nanoseconds of the monotonic clock. */
uint64_t scenario_now(void);

/* ---- scenario_condition.c ---- */

/*
 * Is what the step waits for or expects so at this moment? 1, 0, or -errno with the reason printed.
 * What was found goes to detail (256 bytes).
 */
int scenario_condition(struct scenario_run *r, const struct scenario_step *step, char *detail);

/* Asks the daemon how often the rules have fired. 0 or -EIO. */
int scenario_look_at_rules(struct scenario_run *r);

struct scenario_process *scenario_find_process(struct scenario_run *r, const char *name);

/* ---- scenario_report.c ---- */

/* For people, on standard error. */
void scenario_print(const struct scenario_run *r);

/* To the file, "-" is standard output. 0 or -errno, printed. */
int scenario_write_tap(const struct scenario_run *r, const char *file);
int scenario_write_junit(const struct scenario_run *r, const char *file);

#endif
