/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run has left, read from the files of its slot. */
#ifndef SWEEP_EVIDENCE_H
#define SWEEP_EVIDENCE_H

#include "sweep_pool.h"

#include <jansson.h>

struct sweep_evidence {
	char *output;     /* of the program, and lines of uhca-run */
	char *report;     /* of the sanitizer, for people */
	json_t *findings; /* array: what the sanitizer found */
	json_t *record;   /* of the daemon's rules: the first counts, the second is the fault */
};

/* What is not there is empty. */
void sweep_evidence_read(const struct sweep_slot *slot, struct sweep_evidence *out);
void sweep_evidence_free(struct sweep_evidence *e);

#endif
