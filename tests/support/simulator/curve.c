/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of uhca-sim for tests. */
#include "curve.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64

json_t *curve_run(const char *words)
{
	static struct sim_options o;
	char *text = strdup(words), *rest = text, *argv[WORDS_MAX] = {NULL};
	char error[600];
	int argc = 0;
	json_t *report;

	while (argc < WORDS_MAX - 1 && (argv[argc] = strtok_r(rest, " ", &rest)))
		for (char *c = argv[argc++]; *c; c++)
			*c = *c == '_' ? ' ' : *c;
	if (sim_options_parse(&o, argc, argv) < 0)
		fail_msg("%s: %s", words, o.error);
	report = run_simulation(&o, NULL, NULL, error, sizeof(error));
	if (!report)
		fail_msg("%s: %s", words, error);
	free(text);
	return report;
}

double curve_number(json_t *report, const char *path)
{
	char key[64];

	for (const char *at = path; *at;) {
		const size_t n = strcspn(at, ".");

		snprintf(key, sizeof(key), "%.*s", (int)n, at);
		report = json_object_get(report, key);
		at += n + (at[n] == '.');
	}
	if (!json_is_number(report))
		fail_msg("no number %s in the report", path);
	return json_number_value(report);
}

double curve_of(const char *words, const char *path)
{
	json_t *report = curve_run(words);
	const double value = curve_number(report, path);

	json_decref(report);
	return value;
}

void curve_within(const char *what, double value, double low, double high)
{
	print_message("# %s: %.3f, expected %.3f to %.3f\n", what, value, low, high);
	if (value < low || value > high)
		fail_msg("%s: %.3f is not in %.3f to %.3f", what, value, low, high);
}
