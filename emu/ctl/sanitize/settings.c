/* SPDX-License-Identifier: BSD-2-Clause */
/* See settings.h. */
#include "settings.h"

#include "found.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool number(const char *value, unsigned long max, unsigned long *out)
{
	char *end;
	*out = strtoul(value, &end, 10);
	return isdigit((unsigned char)*value) && !*end && *out <= max;
}

static bool apply(struct settings *s, const char *name, const char *value)
{
	unsigned long n = 0;
	bool ok = true;
	if (strcmp(name, "halt_on_error") == 0) {
		ok = number(value, 1, &n);
		s->halt_on_error = n;
	} else if (strcmp(name, "exitcode") == 0) {
		ok = number(value, 255, &n);
		s->exitcode = (int)n;
	} else if (strcmp(name, "first") == 0) {
		ok = number(value, 1000000, &n);
		s->first = (unsigned)n;
	} else if (strcmp(name, "text") == 0) {
		s->text = value;
	} else if (strcmp(name, "json") == 0) {
		s->json = value;
	} else if (strcmp(name, "sarif") == 0) {
		s->sarif = value;
	} else {
		ok = false;
	}
	return ok && *value;
}

int settings_read(struct settings *s, char *text)
{
	char *save, *word = strtok_r(text, ":", &save);
	for (; word; word = strtok_r(NULL, ":", &save)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (!value || !apply(s, word, value)) {
			fprintf(stderr,
				"uhca-run: sanitizer option '%s%s%s': there are halt_on_error=0|1, "
				"exitcode=N, first=N, text=FILE, json=FILE, sarif=FILE\n",
				word, value ? "=" : "", value ? value : "");
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_known(const char *word, size_t n)
{
	if (n == 3 && strncmp(word, "all", n) == 0)
		return true;
	for (unsigned i = 0; i < UHCA_CHECK_COUNT; i++) {
		const struct found_check *c = found_check((enum uhca_check)i);
		if ((strlen(c->name) == n && strncmp(word, c->name, n) == 0) ||
		    (strlen(c->group) == n && strncmp(word, c->group, n) == 0))
			return true;
	}
	return false;
}

bool settings_checks_known(const char *list)
{
	while (*list) {
		list += *list == '-';
		size_t n = strcspn(list, ",");
		if (!is_known(list, n)) {
			fprintf(stderr, "uhca-run: no check '%.*s'; there are: all, sum", (int)n,
				list);
			for (unsigned i = 0; i < UHCA_CHECK_COUNT; i++)
				fprintf(stderr, ", %s", found_check((enum uhca_check)i)->name);
			fprintf(stderr, "\n");
			return false;
		}
		list += n + (list[n] == ',');
	}
	return true;
}
