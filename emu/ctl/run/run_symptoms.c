/* SPDX-License-Identifier: BSD-2-Clause */
/* See run_symptoms.h. The table of the page has the same rows. */
#include "run_symptoms.h"

#include "run_options.h"

#include <signal.h>
#include <stdio.h>

#define NOT_EXECUTABLE 126
#define NOT_FOUND      127
#define BY_SIGNAL      128

enum symptom { ERROR_STATUS, CRASH, HANG, WRONG_DATA, UNDER_LOAD, SYMPTOMS };

static const struct {
	const char *name, *run;
} rows[SYMPTOMS] = {
	[ERROR_STATUS] = {"a completion has an error status",
			  "uhca-run --private --on-error failed.pcapng -- COMMAND; "
			  "uhcactl explain failed.pcapng"},
	[CRASH] = {"it crashes", "uhca-run --private --keep kept --sanitize=page -- COMMAND"},
	[HANG] = {"it hangs", "uhca-run --private --sanitize --time-limit 60 -- COMMAND"},
	[WRONG_DATA] = {"data is wrong", "uhca-run --private --sanitize=page -- COMMAND"},
	[UNDER_LOAD] = {"it fails now and then, or under load",
			"uhca-run --chaos --times 50 -- COMMAND"},
};

static enum symptom likely(int status)
{
	switch (status) {
	case RUN_EXIT_TOO_LONG:
	case BY_SIGNAL + SIGINT:
	case BY_SIGNAL + SIGTERM:
	case BY_SIGNAL + SIGKILL:
		return HANG;
	case BY_SIGNAL + SIGSEGV:
	case BY_SIGNAL + SIGBUS:
	case BY_SIGNAL + SIGABRT:
		return CRASH;
	default:
		return ERROR_STATUS;
	}
}

static void print_row(enum symptom s)
{
	fprintf(stderr, "  %-37s %s\n", rows[s].name, rows[s].run);
}

void run_symptoms_print(int status)
{
	enum symptom first = likely(status);

	if (status == 0 || status == NOT_EXECUTABLE || status == NOT_FOUND)
		return;
	fprintf(stderr,
		"uhca-run: the command ended with status %d, and the sanitizer found nothing. "
		"Next, "
		"by symptom:\n",
		status);
	print_row(first);
	for (int s = 0; s < SYMPTOMS; s++)
		if (s != (int)first)
			print_row((enum symptom)s);
}
