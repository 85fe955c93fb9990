/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of a scenario for people, as TAP (version 13) and as JUnit's XML; see scenario_run.h.
 */
#include "emu/ctl/lib/lib.h"
#include "scenario_run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static unsigned failures(const struct scenario_run *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_checks; i++)
		n += !r->check[i].passed;
	return n;
}

static const char *title(const struct scenario_run *r)
{
	return r->s && r->s->title ? r->s->title : r->file;
}

static const char *why(const struct scenario_check *c)
{
	return c->judged ? c->detail : "it came to no judgement";
}

static bool was_stopped(const struct scenario_run *r)
{
	return r->failure[0] != '\0';
}

/* What a report says of a scenario that could not be carried out. */
#define CARRIED_OUT "the scenario is carried out"

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
	if (!was_stopped(r)) /* what follows from it is no reason */
		snprintf(r->failure, sizeof(r->failure), "%.200s:%s %s", r->file, place, what);
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
			fprintf(stderr, "  note %s ended with %d, and no line expects it\n",
				p->name, p->status);
	}
}

void scenario_print(const struct scenario_run *r)
{
	fprintf(stderr, "%s\n", title(r));
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		fprintf(stderr, "  %s ", c->passed ? "ok  " : "FAIL");
		print_check(stderr, c);
		fprintf(stderr, c->passed ? "\n" : " (%s)\n", why(c));
	}
	print_ends(r);
	for (unsigned i = 0; i < r->n_processes && failures(r) > 0; i++)
		scenario_process_show(&r->process[i]);
	fprintf(stderr, "%u of %u passed%s\n", r->n_checks - failures(r), r->n_checks,
		was_stopped(r) ? "; the rest could not be judged" : "");
}

/* ---- files ---- */

static FILE *open_report(const char *file)
{
	return ctl_file_open("uhca-run", file);
}

static int close_report(FILE *f, const char *file)
{
	return ctl_file_close("uhca-run", file, f) ? 0 : -EIO;
}

int scenario_begin_report(const char *file)
{
	FILE *f = open_report(file);

	return f ? close_report(f, file) : -EIO;
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
	fprintf(f, "# %s\n", title(r));
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		fprintf(f, "%s %u - ", c->passed ? "ok" : "not ok", ++n);
		put_description(f, c->text);
		fprintf(f, "\n");
		if (!c->passed)
			put_diagnosis(f, c->line, why(c));
	}
	if (was_stopped(r)) {
		fprintf(f, "not ok %u - %s\n", ++n, CARRIED_OUT);
		put_diagnosis(f, 0, r->failure);
	}
	return n;
}

int scenario_write_tap(struct scenario_run *const *runs, unsigned n, const char *file)
{
	FILE *f = open_report(file);
	unsigned tests = 0, last = 0;

	if (!f)
		return -EIO;
	for (unsigned i = 0; i < n; i++)
		tests += runs[i]->n_checks + was_stopped(runs[i]);
	fprintf(f, "TAP version 13\n1..%u\n", tests);
	for (unsigned i = 0; i < n; i++)
		last = put_tap(f, runs[i], last);
	return close_report(f, file);
}

/* ---- JUnit ---- */

static void put_xml(FILE *f, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			/* XML has no way to say these */
			fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
		}
	}
}

static void open_case(FILE *f, const struct scenario_run *r, const char *name, double seconds)
{
	fputs("  <testcase classname=\"", f);
	put_xml(f, title(r));
	fputs("\" name=\"", f);
	put_xml(f, name);
	fprintf(f, "\" time=\"%.3f\"", seconds);
}

static void put_case(FILE *f, const struct scenario_run *r, const struct scenario_check *c)
{
	open_case(f, r, c->text, c->seconds);
	if (c->passed) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n    <failure message=\"", f);
	put_xml(f, why(c));
	fprintf(f, "\">line %u</failure>\n  </testcase>\n", c->line);
}

static void put_suite(FILE *f, const struct scenario_run *r)
{
	double seconds = r->start ? (double)(scenario_now() - r->start) / 1e9 : 0;

	fputs("<testsuite name=\"", f);
	put_xml(f, title(r));
	fprintf(f, "\" tests=\"%u\" failures=\"%u\" errors=\"%d\" time=\"%.3f\">\n",
		r->n_checks + was_stopped(r), failures(r), was_stopped(r), seconds);
	for (unsigned i = 0; i < r->n_checks; i++)
		put_case(f, r, &r->check[i]);
	if (was_stopped(r)) {
		open_case(f, r, CARRIED_OUT, seconds);
		fputs(">\n    <error message=\"", f);
		put_xml(f, r->failure);
		fputs("\"/>\n  </testcase>\n", f);
	}
	fputs("</testsuite>\n", f);
}

int scenario_write_junit(struct scenario_run *const *runs, unsigned n, const char *file)
{
	FILE *f = open_report(file);

	if (!f)
		return -EIO;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
	if (n > 1)
		fputs("<testsuites>\n", f);
	for (unsigned i = 0; i < n; i++)
		put_suite(f, runs[i]);
	if (n > 1)
		fputs("</testsuites>\n", f);
	return close_report(f, file);
}
