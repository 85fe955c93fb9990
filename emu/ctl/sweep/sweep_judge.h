/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run shows is held against what the good run showed: findings of a struct sweep_result. */
#ifndef SWEEP_JUDGE_H
#define SWEEP_JUDGE_H

#include "sweep_evidence.h"
#include "sweep_plan.h"
#include "sweep_result.h"

/* Lines "uhca-run: COMMAND did not end within N seconds" begin what is told of a hang. */
#define SWEEP_HANG_LINE " did not end within "

/* What the good run had. */
struct sweep_good {
	struct sweep_counts counts;
	struct sweep_result result; /* its findings are no news; said: all its lines */
};

/* Of the good run itself: notes what it said and found. */
void sweep_judge_good(struct sweep_good *good, const struct sweep_evidence *e);

/* r has item, status and seconds already. */
void sweep_judge(struct sweep_result *r, const struct sweep_evidence *e,
		 const struct sweep_good *good);

#endif
