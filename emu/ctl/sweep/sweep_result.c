/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of runs in memory and as JSON. */
#include "sweep_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SWEEP_DIAGNOSTICS] = {
	[SWEEP_CRASH] = "crash",   [SWEEP_HANG] = "hang",     [SWEEP_LEAK] = "leak",
	[SWEEP_MISUSE] = "misuse", [SWEEP_PASSED] = "passed", [SWEEP_FAILED] = "failed",
};

const char *sweep_diagnostic_name(enum sweep_fault_of_test of)
{
	return names[of];
}

void sweep_result_add(struct sweep_result *r, enum sweep_fault_of_test of, const char *what,
		      const char *stack)
{
	struct sweep_diagnostic f = {of, strdup(what), strdup(stack ? stack : "")};

	if (r->n < SWEEP_RESULT_DIAGNOSTICS && f.what && f.stack) {
		r->diagnostic[r->n++] = f;
		return;
	}
	free(f.what);
	free(f.stack);
}

void sweep_result_free(struct sweep_result *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		free(r->diagnostic[i].what);
		free(r->diagnostic[i].stack);
	}
	free(r->said);
	*r = (struct sweep_result){.n = 0};
}

/* What a program writes is not always text. */
static json_t *text(const char *s)
{
	json_t *t = json_string(s);
	char *copy = t ? NULL : strdup(s);

	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	if (copy)
		t = json_string(copy);
	free(copy);
	return t;
}

json_t *sweep_result_pack(const struct sweep_result *r)
{
	char name[SWEEP_NAME_MAX];
	json_t *findings = json_array();

	sweep_item_name(&r->item, name);
	for (unsigned i = 0; i < r->n; i++)
		json_array_append_new(findings, json_pack("{s:s, s:o, s:o}", "kind",
							  names[r->diagnostic[i].of], "what",
							  text(r->diagnostic[i].what), "stack",
							  text(r->diagnostic[i].stack)));
	return json_pack("{s:s, s:i, s:f, s:b, s:b, s:o, s:o}", "run", name, "status", r->status,
			 "seconds", r->seconds, "fired", r->fired, "again", r->again, "said",
			 text(r->said ? r->said : ""), "findings", findings);
}

static void take_finding(struct sweep_result *r, const json_t *f)
{
	const char *kind = json_string_value(json_object_get(f, "kind"));
	const char *what = json_string_value(json_object_get(f, "what"));

	for (unsigned i = 0; kind && what && i < SWEEP_DIAGNOSTICS; i++)
		if (strcmp(names[i], kind) == 0)
			sweep_result_add(r, (enum sweep_fault_of_test)i, what,
					 json_string_value(json_object_get(f, "stack")));
}

int sweep_result_unpack(const json_t *line, struct sweep_result *out)
{
	const char *name = json_string_value(json_object_get(line, "run"));
	const char *said = json_string_value(json_object_get(line, "said"));
	char error[128];
	const json_t *f;
	size_t i;

	*out = (struct sweep_result){.n = 0};
	if (!name || !said || sweep_item_parse(name, &out->item, error, sizeof(error)) < 0)
		return -EINVAL;
	out->status = (int)json_integer_value(json_object_get(line, "status"));
	out->seconds = json_number_value(json_object_get(line, "seconds"));
	out->fired = json_is_true(json_object_get(line, "fired"));
	out->again = json_is_true(json_object_get(line, "again"));
	out->said = strdup(said);
	json_array_foreach(json_object_get(line, "findings"), i, f) take_finding(out, f);
	return 0;
}
