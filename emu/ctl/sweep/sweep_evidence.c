/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the files that a run has written. */
#include "sweep_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a file, which may not be there: "". */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;
	ssize_t n = f ? getdelim(&text, &cap, '\0', f) : -1;

	if (f)
		fclose(f);
	if (n < 0) {
		free(text);
		text = NULL;
	}
	return text ? text : calloc(1, 1);
}

/* A line of JSON each. */
static json_t *read_findings(const char *path)
{
	FILE *f = fopen(path, "re");
	json_t *all = json_array(), *one;

	while (f && (one = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)))
		json_array_append_new(all, one);
	if (f)
		fclose(f);
	return all;
}

void sweep_evidence_read(const struct sweep_slot *slot, struct sweep_evidence *out)
{
	*out = (struct sweep_evidence){.output = read_text(slot->output),
				       .report = read_text(slot->report),
				       .findings = read_findings(slot->findings),
				       .record = json_load_file(slot->record, 0, NULL)};
	if (!out->output || !out->report)
		abort(); /* no memory: the sweep would judge by nothing */
}

void sweep_evidence_free(struct sweep_evidence *e)
{
	free(e->output);
	free(e->report);
	json_decref(e->findings);
	json_decref(e->record);
}
