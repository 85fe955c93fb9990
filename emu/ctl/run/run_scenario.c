/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run --scenario: runs each scenario file in an instance of its own, as TAP or JUnit. */
#include "run_scenario.h"

#include "emu/ctl/instance/instance.h"
#include "emu/ctl/scenario/scenarios.h"
#include "run_env.h"
#include "run_keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS UINT64_C(1000000000)

/* One file, and what came of it. */
struct play {
	struct scenario s;
	struct scenario_run r;
};

/* "daemon" lines of the file are options as on the command line, behind those given there. */
static int add_daemon_words(struct play *p, struct run_options *options)
{
	const struct scenario *s = &p->s;
	const struct scenario_step place = {.line = s->daemon_line};
	char *argv[SCENARIO_DAEMON_MAX + 2] = {(char *)"scenario"};

	for (unsigned i = 0; i < s->n_daemon; i++)
		argv[i + 1] = (char *)s->daemon[i];
	if (run_options_more((int)s->n_daemon + 1, argv, options) == 0)
		return 0;
	return scenario_stop(&p->r, &place, "these are no options of a daemon");
}

static int run_there(struct play *p, const struct run_options *options, const struct run_dir *dir)
{
	int status;

	if (run_env_enter(dir->path) < 0) {
		scenario_stop(&p->r, NULL, "the preload library cannot be used");
		return RUN_EXIT_FAILED;
	}
	p->r.must_fire = options->must_fire;
	if (options->time_limit && (!p->s.limit || p->s.limit > options->time_limit * NS))
		p->s.limit = options->time_limit * NS;
	status = scenario_run(&p->r, dir->path, options->command);
	scenario_print(&p->r);
	scenario_run_close(&p->r);
	return status;
}

static int run_loaded(struct play *p, const struct run_options *given)
{
	struct run_options options = *given;
	struct run_dir dir;
	struct run_keeper keeper;
	int status;

	options.private_instance = true;
	options.test = p->r.file;
	if (add_daemon_words(p, &options) < 0)
		return RUN_EXIT_FAILED;
	if (run_dir_private(&dir) < 0 || run_keeper_start(&dir, &options, &keeper) < 0) {
		scenario_stop(&p->r, NULL, "no daemon could be started");
		return RUN_EXIT_FAILED;
	}
	status = run_there(p, &options, &dir);
	run_keeper_finish(&keeper, &dir, false);
	return status;
}

static int play(struct play *p, const char *file, const struct run_options *options)
{
	struct scenario_error error;

	p->r.file = file;
	if (scenario_load(file, &p->s, &error) < 0) {
		const struct scenario_step place = {.line = error.line, .column = error.column};

		scenario_stop(&p->r, error.line ? &place : NULL, "%s", error.text);
		return RUN_EXIT_FAILED;
	}
	p->r.s = &p->s;
	return run_loaded(p, options);
}

/* A report that an earlier run wrote must not be taken for this one's when this one is killed. */
static int begin_reports(const struct run_options *options)
{
	if ((options->tap && scenario_begin_report(options->tap) < 0) ||
	    (options->junit && scenario_begin_report(options->junit) < 0))
		return -EIO;
	return 0;
}

static int report(struct scenario_run *const *runs, const struct run_options *options, int status)
{
	if (options->tap && scenario_write_tap(runs, options->n_scenarios, options->tap) < 0)
		status = RUN_EXIT_FAILED;
	if (options->junit && scenario_write_junit(runs, options->n_scenarios, options->junit) < 0)
		status = RUN_EXIT_FAILED;
	scenario_tell_github(runs, options->n_scenarios);
	return status;
}

/* A file that is not there is a mistake on the command line: nothing is run. */
static int look_at_files(const struct run_options *options)
{
	int error = 0;

	for (unsigned i = 0; i < options->n_scenarios; i++) {
		if (access(options->scenarios[i], R_OK) == 0)
			continue;
		error = -errno;
		fprintf(stderr, "uhca-run: --scenario %s: %s\n", options->scenarios[i],
			strerror(-error));
	}
	if (error < 0)
		fputs("Try 'uhca-run --help'.\n", stderr);
	return error;
}

int run_scenarios(const struct run_options *options)
{
	struct play *plays = calloc(options->n_scenarios, sizeof(*plays));
	struct scenario_run *runs[RUN_SCENARIOS_MAX];
	int worst = 0;

	if (!plays || look_at_files(options) < 0 || begin_reports(options) < 0) {
		if (!plays)
			fprintf(stderr, "uhca-run: %s\n", strerror(ENOMEM));
		free(plays);
		return RUN_EXIT_FAILED;
	}
	for (unsigned i = 0; i < options->n_scenarios; i++) {
		int status = play(&plays[i], options->scenarios[i], options);

		runs[i] = &plays[i].r;
		worst = status > worst ? status : worst;
	}
	worst = report(runs, options, worst);
	for (unsigned i = 0; i < options->n_scenarios; i++)
		scenario_run_free(&plays[i].r), scenario_free(&plays[i].s);
	free(plays);
	return worst;
}
