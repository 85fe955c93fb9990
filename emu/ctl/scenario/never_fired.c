/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains a rule without hits: how many packets or calls each of its words let through. */
#include "never_fired.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One of what a rule looks at, or some. */
static const char *noun(const json_t *rule, bool one)
{
	static const char *const nouns[][3] = {
		{"packet", "packet", "packets"},
		{"hop", "packet at a switch", "packets at a switch"},
		{"call", "call", "calls"},
		{"completion", "completion", "completions"},
		{"memory", "access to memory", "accesses to memory"},
	};
	const char *layer = json_string_value(json_object_get(rule, UHCA_CTL_LAYER));

	for (size_t i = 0; layer && i < sizeof(nouns) / sizeof(nouns[0]); i++)
		if (strcmp(nouns[i][0], layer) == 0)
			return nouns[i][one ? 1 : 2];
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t cap, const char *format,
							 ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, format);
	vsnprintf(buf + used, cap - used, format, ap);
	va_end(ap);
}

static void append_words(char *buf, size_t cap, const json_t *rule)
{
	const json_t *words = json_object_get(rule, UHCA_CTL_WORDS), *word;
	size_t i;

	json_array_foreach(words, i, word)
		append(buf, cap, "%s%s matched %lld", i ? ", " : "; ",
		       json_string_value(json_object_get(word, UHCA_CTL_NAME)),
		       ctl_number_in(word, UHCA_CTL_MATCHED));
	if (json_array_size(words) > 1)
		append(buf, cap, ", all of them %lld", ctl_number_in(rule, UHCA_CTL_SEEN));
}

const char *ctl_never_fired(const json_t *rule, char *buf, size_t cap)
{
	json_int_t looked = ctl_number_in(rule, UHCA_CTL_LOOKED),
		   seen = ctl_number_in(rule, UHCA_CTL_SEEN);
	const char *what = noun(rule, looked == 1);

	snprintf(buf, cap, "it never fired");
	if (!what) {
		append(buf, cap, ": its time did not come");
		return buf;
	}
	append(buf, cap, ": %lld %s %s checked", looked, what, looked == 1 ? "was" : "were");
	if (looked > 0)
		append_words(buf, cap, rule);
	if (seen > 0 && ctl_number_in(rule, UHCA_CTL_MATCHED) == 0)
		append(buf, cap, "; none arrived while it was active");
	else if (seen > 0)
		append(buf, cap, "; its limits (nth, p ...) excluded all of them");
	return buf;
}
