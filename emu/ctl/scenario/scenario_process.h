/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of a scenario: each in a process group of its own, with its output in a file.
 */
#ifndef CTL_SCENARIO_PROCESS_H
#define CTL_SCENARIO_PROCESS_H

#include "scenario.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SCENARIO_RUNS_MAX 16

struct scenario_process {
	char name[SCENARIO_NAME_MAX];
	pid_t pid;
	bool ended;
	int status;            /* exit status, 128+N for signal N */
	char output[PATH_MAX]; /* file; "": it has that of uhca-run */
	const char *dir;       /* of its instance */
	uint64_t started;
	double seconds; /* that it ran, once it has ended */
	char *said;     /* the end of its output, once it is kept; NULL: none, or no memory */
};

/*
 * Starts a shell with the text (argv NULL) or a program with argv, found by PATH. Output goes to
 * p->output, made anew, when that is not "". 0 or -errno; name, output and dir are the caller's.
 */
int scenario_process_start(struct scenario_process *p, const char *text, char *const *argv);

/* Looks whether it has ended. */
bool scenario_process_ended(struct scenario_process *p);

/* To the whole group. Nothing happens when it has ended. */
void scenario_process_signal(const struct scenario_process *p, int signal);

/* Kills the group and collects the process. */
void scenario_process_end(struct scenario_process *p);

/* Does a line of the output match the extended regular expression? Else -errno. */
int scenario_process_said(const struct scenario_process *p, const char *expression);

/* Copies the end of the output to standard error, with the name in front of each line. */
void scenario_process_show(const struct scenario_process *p);

/* Keeps the end of the output, at most 64 KiB, whole lines of it. */
void scenario_process_keep(struct scenario_process *p);

#endif
