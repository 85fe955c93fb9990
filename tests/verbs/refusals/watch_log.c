/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds refused calls of this program in the daemon's log. */
#include "watch_log.h"

#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/errno_name.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOMENT_MS   400 /* for a line to come */
#define DEADLINE_MS 120000

/* What is said where nobody has said more (emu/io/base/refusal.c). */
static const char *const no_reason[] = {"malformed message", "fails, ?", ": Success"};

static FILE *log_file;
static const char *waited_for;
static int waited; /* ms, for it */
static char last[1024];

bool watch_log_begin(void)
{
	const char *dir = getenv("UHCA_DIR");
	char path[512];

	snprintf(path, sizeof(path), "%s/log", dir ? dir : ".");
	log_file = fopen(path, "r");
	if (!log_file)
		perror(path);
	return log_file;
}

static void assert_reason(const char *line)
{
	for (size_t i = 0; i < sizeof(no_reason) / sizeof(no_reason[0]); i++)
		if (strstr(line, " fails, ") && strstr(line, no_reason[i]))
			fail_msg("no reason is given: %s", line);
}

/* The lines that are there. True: one has all of it. */
static bool look(const char *call, const char *name, const char *words)
{
	char who[96], what[96];

	snprintf(who, sizeof(who), "%.32s (process %d): ", program_invocation_short_name,
		 (int)getpid());
	snprintf(what, sizeof(what), " fails, %s: ", name);
	clearerr(log_file);
	while (fgets(last, sizeof(last), log_file)) {
		assert_reason(last);
		if (strstr(last, who) && strstr(last, call) && strstr(last, what) &&
		    strstr(last, words))
			return true;
	}
	return false;
}

bool watch_log_has(const char *row, const char *call, int err, const char *words)
{
	const char *name = uhca_errno_name(err);

	if (waited_for != row)
		waited = 0;
	waited_for = row;
	for (int ms = 0; ms < MOMENT_MS; ms++) {
		if (look(call, name, words))
			return true;
		poll(NULL, 0, 1);
	}
	waited += MOMENT_MS;
	if (waited >= DEADLINE_MS)
		fail_msg("%s: the log has no \"%s ... fails, %s: ...%s\"; last: %s", row, call,
			 name, words, last);
	return false;
}

void watch_log_end(void)
{
	while (fgets(last, sizeof(last), log_file))
		assert_reason(last);
}
