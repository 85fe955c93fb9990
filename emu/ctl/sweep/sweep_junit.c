/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of a sweep as JUnit's XML: a suite, and a case for each run. */
#include "emu/ctl/lib/lib.h"
#include "sweep_report.h"

#include <errno.h>
#include <string.h>

/* The finding of the run that nobody accepts; NULL: none. */
static const struct sweep_diagnostic *failure_of(const struct sweep_report *r,
						 const struct sweep_result *one)
{
	for (unsigned i = 0; i < r->groups->n; i++)
		for (unsigned k = 0; !r->groups->at[i].known && k < r->groups->at[i].n; k++)
			if (r->groups->at[i].run[k] == &one->item)
				return r->groups->at[i].diagnostic;
	return NULL;
}

static void put_failure(FILE *f, const struct sweep_diagnostic *diagnostic)
{
	ctl_xml_print(f, ">\n    <failure type=\"%s\" message=\"%s\">%s</failure>\n  </testcase>\n",
		      sweep_diagnostic_name(diagnostic->of), diagnostic->what, diagnostic->stack);
}

static void put_case(FILE *f, const struct sweep_report *r, const struct sweep_result *one)
{
	const struct sweep_diagnostic *failure = failure_of(r, one);
	char name[SWEEP_NAME_MAX];

	sweep_item_name(&one->item, name);
	fprintf(f, "  <testcase classname=\"sweep.%s\" name=\"%s\" time=\"%.3f\"",
		sweep_kind_name(one->item.kind), name, one->seconds);
	if (failure)
		put_failure(f, failure);
	else if (!one->fired)
		fputs("><skipped message=\"the fault never came\"/></testcase>\n", f);
	else
		fputs("/>\n", f);
}

static unsigned failures(const struct sweep_report *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++)
		n += failure_of(r, &r->result[i]) != NULL;
	return n;
}

int sweep_report_junit(const struct sweep_report *r, const char *file)
{
	FILE *f = ctl_file_open("uhca-run", file);

	if (!f)
		return -EIO;
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"sweep\" "
		"tests=\"%u\" failures=\"%u\" skipped=\"%u\" time=\"%.3f\">\n",
		r->n, failures(r), sweep_report_tally(r).missed, r->seconds);
	for (unsigned i = 0; i < r->n; i++)
		put_case(f, r, &r->result[i]);
	fputs("</testsuite>\n", f);
	return ctl_file_close("uhca-run", file, f) ? 0 : -EIO;
}
