/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run --scenario: runs each scenario file in an instance of its own, or with --two-daemons in
 * two; reports as TAP or JUnit.
 */
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
	char half[12]; /* the number of devices of each of two daemons */
};

/* A daemon of its own with its directory. */
struct instance {
	struct run_options options;
	struct run_dir dir;
	struct run_keeper keeper;
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

/* Where two daemons cannot share the devices out. */
static const char *mistake_of_halves(const struct play *p, const struct run_options *o)
{
	static const char *const not_halved[] = {"--addr", "--netdev", "--machine", "--fabric",
						 "--first-device"};
	static char text[128];

	for (unsigned i = 0; i < o->n_daemon_args; i++) {
		if (strcmp(o->daemon_args[i], "--no-wire") == 0)
			return "--two-daemons reach each other by UDP: no --no-wire";
		for (size_t k = 0; k < sizeof(not_halved) / sizeof(not_halved[0]); k++) {
			if (strcmp(o->daemon_args[i], not_halved[k]) != 0)
				continue;
			snprintf(text, sizeof(text), "--two-daemons shares devices out: no %s",
				 not_halved[k]);
			return text;
		}
	}
	if (o->devices % 2) {
		snprintf(text, sizeof(text),
			 "--two-daemons gives each half of the devices, and there %s %u: add "
			 "'daemon --devices 2'",
			 o->devices == 1 ? "is" : "are", o->devices);
		return text;
	}
	return p->s.has_peer ? NULL : "--two-daemons needs a 'peer run' in the scenario";
}

/* The first daemon has the first half of the devices, the second one the others, so named. */
static int share_out(struct play *p, struct instance of[2])
{
	char *first[] = {(char *)"scenario", (char *)"--devices", p->half, NULL};
	char *second[] = {(char *)"scenario",
			  (char *)"--devices",
			  p->half,
			  (char *)"--first-device",
			  p->half,
			  NULL};
	const char *mistake = mistake_of_halves(p, &of[0].options);

	if (mistake)
		return scenario_stop(&p->r, NULL, "%s", mistake);
	snprintf(p->half, sizeof(p->half), "%u", of[0].options.devices / 2);
	if (run_options_more(3, first, &of[0].options) < 0 ||
	    run_options_more(5, second, &of[1].options) < 0)
		return scenario_stop(&p->r, NULL, "too many options for the daemon");
	return 0;
}

static int run_there(struct play *p, const struct instance *at, const struct instance *peer)
{
	const struct run_options *options = &at->options;
	int status;

	if (run_env_enter(at->dir.path) < 0 || (peer && run_addr_export_more(peer->dir.path) < 0)) {
		scenario_stop(&p->r, NULL, "the preload library cannot be used");
		return RUN_EXIT_FAILED;
	}
	p->r.must_fire = options->must_fire;
	if (options->time_limit && (!p->s.limit || p->s.limit > options->time_limit * NS))
		p->s.limit = options->time_limit * NS;
	status = scenario_run(&p->r, at->dir.path, peer ? peer->dir.path : NULL, options->command);
	scenario_print(&p->r);
	scenario_run_close(&p->r);
	return status;
}

static int start_instance(struct play *p, struct instance *at)
{
	if (run_dir_private(&at->dir) == 0 &&
	    run_keeper_start(&at->dir, &at->options, &at->keeper) == 0)
		return 0;
	return scenario_stop(&p->r, NULL, "no daemon could be started");
}

static int run_loaded(struct play *p, const struct run_options *given)
{
	struct instance of[2] = {{.options = *given}};
	int status = RUN_EXIT_FAILED;

	of[0].options.private_instance = true;
	of[0].options.test = p->r.file;
	if (add_daemon_words(p, &of[0].options) < 0)
		return RUN_EXIT_FAILED;
	of[1].options = of[0].options;
	if (given->two_daemons && share_out(p, of) < 0)
		return RUN_EXIT_FAILED;
	if (start_instance(p, &of[0]) < 0)
		return RUN_EXIT_FAILED;
	if (!given->two_daemons)
		status = run_there(p, &of[0], NULL);
	else if (start_instance(p, &of[1]) == 0) {
		status = run_there(p, &of[0], &of[1]);
		run_keeper_finish(&of[1].keeper, &of[1].dir, false);
	}
	run_keeper_finish(&of[0].keeper, &of[0].dir, false);
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
	scenario_print_github(runs, options->n_scenarios);
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
