/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the file of a network, or calls a generator. See file.h. */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fabric_error_text(const struct fabric_error *e, const char *where, char *text, size_t cap)
{
	if (e->line)
		snprintf(text, cap, "%s:%u:%u: %s", where, e->line, e->column, e->text);
	else if (e->column > 1)
		snprintf(text, cap, "%s: column %u: %s", where, e->column, e->text);
	else
		snprintf(text, cap, "%s: %s", where, e->text);
}

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!in)
		return NULL;
	/* Up to the end: no text has a NUL. */
	if (getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		text = ferror(in) ? NULL : strdup("");
	}
	fclose(in);
	return text;
}

/* A generator's name has no dot and no slash before its colon. */
static bool is_file(const char *name)
{
	return strcspn(name, "./") < strcspn(name, ":") && name[strcspn(name, "./")];
}

int fabric_topology_load(struct fabric_topology *t, const char *name, char *error, size_t cap)
{
	struct fabric_error e;
	char *text;
	int status;

	snprintf(error, cap, "out of memory");
	if (!is_file(name)) {
		status = fabric_topology_generate(t, name, &e);
	} else {
		text = read_file(name);
		if (!text) {
			snprintf(error, cap, "%s: %s", name, strerror(errno));
			return -EINVAL;
		}
		status = fabric_topology_parse(t, text, &e);
		free(text);
	}
	if (status == -EINVAL)
		fabric_error_text(&e, name, error, cap);
	return status;
}
