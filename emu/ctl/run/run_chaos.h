/* SPDX-License-Identifier: BSD-2-Clause */
/* --chaos: what the daemon is told, and what came of it. */
#ifndef RUN_CHAOS_H
#define RUN_CHAOS_H

#include "run_options.h"

#include <jansson.h>

#define RUN_CHAOS_WORD_MAX 1024

/* Has a seed from now on: one by chance where none was named. */
void run_chaos_settle(struct chaos *c);

/* The option of the daemon: "--chaos=SEED,NAME,...". */
void run_chaos_word(const struct chaos *c, char *out, size_t cap);

/* Is this rule, as "fault list" tells it, one of a relaxation? */
bool run_chaos_is_relaxation(const json_t *rule);

/* Says the seed, before the command; without --chaos nothing. */
void run_chaos_begin(const struct run_options *options);

/* Says after it how often each did something. */
void run_chaos_report(const char *dir, const struct run_options *options);

/*
 * Says how to run that again: the seed, and the relaxations where it is not the seed alone that
 * takes them (reduced, or --chaos had words).
 */
void run_chaos_again(const struct run_options *options, uint64_t seed, chaos_set taken,
		     bool reduced);

/* The table of relaxations, for --chaos=help. */
void run_chaos_print_help(void);

#endif
