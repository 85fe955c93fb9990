/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a scenario can wait for and expect; see scenario_run.h.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/words/words.h"
#include "never_fired.h"
#include "scenario_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DETAIL 256

struct scenario_process *scenario_find_process(struct scenario_run *r, const char *name)
{
	for (unsigned i = 0; i < r->n_processes; i++)
		if (strcmp(r->process[i].name, name) == 0)
			return &r->process[i];
	return NULL;
}

/* ---- the daemon's tables ---- */

static int ask(struct scenario_run *r, unsigned side, json_t *request, json_t **table)
{
	struct ctl_failure f;

	if (ctl_exchange(r->side[side].dir, request, table, &f) == 0)
		return 0;
	scenario_stop(r, NULL, "%s", f.text);
	return -EIO;
}

/* The rows of all daemons in one table. Takes the request. */
static int ask_all(struct scenario_run *r, json_t *request, json_t **table)
{
	json_t *more;
	int error = ask(r, 0, json_incref(request), table);

	for (unsigned i = 1; i < r->n_sides && error == 0; i++) {
		error = ask(r, i, json_incref(request), &more);
		if (error < 0) {
			json_decref(*table);
			break;
		}
		ctl_append_rows(*table, more);
		json_decref(more);
	}
	json_decref(request);
	return error;
}

static void note_hits(struct scenario_run *r, unsigned side, const json_t *row)
{
	json_int_t number = ctl_number_in(row, UHCA_CTL_RULE);

	for (unsigned i = 0; i < r->n_rules; i++) {
		struct scenario_rule *rule = &r->rule[i];

		if (rule->side != side || rule->number != (uint64_t)number || rule->removed)
			continue;
		rule->hits = (uint64_t)ctl_number_in(row, UHCA_CTL_HITS);
		if (rule->hits == 0)
			ctl_never_fired(row, rule->why, sizeof(rule->why));
	}
}

int scenario_look_at_rules(struct scenario_run *r)
{
	json_t *result, *row;
	size_t i;

	for (unsigned side = 0; side < r->n_sides; side++) {
		if (ask(r, side, ctl_command("fault", "list"), &result) < 0)
			return -EIO;
		json_array_foreach(json_object_get(result, "rules"), i, row)
			note_hits(r, side, row);
		json_decref(result);
	}
	return 0;
}

/* The sum over the devices; -ENOENT: there is no such counter. */
static int counter(struct scenario_run *r, const char *name, uint64_t *out)
{
	json_t *table;
	int column;

	if (ask_all(r, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table) < 0)
		return -EIO;
	column = ctl_column(table, name);
	*out = 0;
	for (size_t i = 0; i < ctl_rows(table); i++)
		*out += (uint64_t)ctl_cell_number(table, i, name);
	json_decref(table);
	return column < 0 ? -ENOENT : 0;
}

/*
 * Writes out what the daemon keeps of its capture, and reads it. From one that has ended nothing
 * can be learnt: neither that something was, nor that it was not.
 */
static int refresh_side(struct scenario_run *r, unsigned side)
{
	const char *why;
	json_t *facts;
	int error;

	if (ask(r, side, ctl_command("capture", "status"), &facts) < 0)
		return -EIO;
	why = json_string_value(json_object_get(facts, UHCA_CTL_ERROR));
	error = json_is_true(json_object_get(facts, UHCA_CTL_RUNNING))
			? scenario_model_read(&r->side[side].model)
			: -EPIPE;
	if (error < 0)
		scenario_stop(r, NULL, "the trace of the devices cannot be read: %s",
			      why               ? why
			      : error == -EPIPE ? "the capture has ended"
						: strerror(-error));
	json_decref(facts);
	return error;
}

/* How many records of this kind all daemons have by now, to *out. 0 or -errno, printed. */
static int count_records(struct scenario_run *r, const char *kind, const char *words, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < r->n_sides; i++) {
		int error = refresh_side(r, i);

		if (error < 0)
			return error;
		*out += scenario_model_count(&r->side[i].model, kind, words);
	}
	return 0;
}

/* ---- names that only the daemon knows ---- */

static bool has_device(const json_t *table, const char *device, size_t len)
{
	for (size_t i = 0; i < ctl_rows(table); i++) {
		const char *is = ctl_cell_text(table, i, UHCA_CTL_DEVICE);

		if (strlen(is) == len && strncasecmp(is, device, len) == 0)
			return true;
	}
	return false;
}

static int no_such(struct scenario_run *r, const struct scenario_step *step, const char *what,
		   const char *word, words_names names, const void *table)
{
	char text[512];

	return scenario_stop(r, step, "%s",
			     words_refuse(text, sizeof(text), what, word, names, table));
}

/* A column of the table of counters; the first has the devices. */
static const char *counter_at(const void *table, unsigned i)
{
	return ctl_column_name(table, i + 1);
}

static const char *device_at(const void *table, unsigned i)
{
	return i < ctl_rows(table) ? ctl_cell_text(table, i, UHCA_CTL_DEVICE) : NULL;
}

static int no_device(struct scenario_run *r, const struct scenario_step *step, const char *name,
		     size_t len, const json_t *table)
{
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	return no_such(r, step, "device", word, device_at, table);
}

/* dev=NAME or dev!=NAME among the words of a record. */
static int know_device(struct scenario_run *r, const struct scenario_step *step,
		       const json_t *table)
{
	for (const char *p = step->text; *p; p += strspn(p, " \t")) {
		size_t len = strcspn(p, " \t");
		size_t name = strcspn(p, "=!");
		const char *value = p + strcspn(p, "=") + 1;

		if (name == 3 && strncmp(p, "dev", 3) == 0 &&
		    !has_device(table, value, (size_t)(p + len - value)))
			return no_device(r, step, value, (size_t)(p + len - value), table);
		p += len;
	}
	return 0;
}

int scenario_know_names(struct scenario_run *r)
{
	json_t *table;
	int error = 0;

	if (ask_all(r, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table) < 0)
		return -EIO;
	for (unsigned i = 0; i < r->s->n_steps && error == 0; i++) {
		const struct scenario_step *step = &r->s->step[i];

		if (step->what == SCENARIO_COUNTER && ctl_column(table, step->name) < 0)
			error = no_such(r, step, "counter", step->name, counter_at, table);
		else if (step->what == SCENARIO_RECORD)
			error = know_device(r, step, table);
	}
	json_decref(table);
	return error;
}

/* ---- one for each kind ---- */

static int judge_number(const struct scenario_step *step, uint64_t found, char *detail)
{
	snprintf(detail, DETAIL, "found %" PRIu64, found);
	return scenario_holds(found, step->relation, step->number);
}

static bool listens_in(const char *file, unsigned port)
{
	FILE *f = fopen(file, "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned local, state;

		found = sscanf(line, " %*[^:]: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local, &state) ==
				2 &&
			local == port && state == 0x0a;
	}
	if (f)
		fclose(f);
	return found;
}

static int is_listening(const struct scenario_run *r, const struct scenario_step *step)
{
	unsigned port = step->number ? (unsigned)step->number : r->port;

	return listens_in("/proc/self/net/tcp", port) || listens_in("/proc/self/net/tcp6", port);
}

static int is_cm_listening(struct scenario_run *r, const struct scenario_step *step)
{
	uint64_t asked = step->number ? step->number : r->port;
	json_t *table;
	int found = 0;

	if (ask_all(r, ctl_command_show("cm_id"), &table) < 0)
		return -EIO;
	for (size_t i = 0; i < ctl_rows(table); i++)
		found |= strcmp(ctl_cell_text(table, i, "state"), "listening") == 0 &&
			 (uint64_t)ctl_cell_number(table, i, "port") == asked;
	json_decref(table);
	return found;
}

static int is_rule(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	if (scenario_look_at_rules(r) < 0)
		return -EIO;
	for (unsigned i = r->n_rules; i-- > 0;)
		if (strcmp(r->rule[i].name, step->name) == 0)
			return judge_number(step, r->rule[i].hits, detail);
	return scenario_stop(r, step, "no rule of this scenario has the name %s", step->name);
}

static int is_exit(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	struct scenario_process *p = scenario_find_process(r, step->name);

	if (!p)
		return scenario_stop(r, step, "%s was not started", step->name);
	snprintf(detail, DETAIL, "it is still running");
	return scenario_process_ended(p) ? judge_number(step, (uint64_t)p->status, detail) : 0;
}

static int is_output(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	struct scenario_process *p = scenario_find_process(r, step->name);
	int said = p && p->output[0] ? scenario_process_said(p, step->text) : -ENOENT;

	if (said < 0)
		return scenario_stop(r, step, "the output of %s cannot be read", step->name);
	snprintf(detail, DETAIL, "no line of %s matches", step->name);
	return said;
}

static int is_record(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	uint64_t found;
	int error = count_records(r, step->name, step->text, &found);

	return error < 0 ? error : judge_number(step, found, detail);
}

static int is_counter(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	uint64_t found;
	int error = counter(r, step->name, &found);

	return error < 0 ? error : judge_number(step, found, detail);
}

/*
 * A leak is an object that its program never destroyed: the daemon tells of those it had to
 * destroy in a program's stead. What a killed or failed program leaves is not counted against it
 * when the step says so; what is left in the daemon when nobody is there always is.
 */
static int is_leak(struct scenario_run *r, char *detail)
{
	static const char *const kinds[] = {"pd", "mr", "mw", "cq", "qp", "srq", "ah"};
	uint64_t leaks;

	/* Before the records: what the daemon destroys meanwhile is among those, read last. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		json_t *table;
		size_t n;

		if (ask_all(r, ctl_command_show(kinds[i]), &table) < 0)
			return -EIO;
		n = ctl_rows(table);
		json_decref(table);
		snprintf(detail, DETAIL, "%zu %s in the daemon", n, kinds[i]);
		if (n > 0)
			return 1;
	}
	if (count_records(r, "leak", "", &leaks) < 0)
		return -EIO;
	snprintf(detail, DETAIL, "a program ended without destroying its objects");
	return leaks > 0;
}

int scenario_condition(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	detail[0] = '\0';
	switch (step->what) {
	case SCENARIO_LISTEN:
		return is_listening(r, step);
	case SCENARIO_CM_LISTEN:
		return is_cm_listening(r, step);
	case SCENARIO_RULE:
		return is_rule(r, step, detail);
	case SCENARIO_EXIT:
		return is_exit(r, step, detail);
	case SCENARIO_OUTPUT:
		return is_output(r, step, detail);
	case SCENARIO_RECORD:
		return is_record(r, step, detail);
	case SCENARIO_COUNTER:
		return is_counter(r, step, detail);
	case SCENARIO_NO_LEAK:
		return is_leak(r, detail);
	case SCENARIO_TIME: /* scenario_run.c sees to it */
	case SCENARIO_NOTHING:
		break;
	}
	return 1;
}
