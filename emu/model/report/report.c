/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See report.h. The page is report_page.html, in which lines of one @WORD@ stand for a part that is
 * made here; the build turns it, the style and the script into lines of C.
 */
#include "report.h"

#include "emu/model/ladder/ladders.h"
#include "report_data.h"
#include "report_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SENTENCES_MAX   12
#define STATIC_ROWS_MAX 1000u

struct page {
	FILE *out;
	const struct model *s;
	const char *name;
};

/* A text that something prints, kept in memory. */
struct kept {
	FILE *file;
	char *text; /* owned */
	size_t size;
};

static int keep(struct kept *k)
{
	*k = (struct kept){.file = NULL};
	k->file = open_memstream(&k->text, &k->size);
	return k->file ? 0 : -ENOMEM;
}

/* The text is complete afterwards, or there was no memory for it. */
static int kept(struct kept *k)
{
	return fclose(k->file) == 0 && k->text ? 0 : -ENOMEM;
}

/* ---- what it is about, in words ---- */

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void put_hosts(const struct page *p)
{
	for (uint32_t i = 0; i < p->s->n_hosts; i++) {
		fputs(i == 0 ? " of " : i + 1 < p->s->n_hosts ? ", " : " and ", p->out);
		if (i == 6 && p->s->n_hosts > 7) {
			fprintf(p->out, "%" PRIu32 " others", p->s->n_hosts - i);
			return;
		}
		markup_text(p->out, p->s->host[i].name);
	}
}

static int put_contents(const struct page *p)
{
	const struct model *s = p->s;
	time_t seconds = (time_t)(s->began / 1000000000u);
	char when[64];
	struct tm tm;

	fprintf(p->out, "<p class=\"what\">%" PRIu32 " packet%s between %" PRIu32 " queue pair%s",
		s->n_arrows, plural(s->n_arrows), s->n_qps, plural(s->n_qps));
	put_hosts(p);
	fprintf(p->out, ", %" PRIu32 " record%s of the devices, in %.3f ms", s->n_records,
		plural(s->n_records), (double)(s->ended - s->began) / 1e6);
	if (s->began && gmtime_r(&seconds, &tm) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
		fprintf(p->out, " from %s on", when);
	fputs(".</p>\n", p->out);
	if (s->cut)
		fprintf(p->out,
			"<p class=\"bad\">%zu frames are truncated: the capture has less than "
			"their headers.</p>\n",
			s->cut);
	if (s->others)
		fprintf(p->out, "<p>%zu frames without RoCEv2 are left out.</p>\n", s->others);
	if (s->n_arrows > REPORT_MAX || s->n_records > REPORT_MAX)
		fprintf(p->out,
			"<p class=\"bad\">The capture is large: only its first %u packets and "
			"records are drawn.</p>\n",
			REPORT_MAX);
	if (s->error[0]) {
		fputs("<p class=\"bad\">The capture is broken: ", p->out);
		markup_text(p->out, s->error);
		fputs("</p>\n", p->out);
	}
	return 0;
}

/* ---- what went wrong ---- */

static bool failed(const struct model_record *r)
{
	const char *status = model_word(r, "status");

	return r->kind == MODEL_COMPLETION && status && strcmp(status, "SUCCESS") != 0;
}

/* One sentence for each that failed; those that were flushed for it come in one. */
static int put_failures(const struct page *p, bool flushed, unsigned *told, unsigned *more)
{
	for (uint32_t i = 0; i < p->s->n_records; i++) {
		const struct model_record *r = &p->s->record[i];
		struct kept k;

		if (!failed(r) || (strcmp(model_word(r, "status"), "WR_FLUSH_ERR") == 0) != flushed)
			continue;
		if (*told == SENTENCES_MAX || (flushed && *told > 0)) {
			++*more;
			continue;
		}
		++*told;
		if (keep(&k) < 0)
			return -ENOMEM;
		model_explain_shortly(k.file, p->s, r);
		if (kept(&k) < 0)
			return -ENOMEM;
		fputs("<li class=\"bad\">", p->out);
		markup_text(p->out, k.text);
		fputs("</li>\n", p->out);
		free(k.text);
	}
	return 0;
}

/* The rules that touched packets, as the first of each names it. */
static void put_rules(const struct page *p, uint32_t packets)
{
	uint32_t seen[8];
	unsigned n = 0;

	fprintf(p->out, "<li>Fault rules touched or made %" PRIu32 " packet%s", packets,
		plural(packets));
	for (uint32_t i = 0; i < p->s->n_arrows && n < sizeof(seen) / sizeof(seen[0]); i++) {
		const char *text;
		uint32_t rule = model_arrow_rule(p->s, &p->s->arrow[i], &text);
		unsigned k = 0;

		while (k < n && seen[k] != rule)
			k++;
		if (rule == 0 || k < n)
			continue;
		seen[n++] = rule;
		fprintf(p->out, "%s rule %" PRIu32 " (<code>", n == 1 ? ":" : ",", rule);
		markup_text(p->out, text ? text : "its text is not known");
		fputs("</code>)", p->out);
	}
	fputs(".</li>\n", p->out);
}

/* What happened on the way, whether or not something failed for it. */
static void put_trouble(const struct page *p)
{
	const struct model *s = p->s;
	uint32_t lost = 0, refused = 0, judged = 0, again = 0, ruled = 0, unknown = 0;
	const char *text;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];

		lost += a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING;
		refused += a->fate == MODEL_REFUSED;
		judged += a->fate == MODEL_ARRIVED && model_arrow_judged(s, a);
		unknown += a->fate == MODEL_SEEN;
		again += a->tries > 0 && !a->copy;
		ruled += model_arrow_rule(s, a, &text) != 0 || model_arrow_packet(s, a)->made;
	}
	if (lost)
		fprintf(p->out, "<li>%" PRIu32 " packet%s lost on the way.</li>\n", lost,
			lost == 1 ? " was" : "s were");
	if (refused)
		fprintf(p->out,
			"<li>%" PRIu32 " packet%s arrived and the receiver dropped %s.</li>\n",
			refused, plural(refused), refused == 1 ? "it" : "them");
	if (judged)
		fprintf(p->out,
			"<li>%" PRIu32 " packet%s arrived and %s not executed: refused, or taken "
			"for a duplicate.</li>\n",
			judged, plural(judged), judged == 1 ? "was" : "were");
	if (again)
		fprintf(p->out, "<li>%" PRIu32 " packet%s sent again.</li>\n", again,
			again == 1 ? " was" : "s were");
	if (ruled)
		put_rules(p, ruled);
	if (lost + refused + judged + again + ruled == 0 && s->n_arrows)
		fputs(unknown ? "<li>Each packet was sent once; the capture does not show its "
				"arrival.</li>\n"
			      : "<li>All packets arrived, each sent once.</li>\n",
		      p->out);
	else if (unknown)
		fprintf(p->out, "<li>The arrival of %" PRIu32 " packet%s is unknown.</li>\n",
			unknown, plural(unknown));
}

static int put_outcome(const struct page *p)
{
	unsigned told = 0, more = 0, flushed = 0, completions = 0;

	for (uint32_t i = 0; i < p->s->n_records; i++)
		completions += p->s->record[i].kind == MODEL_COMPLETION;
	fputs("<ul class=\"outcome\">\n", p->out);
	if (put_failures(p, false, &told, &more) < 0 || put_failures(p, true, &told, &flushed) < 0)
		return -ENOMEM;
	if (more)
		fprintf(p->out, "<li class=\"bad\">%u more completions have an error.</li>\n",
			more);
	if (flushed)
		fprintf(p->out,
			"<li>%u more request%s flushed for it (WR_FLUSH_ERR): not started, and not "
			"the cause.</li>\n",
			flushed, flushed == 1 ? " was" : "s were");
	if (told == 0 && completions)
		fprintf(p->out,
			"<li class=\"good\">Nothing failed: %u completion%s, all with "
			"success.</li>\n",
			completions, plural(completions));
	put_trouble(p);
	fputs("</ul>\n", p->out);
	return 0;
}

/* ---- the parts of the page ---- */

static int put_title(const struct page *p)
{
	markup_text(p->out, p->name);
	fputc('\n', p->out);
	return 0;
}

static int put_explanation(const struct page *p)
{
	const struct explain_options o = {.has_qp = false};
	struct kept k;

	if (keep(&k) < 0)
		return -ENOMEM;
	model_explain(k.file, p->s, &o);
	if (kept(&k) < 0)
		return -ENOMEM;
	markup_text(p->out, k.text);
	free(k.text);
	return 0;
}

/* Rows that refer to one that is cut off stand for themselves. */
static void cut(struct ladder *l)
{
	if (l->n_rows > STATIC_ROWS_MAX)
		l->n_rows = STATIC_ROWS_MAX;
	for (uint32_t i = 0; i < l->n_rows; i++)
		if (l->row[i].other >= l->n_rows)
			l->row[i].other = MODEL_NONE;
}

/* The name space is for files that are SVG alone; in HTML it only looks like an address. */
static void put_svg(FILE *out, const char *svg)
{
	static const char space[] = " xmlns='http://www.w3.org/2000/svg'";
	const char *at = strstr(svg, space);

	if (at)
		fwrite(svg, 1, (size_t)(at - svg), out);
	fputs(at ? at + sizeof(space) - 1 : svg, out);
}

static int put_ladder(const struct page *p)
{
	struct ladder_options o = {.has_qp = false};
	struct ladder l;
	struct kept k;
	int rc;

	if (p->s->n_moments > 2 * STATIC_ROWS_MAX)
		o.to = p->s->moment[2 * STATIC_ROWS_MAX].ns - p->s->began + 1;
	rc = ladder_make(&l, p->s, &o);
	if (rc == 0)
		rc = keep(&k);
	if (rc == 0) {
		cut(&l);
		ladder_print_svg(k.file, &l, NULL);
		rc = kept(&k);
		if (rc == 0)
			put_svg(p->out, k.text);
		free(k.text);
	}
	ladder_free(&l);
	return rc;
}

static void put_lines(FILE *out, const char *const *line)
{
	for (; *line; line++)
		fputs(*line, out);
}

static int put_style(const struct page *p)
{
	put_lines(p->out, report_css);
	return 0;
}

static int put_script(const struct page *p)
{
	put_lines(p->out, report_js);
	return 0;
}

static int put_data(const struct page *p)
{
	report_data(p->out, p->s, REPORT_MAX);
	return 0;
}

static const struct {
	const char *line;
	int (*put)(const struct page *p);
} parts[] = {
	{"@TITLE@\n", put_title},     {"@CONTENTS@\n", put_contents},
	{"@OUTCOME@\n", put_outcome}, {"@EXPLANATION@\n", put_explanation},
	{"@LADDER@\n", put_ladder},   {"@STYLE@\n", put_style},
	{"@SCRIPT@\n", put_script},   {"@DATA@\n", put_data},
};

static int put_line(const struct page *p, const char *line)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(line, parts[i].line) == 0)
			return parts[i].put(p);
	fputs(line, p->out);
	return 0;
}

int model_report(FILE *out, const struct model *s, const char *name)
{
	const struct page p = {.out = out, .s = s, .name = name};
	int rc = 0;

	for (const char *const *line = report_html; *line && rc == 0; line++)
		rc = put_line(&p, *line);
	return rc;
}

int model_report_json(FILE *out, const struct model *s)
{
	report_data(out, s, UINT32_MAX);
	return 0;
}
