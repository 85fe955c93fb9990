/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a trace to a plan that does the same. A rule that counts and nothing else is taken over as
 * it is. Of others the hits are counted: "nth" of all the subjects that the selectors let through
 * (match= of the hits), in force or not. One list does not hold all hits, so a rule may become
 * several; those behind do not see what the ones in front of them take away, and count less.
 */
#include "emu/array/array.h"
#include "emu/fault/rule/rules.h"
#include "plan_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of "nth=" that a part of a rule needs at the least, with its name and stream. */
#define PART_ROOM 96

/* One rule of the trace; a changed one is a new one behind the old. */
struct source {
	struct source *next;
	uint32_t number;
	uint64_t added; /* since the plan began */
	bool cut;       /* changed or removed: what it did is all it may do */
	struct fault_rule rule;
	struct fault_range *ranges; /* of match= */
	unsigned n, cap;
	uint64_t *times; /* of hits of the clock, since the plan began */
	unsigned n_times, cap_times;
	uint64_t *part_hits; /* hits of each part that was made of it */
	unsigned n_parts, cap_parts;
};

struct replay {
	const struct fault_replay_ops *ops;
	void *user;
	struct fault_trace_error *error;
	unsigned line;
	uint64_t start, seed;
	struct source *first;
};

/* The words of a line that are of use here. */
struct words {
	char kind[8];
	char what[12];
	char text[FAULT_TEXT_MAX];
	uint64_t time, number, match, seed;
};

static int complain(const struct replay *r, const char *text)
{
	r->error->line = r->line;
	snprintf(r->error->text, sizeof(r->error->text), "%s", text);
	return -EINVAL;
}

static void note(const struct replay *r, const struct source *s, const char *text)
{
	char line[FAULT_ERROR_MAX];

	if (!r->ops->note)
		return;
	snprintf(line, sizeof(line), "rule %" PRIu32 " %s", s->number, text);
	r->ops->note(r->user, line);
}

/* ---- lines to words ---- */

/* The value at *at, quoted or not, to out; *at moves behind it. False: too long, no end. */
static bool value(const char **at, const char *end, char *out, size_t cap)
{
	const bool quoted = *at < end && **at == '"';
	const char *p = *at + quoted;
	size_t n = 0;

	for (; p < end && (quoted ? *p != '"' : *p != ' '); p++) {
		if (quoted && *p == '\\' && p + 1 < end)
			p++;
		if (n + 1 >= cap)
			return false;
		out[n++] = *p;
	}
	out[n] = '\0';
	if (quoted && p == end)
		return false;
	*at = p + quoted;
	return true;
}

static bool number(const char *text, uint64_t *out)
{
	return fault_value_number((struct fault_piece){text, strlen(text)}, out);
}

static bool words_set(struct words *w, struct fault_piece name, const char *text)
{
	if (fault_piece_is(name, "time"))
		return number(text, &w->time);
	if (fault_piece_is(name, "number") || fault_piece_is(name, "rule"))
		return number(text, &w->number);
	if (fault_piece_is(name, "match"))
		return number(text, &w->match);
	if (fault_piece_is(name, "seed"))
		return number(text, &w->seed);
	if (fault_piece_is(name, "text"))
		memcpy(w->text, text, strlen(text) + 1);
	if (fault_piece_is(name, "what"))
		return snprintf(w->what, sizeof(w->what), "%s", text) > 0; /* cut: unknown */
	return true;
}

/* 1; 0: not a line for us; -EINVAL */
static int split(const struct replay *r, const char *at, const char *end, struct words *w)
{
	struct fault_piece rest = {at, (size_t)(end - at)};
	const struct fault_piece kind = fault_piece_cut(&rest, ' ');

	memset(w, 0, sizeof(*w));
	if (!fault_piece_copy(kind, w->kind, sizeof(w->kind)) ||
	    (strcmp(w->kind, "plan") && strcmp(w->kind, "rule") && strcmp(w->kind, "hit")))
		return 0;
	for (at = rest.at; at < end;) {
		const char *equals = memchr(at, '=', (size_t)(end - at));
		char text[FAULT_TEXT_MAX];
		struct fault_piece name;

		if (!equals)
			return complain(r, "a word without '='");
		name = (struct fault_piece){at, (size_t)(equals - at)};
		at = equals + 1;
		if (!value(&at, end, text, sizeof(text)))
			return complain(r, "a value is unterminated or too long");
		if (!words_set(w, name, text))
			return complain(r, "a number is invalid");
		while (at < end && *at == ' ')
			at++;
	}
	return 1;
}

/* ---- words to rules and their hits ---- */

/* The version of a rule that is there now. */
static struct source *current(const struct replay *r, uint64_t wanted)
{
	struct source *found = NULL;

	for (struct source *s = r->first; s; s = s->next)
		if (s->number == wanted && !s->cut)
			found = s;
	return found;
}

static int insert(struct replay *r, const struct words *w, struct source *behind)
{
	struct source **at = &r->first;
	struct source *s;
	struct fault_error e;
	char text[FAULT_ERROR_MAX];

	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->number = (uint32_t)w->number;
	s->added = w->time > r->start ? w->time - r->start : 0;
	if (fault_rule_parse(w->text, &s->rule, &e)) {
		free(s);
		snprintf(text, sizeof(text), "the rule, column %u: %.120s", e.column, e.text);
		return complain(r, text);
	}
	while (*at && (!behind || *at != behind->next))
		at = &(*at)->next;
	s->next = *at;
	*at = s;
	return 0;
}

static int take_rule(struct replay *r, const struct words *w)
{
	struct source *old = current(r, w->number);

	if (w->number == 0 || w->number > UINT32_MAX)
		return complain(r, "a rule has no number");
	if (strcmp(w->what, "added") == 0)
		return old ? complain(r, "the rule was already added") : insert(r, w, NULL);
	if (!old)
		return complain(r, "the rule was never added");
	if (strcmp(w->what, "removed") == 0 || strcmp(w->what, "changed") == 0)
		old->cut = true;
	else
		return complain(r, "a rule is added, changed or removed");
	return w->what[0] == 'c' ? insert(r, w, old) : 0;
}

static int take_hit(struct replay *r, const struct words *w)
{
	struct source *s = current(r, w->number);

	if (!s)
		return complain(r, "a hit of an unknown rule");
	if (s->rule.layer == FAULT_LAYER_TIME) {
		if (!array_make_room(&s->times, s->n_times, &s->cap_times, sizeof(*s->times)))
			return -ENOMEM;
		s->times[s->n_times++] = w->time > r->start ? w->time - r->start : 0;
		return 0;
	}
	if (w->match == 0 || (s->n && w->match <= s->ranges[s->n - 1].high))
		return complain(r, "match= does not increase");
	if (s->n && w->match == s->ranges[s->n - 1].high + 1) {
		s->ranges[s->n - 1].high++;
		return 0;
	}
	if (!array_make_room(&s->ranges, s->n, &s->cap, sizeof(*s->ranges)))
		return -ENOMEM;
	s->ranges[s->n++] = (struct fault_range){w->match, w->match};
	return 0;
}

static int take_line(struct replay *r, const char *at, const char *end)
{
	struct words w;
	const int status = split(r, at, end, &w);

	if (status <= 0)
		return status;
	if (strcmp(w.kind, "rule") == 0)
		return take_rule(r, &w);
	if (strcmp(w.kind, "hit") == 0)
		return take_hit(r, &w);
	r->seed = w.seed;
	r->start = w.time;
	return 0;
}

/* ---- rules that do it again ---- */

/* Words that say when: they go where hits are counted instead. */
static bool says_when(const struct fault_token *token)
{
	const int i = fault_word_find(token->name);

	return i >= 0 && fault_words[i].kind == FAULT_LIMIT;
}

static bool draws(const struct fault_rule *rule)
{
	return rule->action == FAULT_CORRUPT || rule->value.jitter;
}

/* A text that grows; full says that it did not fit. */
struct out {
	char text[FAULT_TEXT_MAX];
	size_t used;
	bool full;
};

static void append(struct out *o, const char *text, size_t n)
{
	if (o->used + n >= sizeof(o->text)) {
		o->full = true;
		return;
	}
	memcpy(o->text + o->used, text, n);
	o->used += n;
	o->text[o->used] = '\0';
}

static void append_word(struct out *o, const char *word)
{
	if (o->used)
		append(o, " ", 1);
	append(o, word, strlen(word));
}

/* The first part, 0, has the rule's name. */
static void part_name(const struct source *s, unsigned part, char *buf, size_t cap)
{
	if (part == 0)
		snprintf(buf, cap, "%s", s->rule.name);
	else
		snprintf(buf, cap, "%.26s.%u", s->rule.name, part + 1);
}

/* The next part's name, and the rule's action, parameters and selectors. */
static void append_base(struct out *o, const struct source *s)
{
	const struct fault_rule *rule = &s->rule;
	struct fault_error ignored;
	const struct fault_text t = {rule->text, strlen(rule->text), &ignored};
	const char *at = rule->text;
	struct fault_token token;
	bool action = true;
	char word[FAULT_NAME_MAX + 8];

	if (rule->name[0]) {
		part_name(s, s->n_parts, word, sizeof(word));
		append_word(o, word);
		append(o, ":", 1);
		fault_token_next(&t, &at, &token);
	}
	while (fault_token_next(&t, &at, &token) > 0) {
		if (!action && says_when(&token))
			continue;
		if (o->used)
			append(o, " ", 1);
		if (action && rule->action == FAULT_BURST)
			append(o, "drop", 4);
		else
			append(o, token.whole.at, token.whole.length);
		action = false;
	}
}

static void append_time(struct out *o, const char *name, uint64_t ns)
{
	char word[48];

	snprintf(word, sizeof(word), "%s=%" PRIu64 "ns", name, ns);
	append_word(o, word);
}

/* Late rules count from where they came; chance goes on as it went, whatever the new seed is. */
static void append_rest(struct out *o, const struct replay *r, const struct source *s)
{
	const uint64_t given = s->rule.limit.stream;
	char word[32];

	if (s->added)
		append_time(o, "after", s->added);
	if (!draws(&s->rule))
		return;
	snprintf(word, sizeof(word), "stream=0x%" PRIx64,
		 given ? given : fault_plan_stream(r->seed, s->number));
	append_word(o, word);
}

static int emit(struct replay *r, const struct out *o)
{
	struct fault_error e;
	struct fault_rule check;

	if (o->full)
		return complain(r, "a rule would exceed the maximum length");
	/* What cannot be read again would be worse than nothing. */
	if (fault_rule_parse(o->text, &check, &e))
		return complain(r, e.text);
	return r->ops->rule(r->user, o->text);
}

/* "4..6" less what parts in front have taken away. */
static int range_text(const struct fault_range *range, uint64_t less, char *buf, size_t cap)
{
	if (range->low == range->high)
		return snprintf(buf, cap, "%" PRIu64, range->low - less);
	return snprintf(buf, cap, "%" PRIu64 "..%" PRIu64, range->low - less, range->high - less);
}

/* Notes how many hits the part that was just made stands for. */
static int add_part(struct source *s, uint64_t hits)
{
	if (!array_make_room(&s->part_hits, s->n_parts, &s->cap_parts, sizeof(*s->part_hits)))
		return -ENOMEM;
	s->part_hits[s->n_parts++] = hits;
	return 0;
}

static int emit_part(struct replay *r, struct source *s, unsigned *at, uint64_t *taken)
{
	const uint64_t less = fault_action_swallows(s->rule.action) ? *taken : 0;
	struct out o = {.used = 0};
	char text[64];
	uint64_t hits = 0;

	append_base(&o, s);
	append_word(&o, "nth=");
	for (unsigned i = 0; i < FAULT_LIST_MAX && *at < s->n; i++) {
		const int n = range_text(&s->ranges[*at], less, text, sizeof(text));

		if (i && o.used + (size_t)n + PART_ROOM >= FAULT_TEXT_MAX)
			break;
		if (i)
			append(&o, ",", 1);
		append(&o, text, (size_t)n);
		hits += s->ranges[*at].high - s->ranges[*at].low + 1;
		++*at;
	}
	append_rest(&o, r, s);
	*taken += hits;
	return add_part(s, hits) ? -ENOMEM : emit(r, &o);
}

static int emit_counted(struct replay *r, struct source *s)
{
	unsigned at = 0;
	uint64_t taken = 0;

	if (s->n == 0)
		note(r, s, "never hit");
	while (at < s->n) {
		const int status = emit_part(r, s, &at, &taken);

		if (status)
			return status;
	}
	if (s->n && s->added)
		note(r, s, "was added later: it counts from that time");
	return 0;
}

/* The rule of the clock, at each of the times at which it fired. */
static int emit_timed(struct replay *r, struct source *s)
{
	if (s->n_times == 0)
		note(r, s, "never hit");
	for (unsigned i = 0; i < s->n_times; i++) {
		struct out o = {.used = 0};
		int status;

		append_base(&o, s);
		if (s->times[i])
			append_time(&o, "after", s->times[i]);
		status = add_part(s, 1) ? -ENOMEM : emit(r, &o);
		if (status)
			return status;
	}
	return 0;
}

/* A rule of the clock that waits for a rule: which of the rules made of that one, which hit? */
static int emit_waiting(struct replay *r, const struct source *s)
{
	const struct fault_limit *l = &s->rule.limit;
	const struct source *other = r->first;
	struct out o = {.used = 0};
	uint64_t left = l->after_hits;
	unsigned part = 0;
	char name[FAULT_NAME_MAX + 8], word[2 * FAULT_NAME_MAX + 64];

	while (other && strcmp(other->rule.name, l->after_rule) != 0)
		other = other->next;
	if (!other || s->n_times == 0) {
		note(r, s, "never hit");
		return 0;
	}
	while (part + 1 < other->n_parts && left > other->part_hits[part])
		left -= other->part_hits[part++];
	append_base(&o, s);
	part_name(other, part, name, sizeof(name));
	snprintf(word, sizeof(word), "after=%s:%" PRIu64, name, left);
	append_word(&o, word);
	if (l->after) {
		snprintf(word, sizeof(word), "+%" PRIu64 "ns", l->after);
		append(&o, word, strlen(word));
	}
	if (l->period) {
		append_time(&o, "every", l->period);
		snprintf(word, sizeof(word), "times=%u", s->n_times);
		append_word(&o, word);
	}
	return emit(r, &o);
}

/* The same rule does the same again: it only counts. */
static bool repeats(const struct source *s)
{
	const struct fault_limit *l = &s->rule.limit;

	if (s->cut || s->added || l->while_file[0] || l->after_rule[0])
		return false;
	if (s->rule.layer == FAULT_LAYER_TIME)
		return true;
	return l->probability == UINT32_MAX && !l->after && !l->until && !l->period &&
	       s->rule.action != FAULT_BURST;
}

/* A rule of the clock whose trigger is another rule: it stands behind all that count. */
static bool waits(const struct source *s)
{
	return s->rule.layer == FAULT_LAYER_TIME && s->rule.limit.after_rule[0] && !s->cut &&
	       !s->rule.limit.while_file[0];
}

static int emit_source(struct replay *r, struct source *s)
{
	struct out o = {.used = 0};

	if (waits(s))
		return emit_waiting(r, s);
	if (repeats(s)) {
		append(&o, s->rule.text, strlen(s->rule.text));
		if (!s->rule.limit.stream)
			append_rest(&o, r, s);
		return emit(r, &o);
	}
	if (s->rule.layer != FAULT_LAYER_TIME)
		return emit_counted(r, s);
	return emit_timed(r, s);
}

static int read_all(struct replay *r, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		int status;

		r->line++;
		status = take_line(r, text, stop ? stop : end);
		if (status)
			return status;
		text = stop ? stop + 1 : end;
	}
	return 0;
}

int fault_trace_to_plan(const char *text, size_t length, uint64_t *seed,
			const struct fault_replay_ops *ops, void *user,
			struct fault_trace_error *error)
{
	struct replay r = {.ops = ops, .user = user, .error = error};
	struct source *next;
	int status = read_all(&r, text, length);

	for (unsigned pass = 0; pass < 2; pass++)
		for (struct source *s = r.first; s && status == 0; s = s->next)
			if (waits(s) == (pass == 1))
				status = emit_source(&r, s);
	for (struct source *s = r.first; s; s = next) {
		next = s->next;
		free(s->ranges);
		free(s->times);
		free(s->part_hits);
		free(s);
	}
	*seed = r.seed;
	return status;
}
