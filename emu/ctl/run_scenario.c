/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_scenario.h.
 */
#include "run_scenario.h"

#include "run_dir.h"
#include "run_env.h"
#include "run_keeper.h"
#include "scenario_run.h"

#include <stdio.h>

/* "daemon" lines of the file are options as on the command line, behind those given there. */
static int add_daemon_words(const struct scenario *s, struct run_options *options)
{
	char *argv[SCENARIO_DAEMON_MAX + 2] = {(char *)"scenario"};

	for (unsigned i = 0; i < s->n_daemon; i++)
		argv[i + 1] = (char *)s->daemon[i];
	return run_options_more((int)s->n_daemon + 1, argv, options);
}

static int report(struct scenario_run *r, const struct run_options *options, int status)
{
	scenario_print(r);
	if (options->tap && scenario_write_tap(r, options->tap) < 0)
		status = RUN_EXIT_FAILED;
	if (options->junit && scenario_write_junit(r, options->junit) < 0)
		status = RUN_EXIT_FAILED;
	return status;
}

static int run_there(const struct scenario *s, const struct run_options *options,
		     const struct run_dir *dir)
{
	static struct scenario_run r; /* too large for a stack */
	int status;

	if (run_env_enter(dir->path) < 0)
		return RUN_EXIT_FAILED;
	status = scenario_run(&r, s, dir->path, options->command);
	if (status != RUN_EXIT_FAILED)
		status = report(&r, options, status);
	scenario_run_close(&r);
	return status;
}

static int run_loaded(const struct scenario *s, const struct run_options *given)
{
	struct run_options options = *given;
	struct run_dir dir;
	struct run_keeper keeper;
	int status;

	if (add_daemon_words(s, &options) < 0 || run_dir_private(&dir) < 0 ||
	    run_keeper_start(&dir, &options, &keeper) < 0)
		return RUN_EXIT_FAILED;
	status = run_there(s, &options, &dir);
	run_keeper_finish(&keeper);
	return status;
}

int run_scenario(const struct run_options *options)
{
	static struct scenario s;
	struct scenario_error error;
	int status;

	if (scenario_load(options->scenario, &s, &error) < 0) {
		if (error.line)
			fprintf(stderr, "uhca-run: %s:%u:%u: %s\n", options->scenario, error.line,
				error.column, error.text);
		else
			fprintf(stderr, "uhca-run: %s: %s\n", options->scenario, error.text);
		return RUN_EXIT_FAILED;
	}
	status = run_loaded(&s, options);
	scenario_free(&s);
	return status;
}
