/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-run: runs a command with an emulated RDMA device. It chooses the instance (the one around
 * it, a shared one, a private one), sees to it that its daemon runs, sets the environment, runs
 * the command, and cleans up.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/doctor/doctor.h"
#include "emu/ctl/instance/instance.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/machine/machine.h"
#include "run_chaos.h"
#include "run_command.h"
#include "run_daemon.h"
#include "run_env.h"
#include "run_faults.h"
#include "run_hunt.h"
#include "run_keeper.h"
#include "run_options.h"
#include "run_sanitize.h"
#include "run_scenario.h"
#include "run_serve.h"
#include "run_shared.h"
#include "run_sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* With the whole instance, or a part of it. */
static int enter(const struct run_options *options, const char *dir, struct run_only *only)
{
	*only = (struct run_only){""};
	if (!options->only)
		return run_env_enter(dir);
	int ret = run_only_make(dir, options->only, only);
	return ret < 0 ? ret : run_env_enter(only->path);
}

static int run_private(const struct run_options *options)
{
	static struct run_faults faults;
	struct run_dir dir;
	struct run_keeper keeper;
	int status = RUN_EXIT_FAILED;
	if (run_dir_private(&dir) < 0 || run_keeper_start(&dir, options, &keeper) < 0)
		return status;
	struct run_only only;
	if (enter(options, dir.path, &only) == 0 &&
	    (options->n_faults == 0 || run_faults_note(dir.path, &faults) == 0) &&
	    run_serve_start(options, dir.path) == 0) {
		run_chaos_begin(options);
		status = run_command_run(options, dir.path);
		status = run_faults_report(dir.path, options, &faults, status);
		if (options->record)
			run_faults_record(dir.path, options);
		run_chaos_report(dir.path, options);
		run_serve_finish();
	}
	run_keeper_finish(&keeper, &dir, status != 0);
	return status;
}

/* In a daemon that others use too: its rules are there while the command runs. */
static int run_in(const struct run_options *options, const char *dir)
{
	static struct run_faults faults;
	int status;
	if (run_faults_add(dir, options, &faults) < 0 || run_serve_start(options, dir) < 0)
		return RUN_EXIT_FAILED;
	status = run_command_run(options, dir);
	status = run_faults_report(dir, options, &faults, status);
	run_serve_finish();
	run_faults_remove(dir, &faults);
	return status;
}

/* A thread of the daemon writes the log. One without this request has written it soon, too. */
static void wait_for_log(const char *dir)
{
	struct ctl_failure failure = {.status = 0};
	json_t *result;
	if (ctl_exchange(dir, json_pack("{s:s}", UHCA_CTL_CMD, "log"), &result, &failure) == 0)
		json_decref(result);
}

static int run_shared(const struct run_options *options)
{
	struct run_dir dir;
	if (run_dir_shared(options->instance ? options->instance : "default", &dir) < 0)
		return RUN_EXIT_FAILED;
	int fd = run_shared_attach(&dir, options);
	if (fd < 0)
		return RUN_EXIT_FAILED;
	int status = RUN_EXIT_FAILED;
	long from = run_dir_log_size(&dir);
	struct run_only only;
	if (enter(options, dir.path, &only) == 0)
		status = run_in(options, dir.path);
	if (status) {
		wait_for_log(dir.path);
		run_dir_print_warnings(&dir, from);
	}
	run_only_remove(&only);
	close(fd);
	return status;
}

/* Inside another uhca-run: its instance, unless this one asks for something of its own. */
static int run_enclosed(const struct run_options *options, const char *dir)
{
	struct run_only only;
	int status = RUN_EXIT_FAILED;
	int sock = run_daemon_connect(dir);
	if (sock == -ENOENT || sock == -ECONNREFUSED) {
		fprintf(stderr,
			"uhca-run: UHCA_DIR is %s, and no daemon runs there; unset it for an "
			"instance of this uhca-run\n",
			dir);
		return status;
	}
	if (sock >= 0)
		close(sock);
	if (enter(options, dir, &only) == 0)
		status = run_in(options, dir);
	run_only_remove(&only);
	return status;
}

static int run_doctor(void)
{
	const struct doctor_places places = {run_env_daemon(), run_env_preload()};
	return doctor_run(&places);
}

/* The links are the network's, whatever adapters the machine has. */
static void say_rates(const struct machine *m, double gbps)
{
	for (unsigned i = 0; m && i < m->n_devices; i++) {
		const struct machine_device *d = &m->device[i];
		if ((double)d->port[0].rate == gbps)
			continue;
		fprintf(stderr,
			"uhca-run: machine %s: ports have the rates of the network's links, up to "
			"%g Gb/s; %s has %u Gb/s in the file\n",
			m->name, gbps, d->name, d->port[0].rate);
		return;
	}
}

/* Programs see the speed at which the network really runs: they are told what it stands for. */
static void say_fabric(const struct run_options *o)
{
	const double gbps = (double)o->fabric_rate / 1e9;
	if (!o->fabric)
		return;
	fprintf(stderr,
		"uhca-run: network %s: %u hosts, time runs %u times slower, %g Gb/s run as %g "
		"Gb/s\n",
		o->fabric, o->fabric_hosts, o->fabric_scale, gbps, gbps / o->fabric_scale);
	say_rates(o->machine, gbps);
}

static int run(const struct run_options *options)
{
	say_fabric(options);
	if (options->own_network)
		run_network_own();
	if (options->n_scenarios > 0)
		return run_scenarios(options);
	run_command_hold_signals();
	const char *enclosing = run_env_enclosing();
	if (options->private_instance)
		return run_private(options);
	if (enclosing && !options->instance && options->n_daemon_args == 0)
		return run_enclosed(options, enclosing);
	return run_shared(options);
}

static int run_sanitized(const struct run_options *options)
{
	if (run_sanitize_start(options) < 0)
		return RUN_EXIT_FAILED;
	return run_sanitize_finish(run(options));
}

/* What cannot be written is a failure. */
static int finish_output(int status)
{
	if (fflush(stdout) == 0)
		return status;
	perror("uhca-run: standard output");
	return RUN_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	static struct run_options options;
	switch (run_options_parse(argc, argv, &options)) {
	case RUN_PARSE_DONE:
		return finish_output(0);
	case RUN_PARSE_BAD:
		return RUN_EXIT_FAILED;
	case RUN_PARSE_RUN:
		break;
	}
	if (ctl_look_beside() < 0) {
		fprintf(stderr, "uhca-run: cannot find its own path in /proc\n");
		return RUN_EXIT_FAILED;
	}
	if (options.doctor)
		return finish_output(run_doctor());
	if (options.share_heap && setenv(UHCA_SHARE_HEAP_ENV, "1", 1) < 0) {
		perror("uhca-run");
		return RUN_EXIT_FAILED;
	}
	if (options.sweep)
		return run_sweep(&options, run_sanitized);
	if (options.sweep_repeat)
		return run_sweep_repeat(&options, run_sanitized);
	if (options.times || options.minimise)
		return run_hunt(&options, run_sanitized);
	run_chaos_settle(&options.chaos);
	return run_sanitized(&options);
}
