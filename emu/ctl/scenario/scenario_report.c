/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of a scenario for people and as TAP (version 13); see scenario_run.h and, for what
 * the reports share, scenario_report.h.
 */
#include "scenario_report.h"
#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned scenario_failures(const struct scenario_run *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_checks; i++)
		n += !r->check[i].passed;
	return n;
}

const char *scenario_title(const struct scenario_run *r)
{
	return r->s && r->s->title ? r->s->title : r->file;
}

const char *scenario_why(const struct scenario_check *c)
{
	return c->judged ? c->detail : "it has no result";
}

bool scenario_was_stopped(const struct scenario_run *r)
{
	return r->failure[0] != '\0';
}

int scenario_stop(struct scenario_run *r, const struct scenario_step *step, const char *format, ...)
{
	char place[32] = "", what[512];
	va_list ap;

	if (step && step->column)
		snprintf(place, sizeof(place), "%u:%u:", step->line, step->column);
	else if (step)
		snprintf(place, sizeof(place), "%u:", step->line);
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	fprintf(stderr, "uhca-run: %s:%s %s\n", r->file, place, what);
	if (!scenario_was_stopped(r)) { /* what follows from it is no reason */
		snprintf(r->failure, sizeof(r->failure), "%.200s:%s %s", r->file, place, what);
		r->failed_line = step ? step->line : 0;
	}
	return -EINVAL;
}

/* ---- for people ---- */

static void print_check(FILE *f, const struct scenario_check *c)
{
	if (c->line)
		fprintf(f, "line %u: ", c->line);
	fputs(c->text, f);
}

bool scenario_judges_exit(const struct scenario_run *r, const char *name)
{
	for (unsigned i = 0; i < r->s->n_steps; i++) {
		const struct scenario_step *step = &r->s->step[i];

		if (step->verb == SCENARIO_EXPECT && step->what == SCENARIO_EXIT &&
		    strcmp(step->name, name) == 0)
			return true;
	}
	return false;
}

/* Runs that failed, when nothing was to be said of their end. */
static void print_ends(const struct scenario_run *r)
{
	for (unsigned i = 0; i < r->n_processes; i++) {
		const struct scenario_process *p = &r->process[i];

		if (p->ended && p->status != 0 && p->status < 126 &&
		    strcmp(p->name, SCENARIO_OF_COMMAND) != 0 && !scenario_judges_exit(r, p->name))
			fprintf(stderr, "  note %s ended with status %d, and no line expects it\n",
				p->name, p->status);
	}
}

void scenario_print(const struct scenario_run *r)
{
	fprintf(stderr, "%s\n", scenario_title(r));
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		fprintf(stderr, "  %s ", c->passed ? "ok  " : "FAIL");
		print_check(stderr, c);
		fprintf(stderr, c->passed ? "\n" : " (%s)\n", scenario_why(c));
	}
	print_ends(r);
	for (unsigned i = 0; i < r->n_processes && scenario_failures(r) > 0; i++)
		scenario_process_show(&r->process[i]);
	fprintf(stderr, "%u of %u passed%s\n", r->n_checks - scenario_failures(r), r->n_checks,
		scenario_was_stopped(r) ? "; the rest could not be checked" : "");
}

/* ---- files ---- */

FILE *scenario_open_report(const char *file)
{
	return ctl_file_open("uhca-run", file);
}

int scenario_close_report(FILE *f, const char *file)
{
	return ctl_file_close("uhca-run", file, f) ? 0 : -EIO;
}

int scenario_begin_report(const char *file)
{
	FILE *f = scenario_open_report(file);

	return f ? scenario_close_report(f, file) : -EIO;
}

/* ---- TAP ---- */

/* "#" would begin a directive. */
static void put_description(FILE *f, const char *text)
{
	for (const char *p = text; *p; p++)
		fprintf(f, *p == '#' ? "\\#" : "%c", *p);
}

static void put_diagnosis(FILE *f, unsigned line, const char *message)
{
	fprintf(f, "  ---\n  line: %u\n  message: \"", line);
	for (const char *p = message; *p; p++)
		fprintf(f, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	fprintf(f, "\"\n  ...\n");
}

/* Returns the number of the last test. */
static unsigned put_tap(FILE *f, const struct scenario_run *r, unsigned n)
{
	fprintf(f, "# %s\n", scenario_title(r));
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		fprintf(f, "%s %u - ", c->passed ? "ok" : "not ok", ++n);
		put_description(f, c->text);
		fprintf(f, "\n");
		if (!c->passed)
			put_diagnosis(f, c->line, scenario_why(c));
	}
	if (scenario_was_stopped(r)) {
		fprintf(f, "not ok %u - %s\n", ++n, SCENARIO_CARRIED_OUT);
		put_diagnosis(f, 0, r->failure);
	}
	return n;
}

int scenario_write_tap(struct scenario_run *const *runs, unsigned n, const char *file)
{
	FILE *f = scenario_open_report(file);
	unsigned tests = 0, last = 0;

	if (!f)
		return -EIO;
	for (unsigned i = 0; i < n; i++)
		tests += runs[i]->n_checks + scenario_was_stopped(runs[i]);
	fprintf(f, "TAP version 13\n1..%u\n", tests);
	for (unsigned i = 0; i < n; i++)
		last = put_tap(f, runs[i], last);
	return scenario_close_report(f, file);
}
