/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run --chaos: options for the daemon, and the report of relaxations taken. */
#include "run_chaos.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

void run_chaos_settle(struct chaos *c)
{
	uint32_t seed; /* short enough to be typed */

	if (c->has_seed)
		return;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint32_t)time(NULL);
	c->seed = seed;
	c->has_seed = true;
}

void run_chaos_word(const struct chaos *c, char *out, size_t cap)
{
	int n = snprintf(out, cap, "--chaos=");

	chaos_print(c->seed, chaos_taken(c), out + n, cap - (size_t)n);
}

/* ---- what came of it ---- */

bool run_chaos_is_relaxation(const json_t *rule)
{
	for (unsigned i = 0; i < n_relaxations; i++)
		if (strcmp(ctl_text_in(rule, UHCA_CTL_NAME), relaxations[i].name) == 0)
			return true;
	return false;
}

static const json_t *rule_find(const json_t *rules, const char *name)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		if (strcmp(ctl_text_in(rule, UHCA_CTL_NAME), name) == 0)
			return rule;
	}
	return NULL;
}

static void print_hits(const json_t *rules, const struct relaxation *l)
{
	const json_t *rule = rule_find(rules, l->name);
	json_int_t hits = ctl_number_in(rule, UHCA_CTL_HITS);

	if (rule)
		fprintf(stderr, " %s %" JSON_INTEGER_FORMAT " time%s", l->name, hits,
			hits == 1 ? "" : "s");
	else
		fprintf(stderr, " %s in force", l->name);
}

void run_chaos_begin(const struct run_options *options)
{
	if (options->is_chaos)
		fprintf(stderr, "uhca-run: chaos seed %" PRIu64 "\n", options->chaos.seed);
}

void run_chaos_report(const char *dir, const struct run_options *options)
{
	const chaos_set taken = chaos_taken(&options->chaos);
	struct ctl_failure f;
	json_t *list;
	int status;

	if (!options->is_chaos)
		return;
	status = ctl_exchange(dir, ctl_command("fault", "list"), &list, &f);
	fprintf(stderr, "uhca-run: chaos seed %" PRIu64 ":", options->chaos.seed);
	if (status != 0)
		fprintf(stderr, " the active relaxations are unknown: %s", f.text);
	for (unsigned i = 0, n = 0; i < n_relaxations && status == 0; i++) {
		if (!(taken >> i & 1))
			continue;
		fputs(n++ ? "," : "", stderr);
		print_hits(json_object_get(list, UHCA_CTL_RULES), &relaxations[i]);
	}
	fputc('\n', stderr);
	json_decref(list);
}

/* ---- how to repeat it ---- */

/* As a shell reads it. */
static void print_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=,:+@%^";

	if (*word && strspn(word, plain) == strlen(word)) {
		fprintf(stderr, " %s", word);
		return;
	}
	fputs(" '", stderr);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stderr);
		else
			fputc(*word, stderr);
	}
	fputc('\'', stderr);
}

static void print_options(const struct run_options *o)
{
	for (unsigned i = 0; i < o->n_daemon_args; i++)
		print_quoted(o->daemon_args[i]);
	for (unsigned i = 0; i < o->n_faults; i++) {
		fputs(o->faults[i].is_file ? " --fault-file" : " --fault", stderr);
		print_quoted(o->faults[i].text);
	}
	if (o->fault_seed)
		fprintf(stderr, " --fault-seed %s", o->fault_seed);
	if (o->sanitize)
		fprintf(stderr, " --sanitize=%s", o->sanitize);
	for (unsigned i = 0; i < o->n_sanitize_words; i++)
		print_quoted(o->sanitize_words[i]);
	if (o->no_stock)
		fputs(" --no-stock-suppressions", stderr);
}

static bool is_plain(const struct chaos *c)
{
	return !c->only && !c->added && !c->removed;
}

void run_chaos_again(const struct run_options *o, uint64_t seed, chaos_set taken, bool reduced)
{
	char words[RUN_CHAOS_WORD_MAX];

	if (reduced || !is_plain(&o->chaos))
		chaos_print(seed, taken, words, sizeof(words));
	else
		snprintf(words, sizeof(words), "%" PRIu64, seed);
	fprintf(stderr, "uhca-run: again: uhca-run --chaos=%s", words);
	print_options(o);
	fputs(" --", stderr);
	for (unsigned i = 0; o->command[i]; i++)
		print_quoted(o->command[i]);
	fputc('\n', stderr);
}

void run_chaos_print_help(void)
{
	for (unsigned i = 0; i < n_relaxations; i++)
		printf("%-20s %s%s\n%-20s (%s)\n", relaxations[i].name, relaxations[i].what,
		       relaxations[i].asked_only ? "; only when named" : "", "",
		       relaxations[i].clause);
}
