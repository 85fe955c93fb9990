/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of a sweep as one page of HTML that needs no other file and no script. */
#include "emu/ctl/lib/lib.h"
#include "sweep_report.h"

#include <errno.h>
#include <stdlib.h>

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<title>uhca sweep</title>\n"
	"<style>body{font:15px sans-serif;margin:2em;max-width:70em}\n"
	"table{border-collapse:collapse}\n"
	"td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left;vertical-align:top}\n"
	"pre{background:#f5f5f5;padding:.6em;overflow:auto}\n"
	".found{background:#fdd}.missed{color:#777}</style></head><body>\n";

/* What was written, and in which runs. */
static void put_runs(FILE *f, const char *text, const struct sweep_item *const *run, unsigned n)
{
	char name[SWEEP_NAME_MAX], words[256];

	if (*text)
		ctl_xml_print(f, "<pre>%s</pre>\n", text);
	fputs("<ul>\n", f);
	for (unsigned i = 0; i < n; i++) {
		sweep_item_name(run[i], name);
		sweep_item_words(run[i], words, sizeof(words));
		ctl_xml_print(f, "<li><code>%s</code> %s</li>\n", name, words);
	}
	fputs("</ul>\n", f);
}

static void put_group(FILE *f, const struct sweep_group *g)
{
	ctl_xml_print(f, "<h3>%s%s: %s</h3>\n", g->known ? "known " : "",
		      sweep_diagnostic_name(g->diagnostic->of), g->diagnostic->what);
	put_runs(f, g->diagnostic->stack, g->run, g->n);
}

static void put_words(FILE *f, const struct sweep_words *w)
{
	fprintf(f, "<h3>%s at %u different faults</h3>\n", *w->said ? "The same words" : "No words",
		w->n);
	put_runs(f, w->said, w->run, w->n);
}

static void put_row(FILE *f, const struct sweep_result *r)
{
	const char *what = r->n > 0    ? sweep_diagnostic_name(r->diagnostic[0].of)
			   : !r->fired ? "the fault never came"
			   : r->status ? "error"
			   : r->again  ? "did it again"
				       : "went on";
	char name[SWEEP_NAME_MAX];

	sweep_item_name(&r->item, name);
	ctl_xml_print(f, "<tr class=\"%s\"><td><code>%s</code></td>",
		      r->n > 0   ? "found"
		      : r->fired ? ""
				 : "missed",
		      name);
	fprintf(f, "<td>%d</td><td>%.2f</td>", r->status, r->seconds);
	ctl_xml_print(f, "<td>%s</td><td>%s</td></tr>\n", what, r->said ? r->said : "");
}

static void put_summary(FILE *f, const struct sweep_report *r)
{
	const struct sweep_tally t = sweep_report_tally(r);
	char *command = NULL;
	size_t size;
	FILE *text = open_memstream(&command, &size);

	if (text) {
		sweep_report_command(text, r->command);
		fclose(text);
	}
	ctl_xml_print(f, "<h1>Sweep</h1>\n<p><code>%s", command ? command : "");
	free(command);
	fprintf(f,
		"</code></p>\n<p>%u of %u runs in %.1f s: %u ended with an error, %u went on "
		"well, in %u the fault never came, %u found something.%s</p>\n",
		r->n, r->plan->n, r->seconds, t.failed, t.recovered, t.missed, t.found,
		r->interrupted ? " The sweep was interrupted." : "");
}

int sweep_report_html(const struct sweep_report *r, const char *file)
{
	FILE *f = ctl_file_open("uhca-run", file);

	if (!f)
		return -EIO;
	fputs(head, f);
	put_summary(f, r);
	fprintf(f, "<h2>Findings: %u</h2>\n", r->groups->unknown);
	for (unsigned i = 0; i < r->groups->n; i++)
		put_group(f, &r->groups->at[i]);
	fputs("<h2>Words that do not tell faults apart</h2>\n", f);
	for (unsigned i = 0; i < r->groups->n_words; i++)
		put_words(f, &r->groups->words[i]);
	fputs("<h2>Runs</h2>\n<table><tr><th>run</th><th>status</th><th>seconds</th><th>"
	      "outcome</th><th>what it wrote</th></tr>\n",
	      f);
	for (unsigned i = 0; i < r->n; i++)
		put_row(f, &r->result[i]);
	fputs("</table></body></html>\n", f);
	return ctl_file_close("uhca-run", file, f) ? 0 : -EIO;
}
