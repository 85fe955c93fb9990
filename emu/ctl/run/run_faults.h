/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fault rules of uhca-run's command line. A private daemon gets them as options; to a shared
 * one they are added through its control socket, and are taken away when the command has ended.
 */
#ifndef RUN_FAULTS_H
#define RUN_FAULTS_H

#include "run_options.h"

#define RUN_RULES_MAX 1024 /* a daemon has at most 1000 */

/* Those of the command line, by their numbers. */
struct run_faults {
	long number[RUN_RULES_MAX];
	unsigned n;
};

/* Adds the rules, and says so. 0, or -EINVAL: none is there, the reason was printed. */
int run_faults_add(const char *dir, const struct run_options *options, struct run_faults *out);

/* All rules of a daemon that has just begun. 0, or -EIO, printed. */
int run_faults_note(const char *dir, struct run_faults *out);

void run_faults_remove(const char *dir, const struct run_faults *faults);

/*
 * Tells on standard error which of the rules fired how often, and the seed where there is chance
 * among them. Nothing when the command line has no rules.
 * Returns the exit status: RUN_EXIT_MUST_FIRE in place of "status" when that is asked for.
 */
int run_faults_report(const char *dir, const struct run_options *options,
		      const struct run_faults *faults, int status);

/* Writes rules and trace of the daemon in dir to options->record: {"rules", "lines", "lost"}. */
void run_faults_record(const char *dir, const struct run_options *options);

#endif
