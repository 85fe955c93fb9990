/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the sentences that stand above a page (page_outcome.h). */
#include "page_outcome.h"

#include "emu/model/ladder/ladders.h"
#include "emu/words/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define SENTENCES_MAX 12
#define RULES_MAX     8

struct outcome {
	const struct model *s;
	page_sentence *say;
	void *arg;
};

__attribute__((format(printf, 3, 4))) static void
add_sentence(const struct outcome *o, enum page_mood mood, const char *format, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	o->say(o->arg, mood, text);
}

/* ---- what failed ---- */

static int add_completion(const struct outcome *o, const struct model_record *r)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	model_explain_shortly(f, o->s, r);
	if (fclose(f) != 0 || !text)
		return -ENOMEM;
	o->say(o->arg, PAGE_BAD, text);
	free(text);
	return 0;
}

/* One sentence for each that failed; those that were flushed for it come in one. */
static int add_failures(const struct outcome *o, bool flushed, unsigned *named, unsigned *more)
{
	for (uint32_t i = 0; i < o->s->n_records; i++) {
		const struct model_record *r = &o->s->record[i];

		if (!model_is_failure(r) || model_word_is(r, "status", "WR_FLUSH_ERR") != flushed)
			continue;
		if (*named == SENTENCES_MAX || (flushed && *named > 0)) {
			++*more;
			continue;
		}
		++*named;
		if (add_completion(o, r) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_completions(const struct outcome *o)
{
	unsigned named = 0, more = 0, flushed = 0, completions = 0;

	for (uint32_t i = 0; i < o->s->n_records; i++)
		completions += o->s->record[i].kind == MODEL_COMPLETION;
	if (add_failures(o, false, &named, &more) < 0 ||
	    add_failures(o, true, &named, &flushed) < 0)
		return -ENOMEM;
	if (more)
		add_sentence(o, PAGE_BAD, "%u more completions have an error.", more);
	if (flushed)
		add_sentence(
			o, PAGE_BAD,
			"%u more request%s flushed for it (WR_FLUSH_ERR): not started, and not the "
			"cause.",
			flushed, flushed == 1 ? " was" : "s were");
	if (named == 0 && completions)
		add_sentence(o, PAGE_GOOD, "Nothing failed: %u completion%s, all with success.",
			     completions, words_plural(completions));
	return 0;
}

/* ---- what happened on the way, whether or not something failed for it ---- */

/* The rules that touched packets, as the first of each names it. */
static void add_rules(const struct outcome *o, uint32_t packets)
{
	const struct model *s = o->s;
	uint32_t seen[RULES_MAX];
	char list[RULES_MAX * 160] = "";
	unsigned n = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < s->n_arrows && n < RULES_MAX; i++) {
		const char *text;
		uint32_t rule = model_arrow_rule(s, &s->arrow[i], &text);
		unsigned k = 0;

		while (k < n && seen[k] != rule)
			k++;
		if (rule == 0 || k < n)
			continue;
		seen[n++] = rule;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s rule %" PRIu32 " (%.120s)",
				       n == 1 ? ":" : ",", rule,
				       text ? text : "its text is not known");
	}
	add_sentence(o, PAGE_PLAIN, "Fault rules touched or made %" PRIu32 " packet%s%s.", packets,
		     words_plural(packets), list);
}

struct trouble {
	uint32_t lost, refused, judged, again, ruled, unknown;
};

static struct trouble count_trouble(const struct model *s)
{
	struct trouble t = {.lost = 0};
	const char *text;

	for (uint32_t i = 0; i < s->n_arrows; i++) {
		const struct model_arrow *a = &s->arrow[i];

		t.lost += a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING;
		t.refused += a->fate == MODEL_REFUSED;
		t.judged += a->fate == MODEL_ARRIVED && model_arrow_judged(s, a);
		t.unknown += a->fate == MODEL_SEEN;
		t.again += a->tries > 0 && !a->copy;
		t.ruled += model_arrow_rule(s, a, &text) != 0 || model_arrow_packet(s, a)->made;
	}
	return t;
}

static void add_trouble(const struct outcome *o)
{
	const struct trouble t = count_trouble(o->s);

	if (t.lost)
		add_sentence(o, PAGE_PLAIN, "%" PRIu32 " packet%s lost on the way.", t.lost,
			     t.lost == 1 ? " was" : "s were");
	if (t.refused)
		add_sentence(o, PAGE_PLAIN,
			     "%" PRIu32 " packet%s arrived and the receiver dropped %s.", t.refused,
			     words_plural(t.refused), t.refused == 1 ? "it" : "them");
	if (t.judged)
		add_sentence(o, PAGE_PLAIN,
			     "%" PRIu32
			     " packet%s arrived and %s not executed: refused, or taken for a "
			     "duplicate.",
			     t.judged, words_plural(t.judged), t.judged == 1 ? "was" : "were");
	if (t.again)
		add_sentence(o, PAGE_PLAIN, "%" PRIu32 " packet%s sent again.", t.again,
			     t.again == 1 ? " was" : "s were");
	if (t.ruled)
		add_rules(o, t.ruled);
	if (t.lost + t.refused + t.judged + t.again + t.ruled == 0 && o->s->n_arrows)
		add_sentence(o, PAGE_PLAIN, "%s",
			     t.unknown ? "Each packet was sent once; the capture does not show "
					 "its arrival."
				       : "All packets arrived, each sent once.");
	else if (t.unknown)
		add_sentence(o, PAGE_PLAIN, "The arrival of %" PRIu32 " packet%s is unknown.",
			     t.unknown, words_plural(t.unknown));
}

int page_outcome(const struct model *s, page_sentence *say, void *arg)
{
	const struct outcome o = {s, say, arg};
	int rc = add_completions(&o);

	add_trouble(&o);
	return rc;
}
