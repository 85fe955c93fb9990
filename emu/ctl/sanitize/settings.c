/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses --sanitize-options and UHCA_SANITIZE_OPTIONS. */
#include "settings.h"

#include "emu/ctl/lib/lib.h"
#include "emu/words/words.h"
#include "found.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a fraction, where one is given. */
static bool seconds(const char *value, unsigned *ms)
{
	char *end;
	double n = strtod(value, &end);
	if (!isdigit((unsigned char)*value) || *end || n > 3600)
		return false;
	*ms = (unsigned)(n * 1000 + 0.5);
	return true;
}

static bool apply(struct settings *s, const char *name, const char *value)
{
	uint64_t n = 0;
	bool ok = true;
	if (strcmp(name, "halt_on_error") == 0) {
		ok = ctl_number(value, 10, 1, &n);
		s->halt_on_error = n;
	} else if (strcmp(name, "exitcode") == 0) {
		ok = ctl_number(value, 10, 255, &n);
		s->exitcode = (int)n;
	} else if (strcmp(name, "first") == 0) {
		ok = ctl_number(value, 10, 1000000, &n);
		s->first = (unsigned)n;
	} else if (strcmp(name, "hang_after") == 0) {
		ok = seconds(value, &s->hang_after_ms);
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

/* Names and what they take. */
static const char *const option_names[] = {"halt_on_error", "exitcode", "first", "hang_after",
					   "text",          "json",     "sarif", NULL};

static int refuse_option(const char *name, const char *value)
{
	static const char *const forms[] = {"halt_on_error=0 or 1",
					    "exitcode=N, 0 to 255",
					    "first=N, 0 to 1000000",
					    "hang_after=SECONDS, 0 to 3600",
					    "text=FILE",
					    "json=FILE",
					    "sarif=FILE"};
	char text[256];
	unsigned i = 0;
	while (option_names[i] && strcmp(option_names[i], name) != 0)
		i++;
	if (!option_names[i])
		fprintf(stderr, "uhca-run: --sanitize-options: %s\n",
			words_refuse(text, sizeof(text), "sanitizer option", name, words_at,
				     option_names));
	else
		fprintf(stderr, "uhca-run: --sanitize-options: '%s%s%s' is not %s\n", name,
			value ? "=" : "", value ? value : "", forms[i]);
	return -EINVAL;
}

int settings_read(struct settings *s, char *text)
{
	char *save, *word = strtok_r(text, ":", &save);
	for (; word; word = strtok_r(NULL, ":", &save)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (!value || !apply(s, word, value))
			return refuse_option(word, value);
	}
	return 0;
}

/* What a list of checks can say: all, the groups, each check. */
static const char *settings_check_at(const void *table, unsigned i)
{
	static const char *const first[] = {"all", "sum", "strict", "page", "portable"};
	const unsigned n = sizeof(first) / sizeof(first[0]);
	(void)table;
	if (i < n)
		return first[i];
	i -= n;
	return i < UHCA_CHECK_COUNT ? found_check((enum uhca_check)i)->name : NULL;
}

bool settings_checks_known(const char *list)
{
	while (*list) {
		char word[64], text[2048];
		list += *list == '-';
		size_t n = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)n, list);
		if (!words_has(word, settings_check_at, NULL)) {
			fprintf(stderr, "uhca-run: --sanitize: %s\n",
				words_refuse(text, sizeof(text), "check", word, settings_check_at,
					     NULL));
			return false;
		}
		list += n + (list[n] == ',');
	}
	return true;
}

void settings_print_checks(void)
{
	for (unsigned i = 0; i < UHCA_CHECK_COUNT; i++) {
		const struct found_check *c = found_check((enum uhca_check)i);
		printf("%-8s %-20s %s\n", c->group, c->name, c->rule);
	}
	puts("\nA list has names of checks and groups (sum, strict, page, portable; all is sum and "
	     "strict)\nwith commas between them, and - before one to leave it out; see "
	     "uhca-sanitize(7).");
}
