/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run --keep: what is worth having of a private instance when something went wrong in it, or
 * will be found to have gone wrong: log, flight recorder, what uhcactl explain and report make of
 * it, counters, objects. In a folder of the test's name below the one that the user named.
 */
#ifndef RUN_KEEP_H
#define RUN_KEEP_H

#include "run_dir.h"

#include <stdbool.h>

/*
 * Makes the folder that was named, but not those above it, and writes its absolute name to "out"
 * (PATH_MAX bytes). 0, or -errno with the reason printed: it cannot be made, or not be written to.
 */
int run_keep_open(const char *named, char *out);

/*
 * Makes the folder of one test in it, named after what was run: a scenario's file or a program,
 * with -2, -3 and so on behind it where there is one of that name; its name to "out" (PATH_MAX
 * bytes). False: said why.
 */
bool run_keep_make(const char *folder, const char *test, char *out);

/*
 * Into the folder of the test, while the daemon serves. What the daemon does not tell is missing; a
 * hung one takes 10 seconds. Raw: without the texts and pages that are made of the flight recorder.
 */
void run_keep_state(const struct run_dir *dir, const char *folder, bool raw);

/* When it has ended, however. */
void run_keep_log(const struct run_dir *dir, const char *folder);

#endif
