/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of scenarios for GitHub, where its environment variables are: an annotation at the
 * line of each check that failed (GITHUB_ACTIONS), and a table in the summary of the step
 * (GITHUB_STEP_SUMMARY).
 */
#include "scenario_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a command's message: per cent and line ends; of a property also its separators. */
static void put_escaped(FILE *f, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			fprintf(f, "%%%02X", (unsigned)(unsigned char)*text);
		else
			fputc(*text, f);
	}
}

static void annotate(const struct scenario_run *r, unsigned line, const char *what, const char *why)
{
	fputs("::error file=", stderr);
	put_escaped(stderr, r->file, "%\r\n:,");
	if (line)
		fprintf(stderr, ",line=%u", line);
	fputs(",title=", stderr);
	put_escaped(stderr, scenario_title(r), "%\r\n:,");
	fputs("::", stderr);
	put_escaped(stderr, what, "%\r\n");
	fputs(*what ? ": " : "", stderr);
	put_escaped(stderr, why, "%\r\n");
	fputc('\n', stderr);
}

static void annotate_all(const struct scenario_run *r)
{
	for (unsigned i = 0; i < r->n_checks; i++)
		if (!r->check[i].passed)
			annotate(r, r->check[i].line, r->check[i].text, scenario_why(&r->check[i]));
	if (scenario_was_stopped(r))
		annotate(r, r->failed_line, "", r->failure);
}

/* A cell of a table in Markdown. */
static void put_cell(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '<' || *text == '`' || *text == '*' || *text == '_')
			fputc('\\', f);
		fputc(*text == '\n' ? ' ' : *text, f);
	}
}

static void put_row(FILE *f, const struct scenario_run *r)
{
	fputs("| ", f);
	put_cell(f, scenario_title(r));
	fprintf(f, " | %s | %u of %u | %.1f s | ",
		scenario_was_stopped(r)    ? "not run"
		: scenario_failures(r) > 0 ? "**failed**"
					   : "passed",
		r->n_checks - scenario_failures(r), r->n_checks, r->seconds);
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		if (c->passed)
			continue;
		if (c->line)
			fprintf(f, "line %u: ", c->line);
		put_cell(f, c->text);
		fputs(" (", f);
		put_cell(f, scenario_why(c));
		fputs(")<br>", f);
	}
	put_cell(f, r->failure);
	fputs(" |\n", f);
}

/* The step's earlier lines stay. 0 or -errno. */
static int summarise(struct scenario_run *const *runs, unsigned n, const char *file)
{
	FILE *f = fopen(file, "ae");
	int error;

	if (!f)
		return -errno;
	fputs("| scenario | verdict | checks | time | what failed |\n|---|---|---|---|---|\n", f);
	for (unsigned i = 0; i < n; i++)
		put_row(f, runs[i]);
	fputc('\n', f);
	error = ferror(f) ? -EIO : 0;
	return fclose(f) == 0 ? error : -errno;
}

void scenario_print_github(struct scenario_run *const *runs, unsigned n)
{
	const char *actions = getenv("GITHUB_ACTIONS"), *file = getenv("GITHUB_STEP_SUMMARY");
	int error = 0;

	for (unsigned i = 0; i < n && actions && strcmp(actions, "true") == 0; i++)
		annotate_all(runs[i]);
	if (file && *file)
		error = summarise(runs, n, file);
	if (error < 0)
		fprintf(stderr, "uhca-run: %s: %s\n", file, strerror(-error));
}
