/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings as SARIF 2.1.0 (OASIS), the form in which code hosts take results of analysis: a rule
 * for each check, a result for each finding with the place a reader should look at, and its stacks.
 */
#include "found_print.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

/* A path as it is from the working directory, if it is below. Valid until the next one. */
static const char *from_here(const char *path)
{
	static char real[PATH_MAX];
	char here[PATH_MAX];
	size_t n;
	if (realpath(path, real))
		path = real;
	if (!getcwd(here, sizeof(here)))
		return path;
	n = strlen(here);
	return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static json_t *location(const struct found_frame *f, const char *text)
{
	json_t *l = json_object();
	if (f->file) {
		json_object_set_new(l, "physicalLocation",
				    json_pack("{s:{s:s}, s:{s:i}}", "artifactLocation", "uri",
					      from_here(f->file), "region", "startLine",
					      f->line > 0 ? f->line : 1));
	}
	if (f->function)
		json_object_set_new(
			l, "logicalLocations",
			json_pack("[{s:s, s:s}]", "name", f->function, "kind", "function"));
	if (text)
		json_object_set_new(l, "message", json_pack("{s:s}", "text", text));
	return l;
}

static json_t *stack(const struct found_stack *s)
{
	json_t *frames = json_array();
	for (unsigned i = 0; i < s->n_frames; i++)
		json_array_append_new(frames, json_pack("{s:o, s:s}", "location",
							location(&s->frames[i], NULL), "module",
							s->frames[i].module));
	return json_pack("{s:{s:s}, s:o}", "message", "text", s->title, "frames", frames);
}

/* What is wrong, and with what: hosts show the first line. */
static json_t *message(const struct found *f)
{
	char text[4096];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", f->what);
	for (unsigned i = 0; i < f->n_facts && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n%s", f->facts[i]);
	return json_pack("{s:s}", "text", text);
}

json_t *found_sarif_result(const struct found *f)
{
	const struct found_frame *place = found_place(f);
	json_t *stacks = json_array(), *result;
	for (unsigned s = 0; s < f->n_stacks; s++)
		json_array_append_new(stacks, stack(&f->stacks[s]));
	result = json_pack("{s:s, s:i, s:s, s:o, s:o}", "ruleId", found_check(f->check)->name,
			   "ruleIndex", (int)f->check, "level", found_is_note(f) ? "note" : "error",
			   "message", message(f), "stacks", stacks);
	if (place)
		json_object_set_new(result, "locations", json_pack("[o]", location(place, NULL)));
	return result;
}

static json_t *rules(void)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < UHCA_CHECK_COUNT; i++) {
		const struct found_check *c = found_check((enum uhca_check)i);
		char help[1024];
		snprintf(help, sizeof(help), "%s. (%s)", c->mend, c->where);
		json_array_append_new(list, json_pack("{s:s, s:{s:s}, s:{s:s}}", "id", c->name,
						      "shortDescription", "text", c->rule, "help",
						      "text", help));
	}
	return list;
}

void found_print_sarif(FILE *out, json_t *results)
{
	json_t *log =
		json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema", SCHEMA,
			  "version", "2.1.0", "runs", "tool", "driver", "name", "uhca-sanitizer",
			  "version", UHCA_VERSION, "rules", rules(), "results", results);
	json_dumpf(log, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(log);
}
