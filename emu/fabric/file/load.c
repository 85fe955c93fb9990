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

/* Its text; *cut: it has a NUL, and ends there. */
static char *read_file(const char *path, bool *cut)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	if (!in)
		return NULL;
	length = getdelim(&text, &size, '\0', in);
	*cut = length > 0 && !text[length - 1];
	if (length < 0) {
		free(text);
		text = ferror(in) ? NULL : strdup("");
	}
	fclose(in);
	return text;
}

static int refuse_nul(const char *text, struct fabric_error *e)
{
	unsigned line = 1;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		line++;
	fabric_refuse(e, text, text + strlen(text), "a NUL byte: not a text file");
	e->line = line;
	return -EINVAL;
}

/* A generator's name has no dot and no slash before its colon. */
static bool is_file(const char *name)
{
	return strcspn(name, "./") < strcspn(name, ":") && name[strcspn(name, "./")];
}

int fabric_topology_load(struct fabric_topology *t, const char *name, char *error, size_t cap)
{
	struct fabric_error e;
	bool cut = false;
	char *text;
	int status;

	snprintf(error, cap, "out of memory");
	if (!is_file(name)) {
		status = fabric_topology_generate(t, name, &e);
	} else {
		text = read_file(name, &cut);
		if (!text) {
			snprintf(error, cap, "%s: %s", name, strerror(errno));
			return -EINVAL;
		}
		status = cut ? refuse_nul(text, &e) : fabric_topology_parse(t, text, &e);
		free(text);
	}
	if (status == -EINVAL)
		fabric_error_text(&e, name, error, cap);
	return status;
}
