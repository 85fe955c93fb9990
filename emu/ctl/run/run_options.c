/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command line of uhca-run. Parsing stops at the first word that is no option: the rest is the
 * command and is not looked at. Values meant for the daemon are checked by the daemon.
 */
#include "run_options.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/sweep/sweep.h"
#include "emu/fabric/file/file.h"
#include "emu/help/daemon_options.h"
#include "emu/machine/machine.h"
#include "run_chaos.h"
#include "run_sanitize.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IDLE_TIMEOUT_MAX 86400 /* seconds; as uhcad has it */

/* 1 to most. */
static int take_number(unsigned *to, const char *argument, unsigned long most, char *error,
		       size_t cap)
{
	uint64_t n;
	if (!ctl_number(argument, 10, most, &n) || n == 0) {
		snprintf(error, cap, "'%s' is not a number from 1 to %lu", argument, most);
		return -EINVAL;
	}
	*to = (unsigned)n;
	return 0;
}

/* A name is a file name of ours: letters, digits, dot, dash, underscore; no leading dot. */
static bool valid_name(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n > 32 || name[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	}
	return true;
}

static OPTION_SETTER(set_instance)
{
	struct run_options *out = into;
	out->instance = argument;
	if (valid_name(argument))
		return 0;
	snprintf(error, cap,
		 "'%s' is not a valid instance name: 1 to 32 letters, digits, dots, "
		 "dashes and underscores, no dot first",
		 argument);
	return -EINVAL;
}

static OPTION_SETTER(set_idle_timeout)
{
	struct run_options *out = into;
	uint64_t seconds;
	out->idle_timeout = argument;
	if (ctl_number(argument, 10, IDLE_TIMEOUT_MAX, &seconds))
		return 0;
	snprintf(error, cap, "'%s' is not a number from 0 to %d", argument, IDLE_TIMEOUT_MAX);
	return -EINVAL;
}

static int add_word(const char *words[], unsigned *n, unsigned max, const char *word, char *error,
		    size_t cap)
{
	if (*n == max) {
		snprintf(error, cap, "given too often: at most %u words", max);
		return -EINVAL;
	}
	words[(*n)++] = word;
	return 0;
}

/* The daemon's options are handed on by their full name, however they were abbreviated. */
static OPTION_SETTER(to_daemon)
{
	struct run_options *out = into;
	int status = add_word(out->daemon_args, &out->n_daemon_args, RUN_DAEMON_ARGS_MAX, row->name,
			      error, cap);
	if (status == 0 && argument)
		status = add_word(out->daemon_args, &out->n_daemon_args, RUN_DAEMON_ARGS_MAX,
				  argument, error, cap);
	return status;
}

static OPTION_SETTER(set_addresses)
{
	((struct run_options *)into)->addressed = true;
	return to_daemon(into, row, argument, error, cap);
}

/* It is read here for its mistakes and its devices, and by the daemon by its full name. */
static OPTION_SETTER(set_machine)
{
	struct run_options *out = into;
	if (ctl_look_beside() < 0) { /* presets are there */
		snprintf(error, cap, "cannot find its own path in /proc");
		return -EINVAL;
	}
	machine_free(out->machine);
	out->machine = machine_load(argument, error, cap);
	return out->machine ? to_daemon(into, row, argument, error, cap) : -EINVAL;
}

static OPTION_SETTER(set_devices)
{
	struct run_options *out = into;
	const int status = take_number(&out->devices, argument, UHCA_DEVICES_MAX, error, cap);
	out->counted = true;
	return status < 0 ? status : to_daemon(into, row, argument, error, cap);
}

/* As a machine; its scale is told before the command runs. */
static OPTION_SETTER(set_fabric)
{
	struct run_options *out = into;
	struct fabric_topology t;
	fabric_topology_init(&t);
	const int status = fabric_topology_load(&t, argument, error, cap);
	if (status == 0) {
		out->fabric = argument;
		out->fabric_hosts = t.n_hosts;
		out->fabric_rate = fabric_topology_host_rate(&t);
		if (!out->fabric_scale)
			out->fabric_scale = fabric_topology_scale(&t);
		if (!out->counted && t.n_hosts <= UHCA_DEVICES_MAX)
			out->devices = t.n_hosts;
	}
	fabric_topology_fini(&t);
	return status < 0 ? status : to_daemon(into, row, argument, error, cap);
}

static OPTION_SETTER(set_fabric_scale)
{
	unsigned *scale = &((struct run_options *)into)->fabric_scale;
	const int status = take_number(scale, argument, FABRIC_SCALE_MAX, error, cap);
	return status < 0 ? status : to_daemon(into, row, argument, error, cap);
}

static OPTION_SETTER(set_chaos)
{
	struct run_options *out = into;
	if (argument && strcmp(argument, "help") == 0) {
		run_chaos_print_help();
		out->answered = true;
		return 0;
	}
	out->is_chaos = true;
	return chaos_parse(argument ? argument : "", &out->chaos, error, cap);
}

/* A rule, or a file of them. */
static OPTION_SETTER(set_fault)
{
	struct run_options *out = into;
	if (out->n_faults == RUN_FAULTS_MAX) {
		snprintf(error, cap, "more than %d fault rules and files", RUN_FAULTS_MAX);
		return -EINVAL;
	}
	out->faults[out->n_faults++] =
		(struct run_fault){argument, strcmp(row->name, "--fault-file") == 0};
	return 0;
}

static OPTION_SETTER(set_scenario)
{
	struct run_options *out = into;
	return add_word(out->scenarios, &out->n_scenarios, RUN_SCENARIOS_MAX, argument, error, cap);
}

static OPTION_SETTER(set_sanitize)
{
	struct run_options *out = into;
	out->sanitize = argument ? argument : "sum";
	if (!*out->sanitize) {
		snprintf(error, cap, "no check is named; --sanitize=help lists them");
		return -EINVAL;
	}
	if (!argument || strcmp(argument, "help") != 0)
		return 0;
	out->answered = true;
	if (run_sanitize_help() == 0)
		return 0;
	snprintf(error, cap, "the sanitizer did not run");
	return -EINVAL;
}

static OPTION_SETTER(set_serve)
{
	struct run_options *out = into;
	uint64_t port;
	out->serve = argument ? argument : "0";
	if (ctl_number(out->serve, 10, 65535, &port))
		return 0;
	snprintf(error, cap, "'%s' is not a port, a number from 0 to 65535", argument);
	return -EINVAL;
}

static OPTION_SETTER(to_sanitizer)
{
	struct run_options *out = into;
	if (add_word(out->sanitize_words, &out->n_sanitize_words, RUN_SANITIZE_WORDS_MAX, row->name,
		     error, cap) < 0)
		return -EINVAL;
	return add_word(out->sanitize_words, &out->n_sanitize_words, RUN_SANITIZE_WORDS_MAX,
			argument, error, cap);
}

static OPTION_SETTER(set_sweep)
{
	struct run_options *out = into;
	unsigned kinds;
	out->sweep = argument;
	if (strcmp(argument, "help") != 0)
		return sweep_kinds_parse(argument, &kinds, error, cap);
	sweep_errno_print(stdout);
	out->answered = true;
	return 0;
}

#define FIELD_(f)     OPTION_FIELD(struct run_options, f)
#define FLAG_(f)      OPTION_FLAG, FIELD_(f), .min = 1
#define WORD_(f)      OPTION_WORD, FIELD_(f)
#define NUMBER_(f, n) OPTION_NUMBER, FIELD_(f), .min = 1, .max = (n)
/* A daemon is started with it (also in a scenario), and nothing else of uhca-run. */
#define DAEMON_       .tag = true, .set

static const struct option_row rows[] = {
	{.help = "Which instance"},
	{"--private", NULL, "Starts a private daemon for the command.", FLAG_(private_instance)},
	{"--instance", "NAME", "Uses the shared instance NAME. Default: default.",
	 .set = set_instance},
	{"--own-network", NULL, "With --private: daemon and command get a network namespace.",
	 FLAG_(own_network)},
	{"--idle-timeout", "SECONDS",
	 "A shared daemon ends SECONDS after its last client. Default: 5.",
	 .set = set_idle_timeout},
	{"--linger", "SECONDS", "", .set = set_idle_timeout, .hidden = true},
	{.help = "Devices"},
	{OPTION_DEVICES, DAEMON_ = set_devices},
	{OPTION_FIRST_DEVICE, DAEMON_ = to_daemon},
	{OPTION_ADDR, DAEMON_ = set_addresses},
	{OPTION_NETDEV, DAEMON_ = set_addresses},
	{OPTION_MACHINE, DAEMON_ = set_machine},
	{"--only", "DEVICE[,DEVICE...]", "Shows the command these devices, and no others.",
	 WORD_(only), .min = 1},
	{OPTION_PROFILE, DAEMON_ = to_daemon},
	{OPTION_LIMIT, DAEMON_ = to_daemon},
	{.help = "Network"},
	{OPTION_FABRIC, DAEMON_ = set_fabric},
	{OPTION_FABRIC_SCALE, DAEMON_ = set_fabric_scale},
	{OPTION_WIRE, DAEMON_ = to_daemon},
	{OPTION_NO_WIRE, DAEMON_ = to_daemon},
	{OPTION_GSO, DAEMON_ = to_daemon},
	{OPTION_CC, DAEMON_ = to_daemon},
	{OPTION_ICRC, DAEMON_ = to_daemon},
	{.help = "Memory of the command"},
	{OPTION_MEM, DAEMON_ = to_daemon},
	{OPTION_PIN, DAEMON_ = to_daemon},
	{"--adopt", "WHAT", "", DAEMON_ = to_daemon, .hidden = true},
	{"--share-heap", NULL,
	 "Shares large aligned allocations and mappings with the daemon from the start.",
	 FLAG_(share_heap)},
	{.help = "Order and timing, for tests"},
	{OPTION_STRICT_MEMORY, DAEMON_ = to_daemon},
	{OPTION_STRICT_ORDER, DAEMON_ = to_daemon},
	{OPTION_STRICT_ARMING, DAEMON_ = to_daemon},
	{OPTION_EARLY_LOCAL_INV, DAEMON_ = to_daemon},
	{.help = "Faults and chaos"},
	{OPTION_FAULT, DAEMON_ = set_fault},
	{OPTION_FAULT_FILE, DAEMON_ = set_fault},
	{"--fault-seed", "N", "With --private: seed of the random choices of fault rules.",
	 WORD_(fault_seed), .tag = true},
	{"--fault-must-fire", NULL, "Ends with status 124 when a rule never fired.",
	 FLAG_(must_fire)},
	{OPTION_CHAOS, .set = set_chaos},
	{"--times", "N", "With --chaos: tries N seeds, until the command fails.",
	 NUMBER_(times, 1000000000)},
	{"--minimise", NULL, "With --chaos: finds the behaviours that a failure needs.",
	 FLAG_(minimise)},
	{"--time-limit", "SECONDS",
	 "Ends the command after SECONDS and prints what waits. With --times: 60.",
	 NUMBER_(time_limit, 86400)},
	{.help = "Sweep: each thing fails once"},
	{"--sweep", "WHAT",
	 "Runs COMMAND again and again: calls, completions, events, packets, device, all.",
	 .set = set_sweep},
	{"--sweep-repeat", "RUN", "Runs one run of a sweep again, with packets and explanation.",
	 WORD_(sweep_repeat)},
	{"--sweep-folder", "FOLDER", "Keeps results in FOLDER; an interrupted sweep goes on.",
	 WORD_(sweep_folder)},
	{"--sweep-each", "N", "The first N of the same call, and the last. 0: all. Default: 3.",
	 OPTION_NUMBER, FIELD_(sweep_each), .min = 0, .max = 1000000},
	{"--sweep-only", "PATTERN", "Only runs whose name matches, such as 'call/create_*'.",
	 WORD_(sweep_only)},
	{"--sweep-jobs", "N", "Runs side by side. Default: one for each processor.",
	 NUMBER_(sweep_jobs, 256)},
	{"--known", "FILE", "Findings of a sweep that are accepted.", WORD_(known)},
	{"--html", "FILE", "Writes the results of a sweep as a page.", WORD_(html)},
	{.help = "Scenarios and reports"},
	{"--scenario", "FILE", "Runs a scenario, see uhca-scenario(5). Repeat it for others.",
	 .set = set_scenario},
	{"--two-daemons", NULL,
	 "With --scenario: half of the devices, and what is marked peer, on a second daemon.",
	 FLAG_(two_daemons)},
	{"--tap", "FILE", "Writes the scenarios' results as TAP; - is standard output.",
	 WORD_(tap)},
	{"--junit", "FILE", "Writes the results of scenarios or of a sweep as JUnit XML.",
	 WORD_(junit)},
	{"--keep", "FOLDER",
	 "Keeps log, last packets, counters and objects of a private instance in FOLDER.",
	 WORD_(keep)},
	{.help = "Sanitizer"},
	{"--sanitize", "[=CHECKS]",
	 "Finds misuse of verbs, see uhca-sanitize(7). --sanitize=help lists the checks.",
	 .set = set_sanitize},
	{"--suppress", "FILE", "Known findings of the sanitizer, which it leaves out.",
	 .set = to_sanitizer},
	{"--no-stock-suppressions", NULL,
	 "Reports also what stock programs and libraries are known to do.", FLAG_(no_stock)},
	{"--sanitize-options", "LIST", "Settings of the sanitizer: NAME=VALUE:NAME=VALUE...",
	 .set = to_sanitizer},
	{.help = "Log and diagnosis"},
	{"--serve", "[=PORT]", "Serves a page that shows the device live; prints its address.",
	 .set = set_serve},
	{OPTION_LOG_LEVEL, DAEMON_ = to_daemon},
	{OPTION_ON_ERROR, DAEMON_ = to_daemon},
	{OPTION_TRUST_PARENTS, DAEMON_ = to_daemon},
	{OPTION_NO_SANDBOX, DAEMON_ = to_daemon},
	OPTIONS_ABOUT(struct run_options),
	{0},
};

static const struct options_page page = {
	.program = "uhca-run",
	.version = UHCA_VERSION,
	.usage = "Usage: uhca-run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
		 "       uhca-run doctor\n"
		 "Runs COMMAND with emulated RDMA devices; doctor checks this machine.\n"
		 "The man page uhca-run(1) says more.\n",
	.rows = rows,
	.end = "\nExit status: that of COMMAND, or 128+N when signal N ended it; or\n"
	       "  1    --sweep: it found something (0: nothing)\n"
	       "  2    --sweep: COMMAND fails without a fault, or uses no device\n"
	       "  99   --sanitize: misuse was found\n"
	       "  124  --fault-must-fire: a rule never fired; --time-limit: it took too long\n"
	       "  125  uhca-run itself failed\n"
	       "  126  COMMAND cannot be run\n"
	       "  127  COMMAND is not found\n",
};

static enum run_parse usage_error(const char *what)
{
	fprintf(stderr, "uhca-run: %s\nTry 'uhca-run --help'.\n", what);
	return RUN_PARSE_BAD;
}

/*
 * The options in front of the first other word, all of them or those for the daemon. Returns the
 * index of that word, or -EINVAL with a message.
 */
static int take_options(int argc, char **argv, bool daemon_only, struct run_options *out)
{
	char error[1024];
	int i = 1;
	while (i < argc && !out->answered && !out->about.help) {
		const struct option_row *row = options_find(rows, argv[i]);
		int used = -EINVAL;
		if (daemon_only && row && !row->tag)
			snprintf(error, sizeof(error), "%s is not allowed here", row->name);
		else
			used = options_take(rows, out, argv + i, error, sizeof(error));
		if (used < 0)
			usage_error(error);
		if (used <= 0)
			return used < 0 ? used : i;
		i += used;
	}
	return i;
}

int run_options_more(int argc, char **argv, struct run_options *out)
{
	int at = take_options(argc, argv, true, out);
	if (at < 0 || at == argc)
		return at < 0 ? at : 0;
	fprintf(stderr, "uhca-run: unknown option '%s'\n", argv[at]);
	return -EINVAL;
}

static const char *mistake_of_scenarios(const struct run_options *o)
{
	if (o->n_scenarios == 0 && o->tap)
		return "--tap needs --scenario";
	if (o->n_scenarios == 0 && o->two_daemons)
		return "--two-daemons needs --scenario";
	if (o->two_daemons && o->n_faults > 0)
		return "--two-daemons takes rules from the scenario: no --fault";
	if (o->n_scenarios == 0)
		return o->junit && !o->sweep ? "--junit needs --scenario or --sweep" : NULL;
	if (o->instance)
		return "--scenario always uses a private instance";
	if (o->only)
		return "--only needs a command, not a scenario";
	if (o->tap && o->junit && strcmp(o->tap, o->junit) == 0)
		return "--tap and --junit name the same file";
	return NULL;
}

static const char *mistake_of_chaos(const struct run_options *o)
{
	if (o->is_chaos && o->instance)
		return "--chaos needs a private daemon: no --instance";
	if (o->is_chaos && o->n_scenarios > 0)
		return "--chaos needs a command, not a scenario";
	if (!o->is_chaos && (o->times || o->minimise))
		return "--times and --minimise need --chaos";
	return NULL;
}

static bool has_daemon_word(const struct run_options *o, const char *word)
{
	for (unsigned i = 0; i < o->n_daemon_args; i++)
		if (strcmp(o->daemon_args[i], word) == 0)
			return true;
	return false;
}

static const char *mistake_of_sweep(const struct run_options *o)
{
	const bool sweeps = o->sweep || o->sweep_repeat;
	if (o->sweep && o->sweep_repeat)
		return "--sweep and --sweep-repeat exclude each other";
	if (sweeps && o->instance)
		return "--sweep needs private daemons: no --instance";
	if (sweeps && (o->is_chaos || o->n_scenarios > 0))
		return "--sweep needs a command alone: no --chaos and no --scenario";
	if (sweeps && o->n_faults > 0)
		return "--sweep makes its own faults: no --fault and no --fault-file";
	if (!o->sweep && (o->sweep_folder || o->sweep_jobs || o->sweep_only || o->known ||
			  o->html || o->sweep_each != SWEEP_EACH))
		return "--sweep-..., --known and --html need --sweep";
	if (o->sweep && o->keep)
		return "--sweep keeps its results by --sweep-folder; --keep is for --sweep-repeat";
	return NULL;
}

static const char *mistake_of(const struct run_options *o)
{
	const char *other = mistake_of_chaos(o);
	if (!other)
		other = mistake_of_sweep(o);
	if (other)
		return other;
	if (o->private_instance && o->instance)
		return "--private and --instance exclude each other";
	if (o->idle_timeout && (o->private_instance || o->is_chaos || o->n_scenarios > 0 ||
				o->sweep || o->sweep_repeat))
		return "--idle-timeout is for a shared daemon; a private one ends with the command";
	if (o->own_network && !o->private_instance && !o->is_chaos && o->n_scenarios == 0 &&
	    !o->sweep_repeat)
		return "--own-network needs a private daemon: --private or --scenario";
	if (o->own_network && has_daemon_word(o, "--netdev"))
		return "--own-network has only the loopback interface: no --netdev";
	if (o->keep && !o->private_instance && !o->is_chaos && o->n_scenarios == 0 &&
	    !o->sweep_repeat)
		return "--keep needs a private daemon: --private or --scenario";
	if (o->fault_seed && !o->private_instance && !o->is_chaos && o->n_scenarios == 0)
		return "--fault-seed needs a private daemon: --private";
	if (o->n_sanitize_words > 0 && !o->sanitize && !o->sweep && !o->sweep_repeat)
		return "--suppress and --sanitize-options need --sanitize";
	if (o->no_stock && !o->sanitize && !o->sweep && !o->sweep_repeat)
		return "--no-stock-suppressions needs --sanitize";
	if (o->serve && (o->n_scenarios > 0 || o->times || o->minimise))
		return "--serve needs a command, run once";
	if (o->must_fire && o->n_faults == 0)
		return "--fault-must-fire needs a rule: --fault or --fault-file";
	return mistake_of_scenarios(o);
}

enum run_parse run_options_parse(int argc, char **argv, struct run_options *out)
{
	*out = (struct run_options){.devices = 1, .sweep_each = SWEEP_EACH};
	/* A program of that name is run with "--" before it. */
	if (argc > 1 && strcmp(argv[1], "doctor") == 0) {
		out->doctor = true;
		return argc == 2 ? RUN_PARSE_RUN : usage_error("doctor takes no arguments");
	}
	int at = take_options(argc, argv, false, out);
	if (at < 0)
		return RUN_PARSE_BAD;
	if (out->answered || options_answer(&page, &out->about))
		return RUN_PARSE_DONE;
	const char *mistake = mistake_of(out);
	if (mistake)
		return usage_error(mistake);
	out->private_instance |= out->is_chaos;
	/* "--" announces one, also to scenarios, which can do without */
	const bool after_dashes = at < argc && strcmp(argv[at], "--") == 0;
	at += after_dashes;
	if (at == argc && (out->n_scenarios == 0 || after_dashes))
		return usage_error("no command given");
	out->command = at < argc ? argv + at : NULL;
	return RUN_PARSE_RUN;
}
