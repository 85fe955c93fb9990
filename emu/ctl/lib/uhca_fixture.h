/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device for a test program in C or C++, whatever its framework; everything is in this header.
 * main() begins with
 *
 *	uhca_fixture_enter(argc, argv, "--devices 2");
 *
 * and the rest of it runs below uhca-run --private, with devices of its own until it ends.
 * uhca_fixture_open() and uhca_fixture_close() stand around one test: they give it the rules of
 * libuhcactl, and take away those that it leaves. CMocka takes them as they are:
 *
 *	cmocka_unit_test_setup_teardown(test, uhca_fixture_open, uhca_fixture_close)
 *
 * Link with -luhcactl.
 *
 * The program executes itself once more, rather than starting a daemon: the devices come with a
 * library that is preloaded, which is possible only when a process begins.
 */
#ifndef UHCA_FIXTURE_H
#define UHCA_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uhcactl.h>
#include <unistd.h>

/* The status of uhca-run when it cannot run a command. */
#define UHCA_FIXTURE_FAILED 125

/* Takes the words of text apart, in place, and returns how many they are. */
static inline int uhca_fixture_words(char *text, char **word, int max)
{
	int n = 0;

	for (char *w = strtok(text, " "); w && n < max; w = strtok(NULL, " "))
		word[n++] = w;
	return n;
}

/*
 * Returns below uhca-run: at once where the program was started so (by hand, or by a launcher of
 * CTest or Meson, whose options then count); otherwise in the program that is executed anew with
 * the same arguments. options are those of uhca-run(1), blanks between them, or NULL; at most 31
 * words. Ends the program when there is no uhca-run in PATH, nor where the variable UHCA_RUN says.
 */
static inline void uhca_fixture_enter(int argc, char **argv, const char *options)
{
	const char *run = getenv("UHCA_RUN");
	char text[1024], option_of_fixture[] = "--private", end_of_options[] = "--";
	char **line;
	int n = 2;

	if (getenv("UHCA_DIR"))
		return;
	line = (char **)calloc((size_t)argc + 36, sizeof(*line));
	if (!line ||
	    snprintf(text, sizeof(text), "%s", options ? options : "") >= (int)sizeof(text)) {
		fprintf(stderr, "uhca_fixture_enter: too long: %s\n", options);
		exit(UHCA_FIXTURE_FAILED);
	}
	run = run && *run ? run : "uhca-run";
	line[0] = strdup(run);
	line[1] = option_of_fixture;
	n += uhca_fixture_words(text, line + n, 31);
	line[n++] = end_of_options;
	memcpy(line + n, argv, (size_t)argc * sizeof(*line));
	fflush(NULL);
	execvp(run, line);
	fprintf(stderr, "uhca_fixture_enter: ");
	perror(run);
	exit(UHCA_FIXTURE_FAILED);
}

/*
 * Before a test: *ctl becomes a struct uhcactl * of the instance that the program runs in. 0, or
 * -1 when no daemon answers, which is said on standard error.
 */
static inline int uhca_fixture_open(void **ctl)
{
	struct uhcactl_error error;

	*ctl = uhcactl_open(NULL, &error);
	if (*ctl)
		return 0;
	fprintf(stderr, "uhca_fixture_open: %s\n", error.text);
	return -1;
}

/* After it: no rule stays in force. 0, or -1 when the daemon does not answer any more. */
static inline int uhca_fixture_close(void **ctl)
{
	struct uhcactl *c = (struct uhcactl *)*ctl;
	struct uhcactl_error error;
	int ret = uhcactl_fault_clear(c, &error);

	if (ret < 0)
		fprintf(stderr, "uhca_fixture_close: %s\n", error.text);
	uhcactl_close(c);
	*ctl = NULL;
	return ret < 0 ? -1 : 0;
}

#endif
