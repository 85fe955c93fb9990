/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about fault rules (ctl.h, "fault"). See ctl_handler.h.
 */
#include "ctl_file_request.h"
#include "ctl_handler.h"
#include "ctl_request.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/io/fault/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_LINES 500  /* of one reply */
#define FILE_MS     5000 /* until a file is read */

static json_t *seed_of(const struct io_faults *f)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, fault_plan_seed(f->plan));
	return json_string(text);
}

/* ---- looking ---- */

/* Another seed might do something else. */
static bool is_random(const struct fault_rule *r)
{
	const struct fault_value *v = &r->value;

	return r->limit.probability < UINT32_MAX || r->action == FAULT_BURST || v->jitter > 0 ||
	       (r->action == FAULT_CORRUPT && v->number2 == FAULT_BY_CHANCE);
}

/* What a person is told of a rule: a tenth of an entry, of which a thousand are copied. */
struct listed {
	char name[FAULT_NAME_MAX], text[FAULT_TEXT_MAX];
	enum fault_layer layer;
	uint32_t number, questions;
	uint64_t matched, hits, looked, seen, passed[FAULT_QUESTIONS];
	bool random;
};

static void note(struct listed *l, const struct fault_entry *e)
{
	strcpy(l->name, e->rule.name);
	strcpy(l->text, e->rule.text);
	l->layer = e->rule.layer;
	l->random = is_random(&e->rule);
	l->number = e->number;
	l->questions = e->questions;
	l->matched = e->matched;
	l->hits = e->hits;
	l->looked = e->looked;
	l->seen = e->seen;
	memcpy(l->passed, e->passed, sizeof(l->passed));
}

/* What is known of a rule that has not fired: which of its words lets how many through. */
static void add_why_not(json_t *facts, const struct listed *l)
{
	json_t *words = json_array();

	for (unsigned i = 0; i < FAULT_QUESTIONS; i++)
		if (l->questions >> i & 1)
			json_array_append_new(words,
					      json_pack("{s:s, s:I}", UHCA_CTL_NAME,
							fault_plan_question(i), UHCA_CTL_MATCHED,
							(json_int_t)l->passed[i]));
	json_object_set_new(facts, UHCA_CTL_LOOKED, json_integer((json_int_t)l->looked));
	json_object_set_new(facts, UHCA_CTL_SEEN, json_integer((json_int_t)l->seen));
	json_object_set_new(facts, UHCA_CTL_WORDS, words);
}

static json_t *facts_of(const struct listed *l)
{
	json_t *facts = json_pack("{s:I, s:s, s:s, s:s, s:b, s:I, s:I}", UHCA_CTL_RULE,
				  (json_int_t)l->number, UHCA_CTL_NAME, l->name, UHCA_CTL_TEXT,
				  l->text, UHCA_CTL_LAYER, fault_layer_name(l->layer),
				  UHCA_CTL_RANDOM, l->random, UHCA_CTL_MATCHED,
				  (json_int_t)l->matched, UHCA_CTL_HITS, (json_int_t)l->hits);

	if (facts && l->hits == 0)
		add_why_not(facts, l);
	return facts;
}

/* There may be a thousand: a thread makes the reply of a copy of them. */
struct list_file_request {
	struct ctl_file_request e;
	json_t *result;
	json_t *seed;
	unsigned n;
	struct listed rule[];
};

static void make_list(struct ctl_file_request *e)
{
	struct list_file_request *l = (struct list_file_request *)e;
	struct ctl_outcome o = {.error = "no memory"};
	json_t *rules = json_array();

	for (unsigned i = 0; i < l->n; i++)
		json_array_append_new(rules, facts_of(&l->rule[i]));
	l->result = json_pack("{s:O, s:o}", UHCA_CTL_SEED, l->seed, UHCA_CTL_RULES, rules);
	e->line = io_ctl_line(json_incref(l->result), &o, &e->length);
}

static json_t *is_listed(struct ctl_file_request *e, struct ctl_outcome *o)
{
	(void)o;
	return json_incref(((struct list_file_request *)e)->result);
}

static json_t *list_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	(void)e;
	return io_ctl_refuse(o, "the daemon has no free thread");
}

static void free_list(void *list)
{
	struct list_file_request *l = list;

	json_decref(l->result);
	json_decref(l->seed);
	free(l->e.line);
	free(l);
}

static void drop_list(struct ctl_file_request *e)
{
	io_reaper_do(free_list, e);
}

static json_t *list(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const struct fault_plan *p = h->faults->plan;
	unsigned n = fault_plan_count(p);
	struct list_file_request *l = calloc(1, sizeof(*l) + n * sizeof(l->rule[0]));

	(void)request;
	if (!l)
		return NULL;
	l->e = (struct ctl_file_request){.work = make_list,
					 .finish = is_listed,
					 .late = list_is_late,
					 .drop = drop_list,
					 .ms = FILE_MS};
	l->seed = seed_of(h->faults);
	l->n = n;
	for (unsigned i = 0; i < n; i++)
		note(&l->rule[i], fault_plan_entry(p, i));
	return io_ctl_file_request_start(h, &l->e, o);
}

/* ---- changing ---- */

/* The rule a request names; NULL with the reason. */
static const struct fault_entry *rule_find(const struct io_services *h, const json_t *request,
					   struct ctl_outcome *o)
{
	const json_t *rule = json_object_get(request, UHCA_CTL_RULE);
	const char *name = json_string_value(rule);
	const struct fault_entry *e;
	char number[24];

	if (json_is_integer(rule)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(rule));
		name = number;
	}
	if (!name) {
		io_ctl_refuse(o, "the rule's number or name is missing");
		return NULL;
	}
	e = fault_plan_find(h->faults->plan, name);
	if (!e)
		io_ctl_refuse(o, "unknown rule '%.64s'", name);
	return e;
}

/* What the plan said to a text: the rule's number, or why not. */
static json_t *verdict(const struct io_services *h, int number, const struct fault_error *error,
		       struct ctl_outcome *o)
{
	if (number == -EINVAL) {
		o->column = error->column;
		return io_ctl_refuse(o, "%s", error->text);
	}
	if (number < 0)
		return io_ctl_refuse(o, "%s", strerror(-number));
	io_faults_changed(h->faults);
	return json_pack("{s:i}", UHCA_CTL_RULE, number);
}

static json_t *add(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *text = io_ctl_text(request, UHCA_CTL_TEXT);
	struct fault_error error;
	int number;

	if (!text)
		return io_ctl_refuse(o, "fault add needs \"%s\"", UHCA_CTL_TEXT);
	number = io_faults_add(h->faults, text, io_clock_now(), &error);
	if (number > 0)
		io_log(IO_LOG_INFO, "rule %d: %s", number, text);
	return verdict(h, number, &error, o);
}

static json_t *now(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *text = io_ctl_text(request, UHCA_CTL_TEXT);
	struct fault_error error;
	int n;

	if (!text)
		return io_ctl_refuse(o, "fault now needs \"%s\"", UHCA_CTL_TEXT);
	io_log(IO_LOG_INFO, "fault now: %.*s", FAULT_TEXT_MAX, text);
	n = io_faults_now(h->faults, text, io_clock_now(), &error);
	if (n == -EINVAL)
		o->column = error.column;
	if (n < 0)
		return io_ctl_refuse(o, "%s", n == -EINVAL ? error.text : strerror(-n));
	return json_pack("{s:i}", UHCA_CTL_DEVICES, n);
}

static json_t *change(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *text = io_ctl_text(request, UHCA_CTL_TEXT);
	const struct fault_entry *e = rule_find(h, request, o);
	struct fault_error error;
	uint32_t number;
	int status;

	if (!e)
		return NULL;
	if (!text)
		return io_ctl_refuse(o, "fault change needs \"%s\"", UHCA_CTL_TEXT);
	number = e->number;
	status = io_faults_change(h->faults, number, text, io_clock_now(), &error);
	if (status == 0)
		io_log(IO_LOG_INFO, "rule %u is now: %s", number, text);
	return verdict(h, status < 0 ? status : (int)number, &error, o);
}

static json_t *drop(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const struct fault_entry *e = rule_find(h, request, o);
	struct listed listed;
	json_t *result;
	uint32_t number;

	if (!e)
		return NULL;
	number = e->number;
	note(&listed, e);
	result = facts_of(&listed);
	io_faults_remove(h->faults, number, io_clock_now());
	io_faults_changed(h->faults);
	io_log(IO_LOG_INFO, "rule %u removed", number);
	return result;
}

static json_t *clear(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	unsigned n = fault_plan_count(h->faults->plan);

	(void)request;
	(void)o;
	io_faults_clear(h->faults, io_clock_now());
	io_faults_changed(h->faults);
	io_log(IO_LOG_INFO, "all %u rules removed", n);
	return json_pack("{s:I}", UHCA_CTL_RULES, (json_int_t)n);
}

/* ---- files ---- */

struct rule_file_request {
	struct ctl_file_request e;
	char *path;
	struct io_fault_rules rules;
	struct io_fault_loaded loaded;
	bool is_trace, failed;
};

static struct rule_file_request *of(struct ctl_file_request *e)
{
	return (struct rule_file_request *)e;
}

/* By the thread, and all rules are parsed there: 1000 of them take some milliseconds. */
static void read_file(struct ctl_file_request *e)
{
	struct rule_file_request *f = of(e);
	size_t len;
	char *text = io_fault_read(f->path, &len, &f->loaded);

	if (!text)
		f->failed = true;
	else if (f->is_trace)
		f->failed = io_fault_parse_trace(f->path, text, len, &f->rules, &f->loaded) < 0;
	else
		f->failed = io_fault_parse(text, &f->rules, &f->loaded) < 0;
	free(text);
}

static json_t *take_file(struct ctl_file_request *e, struct ctl_outcome *o)
{
	struct rule_file_request *f = of(e);
	struct io_faults *faults = e->services->faults;
	const struct io_fault_loaded *loaded = &f->loaded;

	if (f->failed || io_fault_take(faults, &f->rules, io_clock_now(), &f->loaded) < 0) {
		o->line = loaded->line;
		o->column = loaded->error.column;
		return io_ctl_refuse(o, "%s", loaded->error.text);
	}
	io_faults_changed(faults);
	io_log(IO_LOG_INFO, "%u rules from %s", loaded->rules, f->path);
	return json_pack("{s:I}", UHCA_CTL_RULES, (json_int_t)loaded->rules);
}

static json_t *file_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	return io_ctl_refuse(o, "%.200s: its file system does not respond", of(e)->path);
}

static void drop_file(struct ctl_file_request *e)
{
	free(of(e)->path);
	io_fault_rules_free(&of(e)->rules);
	free(e);
}

static json_t *with_file(const struct io_services *h, const json_t *request, struct ctl_outcome *o,
			 bool is_trace)
{
	const char *file = io_ctl_text(request, UHCA_CTL_FILE);
	struct rule_file_request *f;

	if (!file || file[0] != '/')
		return io_ctl_refuse(o, "fault needs an absolute file name");
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->e = (struct ctl_file_request){.work = read_file,
					 .finish = take_file,
					 .late = file_is_late,
					 .drop = drop_file,
					 .ms = FILE_MS};
	f->is_trace = is_trace;
	f->path = strdup(file);
	if (f->path)
		return io_ctl_file_request_start(h, &f->e, o);
	free(f);
	return NULL;
}

static json_t *load(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	return with_file(h, request, o, false);
}

static json_t *replay(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	return with_file(h, request, o, true);
}

/* ---- the trace ---- */

static json_t *trace(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	json_int_t from = json_integer_value(json_object_get(request, UHCA_CTL_FROM));
	const struct io_fault_trace *t = &h->faults->trace;
	uint64_t at = from > 0 ? (uint64_t)from : 0;
	json_t *lines = json_array();
	const struct io_fault_line *l;

	(void)o;
	for (unsigned n = 0; n < TRACE_LINES && (l = io_fault_trace_from(t, at)); n++) {
		json_array_append_new(lines, json_string(l->text));
		at = l->number + 1;
	}
	return json_pack("{s:o, s:I, s:I, s:I}", UHCA_CTL_LINES, lines, UHCA_CTL_NEXT,
			 (json_int_t)at, UHCA_CTL_END, (json_int_t)t->count, UHCA_CTL_LOST,
			 (json_int_t)t->lost);
}

static const struct action {
	const char *name;
	ctl_handler *handle;
} actions[] = {
	{"list", list}, {"add", add},       {"change", change}, {"remove", drop}, {"clear", clear},
	{"load", load}, {"replay", replay}, {"trace", trace},   {"now", now},
};

json_t *io_ctl_fault(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const struct action *a =
		words_row(WORDS_ROWS(actions), io_ctl_text(request, UHCA_CTL_ACTION));

	if (a)
		return a->handle(h, request, o);
	return io_ctl_refuse(o,
			     "fault needs \"%s\": list, add, now, change, remove, clear, load, "
			     "replay or trace",
			     UHCA_CTL_ACTION);
}
