/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QPs by their traffic: two answers to "show qp" make a list of rates. The daemon counts what each
 * QP sent and took; nothing is measured here but the time between the answers.
 */
#ifndef CTL_TOP_H
#define CTL_TOP_H

#include <jansson.h>
#include <stdio.h>

/*
 * Makes the list from the tables of "show qp" and "show client": a JSON array with an object for
 * each QP, as "top --json" prints it, the busiest first. before (NULL: none) is the list of
 * "seconds" ago. The caller's; NULL: no memory, or these are no such tables.
 */
json_t *top_make(const json_t *qps, const json_t *clients, const json_t *before, double seconds);

/* A line for all, a head, and a line for each QP; at most "lines" in all (0: as many as are). */
void top_print(FILE *out, const json_t *list, unsigned lines);

#endif
