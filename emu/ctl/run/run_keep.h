/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run --keep: what is worth having of a private instance when something went wrong in it, or
 * will be found to have gone wrong: log, flight recorder, counters, objects. In a folder of the
 * instance's name below the one that the user named.
 */
#ifndef RUN_KEEP_H
#define RUN_KEEP_H

#include "run_dir.h"

/*
 * Makes the folder that was named, but not those above it, and writes its absolute name to "out"
 * (PATH_MAX bytes). 0, or -errno with the reason printed: it cannot be made, or not be written to.
 */
int run_keep_open(const char *named, char *out);

/* While the daemon serves. What the daemon does not tell is missing; a hung one takes 10 seconds.
 */
void run_keep_state(const struct run_dir *dir, const char *folder);

/* When it has ended, however. */
void run_keep_log(const struct run_dir *dir, const char *folder);

#endif
