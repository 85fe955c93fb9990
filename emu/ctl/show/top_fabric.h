/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of the modelled network by their traffic: two answers of the daemon make a list of rates.
 * All times are the network's, which runs slower than the clock.
 */
#ifndef CTL_TOP_FABRIC_H
#define CTL_TOP_FABRIC_H

#include <jansson.h>
#include <stdio.h>

/*
 * Adds to the network's state, as "show fabric --json" prints it, what has happened since another
 * one ("before", NULL: none), and puts the busiest port first. 0; -EINVAL: it is no such state;
 * -ENOMEM. The state is the caller's; after an error only to be freed.
 */
int top_fabric_rate(json_t *state, const json_t *before);

/* Lines for all, a head, and a line for each port; at most "lines" in all (0: as many as are). */
void top_fabric_print(FILE *out, const json_t *state, unsigned lines);

#endif
