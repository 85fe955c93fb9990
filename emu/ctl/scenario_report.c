/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of a scenario for people, as TAP (version 13) and as JUnit's XML; see scenario_run.h.
 */
#include "scenario_run.h"

#include <errno.h>
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
	return r->s->title ? r->s->title : "scenario";
}

static const char *why(const struct scenario_check *c)
{
	return c->judged ? c->detail : "it came to no judgement";
}

static void print_check(FILE *f, const struct scenario_check *c)
{
	if (c->line)
		fprintf(f, "line %u: ", c->line);
	fputs(c->text, f);
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
	for (unsigned i = 0; i < r->n_processes && failures(r) > 0; i++)
		scenario_process_show(&r->process[i]);
	fprintf(stderr, "%u of %u passed\n", r->n_checks - failures(r), r->n_checks);
}

static FILE *open_report(const char *file)
{
	FILE *f = strcmp(file, "-") == 0 ? stdout : fopen(file, "we");

	if (!f)
		fprintf(stderr, "uhca-run: %s: %s\n", file, strerror(errno));
	return f;
}

static int close_report(FILE *f, const char *file)
{
	int error = fflush(f) == 0 && !ferror(f) ? 0 : -errno;

	if (error < 0)
		fprintf(stderr, "uhca-run: %s: %s\n", file, strerror(-error));
	if (f != stdout)
		fclose(f);
	return error;
}

int scenario_write_tap(const struct scenario_run *r, const char *file)
{
	FILE *f = open_report(file);

	if (!f)
		return -errno;
	fprintf(f, "TAP version 13\n# %s\n1..%u\n", title(r), r->n_checks);
	for (unsigned i = 0; i < r->n_checks; i++) {
		const struct scenario_check *c = &r->check[i];

		fprintf(f, "%s %u - ", c->passed ? "ok" : "not ok", i + 1);
		/* "#" would begin a directive */
		for (const char *p = c->text; *p; p++)
			fprintf(f, *p == '#' ? "\\#" : "%c", *p);
		fprintf(f, "\n");
		if (!c->passed)
			fprintf(f, "  ---\n  line: %u\n  message: \"%s\"\n  ...\n", c->line,
				why(c));
	}
	return close_report(f, file);
}

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

static void put_case(FILE *f, const struct scenario_run *r, const struct scenario_check *c)
{
	fputs("  <testcase classname=\"", f);
	put_xml(f, title(r));
	fputs("\" name=\"", f);
	put_xml(f, c->text);
	fprintf(f, "\" time=\"%.3f\"", c->seconds);
	if (c->passed) {
		fputs("/>\n", f);
		return;
	}
	fputs(">\n    <failure message=\"", f);
	put_xml(f, why(c));
	fprintf(f, "\">line %u</failure>\n  </testcase>\n", c->line);
}

int scenario_write_junit(const struct scenario_run *r, const char *file)
{
	FILE *f = open_report(file);

	if (!f)
		return -errno;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", f);
	put_xml(f, title(r));
	fprintf(f, "\" tests=\"%u\" failures=\"%u\" time=\"%.3f\">\n", r->n_checks, failures(r),
		(double)(scenario_now() - r->start) / 1e9);
	for (unsigned i = 0; i < r->n_checks; i++)
		put_case(f, r, &r->check[i]);
	fputs("</testsuite>\n", f);
	return close_report(f, file);
}
