/* SPDX-License-Identifier: BSD-2-Clause */
/* What pages may ask for, and the scenario of what they did (acts.h). */
#include "acts.h"

#include "emu/abi/ctl.h"

#include <stdlib.h>
#include <string.h>

#define SEEN_MAX 16

/* ---- what may be asked for ---- */

/* No request that names a file: a page has no business with files of the machine. */
static const struct allowed {
	const char *command;
	const char *action; /* NULL: it has none */
	bool changes;
} allowed[] = {
	{"fault", "list", false},  {"fault", "add", true},   {"fault", "change", true},
	{"fault", "remove", true}, {"fault", "clear", true}, {"step", "list", false},
	{"step", "freeze", true},  {"step", "go", true},     {"step", "next", true},
	{"step", "release", true}, {"step", "drop", true},   {"step", "change", true},
	{"port", "up", true},      {"port", "down", true},   {"device", "fatal", true},
	{"event", NULL, true},     {"limit", NULL, true},    {"walk", NULL, false},
	{"counters", NULL, false}, {"show", NULL, false},    {"version", NULL, false},
};

const char *acts_refuse(const json_t *request, bool read_only)
{
	const char *command = json_string_value(json_object_get(request, UHCA_CTL_CMD));
	const char *action = json_string_value(json_object_get(request, UHCA_CTL_ACTION));

	for (size_t i = 0; command && i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		const struct allowed *a = &allowed[i];

		if (strcmp(a->command, command) != 0 ||
		    (a->action && (!action || strcmp(a->action, action) != 0)))
			continue;
		return a->changes && read_only ? "this page may only look (--read-only)" : NULL;
	}
	return "a page may not ask for this; openapi.json lists what it may ask for";
}

/* ---- statements ---- */

/* Bytes of "fault NAME:" at the beginning; 0: it has no name. */
static size_t name_length(const char *statement)
{
	static const char fault[] = "fault ";
	size_t n = sizeof(fault) - 1;

	if (strncmp(statement, fault, n) != 0)
		return 0;
	n += strcspn(statement + n, " :");
	return statement[n] == ':' ? n + 1 : 0;
}

static unsigned find_statement(const struct acts *a, const char *statement, size_t n)
{
	unsigned i = 0;

	while (i < a->n && (n == 0 || strncmp(a->line[i], statement, n) != 0))
		i++;
	return i;
}

static const char *forget(struct acts *a, const char *name)
{
	char statement[ACT_TEXT_MAX];
	unsigned at;

	snprintf(statement, sizeof(statement), "fault %.64s:", name);
	at = find_statement(a, statement, strlen(statement));
	if (at == a->n)
		return NULL;
	free(a->line[at]);
	memmove(&a->line[at], &a->line[at + 1], (--a->n - at) * sizeof(a->line[0]));
	return NULL;
}

const char *acts_note(struct acts *a, const char *statement)
{
	static const char forgets[] = "forget ";
	unsigned at = find_statement(a, statement, name_length(statement));
	char *copy;

	if (strncmp(statement, forgets, sizeof(forgets) - 1) == 0)
		return forget(a, statement + sizeof(forgets) - 1);
	if (strlen(statement) >= ACT_TEXT_MAX || strpbrk(statement, "\r\n"))
		return "a statement of a scenario is one line";
	if (name_length(statement) == 0 && strncmp(statement, "uhcactl ", 8) != 0 &&
	    strncmp(statement, "# ", 2) != 0)
		return "a statement is \"fault NAME: RULE\", \"uhcactl WORD...\" or a comment";
	if (at == ACTS_MAX)
		return NULL; /* the scenario says so */
	copy = strdup(statement);
	if (!copy)
		return NULL;
	if (at < a->n)
		free(a->line[at]);
	else
		a->n++;
	a->line[at] = copy;
	return NULL;
}

void acts_end(struct acts *a)
{
	for (unsigned i = 0; i < a->n; i++)
		free(a->line[i]);
	a->n = 0;
}

/* ---- the scenario ---- */

struct seen {
	char text[SEEN_MAX][96];
	unsigned n;
};

static void see(struct seen *seen, const char *kind, const char *name, const char *value)
{
	char text[sizeof(seen->text[0])];

	snprintf(text, sizeof(text), "%s %s=%.48s", kind, name, value);
	for (unsigned i = 0; i < seen->n; i++)
		if (strcmp(seen->text[i], text) == 0)
			return;
	if (seen->n < SEEN_MAX)
		strcpy(seen->text[seen->n++], text);
}

/* Of what failed, that which the next run should show as well. */
static void see_record(struct seen *seen, const struct model_record *r)
{
	const char *syndrome = model_word(r, "syndrome"), *why = model_word(r, "why");

	if (model_is_failure(r))
		see(seen, "completion", "status", model_word(r, "status"));
	else if (r->kind == MODEL_NAK && syndrome)
		see(seen, "nak", "syndrome", syndrome);
	else if (r->kind == MODEL_RETRY && why)
		see(seen, "retry", "why", why);
}

static void print_expectations(FILE *out, const struct model *m)
{
	struct seen seen = {.n = 0};

	for (uint32_t i = 0; i < m->n_records; i++)
		see_record(&seen, &m->record[i]);
	for (unsigned i = 0; i < seen.n; i++)
		fprintf(out, "expect %s\n", seen.text[i]);
	if (seen.n == 0)
		fputs("expect no completion status!=SUCCESS\n", out);
}

static unsigned count_devices(const struct serve_source *s)
{
	json_t *state = s->state ? json_loads(s->state, 0, NULL) : NULL;
	const json_t *rows = json_object_get(json_object_get(state, "device"), UHCA_CTL_ROWS);
	unsigned n = (unsigned)json_array_size(rows);

	json_decref(state);
	return n;
}

void acts_print(FILE *out, const struct acts *a, const struct serve_source *s, const char *command)
{
	unsigned devices = count_devices(s);

	fputs("# What was done by hand on the page of a device; uhca-run --scenario FILE does it "
	      "again.\ntitle Done by hand\n",
	      out);
	if (devices > 1)
		fprintf(out, "daemon --devices %u\n", devices);
	if (s->watch.model.recorder && s->watch.model.n_arrows > 0 && a->n == ACTS_MAX)
		fputs("# More was done than is kept here.\n", out);
	for (unsigned i = 0; i < a->n; i++)
		fprintf(out, "%s\n", a->line[i]);
	if (command)
		fprintf(out, "run program1: %s\n", command);
	else
		programs_print(out, &s->programs);
	print_expectations(out, &s->watch.model);
}
