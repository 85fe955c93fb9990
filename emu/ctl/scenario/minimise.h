/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Delta debugging: which of n parts are needed for a failure? Finds a set of which no single part
 * can be left out (Zeller and Hildebrandt's ddmin).
 */
#ifndef CTL_MINIMISE_H
#define CTL_MINIMISE_H

#include <stdbool.h>

#define MINIMISE_MAX 1024

/*
 * Runs what is looked at with the parts whose keep is true. 1: it fails as it did, 0: it does not,
 * < 0: it could not be tried, which ends the search.
 */
typedef int (*minimise_try)(void *arg, const bool keep[], unsigned n);

/*
 * keep (n of them, n <= MINIMISE_MAX) says in the end which parts are needed; all of them fail
 * together, which the caller knows. Returns how many trials that took, or what the trial returned.
 */
int minimise(unsigned n, bool keep[], minimise_try fails, void *arg);

#endif
