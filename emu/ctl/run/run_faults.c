/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds the fault rules of the command line, and reports or removes them at the end. */
#include "run_faults.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/scenario/scenarios.h"
#include "run_chaos.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *fault(const char *action)
{
	return json_pack("{s:s, s:s}", UHCA_CTL_CMD, "fault", UHCA_CTL_ACTION, action);
}

static json_t *rules_in(const json_t *list)
{
	return json_object_get(list, UHCA_CTL_RULES);
}

static long number_in(const json_t *o, const char *member)
{
	return (long)json_integer_value(json_object_get(o, member));
}

/* ---- adding ---- */

static int complain(const struct run_fault *rule, const struct ctl_failure *f)
{
	fprintf(stderr, "uhca-run: --fault%s '%s': ", rule->is_file ? "-file" : "", rule->text);
	if (f->line > 0)
		fprintf(stderr, "line %u, ", f->line);
	if (f->column > 0)
		fprintf(stderr, "column %u: ", f->column);
	fprintf(stderr, "%s\n", f->text);
	return -EINVAL;
}

/* The file is opened by the daemon, whose directory is another. */
static json_t *request_for(const struct run_fault *rule)
{
	json_t *request = fault(rule->is_file ? "load" : "add");
	char path[PATH_MAX];

	if (!rule->is_file)
		json_object_set_new(request, UHCA_CTL_TEXT, json_string(rule->text));
	else
		json_object_set_new(request, UHCA_CTL_FILE,
				    json_string(realpath(rule->text, path) ? path : rule->text));
	return request;
}

/* The newest "count" rules of the daemon are ours. */
static int note_newest(const char *dir, unsigned count, struct run_faults *out)
{
	struct ctl_failure f;
	json_t *list;
	size_t n;

	if (ctl_exchange(dir, fault("list"), &list, &f) != 0) {
		fprintf(stderr, "uhca-run: %s\n", f.text);
		return -EIO;
	}
	n = json_array_size(rules_in(list));
	for (size_t i = n > count ? n - count : 0; i < n && out->n < RUN_RULES_MAX; i++) {
		const json_t *rule = json_array_get(rules_in(list), i);

		if (!run_chaos_is_relaxation(rule))
			out->number[out->n++] = number_in(rule, UHCA_CTL_RULE);
	}
	json_decref(list);
	return 0;
}

static int add(const char *dir, const struct run_fault *rule, struct run_faults *out)
{
	struct ctl_failure f;
	json_t *result;
	int error = 0;

	if (out->n == RUN_RULES_MAX) {
		fprintf(stderr, "uhca-run: more than %d fault rules\n", RUN_RULES_MAX);
		return -EINVAL;
	}
	if (ctl_exchange(dir, request_for(rule), &result, &f) != 0)
		return complain(rule, &f);
	if (!rule->is_file)
		out->number[out->n++] = number_in(result, UHCA_CTL_RULE);
	else
		error = note_newest(dir, (unsigned)number_in(result, UHCA_CTL_RULES), out);
	json_decref(result);
	return error;
}

int run_faults_add(const char *dir, const struct run_options *options, struct run_faults *out)
{
	out->n = 0;
	for (unsigned i = 0; i < options->n_faults; i++) {
		if (add(dir, &options->faults[i], out) == 0)
			continue;
		run_faults_remove(dir, out);
		return -EINVAL;
	}
	if (out->n > 0)
		fprintf(stderr,
			"uhca-run: %u fault rule%s active in the running instance %s, for all its "
			"programs, until the command ends\n",
			out->n, out->n == 1 ? " is" : "s are", dir);
	return 0;
}

void run_faults_remove(const char *dir, const struct run_faults *faults)
{
	for (unsigned i = 0; i < faults->n; i++) {
		json_t *request = fault("remove");
		struct ctl_failure f;
		json_t *result;

		json_object_set_new(request, UHCA_CTL_RULE, json_integer(faults->number[i]));
		/* Who removed it before us had his reasons. */
		ctl_exchange(dir, request, &result, &f);
		json_decref(result);
	}
}

/* ---- what came of them ---- */

static bool is_ours(const struct run_faults *faults, long number)
{
	for (unsigned i = 0; i < faults->n; i++)
		if (faults->number[i] == number)
			return true;
	return false;
}

static void print_rule(const json_t *rule, long hits)
{
	char why[512];

	fprintf(stderr, "uhca-run: rule %ld fired %ld time%s, of %ld that matched: %s\n",
		number_in(rule, UHCA_CTL_RULE), hits, hits == 1 ? "" : "s",
		number_in(rule, UHCA_CTL_MATCHED),
		json_string_value(json_object_get(rule, UHCA_CTL_TEXT)));
	if (hits == 0)
		fprintf(stderr, "uhca-run: rule %ld: %s\n", number_in(rule, UHCA_CTL_RULE),
			ctl_never_fired(rule, why, sizeof(why)));
}

/* Returns how many fired. */
static unsigned print_rules(const json_t *list, const struct run_faults *faults)
{
	unsigned fired = 0;
	bool random = false;
	const json_t *rule;
	size_t i;

	json_array_foreach(rules_in(list), i, rule)
	{
		long hits = number_in(rule, UHCA_CTL_HITS);

		if (!is_ours(faults, number_in(rule, UHCA_CTL_RULE)))
			continue;
		print_rule(rule, hits);
		random |= json_is_true(json_object_get(rule, UHCA_CTL_RANDOM));
		fired += hits > 0;
	}
	if (random)
		fprintf(stderr, "uhca-run: fault seed %s\n",
			json_string_value(json_object_get(list, UHCA_CTL_SEED)));
	return fired;
}

/* All rules of which we know must have fired, also those that somebody has taken away since. */
static bool all_fired(const struct run_faults *faults, unsigned fired)
{
	if (faults->n == 0)
		fprintf(stderr, "uhca-run: no rule is left that could fire\n");
	else if (fired < faults->n)
		fprintf(stderr, "uhca-run: of %u rules %u are known to have fired\n", faults->n,
			fired);
	return faults->n > 0 && fired == faults->n;
}

int run_faults_note(const char *dir, struct run_faults *out)
{
	out->n = 0;
	return note_newest(dir, RUN_RULES_MAX, out);
}

int run_faults_report(const char *dir, const struct run_options *options,
		      const struct run_faults *faults, int status)
{
	struct ctl_failure f;
	unsigned fired = 0;
	json_t *list;

	if (options->n_faults == 0)
		return status;
	if (ctl_exchange(dir, fault("list"), &list, &f) == 0)
		fired = print_rules(list, faults);
	else
		fprintf(stderr, "uhca-run: the fired rules are unknown: %s\n", f.text);
	json_decref(list);
	return options->must_fire && !all_fired(faults, fired) ? RUN_EXIT_MUST_FIRE : status;
}

/* ---- for a program that reads it ---- */

/* Piece by piece. */
static void record_trace(const char *dir, json_t *record)
{
	json_t *lines = json_array(), *piece;
	long from = 0, next = 0, end = 1;
	struct ctl_failure f;

	for (; from < end; from = next) {
		json_t *request = fault("trace");

		json_object_set_new(request, UHCA_CTL_FROM, json_integer(from));
		if (ctl_exchange(dir, request, &piece, &f) != 0)
			break;
		if (from == 0)
			json_object_set_new(record, UHCA_CTL_LOST,
					    json_integer(number_in(piece, UHCA_CTL_LOST)));
		json_array_extend(lines, json_object_get(piece, UHCA_CTL_LINES));
		next = number_in(piece, UHCA_CTL_NEXT);
		end = next > from ? number_in(piece, UHCA_CTL_END) : 0;
		json_decref(piece);
	}
	json_object_set_new(record, UHCA_CTL_LINES, lines);
}

void run_faults_record(const char *dir, const struct run_options *options)
{
	json_t *record = json_object(), *list;
	struct ctl_failure f;

	if (ctl_exchange(dir, fault("list"), &list, &f) == 0) {
		json_object_set(record, UHCA_CTL_RULES, rules_in(list));
		json_decref(list);
		record_trace(dir, record);
	}
	json_dumpf(record, options->record, JSON_COMPACT);
	fflush(options->record);
	json_decref(record);
}
