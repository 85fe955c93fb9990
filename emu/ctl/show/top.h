/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QPs by their traffic: two answers to "show qp" make a list of rates. The daemon counts what each
 * QP sent and took; nothing is measured here but the time between the answers.
 */
#ifndef CTL_TOP_H
#define CTL_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct top_qp {
	char device[24];
	char program[24];
	char state[8];
	uint32_t qpn;
	uint32_t peer;                                 /* 0: none */
	uint64_t packets, bytes, retries, rnr, errors; /* since it was made */
	double packet_rate, byte_rate;                 /* in a second; both directions */
	uint64_t new_retries;                          /* since the last look */
};

struct top_list {
	struct top_qp *qp;
	size_t n;
};

/*
 * Makes the list from the tables of "show qp" and "show client", the busiest first. before (may be
 * empty) is the list of "seconds" ago. False: no memory, or these are no such tables.
 */
bool top_make(struct top_list *out, const json_t *qps, const json_t *clients,
	      const struct top_list *before, double seconds);

void top_free(struct top_list *l);

/* A line for all, a head, and a line for each QP; at most "lines" in all (0: as many as are). */
void top_print(FILE *out, const struct top_list *l, unsigned lines);

/* A JSON array with an object for each QP; NULL: no memory. */
json_t *top_json(const struct top_list *l);

#endif
