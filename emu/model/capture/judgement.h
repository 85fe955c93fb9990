/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of packets and requests, and why: judged here once, from what the devices told, for
 * every view. Nothing is guessed: where the capture does not have it, it says so or says nothing.
 */
#ifndef MODEL_JUDGEMENT_H
#define MODEL_JUDGEMENT_H

#include "causes.h"
#include "model.h"

#define MODEL_RULES_MAX 8
#define MODEL_WHY_MAX   400 /* bytes of a reason */

/* ---- packets ---- */

/*
 * "duplicate", "refused", "not_ready", "failed": what a device did instead of executing it. NULL.
 */
const char *model_arrow_judged(const struct model *s, const struct model_arrow *a);

/* What became of it, in words; "" where that is nothing special. Returns buf. */
const char *model_arrow_words(const struct model *s, const struct model_arrow *a, char *buf,
			      size_t cap);

/* ---- requests ---- */

/* What happened to the packets of one message, its answers included, up to some time. */
struct model_counts {
	unsigned sent, again;     /* packets of the request; of these were sent before */
	unsigned taken;           /* arrived and were executed */
	unsigned judged;          /* arrived and were not executed: model_arrow_judged */
	unsigned refused;         /* arrived, and the receiver dropped them */
	unsigned lost;            /* did not arrive */
	unsigned unknown;         /* sent to where this capture does not look */
	unsigned answers;         /* that were sent ... */
	unsigned answers_lost;    /* ... did not arrive ... */
	unsigned answers_refused; /* ... or were not taken: they answer nothing outstanding */
	unsigned naks, rnr;       /* of those that were taken */
	uint8_t syndrome;         /* of the last NAK that was taken */
	uint64_t nak_ns, answered_ns;
	struct {
		uint32_t number;
		const char *text; /* NULL: not known */
		unsigned packets; /* of these packets it lost, changed or made so many */
		unsigned hits;    /* it fired so often for that; 0: the capture has no record */
	} rule[MODEL_RULES_MAX];
	unsigned n_rules;
	uint32_t decisive; /* arrow: the last that was refused, judged or not taken; MODEL_NONE */
};

void model_count(const struct model *s, uint32_t message, uint64_t until, struct model_counts *out);

/* Up to the completion; of a receive, whose message is another QP's request, all of it. */
void model_count_for(const struct model *s, const struct model_record *completion,
		     struct model_counts *out);

/* For model_parse: finds what model_first_failure says, of all QPs in one look at the records. */
void model_find_failures(struct model *s);

/* The first completion of the QP that failed by itself; NULL: none. */
const struct model_record *model_first_failure(const struct model *s, uint32_t qp);

/* A receive request's completion: what its packets are is another QP's request. */
bool model_is_receive(const struct model_record *completion);

/*
 * The one reason why this completion has its status, a clause without capital and full stop; ""
 * where the capture does not have it. Returns buf.
 */
const char *model_why(const struct model *s, const struct model_record *completion, char *buf,
		      size_t cap);

#endif
