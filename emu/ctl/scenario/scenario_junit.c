/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verdict of scenarios as JUnit's XML: a suite for each scenario with what its programs wrote,
 * a case for each check with the time that it took, and the reason and place of what failed.
 */
#include "emu/ctl/lib/lib.h"
#include "scenario_report.h"

#include <errno.h>
#include <string.h>

static void open_case(FILE *f, const struct scenario_run *r, const struct scenario_check *c)
{
	ctl_xml_print(f, "  <testcase classname=\"%s\" name=\"%s\" file=\"%s", scenario_title(r),
		      c->text, r->file);
	if (c->line)
		fprintf(f, "\" line=\"%u", c->line);
	fprintf(f, "\" time=\"%.3f\"", c->seconds);
}

static void put_case(FILE *f, const struct scenario_run *r, const struct scenario_check *c)
{
	open_case(f, r, c);
	if (c->passed) {
		fputs("/>\n", f);
		return;
	}
	ctl_xml_print(f, ">\n    <failure message=\"%s\">%s", scenario_why(c), r->file);
	fprintf(f, c->line ? ":%u: " : ": ", c->line);
	ctl_xml_print(f, "%s: %s</failure>\n  </testcase>\n", c->text, scenario_why(c));
}

static void put_stop(FILE *f, const struct scenario_run *r)
{
	const struct scenario_check c = {.line = r->failed_line, .text = SCENARIO_CARRIED_OUT};

	open_case(f, r, &c);
	ctl_xml_print(f, ">\n    <error message=\"%s\"/>\n  </testcase>\n", r->failure);
}

static void put_output(FILE *f, const struct scenario_run *r)
{
	fputs("  <system-out>", f);
	for (unsigned i = 0; i < r->n_processes; i++) {
		const struct scenario_process *p = &r->process[i];

		fprintf(f, "--- %s: status %d, %.3f s ---\n", p->name, p->status, p->seconds);
		ctl_xml_put(f, p->said ? p->said : "");
		if (p->said && *p->said && p->said[strlen(p->said) - 1] != '\n')
			fputc('\n', f);
	}
	fputs("</system-out>\n", f);
}

static void put_suite(FILE *f, const struct scenario_run *r)
{
	ctl_xml_print(f, "<testsuite name=\"%s", scenario_title(r));
	fprintf(f, "\" tests=\"%u\" failures=\"%u\" errors=\"%d\" time=\"%.3f\">\n",
		r->n_checks + scenario_was_stopped(r), scenario_failures(r),
		scenario_was_stopped(r), r->seconds);
	for (unsigned i = 0; i < r->n_checks; i++)
		put_case(f, r, &r->check[i]);
	if (scenario_was_stopped(r))
		put_stop(f, r);
	if (r->n_processes > 0)
		put_output(f, r);
	fputs("</testsuite>\n", f);
}

int scenario_write_junit(struct scenario_run *const *runs, unsigned n, const char *file)
{
	FILE *f = scenario_open_report(file);

	if (!f)
		return -EIO;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
	if (n > 1)
		fputs("<testsuites>\n", f);
	for (unsigned i = 0; i < n; i++)
		put_suite(f, runs[i]);
	if (n > 1)
		fputs("</testsuites>\n", f);
	return scenario_close_report(f, file);
}
