/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of uhca-run, and what of it is handed on to the daemon. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "emu/fault/chaos/chaos.h"
#include "emu/help/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RUN_DAEMON_ARGS_MAX 64
#define RUN_FAULTS_MAX      256
#define RUN_SCENARIOS_MAX   64

#define RUN_SANITIZE_WORDS_MAX 32

#define RUN_TIME_LIMIT 60 /* seconds, of a run of --times without --time-limit */

/* Exit codes of uhca-run's own, as env(1) and timeout(1) have them. */
enum {
	RUN_EXIT_FOUND = 1,            /* --sweep: it found something */
	RUN_EXIT_UNFIT = 2,            /* --sweep: the command fails without a fault */
	RUN_EXIT_MUST_FIRE = 124,      /* --fault-must-fire: a rule did not */
	RUN_EXIT_TOO_LONG = 124,       /* --time-limit: the command did not end */
	RUN_EXIT_FAILED = 125,         /* uhca-run itself failed, the command did not run */
	RUN_EXIT_CANNOT_EXECUTE = 126, /* the command is there but cannot be run */
	RUN_EXIT_NOT_FOUND = 127,
};

struct run_options {
	struct options_about about;
	bool answered;           /* --chaos=help or --sanitize=help */
	const char *instance;    /* name of a shared instance, or NULL: none was named */
	bool private_instance;   /* a daemon of our own, for the life of the command */
	bool own_network;        /* in a network namespace, where one can be made */
	bool addressed;          /* the user said where the devices live */
	unsigned devices;        /* how many, for choosing their addresses */
	struct machine *machine; /* as described; NULL: it is not */
	const char *fabric;      /* the modelled network, as typed; NULL: none */
	uint64_t fabric_rate;    /* of its hosts, bit/s */
	unsigned fabric_hosts;
	unsigned fabric_scale;
	bool counted;             /* --devices was given */
	const char *only;         /* which devices the command sees; NULL: all */
	const char *idle_timeout; /* seconds, as typed; NULL: the default */
	char **command; /* NULL-terminated, at least one word; with a scenario also NULL */
	const char *scenarios[RUN_SCENARIOS_MAX]; /* files */
	unsigned n_scenarios;
	bool two_daemons; /* what a scenario says of the peer is on a daemon of its own */
	const char *tap;  /* file for their verdict, or NULL */
	const char *junit;
	const char *keep; /* folder for what is left of a private instance, or NULL */
	const char *test; /* what that is called after: a scenario's file; NULL: the command */
	/* Options for the daemon, as typed: "--devices", "2", ...; point into argv. */
	const char *daemon_args[RUN_DAEMON_ARGS_MAX];
	unsigned n_daemon_args;
	struct run_fault {
		const char *text; /* a rule, or the name of a file */
		bool is_file;
	} faults[RUN_FAULTS_MAX];
	unsigned n_faults;
	const char *fault_seed; /* as typed; NULL: none */
	bool must_fire;         /* a rule that never fires makes us fail */
	bool is_chaos;          /* --chaos: the daemon takes relaxations */
	struct chaos chaos;
	unsigned times;       /* --times: so many seeds, one run each; 0: one run as ever */
	unsigned time_limit;  /* seconds for the command, or each of them; 0: none was given */
	bool minimise;        /* which of the relaxations of a run that fails does it need? */
	bool doctor;          /* no command: look at the machine */
	const char *serve;    /* port of the page's server; NULL: none */
	bool share_heap;      /* the command's library is told so */
	const char *sanitize; /* checks; NULL: none */
	/* For the sanitizer's collector: "--suppress", "FILE", "--options", "LIST", ... */
	const char *sanitize_words[RUN_SANITIZE_WORDS_MAX];
	unsigned n_sanitize_words;
	const char *sweep;        /* what a sweep makes fail; NULL: no sweep */
	const char *sweep_repeat; /* the name of one run of it */
	const char *sweep_folder;
	const char *sweep_only; /* pattern of its runs */
	const char *known;      /* file of its findings that are accepted */
	const char *html;
	unsigned sweep_each; /* of the same call; 0: all */
	unsigned sweep_jobs; /* 0: not given */
	/* For a run of a sweep. */
	const char *temp; /* TMPDIR of the command; NULL: as it is */
	bool reap;        /* nothing that the command has started outlives it */
	FILE *record;     /* gets what the rules did, as JSON; NULL: nobody wants it */
	bool counts;      /* the rules only count: they are not reported */
	bool no_stock;    /* what stock programs and libraries do is told, too */
};

enum run_parse {
	RUN_PARSE_RUN,  /* run the command */
	RUN_PARSE_DONE, /* --help or --version was answered */
	RUN_PARSE_BAD,  /* the error was printed */
};

/* Reads the command line; out is valid only with RUN_PARSE_RUN and points into argv. */
enum run_parse run_options_parse(int argc, char **argv, struct run_options *out);

/*
 * Adds options of a daemon that stand elsewhere; argv[0] is not looked at. 0, or -EINVAL with the
 * error printed, also for a word that is no such option.
 */
int run_options_more(int argc, char **argv, struct run_options *out);

#endif
