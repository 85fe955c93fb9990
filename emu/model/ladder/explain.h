/* SPDX-License-Identifier: BSD-2-Clause */
/* What happened to requests, told in sentences that need no knowledge of the protocol. */
#ifndef MODEL_EXPLAIN_H
#define MODEL_EXPLAIN_H

#include "emu/model/capture/capture_model.h"

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
void model_explain_shortly(FILE *out, const struct model *s, const struct model_record *c);

/* Is this a record that these options ask about: a completion with an error, or the one chosen? */
bool model_explain_wants(const struct model *s, const struct model_record *r,
			 const struct explain_options *o);

/* Returns how many completions were told. */
unsigned model_explain(FILE *out, const struct model *s, const struct explain_options *o);

#endif
