/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a sweep for people, and what the others share. */
#include "sweep_report.h"

#include <string.h>

#define RUNS_SHOWN  4 /* of a finding */
#define WORDS_SHOWN 12

struct sweep_tally sweep_report_tally(const struct sweep_report *r)
{
	struct sweep_tally t = {0};

	for (unsigned i = 0; i < r->n; i++) {
		const struct sweep_result *one = &r->result[i];

		if (one->n > 0)
			t.found++;
		else if (!one->fired)
			t.missed++;
		else if (one->status != 0)
			t.failed++;
		else
			t.recovered++;
	}
	return t;
}

static void put_quoted(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=,:+@%^";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

void sweep_report_command(FILE *out, char *const *command)
{
	for (unsigned i = 0; command[i]; i++) {
		fputs(i ? " " : "", out);
		put_quoted(out, command[i]);
	}
}

static void put_run(FILE *out, const struct sweep_item *item)
{
	char name[SWEEP_NAME_MAX], words[256];

	sweep_item_name(item, name);
	sweep_item_words(item, words, sizeof(words));
	fprintf(out, "    %-40s %s\n", name, words);
}

static void put_runs(FILE *out, const struct sweep_item *const *run, unsigned n, unsigned most)
{
	for (unsigned i = 0; i < n && i < most; i++)
		put_run(out, run[i]);
	if (n > most)
		fprintf(out, "    and %u more\n", n - most);
}

static void put_stack(FILE *out, const char *stack)
{
	for (size_t n; *stack; stack += n + (stack[n] == '\n')) {
		n = strcspn(stack, "\n");
		fprintf(out, "  %.*s\n", (int)n, stack);
	}
}

static void put_group(FILE *out, const struct sweep_report *r, const struct sweep_group *g)
{
	char name[SWEEP_NAME_MAX];

	fprintf(out, "\n%s%s: %s (%u run%s)\n", g->known ? "known " : "",
		sweep_diagnostic_name(g->diagnostic->of), g->diagnostic->what, g->n,
		g->n == 1 ? "" : "s");
	if (g->known)
		return;
	put_runs(out, g->run, g->n, RUNS_SHOWN);
	put_stack(out, g->diagnostic->stack);
	sweep_item_name(g->run[0], name);
	fprintf(out, "    again: uhca-run --sweep-repeat %s -- ", name);
	sweep_report_command(out, r->command);
	fputc('\n', out);
}

/* The first line; the others are in the page. */
static void put_words(FILE *out, const struct sweep_words *w)
{
	if (!*w->said)
		fprintf(out, "\nnote: without a word failed at %u different faults:\n", w->n);
	else
		fprintf(out, "\nnote: the same words at %u different faults: \"%.*s\"\n", w->n,
			(int)(strlen(w->said) - 1), w->said);
	put_runs(out, w->run, w->n, WORDS_SHOWN);
}

static void put_summary(FILE *out, const struct sweep_report *r)
{
	const struct sweep_tally t = sweep_report_tally(r);

	fprintf(out, "sweep of ");
	sweep_report_command(out, r->command);
	fprintf(out, "\n%u of %u runs in %.1f s; %u of %u moments failed in turn\n", r->n,
		r->plan->n, r->seconds, r->plan->tried, r->plan->happened);
	fprintf(out,
		"%u ended with an error, %u went on well, in %u the fault never came, %u found "
		"something\n",
		t.failed, t.recovered, t.missed, t.found);
}

void sweep_report_text(FILE *out, const struct sweep_report *r)
{
	put_summary(out, r);
	for (unsigned i = 0; i < r->groups->n; i++)
		put_group(out, r, &r->groups->at[i]);
	for (unsigned i = 0; i < r->groups->n_words; i++)
		put_words(out, &r->groups->words[i]);
	fprintf(out, "\n%u finding%s", r->groups->unknown, r->groups->unknown == 1 ? "" : "s");
	if (r->groups->n > r->groups->unknown)
		fprintf(out, ", and %u known", r->groups->n - r->groups->unknown);
	if (r->interrupted)
		fputs("; interrupted", out);
	fputc('\n', out);
}
