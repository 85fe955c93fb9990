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

static json_t *rules_in(const json_t *list)
{
	return json_object_get(list, UHCA_CTL_RULES);
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
	json_t *request = ctl_command("fault", rule->is_file ? "load" : "add");
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

	if (ctl_exchange(dir, ctl_command("fault", "list"), &list, &f) != 0) {
		fprintf(stderr, "uhca-run: %s\n", f.text);
		return -EIO;
	}
	n = json_array_size(rules_in(list));
	for (size_t i = n > count ? n - count : 0; i < n && out->n < RUN_RULES_MAX; i++) {
		const json_t *rule = json_array_get(rules_in(list), i);

		if (!run_chaos_is_relaxation(rule))
			out->number[out->n++] = ctl_number_in(rule, UHCA_CTL_RULE);
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
		out->number[out->n++] = ctl_number_in(result, UHCA_CTL_RULE);
	else
		error = note_newest(dir, (unsigned)ctl_number_in(result, UHCA_CTL_RULES), out);
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
		json_t *request = ctl_command("fault", "remove");
		struct ctl_failure f;
		json_t *result;

		json_object_set_new(request, UHCA_CTL_RULE, json_integer(faults->number[i]));
		/* Who removed it before us had his reasons. */
		ctl_exchange(dir, request, &result, &f);
		json_decref(result);
	}
}

/* ---- what came of them ---- */

static bool is_ours(const struct run_faults *faults, json_int_t number)
{
	for (unsigned i = 0; i < faults->n; i++)
		if (faults->number[i] == number)
			return true;
	return false;
}

static void print_rule(const json_t *rule, json_int_t hits)
{
	char why[512];

	fprintf(stderr, "uhca-run: rule %lld fired %lld time%s, of %lld that matched: %s\n",
		ctl_number_in(rule, UHCA_CTL_RULE), hits, hits == 1 ? "" : "s",
		ctl_number_in(rule, UHCA_CTL_MATCHED), ctl_text_in(rule, UHCA_CTL_TEXT));
	if (hits == 0)
		fprintf(stderr, "uhca-run: rule %lld: %s\n", ctl_number_in(rule, UHCA_CTL_RULE),
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
		json_int_t hits = ctl_number_in(rule, UHCA_CTL_HITS);

		if (!is_ours(faults, ctl_number_in(rule, UHCA_CTL_RULE)))
			continue;
		print_rule(rule, hits);
		random |= json_is_true(json_object_get(rule, UHCA_CTL_RANDOM));
		fired += hits > 0;
	}
	if (random)
		fprintf(stderr, "uhca-run: fault seed %s\n", ctl_text_in(list, UHCA_CTL_SEED));
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

	if (options->n_faults == 0 || options->counts)
		return status;
	if (ctl_exchange(dir, ctl_command("fault", "list"), &list, &f) == 0)
		fired = print_rules(list, faults);
	else
		fprintf(stderr, "uhca-run: the fired rules are unknown: %s\n", f.text);
	json_decref(list);
	return options->must_fire && !all_fired(faults, fired) ? RUN_EXIT_MUST_FIRE : status;
}

/* ---- for a program that reads it ---- */

void run_faults_record(const char *dir, const struct run_options *options)
{
	json_t *record = json_object(), *lines = json_array(), *list;
	struct ctl_failure f;
	json_int_t lost;

	if (ctl_exchange(dir, ctl_command("fault", "list"), &list, &f) == 0) {
		json_object_set(record, UHCA_CTL_RULES, rules_in(list));
		json_decref(list);
		ctl_fetch_trace(dir, lines, &lost, &f);
		json_object_set_new(record, UHCA_CTL_LOST, json_integer(lost));
		json_object_set(record, UHCA_CTL_LINES, lines);
	}
	json_decref(lines);
	json_dumpf(record, options->record, JSON_COMPACT);
	fflush(options->record);
	json_decref(record);
}
