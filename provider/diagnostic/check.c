/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses UHCA_SANITIZE into the set of checks that are on. */
#include "check.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	const char *group;
} table[UHCA_CHECK_COUNT] = {
#define ROW(id, name, group, rule, where, mend) {name, group},
	UHCA_CHECKS(ROW)
#undef ROW
};

_Static_assert(UHCA_CHECK_COUNT <= 64, "a bit for each check");
static uint64_t enabled; /* set once, before threads use it */

static bool is_word(const char *word, size_t n, const char *name)
{
	return strlen(name) == n && !strncmp(word, name, n);
}

/* What "sum" has, and those that are told with it. */
static bool is_of_sum(unsigned check)
{
	return !strcmp(table[check].group, "sum") || !strcmp(table[check].group, UHCA_CHECK_NOTES);
}

/* Is it one of "all"? What needs page protection, or is no mistake, is so by its own word only. */
static bool is_of_all(unsigned check)
{
	return is_of_sum(check) || !strcmp(table[check].group, "strict");
}

/* The checks that a word names; "sum" brings notes, "page" all of "sum" with it. */
static uint64_t meant(const char *word, size_t n, bool out)
{
	bool with_sum = is_word(word, n, "sum") || (!out && is_word(word, n, UHCA_CHECK_PAGES));
	uint64_t checks = 0;

	for (unsigned i = 0; i < UHCA_CHECK_COUNT; i++)
		if (is_word(word, n, table[i].name) || is_word(word, n, table[i].group) ||
		    (is_word(word, n, "all") && is_of_all(i)) || (with_sum && is_of_sum(i)))
			checks |= 1ull << i;
	return checks;
}

int uhcav_check_parse(const char *list, uint64_t *checks)
{
	uint64_t on = 0;

	while (*list) {
		bool out = *list == '-';
		size_t n = strcspn(list += out, ",");
		uint64_t these = meant(list, n, out);

		if (!these)
			return -EINVAL;
		on = out ? on & ~these : on | these;
		list += n + (list[n] == ',');
	}
	*checks = on;
	return 0;
}

void uhcav_check_enable(uint64_t checks)
{
	enabled = checks;
}

bool uhcav_check_on(enum uhca_check check)
{
	return enabled & 1ull << check;
}

bool uhcav_check_any(void)
{
	return enabled != 0;
}

const char *uhcav_check_name(enum uhca_check check)
{
	return table[check].name;
}
