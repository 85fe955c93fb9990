/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries a scenario out against a running daemon and judges it.
 */
#ifndef CTL_SCENARIO_RUN_H
#define CTL_SCENARIO_RUN_H

#include "scenario.h"
#include "scenario_model.h"
#include "scenario_process.h"

#define SCENARIO_RULES_MAX  1024           /* a daemon has at most 1000 */
#define SCENARIO_CHECKS_MAX 2048           /* steps, rules, two for each run, and one */
#define SCENARIO_LIMIT      60000000000ull /* ns, when the file says nothing */
#define SCENARIO_SIDES_MAX  2

/* One judgement. */
struct scenario_check {
	unsigned line; /* 0: of no line */
	bool passed;
	bool judged;
	char text[256];   /* what was expected */
	char detail[256]; /* what was found instead */
	double seconds;   /* since the check before it, or the start */
};

/* A rule of the scenario, by the number that the daemon gave it. */
struct scenario_rule {
	uint64_t number;
	unsigned side; /* whose daemon has it */
	bool optional;
	bool removed;
	uint64_t hits;                    /* when it was looked at last */
	char why[256];                    /* it has none then */
	const struct scenario_step *step; /* NULL: given on uhca-run's line */
	char name[SCENARIO_NAME_MAX];
};

/* A daemon with the devices of some of the programs. */
struct scenario_side {
	const char *dir; /* of the instance */
	struct scenario_model model;
};

struct scenario_run {
	const struct scenario *s;
	const char *file;  /* its name */
	char failure[768]; /* why it could not be carried out; empty: it was */
	bool must_fire;    /* rules of uhca-run's line, too */
	struct scenario_side side[SCENARIO_SIDES_MAX];
	unsigned n_sides;
	char *const *command;     /* NULL: none */
	unsigned failed_line;     /* what "failure" is about; 0: no line */
	uint64_t start, deadline; /* ns of the monotonic clock */
	uint64_t judged;          /* when the last check was */
	double seconds;           /* that all of it took */
	uint16_t port;            /* $UHCA_PORT: nobody had it when the scenario began */
	struct scenario_process process[SCENARIO_RUNS_MAX];
	unsigned n_processes;
	struct scenario_rule rule[SCENARIO_RULES_MAX];
	unsigned n_rules;
	struct scenario_check check[SCENARIO_CHECKS_MAX];
	unsigned n_checks;
	/* The check of each step that is judged when all has ended; NULL: not of that kind. */
	struct scenario_check *late[SCENARIO_STEPS_MAX];
};

/*
 * Does the steps of r->s, waits for the programs to end, judges. 0: all that was expected was seen;
 * 1: not so; 125: it could not be done, for the reason in r->failure. All checks are in r->check.
 * r has s, file and must_fire; the rest is set here. dir is that of the instance; peer of the one
 * for what the scenario says of the peer; NULL: the same one.
 */
int scenario_run(struct scenario_run *r, const char *dir, const char *peer, char *const *command);
/* Ends what runs, and keeps what the programs wrote; to be called while their files are there. */
void scenario_run_close(struct scenario_run *r);
void scenario_run_free(struct scenario_run *r);

/*
 * Why it cannot be carried out: printed with the place of the step (which may be NULL), kept for
 * the reports. Returns -EINVAL.
 */
int scenario_stop(struct scenario_run *r, const struct scenario_step *step, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- scenario_condition.c ---- */

/*
 * Is what the step waits for or expects so at this moment? 1, 0, or -errno with the reason printed.
 * What was found goes to detail (256 bytes).
 */
int scenario_condition(struct scenario_run *r, const struct scenario_step *step, char *detail);

/* Has the daemon all counters and devices that the file names? 0, or -errno with the reason
 * printed. */
int scenario_know_names(struct scenario_run *r);

/* Asks the daemon how often the rules have fired. 0 or -EIO. */
int scenario_look_at_rules(struct scenario_run *r);

struct scenario_process *scenario_find_process(struct scenario_run *r, const char *name);

/* ---- scenario_report.c ---- */

/* Does an expectation tell how this run must end? */
bool scenario_judges_exit(const struct scenario_run *r, const char *name);

/* For people, on standard error. */
void scenario_print(const struct scenario_run *r);

/* Can the reports be written? What an earlier run left there is gone. 0 or -errno, printed. */
int scenario_begin_report(const char *file);

/* Of all n scenarios to the file, "-" is standard output. 0 or -errno, printed. */
int scenario_write_tap(struct scenario_run *const *runs, unsigned n, const char *file);
int scenario_write_junit(struct scenario_run *const *runs, unsigned n, const char *file);

/* Annotations and a summary, where the environment says that this is a step of GitHub's. */
void scenario_print_github(struct scenario_run *const *runs, unsigned n);

#endif
