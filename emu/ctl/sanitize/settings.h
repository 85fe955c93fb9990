/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How findings are to be told: words "NAME=VALUE" with colons between them, as other sanitizers
 * take them, and the words of the collector's command line.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

/* In the environment: read before the command line, which so has the last word. */
#define SETTINGS_ENV "UHCA_SANITIZE_OPTIONS"

struct settings {
	bool halt_on_error;     /* the process ends at its first finding */
	int exitcode;           /* what uhca-run ends with when there was any */
	unsigned first;         /* no more than so many are told; 0: all */
	unsigned hang_after_ms; /* so long nothing may go on; 0: hangs are not looked for */
	const char *text;       /* a file; NULL: standard error */
	const char *json;       /* NULL: none; "-": standard output */
	const char *sarif;
};

/* 0, or -EINVAL with the error printed; "text" stays in use. */
int settings_read(struct settings *s, char *text);

/* Is each word of a list of checks known? The error is printed. */
bool settings_checks_known(const char *list);

/* All checks, with their group and the rule that each holds, to standard output. */
void settings_print_checks(void);

#endif
