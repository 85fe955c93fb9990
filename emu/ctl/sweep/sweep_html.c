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

static void put_item(FILE *f, const struct sweep_item *item)
{
	char name[SWEEP_NAME_MAX], words[256];

	sweep_item_name(item, name);
	sweep_item_words(item, words, sizeof(words));
	fputs("<li><code>", f);
	ctl_xml_put(f, name);
	fputs("</code> ", f);
	ctl_xml_put(f, words);
	fputs("</li>\n", f);
}

static void put_group(FILE *f, const struct sweep_group *g)
{
	fprintf(f, "<h3>%s%s: ", g->known ? "known " : "", sweep_finding_name(g->finding->of));
	ctl_xml_put(f, g->finding->what);
	fputs("</h3>\n", f);
	if (*g->finding->stack) {
		fputs("<pre>", f);
		ctl_xml_put(f, g->finding->stack);
		fputs("</pre>\n", f);
	}
	fputs("<ul>\n", f);
	for (unsigned i = 0; i < g->n; i++)
		put_item(f, g->run[i]);
	fputs("</ul>\n", f);
}

static void put_words(FILE *f, const struct sweep_words *w)
{
	fprintf(f, "<h3>%s at %u different faults</h3>\n", *w->said ? "The same words" : "No words",
		w->n);
	if (*w->said) {
		fputs("<pre>", f);
		ctl_xml_put(f, w->said);
		fputs("</pre>\n", f);
	}
	fputs("<ul>\n", f);
	for (unsigned i = 0; i < w->n; i++)
		put_item(f, w->run[i]);
	fputs("</ul>\n", f);
}

static void put_row(FILE *f, const struct sweep_result *r)
{
	const char *what = r->n > 0    ? sweep_finding_name(r->finding[0].of)
			   : !r->fired ? "the fault never came"
			   : r->status ? "error"
			   : r->again  ? "did it again"
				       : "went on";
	char name[SWEEP_NAME_MAX];

	sweep_item_name(&r->item, name);
	fprintf(f, "<tr class=\"%s\"><td><code>", r->n > 0 ? "found" : r->fired ? "" : "missed");
	ctl_xml_put(f, name);
	fprintf(f, "</code></td><td>%d</td><td>%.2f</td><td>%s</td><td>", r->status, r->seconds,
		what);
	ctl_xml_put(f, r->said ? r->said : "");
	fputs("</td></tr>\n", f);
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
	fputs("<h1>Sweep</h1>\n<p><code>", f);
	ctl_xml_put(f, command ? command : "");
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
