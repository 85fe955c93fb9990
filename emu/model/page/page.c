/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page in one file (page.h). It is web/page.html, in which lines of one @WORD@ stand for a part
 * that is made here; the build turns it, the style and the script into lines of C.
 */
#include "page.h"

#include "emu/model/ladder/ladders.h"
#include "emu/words/words.h"
#include "page_bundle.h"
#include "page_data.h"
#include "page_outcome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
		s->n_arrows, words_plural(s->n_arrows), s->n_qps, words_plural(s->n_qps));
	put_hosts(p);
	fprintf(p->out, ", %" PRIu32 " record%s of the devices, in %.3f ms", s->n_records,
		words_plural(s->n_records), (double)(s->ended - s->began) / 1e6);
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
	if (s->n_arrows > MODEL_PAGE_MAX || s->n_records > MODEL_PAGE_MAX)
		fprintf(p->out,
			"<p class=\"bad\">The capture is large: only its first %u packets and "
			"records are drawn.</p>\n",
			MODEL_PAGE_MAX);
	if (s->error[0]) {
		fputs("<p class=\"bad\">The capture is broken: ", p->out);
		markup_text(p->out, s->error);
		fputs("</p>\n", p->out);
	}
	return 0;
}

/* ---- what came of it ---- */

static void put_sentence(void *page, enum page_mood mood, const char *text)
{
	static const char *const look[] = {" class=\"bad\"", " class=\"good\"", ""};
	const struct page *p = page;

	fprintf(p->out, "<li%s>", look[mood]);
	markup_text(p->out, text);
	fputs("</li>\n", p->out);
}

static int put_outcome(const struct page *p)
{
	struct page copy = *p;
	int rc;

	fputs("<ul class=\"outcome\">\n", p->out);
	rc = page_outcome(p->s, put_sentence, &copy);
	fputs("</ul>\n", p->out);
	return rc;
}

/* ---- the parts of the page ---- */

static int put_title(const struct page *p)
{
	markup_text(p->out, p->name);
	fputc('\n', p->out);
	return 0;
}

static int put_explained(const struct page *p, void (*put)(FILE *out, const char *text))
{
	const struct explain_options o = {.has_qp = false};
	struct kept k;

	if (keep(&k) < 0)
		return -ENOMEM;
	model_explain(k.file, p->s, &o);
	if (kept(&k) < 0)
		return -ENOMEM;
	put(p->out, k.text);
	free(k.text);
	return 0;
}

static int put_explanation(const struct page *p)
{
	return put_explained(p, markup_text);
}

static int put_explanation_json(const struct page *p)
{
	return put_explained(p, markup_json);
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
	put_lines(p->out, page_css);
	return 0;
}

static int put_script(const struct page *p)
{
	put_lines(p->out, page_js);
	return 0;
}

static int put_data(const struct page *p)
{
	page_data(p->out, p->s, MODEL_PAGE_MAX);
	return 0;
}

static int put_columns(const struct page *p)
{
	page_data_columns(p->out, p->s, MODEL_PAGE_MAX);
	return 0;
}

/* Of all scripts only the page's own runs, and it may ask for nothing. */
static int put_policy(const struct page *p)
{
	fprintf(p->out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
		"form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; "
		"script-src 'sha256-%s'\">\n",
		page_js_sha256);
	return 0;
}

static const struct {
	const char *line;
	int (*put)(const struct page *p);
} parts[] = {
	{"@TITLE@\n", put_title},
	{"@CONTENTS@\n", put_contents},
	{"@OUTCOME@\n", put_outcome},
	{"@EXPLANATION@\n", put_explanation},
	{"@LADDER@\n", put_ladder},
	{"@STYLE@\n", put_style},
	{"@SCRIPT@\n", put_script},
	{"@DATA@\n", put_data},
	{"@COLUMNS@\n", put_columns},
	{"@POLICY@\n", put_policy},
	{"@EXPLANATION_JSON@\n", put_explanation_json},
};

static int put_line(const struct page *p, const char *line)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(line, parts[i].line) == 0)
			return parts[i].put(p);
	fputs(line, p->out);
	return 0;
}

int model_page(FILE *out, const struct model *s, const char *name)
{
	const struct page p = {.out = out, .s = s, .name = name};
	int rc = 0;

	for (const char *const *line = page_html; *line && rc == 0; line++)
		rc = put_line(&p, *line);
	return rc;
}

int model_page_json(FILE *out, const struct model *s)
{
	page_data(out, s, UINT32_MAX);
	return 0;
}
