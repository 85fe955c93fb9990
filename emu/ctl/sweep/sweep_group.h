/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings that are one: of the same kind, with the same words and stack, whatever the run. */
#ifndef SWEEP_GROUP_H
#define SWEEP_GROUP_H

#include "sweep_known.h"

/* Strings belong to the results. */
struct sweep_group {
	const struct sweep_diagnostic *diagnostic; /* of the first run */
	const struct sweep_item **run;
	unsigned n;
	bool known; /* all of its runs are accepted */
};

/* Words that tell causes apart would be better ones. */
struct sweep_words {
	const char *said;              /* "": nothing */
	const struct sweep_item **run; /* one for each different thing that failed */
	unsigned n;
};

struct sweep_groups {
	struct sweep_group *at; /* crashes first */
	unsigned n, unknown;
	struct sweep_words *words; /* of failed runs: the same for several causes, or none */
	unsigned n_words;
};

/* 0, -ENOMEM. */
int sweep_groups_make(const struct sweep_result *results, unsigned n, struct sweep_known *known,
		      struct sweep_groups *out);
void sweep_groups_free(struct sweep_groups *groups);

#endif
