/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that explain, report and ladder agree about a capture. */
#include "model_views.h"

#include "emu/model/ladder/ladders.h"
#include "emu/model/page/page.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX 12 /* failures that the page has a sentence for */

struct views {
	const struct model *s;
	const char *name;
	FILE *complaints;
	char *explained, *page; /* with single spaces */
	struct ladder ladder;
	int wrong;
};

__attribute__((format(printf, 2, 3))) static void complain(struct views *v, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(v->complaints, "%s: ", v->name);
	vfprintf(v->complaints, format, ap);
	fputc('\n', v->complaints);
	va_end(ap);
	v->wrong++;
}

/* White space becomes one space, and characters that HTML writes by number become themselves. */
static void flatten(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		char *end = NULL;
		long code = p[0] == '&' && p[1] == '#' ? strtol(p + 2, &end, 10) : 0;

		if (end && *end == ';') {
			*to++ = (char)code;
			p = end;
		} else if (!isspace((unsigned char)*p)) {
			*to++ = *p;
		} else if (to > text && to[-1] != ' ') {
			*to++ = ' ';
		}
	}
	*to = '\0';
}

static char *explained(const struct model *s)
{
	const struct explain_options o = {.has_qp = false};
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	model_explain(f, s, &o);
	fclose(f);
	if (text)
		flatten(text);
	return text;
}

static char *page_of(const struct model *s)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	model_page(f, s, "views");
	fclose(f);
	if (text)
		flatten(text);
	return text;
}

static char *sentence_of(const struct model *s, const struct model_record *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	model_explain_shortly(f, s, r);
	fclose(f);
	return text;
}

/* ---- of completions ---- */

static bool failed(const struct model_record *r)
{
	const char *status = model_word(r, "status");

	return r->kind == MODEL_COMPLETION && r->qp != MODEL_NONE && status &&
	       strcmp(status, "SUCCESS") != 0 && strcmp(status, "WR_FLUSH_ERR") != 0;
}

static const struct ladder_row *row_of(const struct views *v, uint32_t record)
{
	for (uint32_t i = 0; i < v->ladder.n_rows; i++)
		if (v->ladder.row[i].record == record)
			return &v->ladder.row[i];
	return NULL;
}

/* Without its first letter, which begins a sentence in one view and not in another. */
static void expect_why(struct views *v, const char *where, const char *text, const char *why)
{
	if (!text || !strstr(text, why + 1))
		complain(v, "%s does not say: %s", where, why);
}

/* An answer to the sender reached its device while the request was open. */
static bool was_answered(const struct model *s, const struct model_record *r)
{
	const struct model_message *m = &s->message[r->message];

	for (uint32_t i = m->first_arrow; i < s->n_arrows && s->arrow[i].sent <= r->ns; i++)
		if (s->arrow[i].answer && s->arrow[i].to == m->from && s->arrow[i].in != MODEL_NONE)
			return true;
	return false;
}

static void check_completion(struct views *v, uint32_t index, unsigned n)
{
	const struct model_record *r = &v->s->record[index];
	const struct ladder_row *row = row_of(v, index);
	char *sentence = sentence_of(v->s, r);
	char why[MODEL_WHY_MAX];

	if (model_why(v->s, r, why, sizeof(why))[0]) {
		expect_why(v, "the sentence", sentence, why);
		if (n < EXPLAIN_MAX)
			expect_why(v, "explain", v->explained, why);
		if (n < PAGE_MAX)
			expect_why(v, "the page", v->page, why);
		if (row)
			expect_why(v, "the ladder", row->note, why);
	}
	if (sentence && strstr(sentence, "nothing came back") && r->message != MODEL_NONE &&
	    !model_is_receive(r) && was_answered(v->s, r))
		complain(v, "'nothing came back', and an answer did: %s", sentence);
	free(sentence);
}

/* ---- of packets ---- */

static void check_arrows(struct views *v)
{
	const struct model *s = v->s;
	uint32_t odd = 0, unknown = 0;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];
		char words[MODEL_CAUSE_MAX], note[sizeof(v->ladder.row->note)];

		odd += a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN;
		odd += model_arrow_judged(s, a) != NULL;
		unknown += a->fate == MODEL_SEEN;
		model_arrow_words(s, a, words, sizeof(words));
		ladder_arrow_note(s, a, note, sizeof(note));
		if (words[0] && !strstr(note, words))
			complain(v, "the ladder's note '%s' is not '%s'", note, words);
		if (a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN && !words[0])
			complain(v, "a packet did not get through, and no view says why");
	}
	if (strstr(v->page, "All packets arrived") && odd + unknown > 0)
		complain(v, "the page says that all packets arrived: %u did not, %u nobody saw",
			 odd, unknown);
}

/* What no view may say. */
static void check_words(struct views *v)
{
	static const char *const never[] = {"No completion is told", " touched ",
					    "the receiver took", "(null)", "-nan"};

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (strstr(v->explained, never[i]))
			complain(v, "explain says '%s'", never[i]);
	if (v->s->recorder && strstr(v->explained, "Nothing was completed"))
		complain(v, "a recorder has no completions with success, and explain says that "
			    "there was none");
}

static void check_all(struct views *v)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < v->s->n_records; i++)
		if (failed(&v->s->record[i]))
			check_completion(v, i, n++);
	check_arrows(v);
	check_words(v);
}

int model_views_check(const struct model *s, const char *name, FILE *complaints)
{
	const struct ladder_options o = {.all = true};
	struct views v = {.s = s,
			  .name = name,
			  .complaints = complaints,
			  .explained = explained(s),
			  .page = page_of(s)};
	int rc = ladder_make(&v.ladder, s, &o);

	if (rc == 0 && v.explained && v.page)
		check_all(&v);
	ladder_free(&v.ladder);
	free(v.explained);
	free(v.page);
	return rc < 0 ? rc : v.wrong;
}
