/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened to requests, told in sentences that need no knowledge of the protocol. */
#ifndef STORY_EXPLAIN_H
#define STORY_EXPLAIN_H

#include "emu/story/tale/tale.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXPLAIN_MAX 50 /* completions that are told one by one */

struct explain_options {
	bool has_qp; /* completions of this QP, or of QPs that talk with it */
	uint32_t qp;
	bool has_wr; /* completions of this identifier, whatever their status */
	uint64_t wr;
};

/* One sentence for a completion: its status, and what became of its packets. */
void story_explain_shortly(FILE *out, const struct story *s, const struct story_record *c);

/* Is this a record that these options ask about: a completion with an error, or the one chosen? */
bool story_explain_wants(const struct story *s, const struct story_record *r,
			 const struct explain_options *o);

/* Returns how many completions were told. */
unsigned story_explain(FILE *out, const struct story *s, const struct explain_options *o);

#endif
