/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of rules in force: adds, changes, removes them, and counts matches and hits. */
#include "plan.h"

#include "emu/array/array.h"
#include "emu/fault/rule/rules.h"
#include "plan_devices.h"
#include "plan_match.h"
#include "plan_parts.h"
#include "plan_seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fault_record {
	/* In front: what is read for rules that have nothing to do with the subject. */
	enum fault_layer layer;
	bool spent; /* can never hit again */
	bool armed; /* "after=NAME": that rule has hit */
	uint32_t tests;
	uint32_t waits_for; /* number of that rule; 0: of none */
	uint64_t armed_at;  /* "after" counts from here */
	uint64_t due;       /* of a rule of the clock, once it is armed */
	struct fault_entry entry;
};

struct fault_plan {
	uint64_t seed;
	const struct fault_plan_ops *ops;
	void *user;
	struct fault_record **records;
	unsigned n, cap;
	uint32_t last_number;
	uint32_t watched; /* bits of layers with rules that are not spent */
	bool tracks;      /* some of them want to know which QPs were seen */
	struct fault_seen *seen;
};

struct fault_plan *fault_plan_create(uint64_t seed, const struct fault_plan_ops *ops, void *user)
{
	struct fault_plan *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->seed = seed;
	p->ops = ops;
	p->user = user;
	return p;
}

void fault_plan_destroy(struct fault_plan *p)
{
	if (!p)
		return;
	fault_plan_clear(p);
	free(p->records);
	free(p->seen);
	free(p);
}

uint64_t fault_plan_seed(const struct fault_plan *p)
{
	return p->seed;
}

/* ---- random numbers ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

uint64_t fault_plan_stream(uint64_t seed, uint32_t number)
{
	const uint64_t stream = mix(seed + GOLDEN) ^ mix(number * GOLDEN);

	return stream ? stream : 1;
}

static uint64_t stream_of(const struct fault_plan *p, const struct fault_entry *e)
{
	const uint64_t given = e->rule.limit.stream;

	return given ? given : fault_plan_stream(p->seed, e->number);
}

/* True with this probability. */
static bool chance(struct fault_entry *e, uint32_t probability)
{
	if (probability == UINT32_MAX)
		return true;
	e->rng += GOLDEN;
	return (uint32_t)(mix(e->rng) >> 32) < probability;
}

/* ---- rules come and go ---- */

static int index_of(const struct fault_plan *p, uint32_t number)
{
	unsigned from = 0, to = p->n; /* numbers ascend */

	while (from < to) {
		const unsigned i = (from + to) / 2;

		if (p->records[i]->entry.number == number)
			return (int)i;
		if (p->records[i]->entry.number < number)
			from = i + 1;
		else
			to = i;
	}
	return -1;
}

static struct fault_record *named(const struct fault_plan *p, const char *name)
{
	for (unsigned i = 0; i < p->n; i++)
		if (strcmp(p->records[i]->entry.rule.name, name) == 0)
			return p->records[i];
	return NULL;
}

static void heed(struct fault_plan *p, const struct fault_record *r)
{
	if (r->spent)
		return;
	p->watched |= UINT32_C(1) << r->layer;
	p->tracks = p->tracks || fault_match_wants_seen(&r->entry.rule);
}

static void update(struct fault_plan *p)
{
	p->watched = 0;
	p->tracks = false;
	for (unsigned i = 0; i < p->n; i++)
		heed(p, p->records[i]);
}

static void arm(struct fault_record *r, uint64_t now)
{
	r->armed = true;
	r->armed_at = now;
	r->due = now + r->entry.rule.limit.after;
}

/* The word of this name in the text, for errors found after the parsing. */
static const char *word_in(const struct fault_text *t, const char *name)
{
	struct fault_token token;
	const char *at = t->line;

	while (fault_token_next(t, &at, &token) > 0)
		if (fault_piece_is(token.name, name))
			return token.value.at;
	return t->line + strspn(t->line, " \t");
}

/* Is "r" the rule of this number, or does it wait for it by way of others? */
static bool depends_on(const struct fault_plan *p, const struct fault_record *r, uint32_t number)
{
	while (r->entry.number != number) {
		const int i = r->waits_for ? index_of(p, r->waits_for) : -1;

		if (i < 0)
			return false;
		r = p->records[i];
	}
	return true;
}

static int resolve(const struct fault_plan *p, const struct fault_text *t, struct fault_record *r)
{
	const struct fault_limit *l = &r->entry.rule.limit;
	const char *name = r->entry.rule.name;
	const struct fault_record *other = name[0] ? named(p, name) : NULL;

	if (other && other->entry.number != r->entry.number)
		return fault_fail(t, word_in(t, ""), "rule %u has the name '%s'",
				  other->entry.number, name);
	if (!l->after_rule[0]) {
		arm(r, r->entry.added);
		return 0;
	}
	other = named(p, l->after_rule);
	if (!other)
		return fault_fail(t, word_in(t, "after"), "unknown rule '%s'", l->after_rule);
	if (r->entry.number <= p->last_number && depends_on(p, other, r->entry.number))
		return fault_fail(t, word_in(t, "after"), "rule '%s' waits for this rule",
				  l->after_rule);
	r->waits_for = other->entry.number;
	if (other->entry.hits >= l->after_hits)
		arm(r, r->entry.added);
	return 0;
}

int fault_record_make(const char *text, struct fault_record **out, struct fault_error *error)
{
	struct fault_record *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	if (fault_rule_parse(text, &r->entry.rule, error)) {
		free(r);
		return -EINVAL;
	}
	r->layer = r->entry.rule.layer;
	r->tests = r->entry.questions = fault_match_tests(&r->entry.rule);
	*out = r;
	return 0;
}

void fault_record_free(struct fault_record *r)
{
	free(r);
}

/* What a parsed rule needs of the plan. */
static int fit(struct fault_plan *p, struct fault_record *r, uint32_t number, uint64_t now,
	       struct fault_error *error)
{
	const struct fault_text t = {r->entry.rule.text, strlen(r->entry.rule.text), error};

	r->entry.number = number;
	r->entry.added = now;
	if (resolve(p, &t, r) ||
	    fault_plan_find_devices(&t, p->ops, p->user, &r->entry.rule.select) ||
	    fault_plan_check_parts(&t, p->ops, p->user, &r->entry.rule))
		return -EINVAL;
	r->entry.rng = stream_of(p, &r->entry);
	if (fault_match_wants_seen(&r->entry.rule) && !p->seen)
		p->seen = calloc(1, sizeof(*p->seen));
	return fault_match_wants_seen(&r->entry.rule) && !p->seen ? -ENOMEM : 0;
}

int fault_plan_take(struct fault_plan *p, struct fault_record *r, uint64_t now,
		    struct fault_error *error)
{
	const struct fault_text t = {r->entry.rule.text, strlen(r->entry.rule.text), error};
	int status;

	if (p->n >= FAULT_RULES_MAX || p->last_number == INT32_MAX)
		return fault_fail(&t, t.line, "the limit of %u rules is reached", p->n);
	if (!array_make_room(&p->records, p->n, &p->cap, sizeof(*p->records)))
		return -ENOMEM;
	status = fit(p, r, p->last_number + 1, now, error);
	if (status)
		return status;
	p->records[p->n++] = r;
	heed(p, r);
	return (int)++p->last_number;
}

int fault_plan_add(struct fault_plan *p, const char *text, uint64_t now, struct fault_error *error)
{
	struct fault_record *r;
	int status = fault_record_make(text, &r, error);

	if (status == 0) {
		status = fault_plan_take(p, r, now, error);
		if (status < 0)
			free(r);
	}
	return status;
}

int fault_plan_change(struct fault_plan *p, uint32_t number, const char *text, uint64_t now,
		      struct fault_error *error)
{
	const int i = index_of(p, number);
	struct fault_record *r;
	int status;

	if (i < 0)
		return -ENOENT;
	status = fault_record_make(text, &r, error);
	if (status)
		return status;
	status = fit(p, r, number, now, error);
	if (status) {
		free(r);
		return status;
	}
	free(p->records[i]);
	p->records[i] = r;
	update(p);
	return 0;
}

void fault_plan_cut(struct fault_plan *p, unsigned n)
{
	while (p->n > n)
		free(p->records[--p->n]);
	update(p);
}

int fault_plan_remove(struct fault_plan *p, uint32_t number)
{
	const int i = index_of(p, number);

	if (i < 0)
		return -ENOENT;
	free(p->records[i]);
	p->n--;
	memmove(&p->records[i], &p->records[i + 1],
		(p->n - (unsigned)i) * sizeof(struct fault_record *));
	update(p);
	return 0;
}

void fault_plan_clear(struct fault_plan *p)
{
	fault_plan_cut(p, 0);
}

const struct fault_entry *fault_plan_find(const struct fault_plan *p, const char *name)
{
	uint64_t number;
	const struct fault_record *r;
	int i;

	if (fault_value_number((struct fault_piece){name, strlen(name)}, &number)) {
		i = number <= UINT32_MAX ? index_of(p, (uint32_t)number) : -1;
		return i < 0 ? NULL : &p->records[i]->entry;
	}
	r = name[0] ? named(p, name) : NULL;
	return r ? &r->entry : NULL;
}

const char *fault_plan_question(unsigned i)
{
	return fault_match_word(i);
}

unsigned fault_plan_count(const struct fault_plan *p)
{
	return p->n;
}

const struct fault_entry *fault_plan_entry(const struct fault_plan *p, unsigned index)
{
	return &p->records[index]->entry;
}

bool fault_plan_watches(const struct fault_plan *p, enum fault_layer layer)
{
	return p->watched >> layer & 1;
}

/* ---- decisions ---- */

/* A file without which a rule of the clock does not fire is looked for again after so long. */
#define FILE_NS UINT64_C(10000000)

/* The next time of a rule of every=TIME; those that were slept through are left out. */
static void advance(struct fault_record *r, uint64_t now)
{
	const uint64_t period = r->entry.rule.limit.period;

	if (!period)
		return;
	r->entry.tick = r->due + (now - r->due) / period * period;
	r->due = r->entry.tick + period;
}

/* A pause by the clock has passed, and nothing came meanwhile that it could have held back. */
static bool is_over(struct fault_record *r, uint64_t now)
{
	const struct fault_rule *rule = &r->entry.rule;

	if (rule->action != FAULT_PAUSE || !rule->limit.period ||
	    (now - r->due) % rule->limit.period < rule->value.number)
		return false;
	advance(r, now);
	return true;
}

static bool in_force(struct fault_plan *p, struct fault_record *r, uint64_t now)
{
	const struct fault_limit *l = &r->entry.rule.limit;

	if (l->until && now - r->entry.added >= l->until) {
		r->spent = true;
		return false;
	}
	if (!r->armed || now < r->due || is_over(r, now))
		return false;
	if (!l->while_file[0] || (p->ops->exists && p->ops->exists(p->user, l->while_file)))
		return true;
	if (r->layer == FAULT_LAYER_TIME)
		r->due = now + FILE_NS;
	return false;
}

/* Is this match one of those that the limits choose? It is counted already. */
static bool counted_in(const struct fault_entry *e)
{
	const struct fault_limit *l = &e->rule.limit;
	const uint64_t ordinal = e->matched - l->skip;

	if (l->nth.n)
		return fault_list_has(&l->nth, e->matched);
	if (e->matched <= l->skip || (l->first && ordinal > l->first))
		return false;
	return l->every == 0 || ordinal % l->every == 0;
}

static bool by_chance(struct fault_entry *e)
{
	const struct fault_value *v = &e->rule.value;

	if (!chance(e, e->rule.limit.probability))
		return false;
	if (e->rule.action != FAULT_BURST)
		return true;
	/* Gilbert: the state changes before it is asked. */
	if (chance(e, (uint32_t)(e->bad ? v->number2 : v->number)))
		e->bad = !e->bad;
	return e->bad;
}

static bool is_spent(const struct fault_entry *e)
{
	const struct fault_limit *l = &e->rule.limit;
	uint64_t last = 0;

	if (l->max_hits && e->hits >= l->max_hits)
		return true;
	if (l->first && e->matched >= l->skip + l->first)
		return true;
	for (unsigned i = 0; i < l->nth.n; i++)
		last = l->nth.range[i].high > last ? l->nth.range[i].high : last;
	return l->nth.n && e->matched >= last;
}

/* Rules that wait for this one. */
static void arm_others(struct fault_plan *p, const struct fault_entry *e, uint64_t now)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct fault_record *r = p->records[i];

		if (r->waits_for == e->number && !r->armed &&
		    e->hits >= r->entry.rule.limit.after_hits)
			arm(r, now);
	}
}

static void take_hit(struct fault_plan *p, struct fault_record *r, const struct fault_subject *s,
		     uint64_t now)
{
	const struct fault_hit hit = {now, &r->entry, s};

	r->entry.hits++;
	r->entry.draws = 0;
	advance(r, now);
	arm_others(p, &r->entry, now);
	if (p->ops->hit)
		p->ops->hit(p->user, &hit);
}

/* Does the subject, which the selectors have let through, hit? */
static bool judge(struct fault_plan *p, struct fault_record *r, const struct fault_subject *s,
		  uint64_t now)
{
	bool hits;

	r->entry.seen++;
	if (!in_force(p, r, now))
		return false;
	r->entry.matched++;
	hits = counted_in(&r->entry) && by_chance(&r->entry);
	if (hits)
		take_hit(p, r, s, now);
	r->spent = is_spent(&r->entry);
	return hits;
}

/* Of a rule that has not fired yet it is counted which of its words keeps the subjects from it. */
static bool selects(struct fault_record *r, const struct fault_subject *s,
		    const struct fault_seen_qp *qp)
{
	if (r->entry.hits > 0)
		return fault_match(&r->entry.rule, r->tests, s, qp);
	r->entry.looked++;
	return fault_match_count(&r->entry.rule, r->tests, s, qp, r->entry.passed);
}

unsigned fault_plan_decide(struct fault_plan *p, const struct fault_subject *s, uint64_t now,
			   const struct fault_entry *hit[FAULT_HITS_MAX])
{
	const struct fault_seen_qp *qp = NULL;
	bool changed = false;
	unsigned n = 0;

	if (!fault_plan_watches(p, s->layer))
		return 0;
	if (p->tracks)
		qp = fault_seen_note(p->seen, s);
	for (unsigned i = 0; i < p->n && n < FAULT_HITS_MAX; i++) {
		struct fault_record *r = p->records[i];

		if (r->layer != s->layer || r->spent || !selects(r, s, qp))
			continue;
		if (judge(p, r, s, now))
			hit[n++] = &r->entry;
		changed = changed || r->spent;
		if (n && hit[n - 1] == &r->entry && fault_action_swallows(r->entry.rule.action))
			break;
	}
	if (changed)
		update(p);
	return n;
}

uint64_t fault_plan_deadline(const struct fault_plan *p)
{
	uint64_t first = UINT64_MAX;

	if (!fault_plan_watches(p, FAULT_LAYER_TIME))
		return first;
	for (unsigned i = 0; i < p->n; i++) {
		const struct fault_record *r = p->records[i];

		if (r->layer == FAULT_LAYER_TIME && !r->spent && r->armed && r->due < first)
			first = r->due;
	}
	return first;
}

bool fault_plan_is_of_line(struct fault_plan *p, const struct fault_entry *e,
			   const struct fault_subject *s)
{
	const uint32_t tests = e->questions & fault_match_line();

	return fault_match(&e->rule, tests, s, p->seen ? fault_seen_note(p->seen, s) : NULL);
}

uint64_t fault_plan_random(struct fault_plan *p, uint32_t number, uint64_t below)
{
	const int i = index_of(p, number);
	struct fault_entry *e;

	if (i < 0 || below == 0)
		return 0;
	e = &p->records[i]->entry;
	return mix(mix(stream_of(p, e) + e->seen * GOLDEN) + ++e->draws * GOLDEN) % below;
}
