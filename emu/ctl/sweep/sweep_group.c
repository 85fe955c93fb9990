/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts findings together that have the same kind, words and stack. */
#include "sweep_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_run(const struct sweep_item ***list, unsigned *n, const struct sweep_item *run)
{
	const struct sweep_item **more = reallocarray(*list, *n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	*list = more;
	(*list)[(*n)++] = run;
	return 0;
}

/* ---- findings ---- */

/* With a stack the place is what counts; the words name what led there. */
static bool same(const struct sweep_diagnostic *a, const struct sweep_diagnostic *b)
{
	if (a->of != b->of || strcmp(a->stack, b->stack) != 0)
		return false;
	return *a->stack != '\0' || strcmp(a->what, b->what) == 0;
}

static struct sweep_group *group_of(struct sweep_groups *g, const struct sweep_diagnostic *f)
{
	struct sweep_group *more;

	for (unsigned i = 0; i < g->n; i++)
		if (same(g->at[i].diagnostic, f))
			return &g->at[i];
	more = reallocarray(g->at, g->n + 1, sizeof(*more));
	if (!more)
		return NULL;
	g->at = more;
	g->at[g->n] = (struct sweep_group){.diagnostic = f, .known = true};
	return &g->at[g->n++];
}

static int take_result(struct sweep_groups *g, const struct sweep_result *r,
		       struct sweep_known *known, enum sweep_fault_of_test of)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct sweep_group *to;

		if (r->diagnostic[i].of != of)
			continue;
		to = group_of(g, &r->diagnostic[i]);
		if (!to || add_run(&to->run, &to->n, &r->item) < 0)
			return -ENOMEM;
		to->known &= sweep_known_has(known, &r->item, &r->diagnostic[i]);
	}
	return 0;
}

/* ---- words ---- */

static struct sweep_words *words_of(struct sweep_groups *g, const char *said)
{
	struct sweep_words *more;

	for (unsigned i = 0; i < g->n_words; i++)
		if (strcmp(g->words[i].said, said) == 0)
			return &g->words[i];
	more = reallocarray(g->words, g->n_words + 1, sizeof(*more));
	if (!more)
		return NULL;
	g->words = more;
	g->words[g->n_words] = (struct sweep_words){.said = said};
	return &g->words[g->n_words++];
}

/* One errno or the other, one client or the other: that is one cause. */
static bool same_cause(const struct sweep_item *a, const struct sweep_item *b)
{
	return a->kind == b->kind && strcmp(a->what, b->what) == 0;
}

static int take_words(struct sweep_groups *g, const struct sweep_result *r)
{
	struct sweep_words *w;

	/* completions, packets and devices fail in the same way again: that may be told so */
	if (r->item.kind != SWEEP_CALLS || !r->fired || r->status == 0 || r->n > 0 || !r->said)
		return 0;
	w = words_of(g, r->said);
	if (!w)
		return -ENOMEM;
	for (unsigned i = 0; i < w->n; i++)
		if (same_cause(w->run[i], &r->item))
			return 0;
	return add_run(&w->run, &w->n, &r->item);
}

/* Words that belong to one cause are good ones. */
static void drop_good_words(struct sweep_groups *g)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < g->n_words; i++) {
		if (g->words[i].n > 1 || !*g->words[i].said)
			g->words[kept++] = g->words[i];
		else
			free(g->words[i].run);
	}
	g->n_words = kept;
}

int sweep_groups_make(const struct sweep_result *results, unsigned n, struct sweep_known *known,
		      struct sweep_groups *out)
{
	int error = 0;

	*out = (struct sweep_groups){.n = 0};
	for (unsigned of = 0; of < SWEEP_DIAGNOSTICS; of++)
		for (unsigned i = 0; i < n && error == 0; i++)
			error = take_result(out, &results[i], known, (enum sweep_fault_of_test)of);
	for (unsigned i = 0; i < n && error == 0; i++)
		error = take_words(out, &results[i]);
	drop_good_words(out);
	for (unsigned i = 0; i < out->n; i++)
		out->unknown += !out->at[i].known;
	return error;
}

void sweep_groups_free(struct sweep_groups *groups)
{
	for (unsigned i = 0; i < groups->n; i++)
		free(groups->at[i].run);
	for (unsigned i = 0; i < groups->n_words; i++)
		free(groups->words[i].run);
	free(groups->at);
	free(groups->words);
	*groups = (struct sweep_groups){.n = 0};
}
